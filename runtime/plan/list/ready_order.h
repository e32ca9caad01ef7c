/* plan/list/ready_order.h - the order of the tasks in the tree of ready ones (ready_tree.h). */
#ifndef CLO_PLAN_LIST_READY_ORDER_H
#define CLO_PLAN_LIST_READY_ORDER_H

#include "cost/cost.h"

/* Entries in a leaf. */
#define CLO_READY_LEAF 16u

/* Fills task_at [tasks]: by level, then so that tasks with similar times stand together.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_ready_order(const clo_cost *cost, uint32_t *task_at);

#endif
