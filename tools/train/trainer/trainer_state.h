/* trainer_state.h - what a trainer is made of, for trainer.c and checkpoint.c. */
#ifndef CLO_TOOLS_TRAIN_TRAINER_TRAINER_STATE_H
#define CLO_TOOLS_TRAIN_TRAINER_TRAINER_STATE_H

#include "train/trainer/trainer.h"

struct trainer {
    trainer_config config;
    uint32_t updates, done;
    bool has_begun;
    adam adam;
    double *gradient, *best, best_reward;
    uint32_t best_update;
    train_point *curve;
    uint32_t curve_count;
    rollout *rollouts;
    uint32_t rollouts_max;
    /* [threads] */
    rollout_room *rooms;
    uint32_t threads;
    double *scratch;
    size_t scratch_capacity;
};

/* Of the options that a checkpoint must agree with. */
uint64_t trainer_hash(const trainer *t);

#endif
