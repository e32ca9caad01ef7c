/* peer_clotho.h - the state of the rows that are Clotho. */
#ifndef CLO_BENCH_PEER_CLOTHO_H
#define CLO_BENCH_PEER_CLOTHO_H

#include "peers/peer.h"

#include <clotho/job.h>
#include <clotho/planner.h>
#include <clotho/profile.h>

typedef struct clotho {
    bench_graph *source;
    const clo_planner *planner; /* NULL: steal */
    uint32_t codelets;          /* tasks have so many; 0: none */
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
    /* Of peer_learning.c. */
    clo_profile *profile;
    clo_record *records;
} clotho;

/* peer.open; `every`: one of so many executions is recorded; 0: none. */
void *peer_clotho_open(bench_graph *source, uint32_t workers, const clo_planner *planner, uint32_t every);

#endif
