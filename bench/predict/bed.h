/* bed.h - all that the runs of one graph take. */
#ifndef BENCH_PREDICT_BED_H
#define BENCH_PREDICT_BED_H

#include "common/platform.h"

typedef struct bed {
    clo_platform *platform;
    clo_profile *profile; /* NULL: times are typed */
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} bed;

/* Runtime and job, of the plan if there is one. */
clo_status bed_start(bed *b, bool has_trace);
clo_status bed_run(const bed *b, clo_job_result *result);
void bed_close(bed *b);

#endif
