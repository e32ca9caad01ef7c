/* environment.h - what a policy is trained on: jobs to decide about, one decision after the other.
 *
 * An environment is a table of functions. The same seed and the same choices give the same views and rewards: the
 * trainer plays an episode once to learn what its choices are worth, and again for their slopes.
 *
 * Threads: each object is used by one thread at a time; several objects at once. */
#ifndef CLO_TOOLS_TRAIN_ROLLOUT_ENVIRONMENT_H
#define CLO_TOOLS_TRAIN_ROLLOUT_ENVIRONMENT_H

#include "train/numbers/network.h"

/* Rows of an output of the network that may be chosen. */
typedef struct train_candidates {
    /* of stages for the first choice, of limits for the second; count > 0 */
    const uint32_t *rows;
    uint32_t count;
    /* [count], added to the scores; NULL: zeros. A heuristic's keys: with an output layer of zeros the policy is that
     * heuristic. */
    const double *prior;
} train_candidates;

typedef struct train_view {
    /* borrowed until step() or reset() */
    const network_case *input;
    /* step() will leave `input` as it is, and the next view is the same input with other candidates: the network runs
     * once for all of them. */
    bool stays;
    train_candidates stages;
    /* Of the decision, in the environment's unit; never smaller than before. */
    double time;
} train_view;

/* Places in the lists of candidates. */
typedef struct train_choice {
    uint32_t stage, limit;
} train_choice;

typedef struct train_environment {
    const char *name;
    /* for create */
    const void *argument;
    /* NULL: no memory */
    void *(*create)(const void *argument);
    void (*destroy)(void *self);
    /* Begins an episode. False: it cannot, and clo_last_error says why. */
    bool (*reset)(void *self, uint64_t seed);
    /* The next decision. False: the episode is over, and `out` is untouched. */
    bool (*look)(void *self, train_view *out);
    /* The second choice, behind `stage`. NULL: there is none. */
    void (*limits)(void *self, uint32_t stage, train_candidates *out);
    /* Returns the reward; more is better. */
    double (*step)(void *self, const train_choice *choice);
    /* What a teacher chooses here. NULL: there is no teacher. */
    train_choice (*teach)(void *self);
    /* Plays the whole episode at once: scores[count of the candidates] say in which order all are taken. Returns the
     * reward. The trainer looks once, adds normal noise of standard deviation `spread` to scores and priors, and learns
     * what the noise was worth: a decision of as many real numbers. NULL: one choice after the other. With it `limits`,
     * `step` and `teach` are not called. */
    double (*order)(void *self, const double *scores);
    double spread;
} train_environment;

#endif
