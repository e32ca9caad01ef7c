/* cost/bound/energy.h - makespans that some stretch of time refutes. */
#ifndef CLO_COST_BOUND_ENERGY_H
#define CLO_COST_BOUND_ENERGY_H

#include "cost/bound/work.h"

typedef struct clo_bound_ramp {
    int64_t time_ns;
    uint64_t use;
} clo_bound_ramp;

typedef struct clo_bound_orders {
    /* [tasks] largest head first */
    const clo_bound_item *by_head;
    /* [tasks] largest rest first */
    const clo_bound_item *by_latest;
    /* [2 * tasks] scratch */
    clo_bound_ramp *ramps;
} clo_bound_orders;

/* lower_ns, or more where energy shows that: for work->use out of `capacity`. lower_ns is a multiple of the grid, as
 * all makespans that matter are (clo_cost_grid_ns). */
int64_t clo_bound_energy(const clo_bound_work *work, const clo_bound_orders *orders, uint64_t capacity, int64_t grid_ns,
                         int64_t lower_ns);

#endif
