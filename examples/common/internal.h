/* internal.h - between the files of the common driver. */
#ifndef EXAMPLES_INTERNAL_H
#define EXAMPLES_INTERNAL_H

#include "application.h"

typedef struct options {
    const char *planner;       /* a planner, "steal", or a policy                   */
    const char *platform;      /* SPEC                                              */
    const char *trace, *gantt; /* files to write; NULL: none                   */
    uint32_t workers;          /* 0: one for each executor                          */
    uint32_t repeat;
    int clock; /* a clo_clock; -1: real on this machine, else virtual */
    bool json, quick;
} options;

/* Reads the command line. Returns -1 to go on, else the exit status (--help: 0, bad usage: 2). */
int options_read(options *options, application *app, int argc, char **argv);

/* How tasks get to executors, from the name given with --planner. */
typedef struct dispatch {
    const char *mode;         /* "replay", "steal", "policy" */
    const char *planner;      /* replay: its name            */
    const clo_policy *policy; /* policy: it                  */
} dispatch;

/* Returns CLO_OK, or CLO_ERR_ARGUMENT for an unknown name. */
clo_status dispatch_find(const char *name, dispatch *out);

/* The first `workers` executors of `platform` (0: all of them). More than it has are allowed where it is this
 * machine: its CPUs are then used several times and *is_crowded is set; the workers must not be pinned. */
clo_status machine_limit(const clo_platform *platform, uint32_t workers, clo_platform **out, bool *is_crowded);

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

/* Platform (opened by SPEC, limited to `workers`), graph with `times` (NULL: not known yet), cost. */
clo_status session_open(session *s, application *app, const char *spec, uint32_t workers,
                        const application_times *times);
/* Runtime and job. `keep_trace`: clo_job_trace works. */
clo_status session_start(session *s, clo_clock clock, const dispatch *how, bool keep_trace);
/* Prepares the data, submits, waits. */
clo_status session_run(session *s, application *app, clo_job_result *result);
void session_close(session *s);

/* The same graph with other times, sealed, and its cost on the session's platform. */
clo_status session_reprice(const session *s, application *app, const application_times *times, application_graph *graph,
                           clo_cost **cost);
void application_graph_free(application_graph *graph);

/* Two ways of running that are kept ready to be measured again at any time: on one core, and stealing on up to
 * `workers` cores of this machine with a trace. The speed of a machine drifts (clock frequency, neighbours on a
 * virtual machine), so that a prediction is only as good as its measurements are fresh. */
typedef struct yardstick {
    session one, all;
    uint64_t hash; /* of the result on one core */
} yardstick;
clo_status yardstick_open(yardstick *y, application *app, uint32_t workers);
void yardstick_close(yardstick *y);

/* Runs both ways `runs` times: the median makespan on one core and the median time of each kernel. */
clo_status yardstick_read(yardstick *y, application *app, uint32_t runs, int64_t *serial_ns, application_times *times);

/* Hash of the result of the last run of `job`. */
uint64_t result_hash(application *app, const clo_job *job);

int64_t median_ns(int64_t *values, size_t count); /* sorts; 0 if there are none */

#endif
