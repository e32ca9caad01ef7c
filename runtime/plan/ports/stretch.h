/* plan/ports/stretch.h - the cost of a graph as if so many messages always shared each port, or on some of the machines
 * alone: what a planner that knows of links alone is given, so that it moves less. */
#ifndef CLO_PLAN_PORTS_STRETCH_H
#define CLO_PLAN_PORTS_STRETCH_H

#include "platform/model/platform.h"

#include <clotho/cost.h>

typedef struct clo_stretched {
    clo_platform platform; /* that of the cost, but for its links, or with fewer executors */
    uint32_t *executors;   /* [platform.executors_count] their numbers there */
    clo_cost *cost;        /* NULL: it would be the same, or cannot be */
} clo_stretched;

/* flows: 0: links stay as they are. machines: so many of the fastest ones; as many as there are: all. The platform of
 * `cost` has ports; borrowed until close. Returns CLO_OK or CLO_ERR_MEMORY; close it in any case. O(executors +
 * (groups of links)^2) and clo_cost_create. */
clo_status clo_stretched_open(clo_stretched *s, const clo_cost *cost, uint32_t flows, uint32_t machines);
void clo_stretched_close(clo_stretched *s);

#endif
