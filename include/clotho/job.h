/* job.h - one run of a graph: create (allocates everything), submit, wait; again if you like.
 *
 * Three ways to dispatch:
 *   replay  config.plan: executor and order are fixed, replicas are executed.
 *   steal   the default: greedy work stealing, no decision at run time. On a platform with slots tasks are dealt out to
 *           the executors that are fastest for them, in turn, when they are ready, and nobody takes them over.
 *   policy  config.policy: one decision for each instance, taken by one worker at a time.
 *
 * A job runs once for each submit. With config.period_ns it runs once for each *release*: submit starts the series,
 * release k comes at k * period_ns after it (k = 0, 1, ...), and clo_job_wait waits for the end of the series. One
 * thread of the runtime, the watchdog, watches releases and deadlines; it sleeps between them.
 *
 * Under the virtual clock every job with a plan has its own time, and capacities of its own, as if it ran alone. Replay
 * then does what clo_simulate says, event for event, demands or not: an execution that waits for capacity starts at the
 * virtual time at which it is free. Jobs with a policy share one time, their scheduler's, and the capacities of the
 * machines: what happens is what clo_stream_simulate says, and clo_simulate for one job, event for event
 * (clo_job_config.arrival_ns, clo_runtime_hold_time). Times of a job count from its arrival. Work stealing is refused
 * there: use the built-in policy "steal", which stands in for it.
 *
 * Capacities. All jobs of a runtime share the capacities of its machines, however they are dispatched. A task gets all
 * that it demands or nothing; while it waits its worker runs other tasks, and later tasks that fit pass it. (Where a
 * policy decides it waits with the scheduler, which has not started it yet.) Tasks of one plan do not pass each other:
 * each resource of a machine is taken in the plan's order of starts, so a run whose tasks and transfers take no longer
 * than planned takes no longer than the plan. Once 64 starts have passed the one that has waited
 * longest on a machine, what it demands is kept back for it. Tasks of a job that is cancelled, aborted or has failed
 * stop waiting at once.
 *
 * Hedges. A task that is slow now and then, though it is pure, can be hedged (clo_job_config.hedge_after_ns; "The Tail
 * at Scale", Dean and Barroso 2013): if one of its executions has not ended so long after its body began, the instance
 * is executed once more on another executor, with an output buffer of its own (clo_call.is_replica is 1). The first of
 * the two that returns 0 wins: consumers start then, and read its output. The other one loses. If it has not begun it
 * is skipped; if its body is pending it is cancelled as in a run that is cut short (token.h); if its body runs, it runs
 * on to no effect, and the run of the job ends no earlier than it does. A failure counts only where the other one has
 * not begun or fails too. The hedge goes to an executor that can run the task, is not the first one's, and has no hedge
 * waiting yet: to one that idles if there is any, else rather not to one whose own body is hedged; of these to the
 * fastest, of these to one on another machine, of equal ones to each in turn. It runs there as soon as that has ended
 * what it runs, ahead of everything else. What it demands it gets at once or it is skipped. Replicas of a plan are
 * hedged as originals are. A task that only one executor can run is not hedged. The watchdog looks after the delays; a
 * worker only rings for it, wait-free.
 *
 * Releases in flight. With releases_in_flight a release may begin before those ahead of it have ended: up to so many
 * are under way at once, and the outputs of each task are kept as often as the plan needs, at most so often. Each
 * executor goes through its tasks, of whatever releases, in one fixed order: that of the plan modulo its interval (a
 * plan without one counts as if its makespan were the interval). So a task never runs beside itself, and sees its
 * releases in order; clo_call.release says which one it is. A release begins when it is due, or without a period at
 * once; when the one that had its place has ended; and never before an earlier one. On one executor a task of an early
 * release may stand behind one of a later release, which must come first: where the period is longer than the interval,
 * plan for the period (clo_pipeline_config.interval_ns). One submit is one series: a run is cut short as a whole, and
 * clo_job_output, clo_job_output_hash and clo_job_trace are of its last release. clo_job_timing.response_ns of a series
 * without a period counts from the begin of each release. Under the virtual clock release k is due at k * period_ns of
 * the series' own time, and response_ns and missed deadlines are of that time.
 *
 * Without a plan (and without a policy; real clock only) any executor runs what is ready, of whatever release: where
 * releases take different times that keeps executors busy that a plan's fixed order would let wait. A task still never
 * runs beside itself and sees its releases in order, but on changing executors; each output is kept as often as there
 * are releases in flight, and capacities are taken as they become free.
 *
 * Releases in flight do not go together with replicas, handles, branches, may_pend, `done`, hedges, limits of bodies,
 * on_miss other than CLO_MISS_RUN_LATE, slots, the padded clock, a deadline without a period, a handler of misses under
 * the virtual clock, and clo_job_swap_plan.
 *
 * Fairness. Jobs share the workers fairly, however they are dispatched: once a worker has run 44 bodies of what it
 * found first, another of its sources of work has a turn. It has six sources: tasks that only it may run, its own ready
 * tasks, a task that another worker put into its hand, tasks it offers to others, tasks that have waited for capacities
 * and fit now, and tasks that another worker was handed or offers. The first five have a turn within 460 bodies; of the
 * last, one worker's tasks have one within 3680, each worker's in turn. A ready task starts after at most one turn for
 * each task that is in the same source with it: later tasks of other jobs do not starve it.
 *
 * Threads. Calls on different jobs never exclude each other. On one job:
 *   any thread, at any time between create and destroy:
 *       cancel, timing_read, id, wait, wait_for, submit, swap_plan, trace.
 *       Of two submits at once one returns CLO_ERR_STATE. So does a submit beside a thread that reads the result of the
 *       last run (wait, wait_for, trace).
 *   any threads at once, not beside submit, and only after wait has returned:
 *       output
 *   likewise, but one thread at a time for the two, since they bring parts of a handle together:
 *       data, output_hash
 *   not beside any other call on the job:
 *       destroy
 * In a task body of the same runtime: create, submit, cancel, timing_read and id; destroy of a job that does not run;
 * clo_token_take and clo_token_complete.
 * In a miss handler: cancel, timing_read and id. All other calls that return a status return CLO_ERR_STATE there, and
 * change nothing; destroy does nothing. A body may wait for jobs of another runtime, as for anything else: its worker
 * is blocked meanwhile, and bodies that wait for each other never end.
 *
 * After fork(2) the child has no workers: every call that needs them returns CLO_ERR_STATE, and destroy only frees
 * memory. */
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
    /* It continues; releases that come meanwhile wait and are run in turn. */
    CLO_MISS_RUN_LATE = 0,

    /* It continues; releases that come meanwhile are left out. */
    CLO_MISS_SKIP = 1,

    /* Running bodies finish, no other starts; a release that comes meanwhile follows. clo_job_wait returns
     * CLO_ERR_ABORTED if the last run was cut short. */
    CLO_MISS_ABORT = 2
} clo_miss_action;

typedef enum clo_miss_kind {
    /* A run was not finished at its deadline. */
    CLO_MISS_DEADLINE = 0,

    /* A release was left out (CLO_MISS_SKIP). */
    CLO_MISS_RELEASE = 1,

    /* A body runs, or has run, longer than its limit. Where one worker overruns more than 256 times before the watchdog
     * has time to look, the rest is counted but not reported. */
    CLO_MISS_OVERRUN = 2
} clo_miss_kind;

/* A miss. Made by the library, which appends fields. */
typedef struct clo_miss {
    clo_miss_kind kind;

    /* OVERRUN: the task. DEADLINE: one that is running now. CLO_NONE: none, or unknown. */
    uint32_t task;

    /* Where that task runs; CLO_NONE likewise. */
    uint32_t executor;

    /* Number of the release, from 0. */
    uint64_t release;

    /* When it was due, CLOCK_MONOTONIC. */
    int64_t release_ns;

    /* How long after the deadline, the release or the limit this call is made. */
    int64_t late_ns;
} clo_miss;

/* A miss handler: called on the watchdog's thread, once for each miss. Must be short, as it delays other releases. What
 * it may call stands at the top of this file; `miss` is valid during the call only. */
typedef void (*clo_miss_fn)(void *argument, clo_job *job, const clo_miss *miss);

typedef struct clo_job_config {
    /* Set by CLO_JOB_CONFIG_INIT. */
    size_t size;

    /* Replay of this plan; copied. NULL: no replay. */
    const clo_plan *plan;

    /* Policy dispatch; static, or kept as `argument` below. Not together with `plan`. A runtime has one scheduler for
     * all jobs with a policy: as long as there are any, further ones must name the same policy and argument
     * (CLO_ERR_STATE), or clo_runtime_swap_policy makes it another one. */
    const clo_policy *policy;

    /* From submit or release; 0: none (periodic jobs: the period). */
    int64_t deadline_ns;

    /* >= 1000: periodic; real or padded clock only, or with releases_in_flight. 0: not periodic. */
    int64_t period_ns;

    /* Of a periodic job, or of one with releases_in_flight; 0: until cancelled. */
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

    /* Policy dispatch: most steps (clo_view_step) for one decision. Beyond them the scheduler's own rule decides (see
     * clo_policy.decide). 0: no bound. That of the job for which the scheduler was made counts. */
    uint32_t steps_max;

    /* Everything that the job needs is put here. Aligned to 64 bytes, owned by the caller, in use until
     * clo_job_destroy. NULL: malloc. Not here: the scheduler of jobs with a policy, which is the runtime's, and what
     * clo_runtime_swap_policy makes (clo_runtime_config.policy_bytes). */
    void *memory;

    /* At least clo_job_memory_bytes. */
    size_t memory_bytes;

    /* Without `memory`: the most bytes that the job may take, its outputs and their copies in other memories included.
     * Large buffers (from 4 MiB) count in full, although they take memory only when they are used (at once where memory
     * is locked, clo_real_time). 0: three quarters of this machine's memory. */
    uint64_t memory_limit_bytes;

    /* The rest is for policies: see clo_policy and clo_live_job. */

    /* Of the policy; borrowed until clo_job_destroy, or until clo_runtime_swap_policy has put another in its place.
     * NULL: none. */
    const void *argument;

    /* How much the job counts; 0: 1. */
    uint32_t weight;

    /* 0 .. CLO_BANDS_MAX - 1; jobs of a lower band go first. */
    uint32_t band;

    /* Of the user. */
    uint32_t group;

    /* Most executors at once; 0: any number. */
    uint32_t limit;

    /* For the log (clo_runtime_log_start): ARRIVE's value, such as the job's place in a workload. At most INT64_MAX. */
    uint64_t tag;

    /* Virtual clock: when a run of the job arrives, on the scheduler's time; a moment that has passed: at once. See
     * clo_runtime_hold_time. */
    int64_t arrival_ns;

    /* A run that goes on where another one stopped: bit i % 64 of word i / 64 says that instance i is done already.
     * Instances are numbered task by task, in order of ids. [(clo_graph_instances + 63) / 64]; copied. Each submit runs
     * the others only. What is done runs no body and counts nowhere as executed. It keeps its place: it comes after
     * what it waits for, a policy decides where it goes and holds what it demands for that moment (others need nothing
     * for it), and in a trace or a log it is an execution of no length. Real clock only. NULL: nothing. */
    const uint64_t *done;

    /* With `done`: [clo_graph_instances] the outputs of what is done, for its consumers; read where the task has
     * output_bytes, and copied. NULL, here or in an entry: zeros. */
    const void *const *done_outputs;

    /* Hedges (see above): [clo_graph_tasks] how long after an execution of the task has begun its hedge may begin; 0:
     * the task has none; INT64_MAX: never. Copied. Only for duplicable tasks, on the real clock, without a policy.
     * NULL: no hedges. */
    const int64_t *hedge_after_ns;

    /* Draws the arms that bodies leave open (branch.h): run n of the job, from 0, draws with seed + n. */
    uint64_t seed;

    /* Replay: how many releases may be in flight at once (pipeline.h), up to CLO_IN_FLIGHT_MAX. 0: a release begins
     * when the one before it has ended. See "Releases in flight" above. */
    uint32_t releases_in_flight;
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

    /* Submit to last finish, in the runtime's clock; of a periodic job without releases_in_flight from the begin of the
     * last run, 0 if there was none. */
    int64_t makespan_ns;

    /* Sum of execution times; 0 unless traced or emulated. */
    int64_t busy_ns;

    /* Bodies run, replicas included. */
    uint64_t executed;

    /* Replicas among them, and those that have begun and were cancelled. */
    uint64_t duplicates_run;

    /* Inputs that crossed memories. */
    uint64_t transfers;

    uint64_t transferred_bytes;

    /* Of these, really copied. */
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

    /* Those that the scheduler's own rule placed while the job lived, of all its jobs. */
    uint64_t fallbacks;

    /* Most steps of one decision of the scheduler so far (clo_view_step). */
    uint64_t decision_steps;

    /* Quantiles of the time of a decision. */
    int64_t decision_p50_ns, decision_p99_ns, decision_p999_ns, decision_max_ns;

    /* Choices of the policy that were impossible, and times when it left every executor idle with work to do (see
     * clo_policy.decide), while the job lived, of all the scheduler's jobs. */
    uint64_t refused;

    /* With refused: the scheduler's first such choice, in one line with the policy's name; else "". */
    char refusal[192];

    /* Most steps of one turn of the scheduler so far: of an input (an arrival, a completion, ...) with all that it
     * makes ready and all decisions that follow. Each stage, executor, machine, input and successor that is looked at
     * counts, each call of the policy, and each step that the policy counts (clo_view_step). */
    uint64_t turn_steps;

    /* Choices that the policy has made without a look at all jobs and stages, for want of room (clo_view_partial),
     * while the job lived, of all the scheduler's jobs. */
    uint64_t partial;

    /* Executions that have taken longer than hedge_after_ns, so that their hedges were handed out. */
    uint64_t hedged;

    /* Of these hedges, those that have not begun. The others count in duplicates_run. */
    uint64_t hedges_skipped;

    /* And those that were first, so that their output counts. */
    uint64_t hedges_won;

    /* Executions that were pending when their hedge had won, or hedges when their original had, and that were told so
     * or dropped (token.h). */
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
 *   CLO_ERR_ARGUMENT     cost of another platform, a plan that clo_plan_matches refuses, plan and policy both given, a
 *                        band that does not exist, hedge_after_ns that is negative or of a task that is not duplicable
 *                        (clo_graph_pinned_by says why if it was declared so); releases_in_flight without a plan, above
 *                        CLO_IN_FLIGHT_MAX, or fewer than the plan needs
 *   CLO_ERR_INVALID      the plan does not place every instance, places one where it cannot run, or its order is
 *                        impossible; with releases_in_flight: clo_plan_check refuses it
 *   CLO_ERR_LIMIT        jobs_max; more than memory_limit_bytes, found before they are taken; the policy's state needs
 *                        more than clo_runtime_config.policy_bytes
 *   CLO_ERR_UNSUPPORTED  work stealing, or a period without releases_in_flight, under the virtual clock; arrival_ns
 *                        under another clock, or without a policy; `done` or hedge_after_ns under another clock than
 *                        the real one; hedge_after_ns with a policy, which asks for replicas itself; releases_in_flight
 *                        with what it does not go together with (see above); on a platform with ports, under another
 *                        clock than the real one: no plan, releases_in_flight, or tasks with demands
 *   CLO_ERR_SYSTEM       the watchdog's thread, needed for deadlines, periods, limits and hedges, cannot be created
 *   CLO_ERR_STATE        the runtime is closing, or this process was forked from the one that created it; a miss
 *                        handler calls; or its scheduler follows another policy for other jobs
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(instances + arcs + bytes of outputs). */
CLO_API CLO_NODISCARD clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost,
                                                const clo_job_config *config, clo_job **out);

/* Computes the bytes that clo_job_create takes of config->memory. Exact: one byte less fails. Makes the job and drops
 * it, so it costs as much.
 *
 *   bytes  receives the number.
 *
 * Returns as clo_job_create.
 * Threads: any. Real time: no. As clo_job_create. */
CLO_API CLO_NODISCARD clo_status clo_job_memory_bytes(clo_runtime *runtime, const clo_cost *cost,
                                                      const clo_job_config *config, size_t *bytes);

/* Starts the run, or the series of releases, and returns at once. Allowed again once the last run has ended and all its
 * misses are reported, which clo_job_wait waits for. Also allowed in a task body of another job.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or CLO_ERR_STATE: the job runs, its misses are being reported, another
 * thread reads its result, the runtime is closing, or a miss handler calls.
 * Threads: any. Real time: bounded. O(entries of the graph + workers); no lock on the worker path. */
CLO_API CLO_NODISCARD clo_status clo_job_submit(clo_job *job);

/* Blocks until the run has ended. Of a periodic job that is the series; the result is that of the last run, with the
 * sums of all in `executed`, `steals` ...; see clo_job_timing_read. A failure of a body ends the series.
 *
 *   result  set result->size with CLO_JOB_RESULT_INIT; may be NULL.
 *
 * Returns result->status, with the task named in clo_last_error:
 *   CLO_OK             every body was run
 *   CLO_ERR_TASK       a body failed
 *   CLO_ERR_CANCELLED  clo_job_cancel kept bodies or releases from starting
 *   CLO_ERR_ABORTED    the run, of a series the last one, was cut short at its deadline or at the next release
 * or, with `result` untouched and without waiting:
 *   CLO_ERR_ARGUMENT   job is NULL, result->size is wrong
 *   CLO_ERR_STATE      never submitted; or called from a task body or a miss handler, whose thread it would block
 *
 * The calling thread may run tasks of the job meanwhile, see clo_runtime_config.help: it returns after such a body has
 * ended. A body must not need a lock that this thread holds.
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
 * What the watchdog looks after under the virtual clock (limits, deadlines with a handler or CLO_MISS_ABORT) is in real
 * time; clo_job_result.missed_deadline is always in the runtime's. */
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

/* A number that no other job of the runtime has or had, from 1; also in clo_record.job. 0 for NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API uint64_t clo_job_id(const clo_job *job);

/* Puts another plan in place of the job's, from its next release or submit on. A run in progress ends under the old
 * one, which is freed by this call or by a later call on this job, never by a worker.
 *
 *   plan  of the same cost; copied.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  not a replay job, a job with config.memory, or clo_plan_matches fails
 *   CLO_ERR_INVALID   as clo_job_create
 *   CLO_ERR_STATE     called from a task body or a miss handler
 *   CLO_ERR_MEMORY
 *
 * Threads: any; of two at once either may be the last. Real time: no. As clo_job_create. */
CLO_API CLO_NODISCARD clo_status clo_job_swap_plan(clo_job *job, const clo_plan *plan);

/* Asks the run, or the series, to end: running bodies finish, no other starts. Returns at once. clo_job_wait then
 * returns CLO_ERR_CANCELLED, unless every body has run all the same. What the job has in queues is passed over in turn
 * with tasks of other jobs: 1024 of its instances cost one turn. A cancel beside a submit belongs either to that
 * submit, as a whole, or to the one before, and then does nothing. Before the first submit it does nothing.
 * Threads: any. Real time: bounded, wait-free, O(workers). Of a job with a policy the caller may have to take a turn of
 * the scheduler, and decides about whatever others post meanwhile. */
CLO_API void clo_job_cancel(clo_job *job);

/* Waits for a running job, then frees it; a series without end is cancelled first. NULL is allowed. In a task body only
 * for a job that does not run. For one that runs, and in a miss handler, nothing happens and clo_last_error says so.
 * Threads: one, beside no other call on the job. Real time: no. Blocks. */
CLO_API void clo_job_destroy(clo_job *job);

/* Output of an instance; with replicas that of the original, or of its hedge where that has won. Valid until the next
 * submit or destroy.
 *
 *   bytes  receives the size; may be NULL.
 *
 * Returns NULL where the task has no output, or was skipped (branch.h).
 * Threads: any after clo_job_wait has returned, not beside submit. Real time: yes, O(1). */
CLO_API const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes);

/* Content of a handle (handle.h) after a run that has succeeded: the version of its last writer, in one piece. Valid
 * until the next submit or destroy.
 *
 *   bytes  receives the size; may be NULL.
 *
 * Returns NULL for an unknown handle, and where no task writes it and it is not kept.
 * Threads: one at a time for this and clo_job_output_hash, after clo_job_wait has returned, not beside submit. Real
 * time: yes, O(bytes) where parts of it lie in several memories, else O(1). */
CLO_API const void *clo_job_data(const clo_job *job, uint32_t handle, size_t *bytes);

/* 64-bit hash (FNV-1a) of the handles that the job owns and of all outputs in order of tasks. Equal runs give equal
 * numbers.
 * Not promised: a cryptographic hash.
 * Threads: as clo_job_data. Real time: yes, O(bytes of outputs and handles). */
CLO_API uint64_t clo_job_output_hash(const clo_job *job);

/* Copies the executions of the last run.
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
