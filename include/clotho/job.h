/* job.h - one run of a graph: create (allocates everything), submit, wait, again if you like.
 *
 * Under the virtual clock every job has its own time, as if it ran alone.
 *
 * Three ways to dispatch:
 *   replay  config.plan: executor and order are fixed, replicas are executed.
 *   steal   the default: greedy work stealing, no decision at run time.
 *   policy  config.policy: one decision for each instance, taken by whichever worker holds the turn. */
#ifndef CLOTHO_JOB_H
#define CLOTHO_JOB_H

#include <clotho/plan.h>
#include <clotho/policy.h>
#include <clotho/runtime.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_job clo_job; /* opaque */

typedef struct clo_job_config {
    size_t size;              /* CLO_JOB_CONFIG_INIT                                                 */
    const clo_plan *plan;     /* replay; copied                                                     */
    const clo_policy *policy; /* policy dispatch; static or outliving the job. Not together with plan */
    int64_t deadline_ns;      /* relative to submit; 0: none                                         */
} clo_job_config;

#define CLO_JOB_CONFIG_INIT            \
    {                                  \
        .size = sizeof(clo_job_config) \
    }

/* What a finished run did. Plain values. */
typedef struct clo_job_result {
    clo_status status;       /* CLO_OK, CLO_ERR_TASK, CLO_ERR_CANCELLED                             */
    uint32_t failed_task;    /* of the first error, else CLO_NONE                                  */
    int failed_code;         /* what its body returned                                             */
    int64_t makespan_ns;     /* submit to last finish, in the runtime's clock                      */
    int64_t busy_ns;         /* sum of execution times; 0 unless traced or emulated                */
    uint64_t executed;       /* bodies run, replicas included                                      */
    uint64_t duplicates_run; /* replicas among them                                                */
    uint64_t transfers;      /* inputs that crossed memories                                       */
    uint64_t transferred_bytes;
    uint64_t copied_bytes; /* of these, really copied                                            */
    uint64_t steals;
    uint64_t parks;           /* times a worker slept during the job (all workers, all jobs)        */
    double emulation_error;   /* padded clock: sum |lasted - wanted| / sum wanted over the executions; else 0 */
    uint32_t missed_deadline; /* 1: the makespan exceeds deadline_ns                                */
    uint64_t decisions;       /* policy dispatch: calls of pick that gave an instance               */
    int64_t decision_p50_ns, decision_p99_ns, decision_p999_ns, decision_max_ns;
} clo_job_result;

/* Prepares a run: counters, buffers, queues' links; no allocation happens after this.
 *   runtime  borrowed until clo_job_destroy.
 *   cost     of the graph to run on the runtime's platform; the cost, its graph and the platform are borrowed likewise.
 *   config   NULL means steal.
 *   out      owned by the caller; untouched on failure.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (cost of another platform, plan and policy both given), CLO_ERR_INVALID (the
 * plan does not place every instance, or its order is impossible), CLO_ERR_LIMIT (jobs_max), CLO_ERR_MEMORY,
 * CLO_ERR_UNSUPPORTED (policy or steal under the virtual clock: use clo_simulate).
 * Thread-safe. */
CLO_API CLO_NODISCARD clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost,
                                                const clo_job_config *config, clo_job **out);

/* Starts the run; returns at once. Allowed again after clo_job_wait. No allocation, no lock on the worker path.
 * Returns CLO_OK or CLO_ERR_STATE (already running). One thread at a time for one job. */
CLO_API CLO_NODISCARD clo_status clo_job_submit(clo_job *job);

/* Blocks until the run has ended.
 *   result  may be NULL.
 * Returns result->status (with the task named in clo_last_error), or CLO_ERR_STATE (never submitted). */
CLO_API CLO_NODISCARD clo_status clo_job_wait(clo_job *job, clo_job_result *result);

/* Asks the run to end: bodies that run finish, no other starts. Returns at once; clo_job_wait then returns
 * CLO_ERR_CANCELLED within one task length (unless the job ended first). Thread-safe, any thread. */
CLO_API void clo_job_cancel(clo_job *job);

/* Waits for a running job, then frees it. NULL is allowed. */
CLO_API void clo_job_destroy(clo_job *job);

/* Output of an instance after clo_job_wait; valid until the next submit or destroy.
 *   bytes  receives the size; may be NULL.
 * NULL where the task has no output. With replicas: the original's buffer. */
CLO_API const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes);

/* 64-bit hash (FNV-1a) over all outputs in task order: equal runs give equal numbers. */
CLO_API uint64_t clo_job_output_hash(const clo_job *job);

/* Executions of the last run as a trace (a copy, owned by the caller).
 * Returns CLO_OK, CLO_ERR_STATE (running, never run, or the runtime keeps no trace), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_job_trace(const clo_job *job, clo_trace **out);

#ifdef __cplusplus
}
#endif
#endif
