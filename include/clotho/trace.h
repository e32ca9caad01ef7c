/* trace.h - what happened: one record for each execution, real or simulated.
 *
 * A trace is immutable; every const call is thread-safe. */
#ifndef CLOTHO_TRACE_H
#define CLOTHO_TRACE_H

#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_trace clo_trace; /* opaque */

typedef struct clo_trace_event {
    uint32_t task;
    uint32_t instance;
    uint32_t executor;
    uint32_t is_replica;
    int64_t start_ns; /* from the start of the job: the body begins, inputs in place     */
    int64_t finish_ns;
    int64_t transfer_ns; /* spent before start_ns on moving inputs                          */
    uint64_t sequence;   /* order in which the engine learned of the completions; 0-based   */
} clo_trace_event;

/* Events in order of (start, finish, executor); owned by the trace. */
CLO_API const clo_trace_event *clo_trace_events(const clo_trace *trace, size_t *count);
CLO_API void clo_trace_destroy(clo_trace *trace); /* NULL is allowed */

/* True if the times are not this machine's own: of a run under the padded or the virtual clock, or of clo_simulate
 * (but not where that replays a run that was measured). */
CLO_API bool clo_trace_is_emulated(const clo_trace *trace);

/* The trace as a plan, to draw, to check (CLO_CHECK_MEASURED) or to replay. It is called "measured", or "emulated"
 * where the trace is.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (another graph's or platform's cost: as clo_plan_matches), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_trace_to_plan(const clo_trace *trace, const clo_cost *cost, clo_plan **out);

/* Writes Chrome / Perfetto JSON ("traceEvents"; open it in ui.perfetto.dev): one track an executor, flow
 * arrows along the edges. "otherData" holds {"times": "measured" or "emulated"}, and an emulated process has the label
 * "emulated". Whole or not at all.
 *   label  shown as the process name; NULL: the graph's name.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (another graph's or platform's cost), CLO_ERR_IO, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_trace_write_chrome(const clo_trace *trace, const clo_cost *cost, const char *label,
                                                        const char *path);

#ifdef __cplusplus
}
#endif
#endif
