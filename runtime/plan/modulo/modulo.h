/* plan/modulo/modulo.h - one attempt to plan a graph for a given interval. */
#ifndef CLO_PLAN_MODULO_MODULO_H
#define CLO_PLAN_MODULO_MODULO_H

#include "cost/cost.h"

#include <clotho/plan.h>

typedef struct clo_modulo clo_modulo;

/* Scratch for any number of attempts. */
clo_status clo_modulo_open(const clo_cost *cost, clo_modulo **out);
void clo_modulo_close(clo_modulo *modulo);

/* Places every instance where it ends first, at the earliest moment that its executor is free modulo interval_ns.
 * False: some instance found no room; another interval may do. placements: [instances], written. */
bool clo_modulo_free(clo_modulo *modulo, int64_t interval_ns, clo_placement *placements, int64_t *makespan_ns);

/* The same on given executors: assigned[instances]. Always true where no executor's load exceeds interval_ns and no
 * task has demands. */
bool clo_modulo_fixed(clo_modulo *modulo, const uint32_t *assigned, int64_t interval_ns, clo_placement *placements,
                      int64_t *makespan_ns);

/* The same for graphs whose tasks have demands, else false: offsets first, so that more fits and releases take longer.
 * assigned: NULL: on any executors. */
bool clo_modulo_offsets(clo_modulo *modulo, const uint32_t *assigned, int64_t interval_ns, clo_placement *placements,
                        int64_t *makespan_ns);

/* An attempt ended for want of memory. */
bool clo_modulo_has_failed(const clo_modulo *modulo);

#endif
