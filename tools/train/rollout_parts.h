/* rollout_parts.h - what rollout.c and rollout_order.c share. */
#ifndef CLOTHO_TRAIN_ROLLOUT_PARTS_H
#define CLOTHO_TRAIN_ROLLOUT_PARTS_H

#include "rollout.h"

/* False, with the text in the rollout. */
bool rollout_fail(rollout *r, const char *text);

/* The environment at the begin of the rollout's episode. */
bool rollout_begin(const rollout_plan *plan, rollout_room *room, rollout *r);

/* Room for so many candidates, and for one step more. */
bool rollout_make_room(rollout_room *room, uint32_t count);
bool rollout_make_step(rollout *r);

/* An episode of an environment that is played at once (train_environment.order). `learns`: again, for its slopes. */
void rollout_order(const rollout_plan *plan, rollout_room *room, rollout *r, bool learns);

#endif
