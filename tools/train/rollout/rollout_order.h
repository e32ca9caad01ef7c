/* rollout_order.h - episodes of an environment that is played at once (train_environment.order). */
#ifndef CLO_TOOLS_TRAIN_ROLLOUT_ROLLOUT_ORDER_H
#define CLO_TOOLS_TRAIN_ROLLOUT_ROLLOUT_ORDER_H

#include "train/rollout/rollout.h"

/* As rollout_play and rollout_learn. */
void rollout_order_play(const rollout_plan *plan, rollout_room *room, rollout *r);
void rollout_order_learn(const rollout_plan *plan, rollout_room *room, rollout *r);

#endif
