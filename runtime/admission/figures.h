/* admission/figures.h - what the test needs to know of one graph on the platform: how long an instance holds an
 * executor at most, and what cannot be done faster. All sums saturate: a time that does not fit is "never". */
#ifndef CLO_ADMISSION_FIGURES_H
#define CLO_ADMISSION_FIGURES_H

#include "cost/cost.h"

typedef struct clo_admission_figures {
    const clo_graph *graph;
    clo_cost *cost;        /* owned */
    int64_t *longest_ns;   /* [tasks] most that one instance holds any executor, from its start to its end */
    int64_t *by_executor;  /* [executors] the most that any task holds it; 0: none runs there */
    int64_t *path_ns;      /* [tasks] scratch: the longest way to each task */
    int64_t work_ns;       /* sum of longest_ns over all instances */
    int64_t work_least_ns; /* sum of the fastest times */
    int64_t fastest_ns;    /* the longest chain of fastest times */
    uint32_t width;        /* fewest executors that some task may run on */
    bool has_demands;      /* of a capacity that is limited */
} clo_admission_figures;

/* Fills *out for a graph; overhead_ns is added to each instance. clo_admission_figures_close is safe in each case. */
clo_status clo_admission_figures_open(clo_admission_figures *out, const clo_graph *graph, const clo_platform *platform,
                                      int64_t overhead_ns);
void clo_admission_figures_close(clo_admission_figures *figures);

/* The longest chain where task t counts weights[t]. */
int64_t clo_admission_longest_chain(const clo_admission_figures *figures, const int64_t *weights);

#endif
