/* rollout_order.h - episodes of an environment that is played at once (train_environment.order). */
#ifndef CLOTHO_TRAIN_ROLLOUT_ORDER_H
#define CLOTHO_TRAIN_ROLLOUT_ORDER_H

#include "rollout.h"

/* As rollout_play and rollout_learn. */
void rollout_order_play(const rollout_plan *plan, rollout_room *room, rollout *r);
void rollout_order_learn(const rollout_plan *plan, rollout_room *room, rollout *r);

#endif
