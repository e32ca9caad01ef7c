/* rollout.h - one episode of a policy: played with drawn choices, and played again for the slopes of its loss. */
#ifndef CLO_TOOLS_TRAIN_ROLLOUT_ROLLOUT_H
#define CLO_TOOLS_TRAIN_ROLLOUT_ROLLOUT_H

#include "train/numbers/losses.h"
#include "train/rollout/environment.h"

typedef enum train_method { TRAIN_IMITATION, TRAIN_REINFORCE, TRAIN_ACTOR_CRITIC, TRAIN_PPO } train_method;

typedef struct rollout_step {
    train_choice choice;
    double reward, time, log_p, value, advantage, target;
} rollout_step;

typedef struct rollout {
    uint64_t seed, draws_seed;
    rollout_step *steps;
    uint32_t count, capacity;
    double total;
    /* Of learning: sums over the steps. */
    double loss, entropy;
    uint32_t agreed;
    /* [parameters] */
    double *gradient;
    bool failed;
    char error[256];
} rollout;

/* What one thread works with. Begins as zeros. */
typedef struct rollout_room {
    void *environment;
    network_tape tape;
    double *log_p[2], *slopes;
    uint32_t log_p_capacity;
} rollout_room;

typedef enum rollout_how { ROLLOUT_DRAWN, ROLLOUT_GREEDY, ROLLOUT_TAUGHT } rollout_how;

/* What is the same for all rollouts of an update. */
typedef struct rollout_plan {
    const train_environment *environment;
    const network *net;
    /* A value of one number, or CLO_MODEL_NONE. */
    uint32_t critic;
    const double *parameters;
    uint32_t parameters_count;
    rollout_how how;
    train_method method;
    /* 0: whole episodes */
    uint32_t steps_max;
    double entropy, clip, critic_weight;
} rollout_plan;

/* Plays an episode; fills steps but advantage and target, and total. */
void rollout_play(const rollout_plan *plan, rollout_room *room, rollout *r);

/* Plays the same choices again, or those of the teacher (TRAIN_IMITATION, which fills `steps` anew): gradient, loss,
 * entropy, agreed. The gradient is that of the sum over the steps. */
void rollout_learn(const rollout_plan *plan, rollout_room *room, rollout *r);

/* Shared with rollout_order.c. False, with the text in the rollout; the environment at the begin of the rollout's
 * episode; room for so many candidates, and for one step more. */
bool rollout_fail(rollout *r, const char *text);
bool rollout_begin(const rollout_plan *plan, rollout_room *room, rollout *r);
bool rollout_make_room(rollout_room *room, uint32_t count);
bool rollout_make_step(rollout *r);

void rollout_room_free(const rollout_plan *plan, rollout_room *room);
void rollout_free(rollout *r);

#endif
