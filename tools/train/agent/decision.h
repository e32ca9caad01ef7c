/* decision.h - decisions of the policy "decima", kept to learn from: what the network saw, and what was chosen. */
#ifndef CLO_TOOLS_TRAIN_AGENT_DECISION_H
#define CLO_TOOLS_TRAIN_AGENT_DECISION_H

#include "train/agent/teacher.h"
#include "train/numbers/network.h"
#include "train/numbers/parameters.h"

/* Owns one block of memory behind `shape.job_of_stage`. */
typedef struct decision {
    /* The limits are those of the job of the stage that counts: the chosen one, or the teacher's. */
    clo_model_case shape;
    /* [stages][5], [jobs][3], [limits] of the network */
    double *inputs;
    /* The same in integers, list 4: [stages][8], [jobs][3], [limits] */
    int16_t *integers;
    /* [candidates_count]; index of the choice, and one less than its executors. */
    uint32_t *candidates, candidates_count, candidate, limit;
    /* [candidates_count], then [limits]: log-probabilities that a teacher would like; NULL: there is no teacher. */
    double *wishes;
    /* Which of its episode, and when. */
    uint32_t at;
    int64_t now_ns;
    /* What the choice was worth more than expected; set by the trainer. */
    double advantage;
} decision;

/* What was seen, with the limits of the candidate's job; all else is 0. `inputs` is to be freed. False: no memory. */
bool decision_make(decision *d, const clo_learned_decision *seen, uint32_t candidate, double executors);

/* The decisions of one episode, as a watcher of the policy (clo_learned_argument.watch) or in its place (choose). */
typedef struct episode {
    /* Labels are its choices, not those that were made; NULL: those that were made. */
    const teacher *taught_by;
    /* `teacher` decides too. */
    bool is_led;
    /* Each decision is kept with this probability, which is drawn from `seed` and its number. */
    double keep;
    uint64_t seed;
    double executors;

    /* Out. */
    decision *kept;
    uint32_t kept_count, kept_capacity;
    /* [decisions_count] times of all of them */
    int64_t *times_ns;
    uint32_t decisions_count, times_capacity;
    bool has_failed;

    /* The teacher's scratch. */
    double *ranks, *keys;
    uint32_t ranks_capacity;
} episode;

void episode_watch(void *context, const clo_learned_decision *seen);
void episode_choose(void *context, const clo_learned_decision *seen, uint32_t *candidate, uint32_t *limit);

/* Frees what is kept; the rest stays as it is. */
void episode_free(episode *e);

#endif
