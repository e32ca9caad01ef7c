/* job.h - one run of a graph: create (allocates everything), submit, wait, again if you like.
 *
 * Under the virtual clock every job has its own time, as if it ran alone.
 *
 * Three ways to dispatch:
 *   replay  config.plan: executor and order are fixed, replicas are executed.
 *   steal   the default: greedy work stealing, no decision at run time.
 *   policy  config.policy: one decision for each instance, taken by whichever worker holds the turn.
 *
 * A job runs once for each submit, or, with config.period_ns, once for each *release*: submit starts the series,
 * release k comes at k * period_ns after it (k = 0, 1, ...), and clo_job_wait waits for the end of the series.
 * Releases and deadlines are watched by one thread of the runtime, the watchdog, which sleeps between them.
 *
 * Jobs share the workers fairly, however they are dispatched: once a worker has run 44 bodies of what it found first,
 * another of its sources of work has a turn. Of its five sources (tasks that only it may run, its own ready tasks, one
 * that another worker has handed to it, those it offers to others, those that another worker was handed or offers) the
 * first four have one within 384 bodies; of the last, one worker's tasks have one within 3072, each worker's in turn. A
 * ready task starts after at most one turn for each task that is in the same source with it: later tasks of other jobs
 * do not starve it.
 *
 * Threads, for calls on one job (calls on different jobs never exclude each other):
 *
 *   any thread, at any time between create and destroy:
 *       cancel, timing_read, id, wait, wait_for, submit, swap_plan, swap_policy, trace
 *       Of two submits at once one returns CLO_ERR_STATE; likewise of two calls of swap_policy, and a submit beside a
 *       thread that reads the result of the last run (wait, wait_for, trace).
 *   not beside submit, and only after wait has returned: output, output_hash
 *   not beside any other call on the job: destroy
 *
 * In a task body of the same runtime: create, submit, cancel, timing_read and id; destroy of a job that does not run.
 * In a handler of misses: cancel, timing_read and id. All other calls return CLO_ERR_STATE there, and change nothing.
 * A body may wait for jobs of another runtime, as for anything else: its worker is blocked meanwhile, and bodies that
 * wait for each other never end.
 *
 * After fork(2) the child has no workers: every call that needs them returns CLO_ERR_STATE, and destroy only frees
 * memory. */
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

/* What happens when a run has not finished at its deadline, or at the next release. */
typedef enum clo_miss_action {
    CLO_MISS_RUN_LATE = 0, /* it goes on; releases that come meanwhile wait and are run in turn            */
    CLO_MISS_SKIP = 1,     /* it goes on; releases that come meanwhile are left out                        */
    CLO_MISS_ABORT = 2     /* bodies that run finish, no other starts; a release that comes meanwhile follows.
                              clo_job_wait returns CLO_ERR_ABORTED if the last run was cut short */
} clo_miss_action;

typedef enum clo_miss_kind {
    CLO_MISS_DEADLINE = 0, /* a run was not finished at its deadline            */
    CLO_MISS_RELEASE = 1,  /* a release was left out (CLO_MISS_SKIP)            */
    CLO_MISS_OVERRUN = 2   /* a body runs, or has run, longer than its limit. Where one worker overruns more than 256
                              times before the watchdog has time to look, the rest is counted but not told */
} clo_miss_kind;

typedef struct clo_miss {
    clo_miss_kind kind;
    uint32_t task;      /* OVERRUN: the task; DEADLINE: one that is running now; CLO_NONE: none, or unknown */
    uint32_t executor;  /* where it runs; CLO_NONE likewise                                                */
    uint64_t release;   /* number of the release, from 0                                                   */
    int64_t release_ns; /* when it was due, CLOCK_MONOTONIC                                                */
    int64_t late_ns;    /* how long after the deadline, the release or the limit this call is made         */
} clo_miss;

/* Called on the watchdog's thread, once for each miss; must be short, as it delays other releases. May call
 * clo_job_cancel and read-only functions; must not wait for or destroy a job. */
typedef void (*clo_miss_fn)(void *argument, clo_job *job, const clo_miss *miss);

typedef struct clo_job_config {
    size_t size;              /* CLO_JOB_CONFIG_INIT                                                 */
    const clo_plan *plan;     /* replay; copied                                                     */
    const clo_policy *policy; /* policy dispatch; static or outliving the job. Not together with plan */
    int64_t deadline_ns;      /* relative to submit or release; 0: none (periodic: the period)       */
    int64_t period_ns;        /* >= 1000: periodic; real or padded clock only                        */
    uint64_t releases;        /* of a periodic job; 0: until cancelled                               */
    clo_miss_action on_miss;
    clo_miss_fn miss; /* may be NULL                                                              */
    void *miss_argument;
    int64_t task_limit_ns;       /* longest time for any one body; 0: no such limit                     */
    uint32_t task_limit_percent; /* longest time in percent of the expected time of each task; 0: no such limit */
    uint32_t steps_max;  /* policy dispatch: most steps (see clo_policy.pick) for one decision, beyond which the next
                                    ready instance in order of arrival is taken; 0: no bound              */
    void *memory;        /* everything the job needs is put here; aligned to 64 bytes, owned by the caller, in use until
                     clo_job_destroy. NULL: malloc                                                */
    size_t memory_bytes; /* at least clo_job_memory_bytes                                        */
    /* Without `memory`: the most bytes that the job may take, its outputs and their copies in other memories
     * included, although large buffers (from 4 MiB) take memory only when they are used, or at once where memory is
     * locked (clo_real_time). 0: three quarters of this machine's memory. */
    uint64_t memory_limit_bytes;
} clo_job_config;

#define CLO_JOB_CONFIG_INIT CLO_CONFIG_INIT(clo_job_config)

/* What a finished run did. Plain values. */
typedef struct clo_job_result {
    clo_status status;       /* CLO_OK, CLO_ERR_TASK, CLO_ERR_CANCELLED, CLO_ERR_ABORTED            */
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
    uint64_t fallbacks;       /* of these, taken by the runtime because steps_max was reached        */
    uint64_t decision_steps;  /* most steps of one decision (clo_view_step)                          */
    int64_t decision_p50_ns, decision_p99_ns, decision_p999_ns, decision_max_ns;
} clo_job_result;

/* Prepares a run: counters, buffers, queues' links; no allocation happens after this.
 *   runtime  borrowed until clo_job_destroy.
 *   cost     of the graph to run on the runtime's platform; the cost, its graph and the platform are borrowed likewise.
 *   config   NULL means steal.
 *   out      owned by the caller; untouched on failure.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (cost of another platform, a plan that clo_plan_matches refuses, plan and
 * policy both given), CLO_ERR_INVALID (the plan does not place every instance, places one where it cannot run, or its
 * order is impossible), CLO_ERR_LIMIT (jobs_max; more than memory_limit_bytes, before they are taken), CLO_ERR_MEMORY,
 * CLO_ERR_UNSUPPORTED (policy, steal, a period or demands under the virtual clock: use clo_simulate), CLO_ERR_SYSTEM
 * (the watchdog's thread, needed for deadlines, periods and limits, cannot be created), CLO_ERR_STATE (the runtime is
 * closing, or this process was forked from the one that created it).
 * Thread-safe. */
CLO_API CLO_NODISCARD clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost,
                                                const clo_job_config *config, clo_job **out);

/* Bytes that clo_job_create takes of config->memory: exact, one byte less fails. Makes the job and drops it, so it
 * costs as much. Returns as clo_job_create. */
CLO_API CLO_NODISCARD clo_status clo_job_memory_bytes(clo_runtime *runtime, const clo_cost *cost,
                                                      const clo_job_config *config, size_t *bytes);

/* Starts the run, or the series of releases; returns at once. Allowed again once the last run has ended and all its
 * misses are reported, which clo_job_wait waits for; also from a task body of another job. No allocation, no lock on
 * the worker path. Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or CLO_ERR_STATE (the job runs, its misses are being
 * reported, another thread reads its result, the runtime is closing, or a handler of misses calls). Any thread. */
CLO_API CLO_NODISCARD clo_status clo_job_submit(clo_job *job);

/* Blocks until the run has ended.
 *   result  may be NULL.
 * Returns result->status (with the task named in clo_last_error):
 *   CLO_OK             every body was run
 *   CLO_ERR_TASK       a body failed
 *   CLO_ERR_CANCELLED  clo_job_cancel kept bodies or releases from starting
 *   CLO_ERR_ABORTED    the run, of a series the last one, was cut short at its deadline or at the next release
 * or CLO_ERR_ARGUMENT (NULL), CLO_ERR_STATE (never submitted, or called from a task body or a handler of misses, whose
 * thread it would block). Any number of threads. Of a periodic job the result is that of the last run, with the sums
 * of all in `executed`, `steals` ...; see clo_job_timing_read. A failure of a body ends the series. */
CLO_API CLO_NODISCARD clo_status clo_job_wait(clo_job *job, clo_job_result *result);

/* The same, but gives up after `timeout_ns`; INT64_MAX: never, <= 0: at once.
 * Returns CLO_ERR_TIMEOUT if the job still runs then (it goes on; clo_last_error names what is running). */
CLO_API CLO_NODISCARD clo_status clo_job_wait_for(clo_job *job, int64_t timeout_ns, clo_job_result *result);

/* Releases, deadlines and times since the last submit. For a job without period each submit is one release. */
typedef struct clo_job_timing {
    uint64_t released;       /* runs started                                       */
    uint64_t finished;       /* runs ended, aborted ones included                  */
    uint64_t aborted;        /* cut short by CLO_MISS_ABORT                        */
    uint64_t missed;         /* runs that had not ended at their deadline, those that were dropped later included */
    uint64_t skipped;        /* releases left out by CLO_MISS_SKIP                 */
    uint64_t overruns;       /* bodies that took longer than their limit           */
    clo_latency jitter_ns;   /* from when a release was due until it was made      */
    clo_latency start_ns;    /* from when it was due until its first body began    */
    clo_latency response_ns; /* from when it was due until its last body ended     */
} clo_job_timing;

/* Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_STATE (never submitted). Any thread, also while the job runs;
 * wait-free. */
CLO_API CLO_NODISCARD clo_status clo_job_timing_read(const clo_job *job, clo_job_timing *out);

/* A number that no other job of the runtime has or had, from 1; also in clo_record.job. */
CLO_API uint64_t clo_job_id(const clo_job *job);

/* Puts another plan in place of the job's, from its next release or submit on; a run in progress ends under the old
 * one. The old one is freed by this call or by a later call on this job, never by a worker.
 *   plan  of the same cost; copied.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (not a replay job, one with config.memory, or clo_plan_matches fails),
 * CLO_ERR_INVALID, CLO_ERR_MEMORY, CLO_ERR_STATE (called from a task body or a handler of misses). Any thread; of two
 * at once either may be the last. */
CLO_API CLO_NODISCARD clo_status clo_job_swap_plan(clo_job *job, const clo_plan *plan);

/* Puts another policy (or the same with another model) in place of the job's, also in the middle of a run: the new
 * one is initialised, is shown what is ready, and decides from then on. Returns once the old one is not used any
 * more; its state is freed by this call. While the bodies in progress run on, decisions wait for no longer than init
 * and the calls of ready take. Returns CLO_OK, CLO_ERR_ARGUMENT (not a policy job, or one with config.memory),
 * CLO_ERR_MEMORY, CLO_ERR_STATE (called from a task body or a handler of misses, or another thread swaps), or what the
 * policy's init returned, with the old one still in place. Any thread. */
CLO_API CLO_NODISCARD clo_status clo_job_swap_policy(clo_job *job, const clo_policy *policy);

/* Asks the run, or the series, to end: bodies that run finish, no other starts. Returns at once; clo_job_wait then
 * returns CLO_ERR_CANCELLED, unless every body has run all the same. What the job has in queues is passed over in turn
 * with other jobs' tasks (see fairness above): 1024 of its instances cost one turn. Beside a submit it belongs either
 * to that submit, as a whole, or to the one before, and then does nothing; likewise before the first. Wait-free, any
 * thread. */
CLO_API void clo_job_cancel(clo_job *job);

/* Waits for a running job, then frees it; a series without end is cancelled first. NULL is allowed. In a task body
 * only for a job that does not run; else, and in a handler of misses, nothing happens and clo_last_error says so. */
CLO_API void clo_job_destroy(clo_job *job);

/* Output of an instance after clo_job_wait; valid until the next submit or destroy.
 *   bytes  receives the size; may be NULL.
 * NULL where the task has no output. With replicas: the original's buffer. */
CLO_API const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes);

/* 64-bit hash (FNV-1a) over all outputs in task order: equal runs give equal numbers. */
CLO_API uint64_t clo_job_output_hash(const clo_job *job);

/* Executions of the last run as a trace (a copy, owned by the caller).
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (running, never run, or the runtime keeps no trace),
 * CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_job_trace(const clo_job *job, clo_trace **out);

#ifdef __cplusplus
}
#endif
#endif
