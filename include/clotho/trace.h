/* trace.h - what happened: the executions of a run, real or simulated.
 *
 * A trace is immutable.
 *
 * Library: libclotho; libclotho-io has clo_trace_write_chrome. */
#ifndef CLOTHO_TRACE_H
#define CLOTHO_TRACE_H

#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_trace clo_trace; /* opaque: owns memory */

/* One execution. Without a size field: a trace hands out one array of all events, and each would carry it. */
typedef struct clo_trace_event {
    /* Id from clo_graph_add_task. */
    uint32_t task;

    /* 0 .. instances-1. */
    uint32_t instance;

    /* Index into the platform. */
    uint32_t executor;

    /* 0: the original; 1: a replica. */
    uint32_t is_replica;

    /* When the body began, its inputs in place; from the start of the job. */
    int64_t start_ns;

    /* When the body returned. */
    int64_t finish_ns;

    /* Time spent before start_ns on moving inputs. */
    int64_t transfer_ns;

    /* Order in which the engine learned of the completions, from 0. */
    uint64_t sequence;

    /* 1: this execution lost: of an original and its hedge the other one won (clo_job_config.hedge_after_ns), so this
     * output does not count. It ended when it was cancelled, or ran on without effect. Hedges that have not begun are
     * in no trace. */
    uint32_t is_lost;

    /* 1: the task was skipped (branch.h): nothing was called, and start_ns is finish_ns. */
    uint32_t is_skipped;

    /* For a branch that was not skipped: the arm that it chose. 0 for other tasks. */
    uint32_t arm;

    /* 0: events have no padding, so that arrays of them compare as bytes. */
    uint32_t reserved;

    /* Of a job with several releases in flight (pipeline.h): the release, from 0; its transfers are not in transfer_ns.
     * Else 0. */
    uint64_t release;
} clo_trace_event;

/* The events in order of (start, finish, executor).
 *   count  receives their number; may be NULL.
 * Returns an array owned by the trace; NULL without a trace.
 * Threads: any. Real time: yes, O(1). */
CLO_API const clo_trace_event *clo_trace_events(const clo_trace *trace, size_t *count);

/* Frees a trace. NULL is allowed.
 * Threads: one; the trace and its events must not be used any more. Real time: no. O(1). */
CLO_API void clo_trace_destroy(clo_trace *trace);

/* Makes a plan from a trace, to draw, to check (CLO_CHECK_MEASURED) or to replay. The plan's planner is "measured", or
 * "emulated" if the trace is emulated. From a trace of several releases it takes only the first release, without an
 * interval.
 *
 *   cost  of the same graph and platform; read during the call only.
 *   out   the plan, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the cost is of another graph or platform
 *   CLO_ERR_MEMORY
 *
 * Not promised: that the plan passes CLO_CHECK_FULL. Real times are not those of the cost model.
 *
 * Threads: any. Real time: no. O(events * log events). */
CLO_API CLO_NODISCARD clo_status clo_trace_to_plan(const clo_trace *trace, const clo_cost *cost, clo_plan **out);

/* Writes Chrome / Perfetto JSON, to be opened in ui.perfetto.dev: one track for each executor, arrows along the edges.
 * Executions that have lost (is_lost) have the category "lost", those that were skipped "skipped". "otherData" holds
 * {"times": "measured" or "emulated"}, and an emulated process has the label "emulated". Executions of later releases
 * than the first have "args" with "release", and the arrows are those of the last release. The file is written whole or
 * not at all.
 *
 *   cost   of the same graph and platform.
 *   label  shown as the name of the process; NULL: the graph's name.
 *   path   file to write.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the cost is of another graph or platform
 *   CLO_ERR_IO        the file cannot be written
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(events + edges into the task of each). */
CLO_API CLO_NODISCARD clo_status clo_trace_write_chrome(const clo_trace *trace, const clo_cost *cost, const char *label,
                                                        const char *path);

#ifdef __cplusplus
}
#endif
#endif
