/* session.h - building the graph of an application and running it. */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "application.h"
#include "options.h"

/* Everything that one way of running takes; NULLs where not opened. */
typedef struct session {
    clo_platform *platform;
    bool is_crowded; /* more workers than CPUs */
    application_graph graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} session;

/* Platform (opened by SPEC, limited to `workers`), graph with `times` (NULL: not known), cost of these, or with a profile
 * of what that knows. */
clo_status session_open(session *s, application *app, const char *spec, uint32_t workers,
                        const application_times *times, const clo_profile *profile);
/* Runtime and job. `keep_trace`: clo_job_trace works. */
clo_status session_start(session *s, clo_clock clock, const dispatch *how, bool keep_trace);
/* Prepares the data, submits, waits. */
clo_status session_run(session *s, application *app, clo_job_result *result);
void session_close(session *s);

/* Hash of the result of the last run of `job`. */
uint64_t result_hash(application *app, const clo_job *job);

#endif
