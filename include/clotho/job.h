/* job.h - one run of a graph: create (allocates everything), submit, wait; submit again as often as you like.
 *
 * Three ways to dispatch:
 *   replay  config.plan: executor and order are fixed, replicas are executed.
 *   steal   the default: greedy work stealing, no decision at run time. On a platform with slots each ready task goes,
 *           in turn, to one of the executors that are fastest for it, and no other executor takes it over.
 *   policy  config.policy: one decision for each instance, taken by one worker at a time.
 *
 * A job runs once for each submit. With config.period_ns it runs once for each *release*: submit starts the series,
 * release k comes at k * period_ns after it (k = 0, 1, ...), and clo_job_wait waits for the end of the series. One
 * thread of the runtime, the watchdog, watches releases and deadlines; it sleeps between them.
 *
 * Under the virtual clock each job with a plan has its own time and its own capacities, as if it ran alone. Its replay
 * then equals clo_simulate, event for event, also with demands: an execution that waits for capacity starts at the
 * virtual time at which the capacity is free. Jobs with a policy share one time, that of their scheduler, and the
 * capacities of the machines. Their run equals clo_stream_simulate (for one job: clo_simulate), event for event
 * (clo_job_config.arrival_ns, clo_runtime_hold_time). Times of a job count from its arrival. Work stealing is refused
 * under the virtual clock: use the built-in policy "steal" instead.
 *
 * Capacities. All jobs of a runtime share the capacities of its machines, however they are dispatched. A task gets all
 * that it demands or nothing. While it waits, its worker runs other tasks, and later tasks that fit pass it. (Under a
 * policy it waits in the scheduler, which has not started it yet.) Tasks of one plan do not pass each other: they take
 * each resource of a machine in the plan's order of starts. So if no task or transfer takes longer than planned, the
 * run takes no longer than the plan. Once 64 starts have passed the task that has waited longest on a machine, its
 * demand is reserved for it. Tasks of a job that is cancelled, aborted or has failed stop waiting at once.
 *
 * Hedges. A pure task that is sometimes slow can be hedged (clo_job_config.hedge_after_ns; "The Tail at Scale", Dean
 * and Barroso 2013): if one of its executions has not ended that long after its body began, the instance is executed
 * once more on another executor, with an output buffer of its own (clo_call.is_replica is 1). The first of the two that
 * returns 0 wins: consumers start then, and read its output. The other one loses. If the loser has not begun, it is
 * skipped. If its body is pending, it is cancelled as in a run that is cut short (token.h). If its body runs, the body
 * runs on without effect, and the run of the job does not end before it. A failure counts only if the other execution
 * has not begun or fails too. The hedge goes to another executor that can run the task and has no hedge waiting yet. An
 * idle executor comes first, then one whose own body is not hedged; among these the fastest, among these one on another
 * machine, and equal ones in turn. The hedge runs as soon as that executor has ended its current body, ahead of
 * everything else. It gets its demand at once, or it is skipped. Replicas of a plan are hedged as originals are. A task
 * that only one executor can run is not hedged. The watchdog handles the delays; a worker only wakes it when it arms
 * the first hedge after a pause (one system call).
 *
 * Releases in flight. With releases_in_flight a release may begin before earlier ones have ended. Up to that many are
 * in flight at once, and each output is kept as many times as the plan needs, at most that often. Each executor runs
 * its tasks, of all releases, in one fixed order: that of the plan modulo its interval (a plan without an interval
 * counts as if its makespan were the interval). So a task never runs beside itself, and sees its releases in order;
 * clo_call.release is the number of the release. A release begins when it is due (without a period: at once) and when
 * the release whose place it takes has ended, and never before an earlier release. On one executor a task of an early
 * release may come after a task of a later release and has to wait for it. So if the period is longer than the
 * interval, plan for the period (clo_pipeline_config.interval_ns). One submit is one series: a run is cut short as a
 * whole; clo_job_output and clo_job_output_hash return its last release, clo_job_trace its last traced_releases, with
 * times from the beginning of the series. Without a period clo_job_timing.response_ns counts from the beginning of each
 * release. Under the virtual clock release k is due at k * period_ns of the series' own time; response_ns and missed
 * deadlines use that time too.
 *
 * Without a plan (and without a policy; real clock only) any executor runs any ready task of any release. If releases
 * take different times, this keeps executors busy that would wait under a plan's fixed order. A task still never runs
 * beside itself and sees its releases in order, but its executor may change. Each output is kept as many times as
 * releases may be in flight, and capacities are taken as they become free.
 *
 * Releases in flight cannot be combined with replicas, handles, branches, `done`, hedges, an on_miss other than
 * CLO_MISS_RUN_LATE, the padded clock, a deadline without a period, a miss handler under the virtual clock, or
 * clo_job_swap_plan; docs/REALTIME.md says why.
 *
 * Fairness. Jobs share the workers fairly, however they are dispatched: once a worker has run 44 bodies from the source
 * of work that it found first, another source has a turn. A worker has six sources: tasks that only it may run, its own
 * ready tasks, a task that another worker handed to it, tasks that it offers to others, tasks that have waited for
 * capacities and fit now, and tasks that were handed to another worker or that another worker offers. Each of the first
 * five has a turn within 460 bodies. From the last source, one worker's tasks have a turn within 3680 bodies, each
 * worker's in turn. A ready task waits for at most one turn for each task that is in the same source: later tasks of
 * other jobs do not starve it.
 *
 * Threads. Calls on different jobs never exclude each other. On one job:
 *   any thread, at any time between create and destroy:
 *       cancel, timing_read, id, wait, wait_for, submit, swap_plan, trace.
 *       Of two submits at once, one returns CLO_ERR_STATE. So does a submit while another thread reads the result of
 *       the last run (wait, wait_for, trace).
 *   any threads at once, not beside submit, and only after wait has returned:
 *       output
 *   likewise, but one thread at a time for these two, since they gather the parts of a handle:
 *       data, output_hash
 *   not beside any other call on the job:
 *       destroy
 * A task body of the same runtime may call create, submit, cancel, timing_read and id; destroy for a job that does not
 * run; clo_token_take and clo_token_complete. A miss handler may call cancel, timing_read and id. All other calls that
 * return a status return CLO_ERR_STATE there, and change nothing; destroy does nothing. A body may wait for jobs of
 * another runtime, as for anything else: its worker is blocked meanwhile, and bodies that wait for each other never
 * end.
 *
 * After fork(2) the child has no workers: every call that needs them returns CLO_ERR_STATE, and destroy only frees
 * memory; not that of a job that ran, and none at all where another thread was making or destroying a job or swapping
 * the policy at that moment. Leave a job alone that another thread was in a call on.
 * In the parent the workers take page faults, locked memory or not: one at the first write to each page that the fork
 * has made copy-on-write. After a fork in a body see clo_task_fn.
 *
 * Library: libclotho. */
#ifndef CLOTHO_JOB_H
#define CLOTHO_JOB_H

#include <clotho/pipeline.h>
#include <clotho/plan.h>
#include <clotho/policy.h>
#include <clotho/runtime.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_job clo_job; /* opaque: owns memory, contains atomics */

/* What happens when a run has not finished at its deadline, or at the next release. */
typedef enum clo_miss_action {
    /* The run continues; releases that come meanwhile wait and are run in turn. */
    CLO_MISS_RUN_LATE = 0,

    /* The run continues; releases that come meanwhile are left out. */
    CLO_MISS_SKIP = 1,

    /* Running bodies finish, and no other body starts; a release that comes meanwhile is run next. clo_job_wait returns
     * CLO_ERR_ABORTED if the last run was cut short. */
    CLO_MISS_ABORT = 2
} clo_miss_action;

typedef enum clo_miss_kind {
    /* A run was not finished at its deadline. */
    CLO_MISS_DEADLINE = 0,

    /* A release was left out (CLO_MISS_SKIP). */
    CLO_MISS_RELEASE = 1,

    /* A body runs, or has run, longer than its limit. If one worker overruns more than 256 times before the watchdog
     * has time to look, the rest is counted but not reported. */
    CLO_MISS_OVERRUN = 2
} clo_miss_kind;

/* A miss. Made by the library, which appends fields. */
typedef struct clo_miss {
    clo_miss_kind kind;

    /* OVERRUN: the task that overran. DEADLINE: a task that is running now. CLO_NONE: none, or unknown. */
    uint32_t task;

    /* The executor that runs this task. CLO_NONE: none, or unknown. */
    uint32_t executor;

    /* Number of the release, from 0. */
    uint64_t release;

    /* When it was due, CLOCK_MONOTONIC. */
    int64_t release_ns;

    /* How long after the deadline, the release or the limit this call is made. */
    int64_t late_ns;
} clo_miss;

/* A miss handler: called on the watchdog's thread, once for each miss. Must be short, as it delays other releases;
 * other threads, which create, submit or destroy jobs, do not wait for it. The top of this file says what it may call;
 * `miss` is valid during the call only. It must return: a C++ exception that leaves it ends the process
 * (std::terminate), and so does pthread_exit, after one line on stderr. The child of a fork in it ends where it
 * returns, as in a body (clo_task_fn). */
typedef void (*clo_miss_fn)(void *argument, clo_job *job, const clo_miss *miss);

typedef struct clo_job_config {
    /* Set by CLO_JOB_CONFIG_INIT. */
    size_t size;

    /* Replay of this plan; copied. NULL: no replay. */
    const clo_plan *plan;

    /* Policy dispatch; static, or kept as `argument` below. Not together with `plan`. A runtime has one scheduler for
     * all jobs with a policy: while such jobs exist, further ones must name the same policy and argument (else
     * CLO_ERR_STATE). clo_runtime_swap_policy changes the policy of all. */
    const clo_policy *policy;

    /* From submit or release; 0: none (periodic jobs: the period). */
    int64_t deadline_ns;

    /* >= 1000: periodic; real or padded clock only, or with releases_in_flight. 0: not periodic. */
    int64_t period_ns;

    /* Number of releases of a periodic job, or of one with releases_in_flight; 0: until cancelled. */
    uint64_t releases;

    clo_miss_action on_miss;

    /* NULL: no handler. */
    clo_miss_fn miss;

    /* Handed to `miss`. */
    void *miss_argument;

    /* Longest time for any one body; 0: no such limit. */
    int64_t task_limit_ns;

    /* Longest time in percent of the expected time of each task; 0: no such limit. */
    uint32_t task_limit_percent;

    /* Policy dispatch: most steps (clo_view_step) for one decision. Beyond that the scheduler's own rule decides (see
     * clo_policy.decide). 0: no bound. The scheduler uses the number of the job for which it was made. */
    uint32_t steps_max;

    /* Memory for everything that the job needs. Aligned to 64 bytes, owned by the caller, in use until clo_job_destroy.
     * NULL: malloc. Not in it: the scheduler of jobs with a policy, which belongs to the runtime, what
     * clo_runtime_swap_policy makes (clo_runtime_config.policy_bytes), and what a policy of the caller's allocates in
     * clo_policy.prepare. Scratch of clo_job_create is in it: of the check of a plan for releases in flight, and of the
     * policies that plan the job ("graphene...", "replan"). A runtime without `memory`, real_time and
     * fifo_priority creates the watchdog's thread with the first job that needs it. */
    void *memory;

    /* At least clo_job_memory_bytes. */
    size_t memory_bytes;

    /* Without `memory`: the most bytes that the job may take, its outputs and their copies in other memories included.
     * Large buffers (from 4 MiB) count in full, although they take memory only when they are used (at once if memory is
     * locked, clo_real_time). 0: three quarters of this machine's memory. */
    uint64_t memory_limit_bytes;

    /* The rest is for policies: see clo_policy and clo_live_job. */

    /* Argument of the policy; borrowed until clo_job_destroy, or until clo_runtime_swap_policy has replaced the policy.
     * NULL: none. */
    const void *argument;

    /* How much the job counts; 0: 1. */
    uint32_t weight;

    /* 0 .. CLO_BANDS_MAX - 1; jobs of a lower number go first: of the bodies of a higher number, a task waits only for
     * those that run when it becomes ready. Jobs without a policy ignore it. */
    uint32_t band;

    /* A number of the user's choice: fair policies share among groups. */
    uint32_t group;

    /* Most executors at once; 0: any number. */
    uint32_t limit;

    /* For the log (clo_runtime_log_start): the value of ARRIVE, such as the job's place in a workload. At most
     * INT64_MAX. */
    uint64_t tag;

    /* Virtual clock: when a run of the job arrives, in the scheduler's time. If that time has passed, it arrives at
     * once. See clo_runtime_hold_time. */
    int64_t arrival_ns;

    /* For a run that continues where another one stopped: bit i % 64 of word i / 64 says that instance i is done
     * already. Instances are numbered task by task, in order of ids. [(clo_graph_instances + 63) / 64]; copied. Each
     * submit runs only the other instances. An instance that is done runs no body and is not counted as executed. It
     * keeps its place: it comes after its predecessors, and in a trace or a log it is an execution of length 0. Under a
     * policy, the policy still gives it an executor, and it holds its demand for that moment; otherwise it needs no
     * capacity. Real clock only. NULL: nothing. */
    const uint64_t *done;

    /* With `done`: [clo_graph_instances] the outputs of the instances that are done, for their consumers; read if the
     * task has output_bytes, and copied. NULL, here or in an entry: zeros. */
    const void *const *done_outputs;

    /* Hedges (see above): [clo_graph_tasks] how long after the beginning of an execution of the task its hedge may
     * begin; 0: the task has no hedge; INT64_MAX: never. Copied. Only for duplicable tasks, on the real clock, without
     * a policy. NULL: no hedges. */
    const int64_t *hedge_after_ns;

    /* Seed for the arms that bodies do not choose (branch.h): run n of the job, from 0, uses seed + n. */
    uint64_t seed;

    /* How many releases may be in flight at once (pipeline.h), up to CLO_IN_FLIGHT_MAX; not with a policy. 0: a release
     * begins when the one before it has ended. See "Releases in flight" above. */
    uint32_t releases_in_flight;

    /* With releases_in_flight and clo_runtime_config.trace: how many releases clo_job_trace returns, the last ones;
     * 0: one. Each takes a clo_trace_event for each instance of a task, at create. */
    uint32_t traced_releases;
} clo_job_config;

#define CLO_JOB_CONFIG_INIT CLO_SIZED_INIT(clo_job_config)

/* What a finished run did. */
typedef struct clo_job_result {
    /* Set by CLO_JOB_RESULT_INIT. */
    size_t size;

    /* CLO_OK, CLO_ERR_TASK, CLO_ERR_CANCELLED or CLO_ERR_ABORTED. */
    clo_status status;

    /* Task of the first failure, else CLO_NONE. */
    uint32_t failed_task;

    /* What its body returned. */
    int failed_code;

    /* Submit to last finish, in the runtime's clock; for a periodic job without releases_in_flight from the beginning
     * of the last run, 0 if there was none. */
    int64_t makespan_ns;

    /* Sum of execution times; 0 unless traced or emulated. */
    int64_t busy_ns;

    /* Bodies run, replicas included. */
    uint64_t executed;

    /* Replicas among them, plus replicas that had begun and were cancelled. */
    uint64_t duplicates_run;

    /* Inputs that crossed memories. */
    uint64_t transfers;

    uint64_t transferred_bytes;

    /* Bytes among them that were really copied. */
    uint64_t copied_bytes;

    /* Instances that a worker took from another. */
    uint64_t steals;

    /* Times a worker slept during the job (all workers, all jobs). */
    uint64_t parks;

    /* Padded clock: sum |lasted - wanted| / sum wanted over the executions; else 0. */
    double emulation_error;

    /* 1: the makespan exceeds deadline_ns. */
    uint32_t missed_deadline;

    /* Policy dispatch: instances that were given an executor. */
    uint64_t decisions;

    /* Instances that the scheduler's own rule placed while the job lived, of all the scheduler's jobs. */
    uint64_t fallbacks;

    /* Most steps of one decision of the scheduler so far (clo_view_step). */
    uint64_t decision_steps;

    /* Quantiles of the time of a decision. */
    int64_t decision_p50_ns, decision_p99_ns, decision_p999_ns, decision_max_ns;

    /* Impossible choices of the policy, plus the times when it left every executor idle although there was work to do
     * (see clo_policy.decide); counted while the job lived, for all the scheduler's jobs. */
    uint64_t refused;

    /* If `refused` > 0: the scheduler's first such choice, in one line with the policy's name; else "". */
    char refusal[192];

    /* Most steps of one turn of the scheduler so far. A turn is one input (an arrival, a completion, ...) with all that
     * it makes ready and all decisions that follow. Each stage, executor, machine, input and successor that the
     * scheduler looks at is a step, and so are each call of the policy and each step that the policy counts
     * (clo_view_step). */
    uint64_t turn_steps;

    /* Choices that the policy made without looking at all jobs and stages, because it had no room for them
     * (clo_view_partial); counted while the job lived, for all the scheduler's jobs. */
    uint64_t partial;

    /* Executions that have taken longer than hedge_after_ns, so that their hedges were handed out. */
    uint64_t hedged;

    /* Of these hedges, those that have not begun. The others count in duplicates_run. */
    uint64_t hedges_skipped;

    /* Of these hedges, those that won, so that their output counts. */
    uint64_t hedges_won;

    /* Executions that were pending when the other one won: originals whose hedge won, and hedges whose original won.
     * Their cancel function was called, or they ended at once (token.h). */
    uint64_t hedges_cancelled;

    /* Executions that were skipped because another arm of a branch was chosen (branch.h). They count nowhere else. */
    uint64_t skipped;
} clo_job_result;

#define CLO_JOB_RESULT_INIT CLO_SIZED_INIT(clo_job_result)

/* Prepares a run: counters, buffers, links of queues. No allocation happens after this.
 *
 *   runtime  borrowed until clo_job_destroy.
 *   cost     of the graph to run, on the runtime's platform. Borrowed likewise, with its graph and platform.
 *   config   NULL: steal. Copied; config->memory is borrowed.
 *   out      the job, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     cost of another platform, a plan of another graph or platform, plan and policy both given, a
 *                        band that does not exist, hedge_after_ns that is negative or of a task that is not duplicable
 *                        (clo_graph_pinned_by says why if it was declared so); releases_in_flight above
 *                        CLO_IN_FLIGHT_MAX, fewer than the plan needs, or with something that it cannot be combined
 *                        with (see above)
 *   CLO_ERR_INVALID      the plan does not place every instance, places one where it cannot run, or its order is
 *                        impossible; with releases_in_flight: clo_plan_check refuses it
 *   CLO_ERR_LIMIT        more than jobs_max jobs; more than memory_limit_bytes, found before memory is taken; the
 *                        policy's state needs more than clo_runtime_config.policy_bytes
 *   CLO_ERR_UNSUPPORTED  work stealing, or a period without releases_in_flight, under the virtual clock; arrival_ns
 *                        under another clock, or without a policy; `done` or hedge_after_ns under another clock than
 *                        the real one; hedge_after_ns with a policy, which asks for replicas itself; on a platform with
 *                        ports, under another clock than the real one: no plan, releases_in_flight, or tasks with
 *                        demands; a policy or releases_in_flight that clo_runtime_create_with was not given
 *   CLO_ERR_SYSTEM       the watchdog's thread, needed for deadlines, periods, limits and hedges, cannot be created
 *                        (it is ready when this returns CLO_OK)
 *   CLO_ERR_STATE        the runtime is closing, or this process was forked from the one that created it; a miss
 *                        handler calls; or the runtime's scheduler has another policy for other jobs
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(instances + edges between them + bytes of outputs). */
CLO_API CLO_NODISCARD clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost,
                                                const clo_job_config *config, clo_job **out);

/* Computes the bytes that clo_job_create takes of config->memory. Exact: one byte less fails. It makes the job and
 * drops it, so it takes as long.
 *
 *   bytes  receives the number.
 *
 * Returns as clo_job_create.
 * Threads: any. Real time: no. As clo_job_create. */
CLO_API CLO_NODISCARD clo_status clo_job_memory_bytes(clo_runtime *runtime, const clo_cost *cost,
                                                      const clo_job_config *config, size_t *bytes);

/* Starts the run, or the series of releases, and returns at once. Allowed again once the last run has ended and all its
 * misses are reported: clo_job_wait waits for both. Also allowed in a task body of another job.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or CLO_ERR_STATE: the job runs, its misses are being reported, another
 * thread reads its result, the runtime is closing, or a miss handler calls.
 * Threads: any, of any priority: deadlines and limits are armed before the run starts. Real time: bounded. O(entries of
 * the graph + workers); no lock on the worker path. For a job with a policy the caller may take the scheduler's turn,
 * and then also handles up to 64 posts of other threads, with the decisions that follow. */
CLO_API CLO_NODISCARD clo_status clo_job_submit(clo_job *job);

/* Blocks until the run has ended. For a periodic job that is the end of the series; the result is that of the last run,
 * but `executed`, `steals` ... are sums over all runs; see clo_job_timing_read. A failure of a body ends the series.
 *
 *   result  set result->size with CLO_JOB_RESULT_INIT; may be NULL.
 *
 * Returns result->status, with the task named in clo_last_error:
 *   CLO_OK             every body was run
 *   CLO_ERR_TASK       a body failed
 *   CLO_ERR_CANCELLED  clo_job_cancel kept bodies or releases from starting
 *   CLO_ERR_ABORTED    the run (of a series: the last one) was cut short at its deadline or at the next release
 * or, with `result` untouched and without waiting:
 *   CLO_ERR_ARGUMENT   job is NULL, result->size is wrong
 *   CLO_ERR_STATE      never submitted; or called from a task body or a miss handler, whose thread it would block
 *
 * The calling thread may run tasks of the job meanwhile, see clo_runtime_config.help: then it returns only after such a
 * body has ended. A body must not need a lock that this thread holds.
 *
 * Threads: any number. Real time: no. Blocks. */
CLO_API CLO_NODISCARD clo_status clo_job_wait(clo_job *job, clo_job_result *result);

/* The same with a time limit, and without running tasks.
 *
 *   timeout_ns  INT64_MAX: no limit; <= 0: not at all.
 *
 * Returns as clo_job_wait, or CLO_ERR_TIMEOUT if the job still runs then. It continues, and clo_last_error names what
 * is running.
 * Threads: any number. Real time: no. Blocks up to timeout_ns. */
CLO_API CLO_NODISCARD clo_status clo_job_wait_for(clo_job *job, int64_t timeout_ns, clo_job_result *result);

/* Releases, deadlines and times since the last submit. For a job without period each submit is one release.
 *
 * Under the virtual clock the watchdog measures limits, and deadlines with a handler or CLO_MISS_ABORT, in real time;
 * clo_job_result.missed_deadline always uses the runtime's clock. */
typedef struct clo_job_timing {
    /* Set by CLO_JOB_TIMING_INIT. */
    size_t size;

    /* Runs started. */
    uint64_t released;

    /* Runs ended, aborted ones included. */
    uint64_t finished;

    /* Runs cut short by CLO_MISS_ABORT. */
    uint64_t aborted;

    /* Runs that had not ended at their deadline, those that were dropped later included. */
    uint64_t missed;

    /* Releases left out by CLO_MISS_SKIP. */
    uint64_t skipped;

    /* Bodies that took longer than their limit. */
    uint64_t overruns;

    /* From when a release was due until it was made. */
    clo_latency jitter_ns;

    /* From when it was due until its first body began. */
    clo_latency start_ns;

    /* From when it was due until its last body ended. */
    clo_latency response_ns;
} clo_job_timing;

#define CLO_JOB_TIMING_INIT CLO_SIZED_INIT(clo_job_timing)

/* Reads the timing, also while the job runs.
 *
 *   out  set out->size with CLO_JOB_TIMING_INIT.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: out->size is wrong) or CLO_ERR_STATE (never submitted).
 * Not promised: one moment for all fields of a job that runs.
 * Threads: any. Real time: yes, wait-free, O(buckets of a histogram). */
CLO_API CLO_NODISCARD clo_status clo_job_timing_read(const clo_job *job, clo_job_timing *out);

/* Of a job with a period or with releases in flight: which of the distributions of clo_job_timing. */
typedef enum clo_latency_kind {
    CLO_LATENCY_JITTER = 0,
    CLO_LATENCY_START = 1,
    CLO_LATENCY_RESPONSE = 2
} clo_latency_kind;

/* Buckets of a histogram of times. Bucket b < 64 counts times of b ns; from there on 32 buckets divide each octave:
 * bucket b counts times from (32 + b % 32) << (b / 32 - 1) ns up to the beginning of bucket b + 1. So a time is known to
 * 3.2 %. The last bucket ends with INT64_MAX. These bounds never change. */
#define CLO_LATENCY_BUCKETS 1888u

/* Reads a distribution of clo_job_timing whole, also while the job runs.
 *
 *   buckets  [CLO_LATENCY_BUCKETS] receives how many times each bucket has counted.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (also: no such kind; a job with neither a period nor releases in flight).
 * Not promised: one moment for all buckets of a job that runs.
 * Threads: any. Real time: yes, wait-free, O(buckets). */
CLO_API CLO_NODISCARD clo_status clo_job_latency_read(const clo_job *job, clo_latency_kind kind, uint32_t *buckets);

/* The least time that a bucket counts; INT64_MAX for a bucket that does not exist.
 * Threads: any. Real time: yes, O(1). */
CLO_API int64_t clo_latency_bucket_ns(uint32_t bucket);

/* A number that no other job of the runtime has or had, from 1; also in clo_record.job. 0 for NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API uint64_t clo_job_id(const clo_job *job);

/* Replaces the plan of the job, from its next release or submit on. A run in progress ends under the old plan. This
 * call or a later call on this job frees the old plan, never a worker.
 *
 *   plan  of the graph and the platform of the job; copied. Its cost may be another one: so what a profile has learned
 *         meanwhile reaches a job that goes on (clo_cost_create_measured, clo_plan_create).
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  not a replay job, a job with config.memory, or the plan is of another graph or platform
 *   CLO_ERR_INVALID   as clo_job_create
 *   CLO_ERR_STATE     called from a task body or a miss handler
 *   CLO_ERR_MEMORY
 *
 * Threads: any; of two at once either may be the last. Real time: no. As clo_job_create. */
CLO_API CLO_NODISCARD clo_status clo_job_swap_plan(clo_job *job, const clo_plan *plan);

/* Asks the run, or the series, to end: running bodies finish, no other starts. Returns at once. clo_job_wait then
 * returns CLO_ERR_CANCELLED, unless every body has run all the same. Workers drop the job's queued instances in turn
 * with tasks of other jobs: 1024 of its instances cost one turn. A cancel beside a submit applies either to that submit
 * as a whole, or to the one before; then it does nothing. Before the first submit it does nothing.
 * Threads: any. Real time: bounded, wait-free, O(workers). For a job with a policy the caller may take the scheduler's
 * turn, as in clo_job_submit. */
CLO_API void clo_job_cancel(clo_job *job);

/* Waits for a running job, then frees it; a series without end is cancelled first. NULL is allowed. In a task body it
 * is allowed only for a job that does not run. For a running job in a task body, and in a miss handler, it does
 * nothing, and clo_last_error says so.
 * Threads: one, beside no other call on the job. Real time: no. Blocks. */
CLO_API void clo_job_destroy(clo_job *job);

/* Output of an instance; with replicas: the output of the original, or of its hedge if the hedge won. Valid until the
 * next submit or destroy.
 *
 *   bytes  receives the size; may be NULL.
 *
 * Returns NULL if the task has no output, or was skipped (branch.h).
 * Threads: any after clo_job_wait has returned, not beside submit. Real time: yes, O(1). */
CLO_API const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes);

/* Content of a handle (handle.h) after a run that has succeeded: the version of its last writer, in one piece. Valid
 * until the next submit or destroy.
 *
 *   bytes  receives the size; may be NULL.
 *
 * Returns NULL for an unknown handle, and for one that no task writes and that is not kept.
 * Threads: one at a time for this and clo_job_output_hash, after clo_job_wait has returned, not beside submit. Real
 * time: yes, O(bytes) if its parts are in several memories, else O(1). */
CLO_API const void *clo_job_data(const clo_job *job, uint32_t handle, size_t *bytes);

/* 64-bit hash (FNV-1a) of the handles that the job owns and of all outputs in order of tasks. Equal runs give equal
 * numbers.
 * Not promised: a cryptographic hash.
 * Threads: as clo_job_data. Real time: yes, O(bytes of outputs and handles). */
CLO_API uint64_t clo_job_output_hash(const clo_job *job);

/* Copies the executions of the last run, of a series those of its last release (but see traced_releases).
 *
 *   out  the trace, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (running, never run, a miss handler calls, or the runtime keeps no
 * trace) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(executions * log executions). */
CLO_API CLO_NODISCARD clo_status clo_job_trace(const clo_job *job, clo_trace **out);

#ifdef __cplusplus
}
#endif
#endif
