/* cost/bound/stages.h - Graphene's NewLB: the longest chain where each stage counts with its own area, and the sum over
 * what lies between barriers. */
#ifndef CLO_COST_BOUND_STAGES_H
#define CLO_COST_BOUND_STAGES_H

#include "cost/bound/work.h"
#include "library.h"

typedef struct clo_bound_stages {
    /* [tasks] no platform runs all instances of the task in less */
    int64_t *stage_ns;
    /* [tasks] longest chain of stage_ns in the task's part, its own included */
    int64_t *chain_ns;
    /* [tasks] by part: the bound of each */
    int64_t *part_ns;
    /* [tasks] by part: of the measure at hand, in Q<shift> */
    uint64_t *area;
    /* [tasks] */
    uint32_t *part_of;
    /* [tasks] scratch */
    uint32_t *depth, *next_depth;
    uint32_t parts;
} clo_bound_stages;

/* Cuts the graph at its barriers: fills part_of, depth, next_depth and parts and needs nothing else; all zeroed before.
 * ends: [tasks + 2] zeroed scratch. */
CLO_INTERNAL void clo_bound_cut(const clo_graph *graph, clo_bound_stages *stages, int64_t *ends);

/* At least so long from the start of the first instance of `task` to the end of the last. Needs work->fastest. */
int64_t clo_bound_span(const clo_bound_work *work, uint32_t task);

/* Takes in the weights as they are: once for each measure. */
void clo_bound_take_stages(const clo_bound_work *work, clo_bound_stages *stages);

/* The bound of all that was taken in; 0 if that was nothing. */
int64_t clo_bound_of_stages(const clo_bound_work *work, clo_bound_stages *stages);

#endif
