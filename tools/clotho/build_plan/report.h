/* report.h - what a build that ran shows: its trace, its picture, and a summary with what would make it shorter.
 */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_REPORT_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_REPORT_H

#include "clotho/build_plan/graph.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct build_report_options {
    const char *trace, *gantt, *page; /* files; NULL: none */
    bool summarizes;
    int home; /* the folder that paths on the command line begin at */
} build_report_options;

typedef struct build_report {
    const build_report_options *options;
    const build_graph *graph;
    uint32_t jobs, steps_run;
    int64_t *time_ns;     /* [edges] that the commands took; 0: not run */
    int64_t predicted_ns; /* -1: unknown */
    int64_t cpu_ns;       /* of children that ended before this build */
    int64_t ticks[2];     /* of the machine before it: all, idle */
    clo_trace *trace;
    int64_t makespan_ns;
} build_report;

/* Whether the runtime must keep a trace. */
bool build_report_needs_trace(const build_report_options *options);

/* Before the run: predicts how long it takes under `policy`. Returns an exit code; build_report_end in every case. */
int build_report_begin(build_report *r, const build_report_options *options, const build_graph *graph,
                       const clo_policy *policy, uint32_t jobs);

/* A command ran. The caller lets no two threads in at once. */
void build_report_step(build_report *r, uint32_t edge, int64_t time_ns);

/* After the run, whatever came of it. trace: taken over; may be NULL. Returns an exit code. */
int build_report_write(build_report *r, clo_trace *trace, int64_t makespan_ns);
void build_report_end(build_report *r);

#endif
