/* policy.h - online decisions: a table of functions, and the view they see.
 *
 * A policy is asked one question: executor e is free, which ready instance shall it
 * run? Its functions are called by one thread at a time and never know whether time is
 * real or virtual. Instances are numbered 0 .. clo_graph_instances-1, a task's instances
 * being contiguous; clo_view_task gives the task. */
#ifndef CLOTHO_POLICY_H
#define CLOTHO_POLICY_H

#include <clotho/cost.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_view clo_view; /* read-only; valid during a call only */

CLO_API const clo_graph *clo_view_graph(const clo_view *view);
CLO_API const clo_cost *clo_view_cost(const clo_view *view);
CLO_API int64_t clo_view_now_ns(const clo_view *view);
CLO_API uint32_t clo_view_task(const clo_view *view, uint32_t instance);
/* Where a finished instance ran, CLO_NONE before. */
CLO_API uint32_t clo_view_executor_of(const clo_view *view, uint32_t instance);
/* When all inputs of a ready instance can be in `executor`'s memory. */
CLO_API int64_t clo_view_arrival_ns(const clo_view *view, uint32_t instance, uint32_t executor);
/* When `executor` is expected to be free: now, or the expected finish of what it runs. */
CLO_API int64_t clo_view_available_ns(const clo_view *view, uint32_t executor);
CLO_API int64_t clo_view_execution_ns(const clo_view *view, uint32_t instance, uint32_t executor);
/* The ready instances in order of arrival: the first, and the next after a ready one; CLO_NONE at the end. */
CLO_API uint32_t clo_view_ready_first(const clo_view *view);
CLO_API uint32_t clo_view_ready_next(const clo_view *view, uint32_t instance);
CLO_API bool clo_view_is_ready(const clo_view *view, uint32_t instance);
/* Counts one step of the decision in progress. False: the bound (clo_job_config.steps_max) is reached; return
 * CLO_NONE now. */
CLO_API bool clo_view_step(const clo_view *view);

typedef struct clo_policy {
    const char *name;
    const char *summary;
    /* Bytes of state for one job; the runtime allocates them, zeroed, before the start. May be NULL: none. */
    size_t (*state_bytes)(const clo_graph *graph, const clo_platform *platform);
    /* Once, before the first ready. May be NULL. */
    clo_status (*init)(void *state, const clo_view *view);
    /* `instance` became ready because an instance on `by` finished (CLO_NONE: at the start). */
    void (*ready)(void *state, const clo_view *view, uint32_t instance, uint32_t by);
    /* `executor` is free: returns a ready instance that can run there, or CLO_NONE to leave it idle.
     * An instance that was returned is started and never offered again. Only if some executor is busy may all
     * free executors be left idle, else the job could never end (the runtime reports CLO_ERR_STATE).
     * Bounded decisions: a pick that looks at many candidates asks clo_view_step before each of them and returns
     * CLO_NONE as soon as it says false; then the runtime takes the oldest ready instance that can run there, which
     * costs no more steps than the bound again. */
    uint32_t (*pick)(void *state, const clo_view *view, uint32_t executor);
    /* The runtime took `instance` itself, the bound being reached: forget it. May be NULL: nothing to forget. */
    void (*taken)(void *state, const clo_view *view, uint32_t instance);
} clo_policy;

/* The built-in policy of that name; NULL if there is none. Static. */
CLO_API const clo_policy *clo_policy_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
