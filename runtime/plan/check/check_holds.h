/* plan/check/check_holds.h - the checkers' view of capacities: who holds what from when to when. Shares no code with
 * planners and engine. */
#ifndef CLO_PLAN_CHECK_CHECK_HOLDS_H
#define CLO_PLAN_CHECK_CHECK_HOLDS_H

#include <clotho/cost.h>

/* An instance of `task` on `executor`; what takes no time holds nothing. */
typedef struct clo_hold {
    int64_t start_ns, finish_ns;
    uint32_t task, executor;
    /* The caller's. */
    size_t index;
} clo_hold;

/* What was asked for when there was less left. */
typedef struct clo_hold_fault {
    size_t index;
    uint32_t resource;
    int64_t demand, used, limit;
} clo_hold_fault;

/* The platform's resource for each of the graph's: the one of the same name; else, where one side has no name, the one
 * of the same index if no name took it; else CLO_NONE: not limited. of: [CLO_RESOURCES_MAX] */
void clo_check_resources(const clo_graph *graph, const clo_platform *platform, uint32_t *of);

/* Sweeps each resource over time; of equal moments ends come first. Returns CLO_OK, CLO_ERR_INVALID (*fault is
 * written, and no message) or CLO_ERR_MEMORY. O(resources * holds * log holds). */
clo_status clo_check_holds(const clo_cost *cost, const clo_hold *holds, size_t count, clo_hold_fault *fault);

/* "needs 3 of resource 'x', but 2 of 4 are in use on its machine" */
enum { CLO_HOLD_TEXT = 160 };
void clo_hold_fault_text(const clo_graph *graph, const clo_hold_fault *fault, char text[CLO_HOLD_TEXT]);

#endif
