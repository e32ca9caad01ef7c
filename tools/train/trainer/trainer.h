/* trainer.h - trains a network in an environment, in phases: imitation of a teacher, then REINFORCE, actor-critic or
 * PPO.
 *
 * The same seeds give the same parameters, byte for byte, with any number of threads: all that is drawn is a function
 * of (seed, update, rollout), and gradients are added up in the order of rollouts. */
#ifndef CLO_TOOLS_TRAIN_TRAINER_TRAINER_H
#define CLO_TOOLS_TRAIN_TRAINER_TRAINER_H

#include "train/rollout/rollout.h"

enum { TRAINER_PHASES_MAX = 4, TRAINER_WHY_BYTES = 512 };

typedef struct train_phase {
    train_method method;
    uint32_t updates;
    /* Of an update: instances, and rollouts of each one, which share a baseline. An imitation has one rollout each. */
    uint32_t instances, rollouts;
    /* Adam's step, from the first update to the last. */
    double rate_first, rate_last;
    /* How much entropy is worth, likewise. */
    double entropy_first, entropy_last;
    /* Decisions of an episode at most, likewise: a curriculum. 0: whole episodes */
    uint32_t steps_first, steps_last;
    /* Longest gradient; 0: any. */
    double clip_gradient;
    /* Of returns; 1: not discounted. Of advantages_of_critic. */
    double gamma, lambda;
    double critic_weight;
    /* REINFORCE: returns to go against a baseline by time (advantages_by_time), not whole returns. */
    bool by_time;
    /* PPO: passes over the rollouts of an update, and the clip of the ratio. */
    uint32_t epochs;
    double clip_ratio;
} train_phase;

#define TRAIN_PHASE_INIT                                                                                     \
    {                                                                                                        \
        .method = TRAIN_REINFORCE, .instances = 16, .rollouts = 16, .rate_first = 2e-3, .rate_last = 2e-4,   \
        .clip_gradient = 1, .gamma = 1, .lambda = 0.95, .critic_weight = 0.5, .epochs = 3, .clip_ratio = 0.2 \
    }

/* All of it is borrowed while the trainer lives. */
typedef struct trainer_config {
    const train_environment *environment;
    /* Its layers point into parameters[parameters_count], which the trainer moves. */
    const network *net;
    double *parameters;
    uint32_t parameters_count;
    /* A value of one number in `net`, or CLO_MODEL_NONE. */
    uint32_t critic;
    const train_phase *phases;
    uint32_t phases_count;
    /* Instances in turn; those that say which parameters are the best, greedy choices. */
    const uint64_t *seeds, *validation;
    uint32_t seeds_count, validation_count;
    /* Updates between two validations; 0: 10. There is one before the first and behind the last. */
    uint32_t validate_every;
    uint64_t seed;
    /* 0: as many as CPUs; CREW_THREADS_MAX at most */
    uint32_t threads;
    /* Of all that the environment depends on and a checkpoint must agree with. */
    uint64_t hash;
} trainer_config;

/* A point of the learning curve. */
typedef struct train_point {
    uint32_t update, phase;
    /* Of the rollouts of the update, NAN before the first; on validation, NAN where there was none. */
    double reward, validation;
    /* Per decision. `agreed`: share of the decisions that the greedy policy makes too. */
    double loss, entropy, agreed;
    /* Length of the gradient before the clip. */
    double gradient;
} train_point;

typedef struct trainer trainer; /* opaque: owns memory */

/* Returns NULL with one line in why[TRAINER_WHY_BYTES]: the configuration is wrong, or there is no memory. */
trainer *trainer_create(const trainer_config *config, char *why);
/* NULL is allowed. */
void trainer_destroy(trainer *t);

uint32_t trainer_updates(const trainer *t);
uint32_t trainer_updates_done(const trainer *t);

/* One update, and a validation where it is due. The first call only validates what is there. False with one line in
 * `why`: the environment failed, there is no memory, or a gradient is no number; then the trainer can only be
 * destroyed. */
bool trainer_update(trainer *t, train_point *out, char *why);

/* The parameters that did best on validation, their reward and update. */
const double *trainer_best(const trainer *t, double *reward, uint32_t *update);

/* The whole curve so far. */
const train_point *trainer_curve(const trainer *t, uint32_t *count);

/* A checkpoint: parameters, Adam's moments, the best parameters, the curve. Version 1, little-endian, with a checksum;
 * written to a neighbour first, so that an interrupted write leaves the old one. Training that goes on from it makes
 * the same bytes as one that was never interrupted.
 *
 * Each returns true, or false with one line in `why`. trainer_load leaves the trainer as it was then: the file cannot
 * be read, is no checkpoint, of another version, damaged, or of a training with other options. Where there is no file,
 * all is well and the training begins anew. */
bool trainer_save(const trainer *t, const char *path, char *why);
bool trainer_load(trainer *t, const char *path, char *why);

#endif
