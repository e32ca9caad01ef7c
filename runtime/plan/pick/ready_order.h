/* plan/pick/ready_order.h - the order of the tasks in the tree of ready ones. */
#ifndef CLO_PLAN_PICK_READY_ORDER_H
#define CLO_PLAN_PICK_READY_ORDER_H

#include "cost/cost.h"

/* Fills task_at [tasks]: by level, then so that tasks with similar times and demands stand together; tasks that are
 * unlike stand in different parts of `leaf` tasks. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_ready_order(const clo_cost *cost, uint32_t leaf, uint32_t *task_at);

#endif
