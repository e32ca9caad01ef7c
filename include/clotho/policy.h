/* policy.h - online decisions: a table of functions, and the view that they see.
 *
 * A policy answers one question: executor e is free, which ready instance shall it run? Its functions are called by one
 * thread at a time. They never know whether time is real or virtual. Instances are numbered 0 .. clo_graph_instances-1;
 * the instances of a task are contiguous, and clo_view_task gives the task. */
#ifndef CLOTHO_POLICY_H
#define CLOTHO_POLICY_H

#include <clotho/cost.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_view clo_view; /* opaque, read-only; valid during a call of the policy only */

/* The view. All calls on it:
 * Threads: only the thread that the policy is called on, during that call. Real time: yes. O(1), where nothing else is
 * said. */

/* The graph of the job. */
CLO_API const clo_graph *clo_view_graph(const clo_view *view);

/* Its cost. */
CLO_API const clo_cost *clo_view_cost(const clo_view *view);

/* The time of the decision, from the start of the job. */
CLO_API int64_t clo_view_now_ns(const clo_view *view);

/* The task of an instance; CLO_NONE for an unknown one. */
CLO_API uint32_t clo_view_task(const clo_view *view, uint32_t instance);

/* Where a finished instance ran; CLO_NONE before it has finished. */
CLO_API uint32_t clo_view_executor_of(const clo_view *view, uint32_t instance);

/* When all inputs of a ready instance can be in the memory of `executor`. O(inputs). */
CLO_API int64_t clo_view_arrival_ns(const clo_view *view, uint32_t instance, uint32_t executor);

/* When `executor` is expected to be free: now, or the expected finish of what it runs. */
CLO_API int64_t clo_view_available_ns(const clo_view *view, uint32_t executor);

/* Time of an instance on `executor`: clo_cost_execution_ns. */
CLO_API int64_t clo_view_execution_ns(const clo_view *view, uint32_t instance, uint32_t executor);

/* The ready instances in order of arrival: the first, and the one after a ready one. CLO_NONE at the end. */
CLO_API uint32_t clo_view_ready_first(const clo_view *view);
CLO_API uint32_t clo_view_ready_next(const clo_view *view, uint32_t instance);

/* True if the instance is ready and was not picked. */
CLO_API bool clo_view_is_ready(const clo_view *view, uint32_t instance);

/* Counts one step of the decision in progress. False: the bound (clo_job_config.steps_max) is reached; the policy must
 * return CLO_NONE now. */
CLO_API bool clo_view_step(const clo_view *view);

/* A policy. Plain values; static, or kept by the caller while a job uses it.
 * Threads: its functions are called by one thread at a time, on any worker.
 * Real time: `ready`, `pick` and `taken` must not allocate, lock or block. */
typedef struct clo_policy {
    /* What clo_policy_find and reports use. */
    const char *name;

    /* One line for a reader. */
    const char *summary;

    /* Bytes of state for one job. The runtime allocates them, zeroed, before the start. NULL: none. */
    size_t (*state_bytes)(const clo_graph *graph, const clo_platform *platform);

    /* Called once, before the first `ready`. A failure is returned by the call that it is made
     * for. NULL: nothing to do. */
    clo_status (*init)(void *state, const clo_view *view);

    /* `instance` became ready, because an instance on `by` finished (CLO_NONE: at the start). */
    void (*ready)(void *state, const clo_view *view, uint32_t instance, uint32_t by);

    /* `executor` is free. Returns a ready instance that can run there, or CLO_NONE to leave it idle. An instance that
     * was returned is started and never offered again. All free executors may be left idle only while another executor
     * is busy; else the job could never end, and the runtime reports CLO_ERR_STATE.
     *
     * Bounded decisions: a pick that looks at many candidates calls clo_view_step before each of them, and returns
     * CLO_NONE as soon as that is false. Then the runtime takes the oldest ready instance that can run there, which
     * costs no more steps than the bound again. */
    uint32_t (*pick)(void *state, const clo_view *view, uint32_t executor);

    /* The runtime took `instance` itself, because the bound was reached: forget it. NULL: nothing to forget. */
    void (*taken)(void *state, const clo_view *view, uint32_t instance);
} clo_policy;

/* A built-in policy by name; NULL if there is none. Static. clo_registry_entry("policies", ...) lists the names.
 * Threads: any. Real time: yes, O(policies). */
CLO_API const clo_policy *clo_policy_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
