/* runtime.h - worker threads on a platform.
 *
 * A runtime owns one worker for each executor, pinned under the real clock. Under that clock a few threads serve all
 * slots (platform.h). Jobs (job.h) of any number of graphs run on it at once.
 *
 * Workers block every signal except SIGPROF and those that their own faults raise (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGABRT, SIGSYS). So the application's handlers run on the application's threads.
 *
 * Library: libclotho. */
#ifndef CLOTHO_RUNTIME_H
#define CLOTHO_RUNTIME_H

#include <clotho/log.h>
#include <clotho/platform.h>
#include <clotho/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_runtime clo_runtime; /* opaque: owns threads and memory */

typedef enum clo_clock {
    /* Bodies run at the machine's own speed. */
    CLO_CLOCK_REAL = 0,

    /* Emulated: a worker spins before each body for the transfers, and after it until the body's time in the cost model
     * has passed. See clo_runtime_config.dilate. */
    CLO_CLOCK_PADDED = 1,

    /* Emulated: bodies run for their effect, time is computed from the cost model. */
    CLO_CLOCK_VIRTUAL = 2
} clo_clock;

/* What is done for real-time work: all memory of the process is locked (mlockall, present and future), the workers'
 * stacks and the runtime's memory are touched, workers get SCHED_FIFO, and the watchdog a priority one higher. All of
 * that is done when clo_runtime_create returns. The watchdog is not pinned: it may run on each CPU that the thread that
 * called clo_runtime_create could use, and on those of the workers. */
typedef enum clo_real_time {
    CLO_REAL_TIME_OFF = 0,

    /* What the system refuses is left out and reported by clo_runtime_report, for workers and watchdog apart. */
    CLO_REAL_TIME_TRY = 1,

    /* A refusal is CLO_ERR_SYSTEM with the same line. */
    CLO_REAL_TIME_REQUIRE = 2
} clo_real_time;

typedef struct clo_runtime_config {
    /* Set by CLO_RUNTIME_CONFIG_INIT. */
    size_t size;

    clo_clock clock;

    /* Jobs that may exist at once; 0: 256. */
    uint32_t jobs_max;

    /* 1: keep a record of each execution, for clo_job_trace. Costs two clock readings a task. */
    uint32_t trace;

    /* How long an idle worker spins before it sleeps; 0: 20 000; -1: not at all. With more workers than CPUs no worker
     * spins. See also `help`. */
    int64_t spin_ns;

    /* 1..98: SCHED_FIFO for the workers with this priority, and for the watchdog with one more; 0: scheduling stays as
     * it is. */
    int32_t fifo_priority;

    /* 1: do not pin workers. */
    uint32_t unpinned;

    /* 1: copy data between memories even if they are coherent. */
    uint32_t copy_always;

    /* With TRY and REQUIRE a fifo_priority of 0 means 80. */
    clo_real_time real_time;

    /* 1: a SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT in a task body first writes one line to stderr that names the
     * task, then takes its usual course. The handlers are process-wide. An earlier handler is called after, with the
     * same siginfo and context and under its own flags and mask; SIG_DFL and SIG_IGN keep their meaning. A handler that
     * the host installs later stays when the runtime ends. */
    uint32_t name_signals;

    /* Memory for everything that the runtime needs, its workers' stacks included. Aligned to 64 bytes, owned by the
     * caller, in use until clo_runtime_destroy. NULL: malloc. Not in it: the C library's record of each thread, which
     * pthread_create takes from the heap. */
    void *memory;

    /* At least clo_runtime_memory_bytes. */
    size_t memory_bytes;

    /* Stack of each worker; 0: 256 KiB with `memory` or real_time, else the system's default. */
    size_t stack_bytes;

    /* Flight recorder: executions that each worker can keep for clo_runtime_record_read, rounded up to a power of two;
     * 0: none. */
    uint32_t recorder_events;

    /* With CLO_CLOCK_PADDED: one ns of emulated time takes `dilate` ns, at most CLO_DILATE_MAX; 0: 1. Above 1, workers
     * sleep instead of spinning, so that more workers than CPUs do not disturb each other, and bodies have `dilate`
     * times as long as their task takes.
     *
     * In emulated time are: makespan and busy time, the trace, deadlines, the response of clo_job_timing_read, and the
     * emulation error. In real time are: timeouts, decision times, the flight recorder, worker statistics. Jobs with
     * periods, limits, a miss handler or CLO_MISS_ABORT are refused (CLO_ERR_UNSUPPORTED). */
    uint32_t dilate;

    /* For jobs with a policy: bytes for the states of one policy, that of the scheduler (clo_policy.state_bytes) and
     * those that clo_runtime_swap_policy makes for all such jobs (clo_policy.job_bytes), each rounded up to 64. The
     * runtime takes this twice, for the policy in use and for the one that replaces it, and no heap memory after that.
     * A policy that needs more is refused with CLO_ERR_LIMIT, and clo_last_error says how much it needs. 0: with
     * `memory` or real_time 16 KiB, 1 KiB for each executor, 64 bytes for each job (jobs_max) and 64 bytes for each of
     * policy_stages; else there is no limit, and states come from the heap. A policy with a network needs more:
     * "decima" about 600 KiB, less with clo_learned_argument.stages_max; so does "synchpack-2", up to 1.1 MiB. */
    size_t policy_bytes;

    /* For the default of policy_bytes: tasks of all jobs with a policy that exist at once; 0: 4096. */
    uint32_t policy_stages;

    /* Real clock: threads that serve the platform's slots (CLO_OS_SLOT), each a share of them, while their bodies are
     * not pending; 0: 2, or as many as there are slots. At most 256. They are not pinned and do not spin. Under other
     * clocks each slot has a worker of its own. */
    uint32_t slot_workers;

    /* Whether a thread in clo_job_wait runs tasks of the job meanwhile, in place of a sleeping worker, so that a short
     * job needs no wake-up. 0: yes, but not with real_time or a fifo_priority; 1: also with these; -1: never. Use -1 if
     * bodies need a worker's thread: its CPU (a waiting thread runs where the kernel has put it; only if executors
     * differ must it be on the executor's CPU), its stack, its signal mask or its thread-local data.
     * Real clock only. Jobs with a policy, a period, a watched deadline, outputs, demands or tasks that finish later
     * are not helped.
     * A job with a plan is helped if it has at most 256 executions, none declared to take more than 2 us, on at most 8
     * executors, and the thread can have all of these: it runs the bodies one by one in an order of the plan, each as
     * its executor (clo_call.executor), as long as they are short. So a body that waits for another one waits for ever,
     * even if the plan runs both at the same time. If the plan uses several executors, the job is helped only while one
     * worker looks for work (see below), or a worker that the plan does not use can be woken.
     * A job of more than 256 executions is helped only if a run of it took at most 10 ms and its bodies are short
     * enough (at most 0.2 us) that one thread runs them faster than all workers together. This is measured; once the
     * bodies of such a run take longer, the rest of it goes to the workers.
     * While jobs are submitted, one worker spins beyond spin_ns, so that a submit need not wake one. It sleeps spin_ns
     * after the end of the last job. */
    int32_t help;

    /* Flight recorder: of so many executions of a worker, on average, one is recorded, at random distances; 0: each, and
     * so is 1; at most 2^16. Enough to learn from (profile.h), and tiny tasks do not pay a record each. */
    uint32_t recorder_every;
} clo_runtime_config;

#define CLO_DILATE_MAX 1000000u

#define CLO_RUNTIME_CONFIG_INIT CLO_SIZED_INIT(clo_runtime_config)

/* Starts the workers.
 *
 *   platform  borrowed until clo_runtime_destroy.
 *   config    NULL: all defaults. Copied; config->memory is borrowed.
 *   out       the runtime, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  also: unknown config fields, dilate > 1 with another clock than CLO_CLOCK_PADDED
 *   CLO_ERR_PLATFORM  the real clock with an executor that is neither a CPU of this machine nor a slot
 *   CLO_ERR_SYSTEM    a thread cannot be created, pinned, or given its priority
 *   CLO_ERR_LIMIT     a number of the config is too large
 *   CLO_ERR_MEMORY    also: config->memory_bytes is too small
 *
 * Threads: any, but not in a task body. Real time: no. O(executors), and the start of as many threads. */
CLO_API CLO_NODISCARD clo_status clo_runtime_create(const clo_platform *platform, const clo_runtime_config *config,
                                                    clo_runtime **out);

/* What jobs may use beside plans and work stealing on the real clock. Each is a table of the library, and a program
 * that is linked statically has the code of those that it names: bench/footprint has the sizes. Plain values. */
typedef struct clo_policy_feature clo_policy_feature;     /* opaque */
typedef struct clo_pipeline_feature clo_pipeline_feature; /* opaque */
typedef struct clo_clock_feature clo_clock_feature;       /* opaque */

CLO_API extern const clo_policy_feature clo_with_policies;
CLO_API extern const clo_pipeline_feature clo_with_pipelines;
CLO_API extern const clo_clock_feature clo_with_clocks;

typedef struct clo_features {
    /* Set by CLO_FEATURES_INIT. */
    size_t size;

    /* &clo_with_policies: clo_job_config.policy. NULL, here and below: what needs it is CLO_ERR_UNSUPPORTED. */
    const clo_policy_feature *policies;

    /* &clo_with_pipelines: clo_job_config.releases_in_flight. */
    const clo_pipeline_feature *pipelines;

    /* &clo_with_clocks: CLO_CLOCK_PADDED and CLO_CLOCK_VIRTUAL. */
    const clo_clock_feature *clocks;
} clo_features;

#define CLO_FEATURES_INIT CLO_SIZED_INIT(clo_features)

/* The same as clo_runtime_create, for a program that is to be small: its jobs may use these features only.
 * clo_runtime_create has all of them.
 *
 *   features  NULL: none. Copied.
 *
 * Returns as clo_runtime_create, or
 *   CLO_ERR_UNSUPPORTED  an emulated clock without clo_with_clocks
 *
 * Memory, threads, real time: as clo_runtime_create. */
CLO_API CLO_NODISCARD clo_status clo_runtime_create_with(const clo_platform *platform, const clo_runtime_config *config,
                                                         const clo_features *features, clo_runtime **out);

/* Computes the bytes that clo_runtime_create takes of config->memory. Exact: one byte less fails.
 *
 *   bytes  receives the number.
 *
 * Returns CLO_OK, or as clo_runtime_create.
 * Threads: any. Real time: no. O(executors). */
CLO_API CLO_NODISCARD clo_status clo_runtime_memory_bytes(const clo_platform *platform,
                                                          const clo_runtime_config *config, size_t *bytes);

/* Virtual clock: the time of the runtime's scheduler stands still from now on (is_held 1), or goes on (0). Jobs that
 * are submitted while it stands still arrive afterwards, each at its clo_job_config.arrival_ns, those of one moment in
 * the order of their submits: so what happens does not depend on how quickly they were submitted. A job that is
 * cancelled before its arrival ends at its arrival. Running bodies continue, but no job ends while time stands still:
 * let time go on before you wait for a job or destroy one.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (runtime is NULL), CLO_ERR_UNSUPPORTED (not the virtual clock) or CLO_ERR_STATE
 * (called from a task body or a miss handler, or in a forked process).
 *
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_runtime_hold_time(clo_runtime *runtime, uint32_t is_held);

/* Replaces the policy of the runtime's scheduler by another one (or by the same with another argument), for all its
 * jobs, also in the middle of runs. The new policy is initialised, is told which jobs live and which tasks are ready,
 * and then decides. Bodies in progress continue. The new policy is told CLO_LOG_PIECE jobs and tasks at a time. Until
 * it knows all, the scheduler's own rule decides (clo_job_result.fallbacks counts that). So decisions wait no longer
 * than init and one such piece take.
 *
 * Returns once the old policy is not used any more, and frees its state. After CLO_OK nothing reads the old policy or
 * its argument: no decision, no clo_runtime_visit_jobs, and no clo_job_create that began under it (this call waits for
 * its end: either that job was made before the swap, or its creation fails with CLO_ERR_STATE). The caller may free
 * both, also if jobs were created with them. On failure the same holds for the new policy and its argument.
 *
 *   policy    static, or kept until another swap has replaced it; its argument likewise.
 *   argument  see clo_policy; NULL: none.
 *
 * Returns CLO_OK, or with the old policy still in place
 *   CLO_ERR_ARGUMENT     runtime or policy is NULL, or the policy has no decide function
 *   CLO_ERR_UNSUPPORTED  the runtime lacks clo_with_policies
 *   CLO_ERR_STATE        the runtime has no job with a policy; called from a task body or a miss handler
 *   CLO_ERR_LIMIT        its states need more than clo_runtime_config.policy_bytes; clo_last_error says how much
 *   CLO_ERR_MEMORY
 *   what the policy's prepare or init returned
 *
 * Threads: any, but not in a function of a policy; two at once follow each other. Real time: no. Blocks. O(jobs with a
 * policy, their stages), and what prepare and init take. */
CLO_API CLO_NODISCARD clo_status clo_runtime_swap_policy(clo_runtime *runtime, const clo_policy *policy,
                                                         const void *argument);

/* From now on the runtime's scheduler writes its inputs and its decisions to a log (log.h): clo_stream_replay repeats
 * each decision. The log begins with the scheduler, so call this before the first job with a policy is made. It ends at
 * clo_runtime_log_stop, when the runtime is destroyed, or when all jobs with a policy are gone and one with another
 * policy is made.
 *
 * Workers append records without allocating; a log that is full counts what it drops, and cannot be replayed. A body
 * takes two records, also a queued one. A job takes four, and two for each CLO_LOG_PIECE of its tasks that are ready at
 * once; as many again if it is cancelled. A swap takes two, and two for each CLO_LOG_PIECE of live jobs and ready tasks
 * (of all tasks, if clo_policy.readiness changes). A timer takes two. Without a log nothing is written.
 *
 *   log  made with a capacity; borrowed until it ends; it must not be read meanwhile. Its header receives run, clock,
 *        executors, jobs_max, steps_max and the names of the policies. The first policy in the header, if any, must be
 *        the first policy of the run; the caller names it there to give the text of its argument. A swap adds the new
 *        policy's name, with CLO_LOG_ARGUMENT_UNKNOWN if it has an argument, unless the header names it last.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     runtime or log is NULL; the log grows as it is written, or has records
 *   CLO_ERR_UNSUPPORTED  the runtime lacks clo_with_policies
 *   CLO_ERR_STATE        jobs with a policy exist, another log is being written, or this is called from a task body or
 *                        a miss handler
 *
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_runtime_log_start(clo_runtime *runtime, clo_log *log);

/* Ends the log, also in the middle of runs: its last record counts the jobs that live. Returns once the runtime does
 * not touch it any more. Without a log nothing happens.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (runtime is NULL) or CLO_ERR_STATE (called from a task body or a miss handler).
 * Threads: any. Real time: no. Waits for the decisions in progress. */
CLO_API CLO_NODISCARD clo_status clo_runtime_log_stop(clo_runtime *runtime);

/* How a job is dispatched; see job.h. */
typedef enum clo_job_mode { CLO_JOB_REPLAY = 0, CLO_JOB_STEAL = 1, CLO_JOB_POLICY = 2 } clo_job_mode;

typedef enum clo_job_state {
    /* Never submitted. */
    CLO_JOB_CREATED = 0,

    CLO_JOB_RUNNING = 1,

    /* The job was cancelled or aborted, or a body failed: no other body starts, and the job has not ended yet. */
    CLO_JOB_STOPPING = 2,

    /* The last submit has ended. */
    CLO_JOB_ENDED = 3
} clo_job_state;

/* Bytes of a text in clo_job_progress, with its end; longer ones are cut. */
#define CLO_JOB_PROGRESS_TEXT 64

/* A job that exists, as it is at the moment. Made by the library, which appends fields. */
typedef struct clo_job_progress {
    /* clo_job_id. */
    uint64_t id;

    /* clo_graph_name, and the name of the policy that decides now (else ""). Copies; valid during the visit only. */
    const char *graph;
    const char *policy;

    clo_job_mode mode;

    clo_job_state state;

    /* The last submit, CLOCK_MONOTONIC; 0: never. */
    int64_t submit_ns;

    /* clo_job_config.deadline_ns (periodic jobs: or the period): from submit or release; 0: none. */
    int64_t deadline_ns;

    /* Bodies that have returned since the last submit, replicas and all runs of a series included. */
    uint64_t executed;

    /* Bodies of one run, replicas included. */
    uint32_t executions;

    /* Workers that run a body of it. */
    uint32_t running;
} clo_job_progress;

typedef void (*clo_job_visit_fn)(void *argument, const clo_job_progress *job);

/* For monitors: shows every job of the runtime that exists, from clo_job_create to clo_job_destroy, also while it is
 * submitted, ends or is destroyed. Workers never wait for this call. clo_job_destroy and clo_runtime_swap_policy wait
 * until the data that it reads have been copied, never for `visit`.
 *
 *   visit     called on this thread, once for each job, in no promised order. It may make any call that its thread may
 *             make, this function and clo_job_destroy included.
 *   argument  handed to it.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or CLO_ERR_STATE (this process was forked from the one that created the
 * runtime).
 * Not promised: one moment for all jobs, or for all fields of one that runs; a job made or destroyed meanwhile may be
 * shown or not.
 * Threads: any, between clo_runtime_create and clo_runtime_destroy, also in a task body or a miss handler. Real time:
 * no: the first call of a thread takes memory and a lock. Later ones are wait-free, O(jobs_max + jobs * workers). */
CLO_API CLO_NODISCARD clo_status clo_runtime_visit_jobs(const clo_runtime *runtime, clo_job_visit_fn visit,
                                                        void *argument);

/* Stops the workers and frees the runtime. Running jobs are cancelled and waited for, however long their bodies take.
 * Jobs that the caller has not destroyed are destroyed. NULL is allowed.
 * Threads: one, beside no other call on the runtime or its jobs but clo_token_complete (token.h); not in a task body.
 * Real time: no. Blocks. */
CLO_API void clo_runtime_destroy(clo_runtime *runtime);

/* The same, but waits at most `timeout_ns` for bodies to return.
 *
 *   timeout_ns  INT64_MAX: without limit; <= 0: not at all.
 *
 * Returns CLO_OK (all is freed), or
 *   CLO_ERR_TIMEOUT  clo_last_error names the tasks that still run, and their workers. All jobs are cancelled, none is
 *                    destroyed yet. The runtime takes no more jobs or submits. Only two things are allowed now: to
 *                    complete tokens, and to close or destroy it again, which waits on. Bodies that still run may do
 *                    what bodies may. Until such a call has freed all, leave alone what the workers can touch (graph,
 *                    cost, platform, config.memory); from then on it is the caller's again. A runtime that is never
 *                    closed again keeps its threads and its memory.
 *   CLO_ERR_STATE    called from a task body or a miss handler; nothing has changed
 *
 * After fork(2), in the child: frees memory, as job.h says, and waits for nothing.
 * Threads: one, beside no other call on the runtime or its jobs but clo_token_complete. Real time: no. Blocks up to
 * timeout_ns. */
CLO_API CLO_NODISCARD clo_status clo_runtime_close(clo_runtime *runtime, int64_t timeout_ns);

/* Says which real-time settings hold. One line each: "ok", "lack" or "off", then the setting, the reason and what to
 * do. Owned by the runtime; never NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_runtime_report(const clo_runtime *runtime);

/* A distribution of times. Zeros if nothing was recorded. Recording is wait-free and always on; reading may miss what
 * is being recorded. Plain values inside other structs; it never grows. */
typedef struct clo_latency {
    /* Times recorded. */
    uint64_t count;

    /* Quantiles: upper edges of buckets, at most 3.2 % too high. The largest is exact. */
    int64_t p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns;
} clo_latency;

/* What a worker has done since the start. */
typedef struct clo_worker_stats {
    /* Set by CLO_WORKER_STATS_INIT. */
    size_t size;

    /* Times it slept. */
    uint64_t parks;

    /* Times it was woken. */
    uint64_t wakes;

    /* Times the watchdog found it asleep with work in its inbox: always 0. */
    uint64_t missed_wakes;

    /* Page faults of its thread since it was ready. */
    uint64_t minor_faults, major_faults;

    /* From the waker's call until the worker ran. */
    clo_latency wake_ns;
} clo_worker_stats;

#define CLO_WORKER_STATS_INIT CLO_SIZED_INIT(clo_worker_stats)

/* Reads the statistics of a worker.
 *
 *   worker  0 .. clo_runtime_workers-1.
 *   out     set out->size with CLO_WORKER_STATS_INIT.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (also: out->size is wrong).
 * Threads: any. Real time: no: reads /proc for the page faults. O(1). */
CLO_API CLO_NODISCARD clo_status clo_runtime_worker_stats(const clo_runtime *runtime, uint32_t worker,
                                                          clo_worker_stats *out);

/* One execution, as the flight recorder keeps it. Times on CLOCK_MONOTONIC. Plain values; without a size field: records
 * are read in arrays. */
typedef struct clo_record {
    /* clo_job_id. */
    uint64_t job;

    uint32_t task, instance;

    uint32_t executor, is_replica;

    int64_t start_ns, finish_ns;
} clo_record;

/* The same with the release that it was part of: of a job with a period or with releases in flight, else 0. */
typedef struct clo_release_record {
    clo_record record;
    uint64_t release;
} clo_release_record;

/* Moves the oldest unread records of a worker into an array. Executions that found the ring full were dropped and
 * counted.
 *
 *   records  [max]; receives the records.
 *   dropped  receives the number dropped by this worker since the start; may be NULL.
 *
 * Returns the number of records; 0 without a recorder.
 * Threads: any, but one reader at a time for one worker. Real time: yes, O(max). */
CLO_API size_t clo_runtime_record_read(clo_runtime *runtime, uint32_t worker, clo_record *records, size_t max,
                                       uint64_t *dropped);

/* The same, with releases; each record is read once, by either call. flight.h reads all workers in order of time, and
 * keeps late releases.
 * Arguments, result, threads and real time as clo_runtime_record_read. */
CLO_API size_t clo_runtime_record_read_releases(clo_runtime *runtime, uint32_t worker, clo_release_record *records,
                                                size_t max, uint64_t *dropped);

/* The platform of the runtime, and the number of its workers.
 * Threads: any. Real time: yes, O(1). */
CLO_API const clo_platform *clo_runtime_platform(const clo_runtime *runtime);
CLO_API uint32_t clo_runtime_workers(const clo_runtime *runtime);

#ifdef __cplusplus
}
#endif
#endif
