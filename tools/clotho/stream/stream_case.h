/* stream_case.h - what clo_stream_check needs to judge the log of a workload's run: a cost for each graph, and the jobs
 * with the numbers that the scheduler gave them. */
#ifndef CLO_TOOLS_CLOTHO_STREAM_STREAM_CASE_H
#define CLO_TOOLS_CLOTHO_STREAM_STREAM_CASE_H

#include <clotho/stream.h>
#include <clotho/stream_check.h>

typedef struct stream_case_cost stream_case_cost;

typedef struct stream_case {
    stream_case_cost *costs; /* by graph */
    size_t costs_count;
    clo_stream_job *jobs; /* [jobs_count] in order of arrival */
    size_t jobs_count;
} stream_case;

/* outcomes: [jobs of the workload]: jobs that were refused got no number; NULL: none was refused.
 * Returns CLO_OK, CLO_ERR_MEMORY, or what clo_cost_create returns; stream_case_close is safe in each case. */
clo_status stream_case_open(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                            const clo_stream_outcome *outcomes);

/* Only the costs: one for each graph that fits somewhere, however many jobs run it. CLO_OK or CLO_ERR_MEMORY. */
clo_status stream_case_open_costs(stream_case *c, const clo_workload *workload, const clo_platform *platform);

/* As stream_case_open, but without the jobs whose graph fits nowhere on the platform: a real run refuses them before
 * the first arrives. */
clo_status stream_case_open_fitting(stream_case *c, const clo_workload *workload, const clo_platform *platform);

/* As stream_case_open, for a log, without the jobs that fit nowhere. That of a real run says itself which job of the
 * workload each one is (ARRIVE's value: its place in order of arrival), and on which terms it came. */
clo_status stream_case_open_log(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                                const clo_log *log);

/* The first kind that a graph has times for and the platform lacks; NULL: none. Valid until stream_case_close. */
const char *stream_case_unmatched_kind(const stream_case *c);

void stream_case_close(stream_case *c);

#endif
