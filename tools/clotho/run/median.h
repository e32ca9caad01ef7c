/* median.h - of several runs the one with the median time is reported and drawn. Which one that is, is known at the
 * end: until then the traces of runs near the median are kept, as many as 72 MB hold, at most 64. */
#ifndef CLO_TOOLS_CLOTHO_RUN_MEDIAN_H
#define CLO_TOOLS_CLOTHO_RUN_MEDIAN_H

#include <clotho/trace.h>

enum { MEDIAN_KEPT_MAX = 64, MEDIAN_EVENTS_MAX = 1000000 };

typedef struct median_run {
    clo_trace *trace;
    int64_t makespan_ns;
} median_run;

typedef struct median_runs {
    median_run kept[MEDIAN_KEPT_MAX + 1]; /* by makespan */
    uint32_t count;
    uint64_t below, above; /* runs that were dropped, shorter and longer than those kept */
} median_runs;

/* Takes over the trace of a run. */
void median_keep(median_runs *runs, clo_trace *trace, int64_t makespan_ns);

/* Hands out the trace of the run that is nearest to the median time, and forgets the others; NULL: there was no run. */
clo_trace *median_take(median_runs *runs, int64_t median_ns);

#endif
