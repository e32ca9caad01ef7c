/* cost/bound/assign.h - each instance to an executor, so that the fullest executor is as empty as possible
 * (R||Cmax). */
#ifndef CLO_COST_BOUND_ASSIGN_H
#define CLO_COST_BOUND_ASSIGN_H

#include "cost/cost.h"
#include "library.h"

typedef struct clo_assignment {
    /* [instances] */
    uint32_t *executor;
    /* Of the fullest executor. */
    int64_t load_ns;
    /* No assignment has a smaller one. */
    bool is_exact;
} clo_assignment;

/* Fills executor[instances], which the caller gives. `bound_ns`: known to be below every load; the search ends there.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_assign(const clo_cost *cost, int64_t bound_ns, clo_assignment *assignment);

#endif
