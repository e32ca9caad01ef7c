/* cost/bound/joins.h - what transfers add to heads and tails where inputs join. */
#ifndef CLO_COST_BOUND_JOINS_H
#define CLO_COST_BOUND_JOINS_H

#include "cost/bound/work.h"

/* One of several inputs of a task, or of several that read from it. */
typedef struct clo_bound_input {
    /* From afar. */
    int64_t arrival_ns;
    /* Head or tail of its task. */
    int64_t at_ns;
    /* Its fastest time. */
    int64_t time_ns;
    /* Instances, all alike. */
    uint32_t count;
    /* Decides between equal arrivals. */
    uint32_t place;
} clo_bound_input;

/* The most edges into or out of a task. */
size_t clo_bound_inputs_max(const clo_graph *graph);

/* Raises work->head and tail. inputs: [clo_bound_inputs_max]. */
void clo_bound_join(const clo_bound_work *work, clo_bound_input *inputs);

#endif
