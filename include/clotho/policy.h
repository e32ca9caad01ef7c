/* policy.h - online decisions: a table of functions, and the view that they see.
 *
 * A *scheduler* owns every decision for all jobs that were submitted to it. It knows which jobs live, which of their
 * stages are ready, which executors are free, and what capacity is left. It asks a *policy* what to do. The scheduler
 * tells the policy what happened (clo_policy.event) and then calls clo_policy.decide again and again.
 *
 * A *stage* is a task of a job's graph with all its instances. They are alike, so a policy chooses a stage and a number
 * of instances; the scheduler takes the next ones in order. A stage is ready when all its predecessors have finished
 * all their instances (see CLO_READY_ASSIGNED for another rule). Live jobs are named by *slots*, small numbers that are
 * used again when a job has ended; clo_live_job.id is never used again.
 *
 * One thread at a time calls a policy's functions, not always the same thread. They never know whether time is real or
 * virtual. All that they can see follows from the sequence of inputs (arrivals, completions, timers, cancellations,
 * swaps), so a log of the inputs repeats every decision.
 *
 * Library: libclotho; libclotho-decide has clo_policy_find. */
#ifndef CLOTHO_POLICY_H
#define CLOTHO_POLICY_H

#include <clotho/cost.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bands of jobs: 0 goes first (real time). */
#define CLO_BANDS_MAX 8

/* Sizes that a policy's state may depend on. Made by the library, which appends fields. */
typedef struct clo_limits {
    /* Jobs that live at once; slots are 0 .. jobs-1. */
    uint32_t jobs;

    /* Of the platform. */
    const clo_platform *platform;
    uint32_t executors;

    /* How long an executor is on its way to another job, in a simulation with an environment (stream.h); else 0. */
    int64_t moving_ns;

    /* 1: an executor goes on with its stage while that has instances to start (clo_environment.keeps_stages). */
    uint32_t keeps_stages;
} clo_limits;

/* A live job as a policy sees it. Made by the library, which appends fields. Lists of jobs are in order of arrival. */
typedef struct clo_live_job {
    /* Its number in order of submission to the scheduler, from 0. */
    uint64_t id;

    const clo_cost *cost;

    /* On the scheduler's clock. */
    int64_t arrival_ns;

    /* Likewise; CLO_TIME_NEVER: none. */
    int64_t deadline_ns;

    /* >= 1. */
    uint32_t weight;

    /* 0 .. CLO_BANDS_MAX - 1. */
    uint32_t band;

    /* A number of the user's choice; 0 if none was given. */
    uint32_t group;

    /* Most executors at once; CLO_NONE: any number. */
    uint32_t limit;

    /* Instances (and replicas) that run, and that wait in queues of executors. */
    uint32_t running, committed;

    /* Instances that have not finished; of these, ready and neither running nor committed. */
    uint32_t unfinished, startable;

    /* Sum of the mean times of the unfinished instances. */
    int64_t remaining_ns;

    /* Its ready stages with instances to start, oldest first; CLO_NONE: none. See clo_live_stage.next_ready. */
    uint32_t first_ready, last_ready;

    /* Neighbours in order of arrival: slots; CLO_NONE at the ends. */
    uint32_t previous, next;

    /* The memory that clo_policy.prepare has filled; the policy may change it. */
    void *state;

    /* Executors that are bound to it (clo_live_executor.home). */
    uint32_t bound;
} clo_live_job;

/* A stage of a live job as a policy sees it. Made by the library, which appends fields. */
typedef struct clo_live_stage {
    /* Predecessors with unfinished instances; predecessors with unassigned instances (neither committed nor started nor
     * finished). */
    uint32_t parents_left, parents_unassigned;

    /* Instances neither committed nor started; in queues; running; not finished. */
    uint32_t unstarted, committed, running, unfinished;

    /* Its neighbours in the job's list of ready stages; CLO_NONE at the ends. */
    uint32_t next_ready, previous_ready;

    /* When it became ready. */
    int64_t ready_ns;
} clo_live_stage;

/* An executor as a policy sees it. Made by the library, which appends fields. */
typedef struct clo_live_executor {
    /* What runs there: slot, stage, instance; CLO_NONE: nothing. If is_moving, `job` is the slot of the job that it
     * goes to. */
    uint32_t job, stage, instance;

    /* 1: a replica runs there. */
    uint32_t is_replica;

    /* Instances in its queue. */
    uint32_t committed;

    /* When it is expected to be done with all that it runs and has queued; in the past: it is free. */
    int64_t free_ns;

    /* clo_live_job.id of the job that it ran last or runs; UINT64_MAX: none yet. */
    uint64_t last_job;

    /* clo_live_job.id of the job that it is bound to: where it ran last, or went to (CLO_STAGE_MOVE); UINT64_MAX: none.
     * A job that has ended binds nothing, but its number stays here. */
    uint64_t home;

    /* The stage of `home` that it ran last or runs. CLO_NONE: none since it came there, or since it left the stage
     * (CLO_STAGE_LEAVE). */
    uint32_t last_stage;

    /* 1: it is on its way to another job, and not free. */
    uint32_t is_moving;
} clo_live_executor;

/* A ready stage; job CLO_NONE: the end of a list. */
typedef struct clo_ready_stage {
    uint32_t job, stage;
} clo_ready_stage;

typedef struct clo_view clo_view; /* opaque, read-only; valid during a call of the policy only */

/* The view. All calls on it:
 * Threads: only the thread that the policy is called on, during that call. Real time: yes. O(1), where nothing else is
 * said. Pointers that they return are valid until the policy's function returns; NULL for what does not exist. */

CLO_API const clo_limits *clo_view_limits(const clo_view *view);

/* The argument that the policy was given; NULL: none. */
CLO_API const void *clo_view_argument(const clo_view *view);

/* The time of the decision, on the scheduler's clock. */
CLO_API int64_t clo_view_now_ns(const clo_view *view);

/* The band of this decision: choices of jobs of another band are refused. */
CLO_API uint32_t clo_view_band(const clo_view *view);

/* The live jobs: number, first (slot; CLO_NONE: none), and the row of one job. */
CLO_API uint32_t clo_view_jobs(const clo_view *view);
CLO_API uint32_t clo_view_first_job(const clo_view *view);
CLO_API const clo_live_job *clo_view_job(const clo_view *view, uint32_t job);

/* The row of a stage of a live job, and the row of an executor. */
CLO_API const clo_live_stage *clo_view_stage(const clo_view *view, uint32_t job, uint32_t stage);
CLO_API const clo_live_executor *clo_view_executor(const clo_view *view, uint32_t executor);

/* The first free executor after `after` (CLO_NONE: of all); CLO_NONE: there is none. O(executors / 64). */
CLO_API uint32_t clo_view_next_free(const clo_view *view, uint32_t after);

/* The list of ready stages of the band, of all jobs, with instances to start, in the order in which they became ready:
 * the oldest one, and the one after `ready`. */
CLO_API clo_ready_stage clo_view_first_ready(const clo_view *view);
CLO_API clo_ready_stage clo_view_next_ready(const clo_view *view, clo_ready_stage ready);

/* When all inputs of an instance of the stage can be in the memory of `executor`, if that is chosen now. A predecessor
 * that has not finished counts as if it finishes when expected. O(inputs of the stage * memories they lie in; a memory
 * whose executors have different links counts once for each kind of them). */
CLO_API int64_t clo_view_arrival_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor);

/* The same for one input: that of the stage's k-th predecessor, k = 0, 1, ... O(memories). */
CLO_API int64_t clo_view_input_arrival_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t k,
                                          uint32_t executor);

/* When `executor` is expected to be free, not before now. */
CLO_API int64_t clo_view_available_ns(const clo_view *view, uint32_t executor);

/* Time of an instance on `executor`: clo_cost_execution_ns. */
CLO_API int64_t clo_view_execution_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor);

/* True if a replica of the stage may be made on `executor` (clo_choice.duplicate): it is duplicable, of one instance,
 * and can run there; it neither runs, nor has run, nor is to run there already, as the original or as a replica; and no
 * replica of it lies, or will lie, in that memory (in that part of it, where its executors have different links). */
CLO_API bool clo_view_may_duplicate(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor);

/* True if the capacities of the executor's machine have room for an instance of the stage now. */
CLO_API bool clo_view_fits(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor);

/* Number of ready stages of the job, if none of them fits a free executor because the machine has less left of some
 * resource, without what is reserved for waiting stages, than the smallest demand of any of them. 0: some may fit. The
 * stages are not looked at one by one. O(executors that are free). */
CLO_API uint32_t clo_view_unfit(const clo_view *view, uint32_t job);

/* What is left of a resource of the platform on a machine: its capacity less what the scheduler's running bodies hold.
 * What jobs outside the scheduler hold is not subtracted, so that a log repeats each decision; clo_view_fits counts it.
 * INT64_MAX: unlimited, or no such machine or resource. */
CLO_API int64_t clo_view_capacity_left(const clo_view *view, uint32_t machine, uint32_t resource);

/* The first free executor that may run an instance of the stage now: its time is known, and its machine has room.
 * CLO_NONE: there is none. O(executors). */
CLO_API uint32_t clo_view_free_for(const clo_view *view, uint32_t job, uint32_t stage);

/* The executor where an instance of the stage is expected to finish first, if it is chosen now: it begins when the
 * executor is done with all that it runs and has queued (clo_view_available_ns) and its inputs are there
 * (clo_view_arrival_ns). Ties: the lowest executor. Capacities are ignored. CLO_NONE: the instance can run nowhere, or
 * there is no such stage. O(executors), and the cost of clo_view_arrival_ns for each of those that would be the first
 * if all inputs were there. */
CLO_API uint32_t clo_view_earliest(const clo_view *view, uint32_t job, uint32_t stage);

/* Counts one step of the decision in progress. False: the bound (clo_job_config.steps_max) is reached; the policy must
 * return now, with what it has. */
CLO_API bool clo_view_step(const clo_view *view);

/* Counts `count` steps at once, before the work that they stand for. False: they would pass the bound; then the bound
 * counts as reached, and the policy must return now. */
CLO_API bool clo_view_steps(const clo_view *view, uint64_t count);

/* Reports that a choice is made without looking at all jobs or stages, because the policy has no room for them. This is
 * only counted: clo_job_result.partial, clo_stream_result.partial. */
CLO_API void clo_view_partial(const clo_view *view);

typedef enum clo_event_kind {
    /* `job` is live now. CLO_EVENT_READY follows for its first stages. A policy that comes in by a swap also gets it
     * for jobs that live already. At all other events the policy knows the job, and at START the stage; it is not asked
     * before it knows all live jobs. */
    CLO_EVENT_ARRIVE = 0,

    /* `count` instances of (job, stage) may be chosen now; `executor` finished the last one that they waited for
     * (CLO_NONE: none did). */
    CLO_EVENT_READY = 1,

    /* `count` instances of (job, stage) were started on `executor` (CLO_NONE: on several) or put into its queue, by a
     * choice or by the scheduler's own rule. */
    CLO_EVENT_START = 2,

    /* An instance of (job, stage) ended on `executor`; the rows of the job and the stage count it already. READY
     * follows for stages that have waited for it. */
    CLO_EVENT_FINISH = 3,

    /* `job` is cancelled: nothing of it is ready any more. END follows, at once or when its last body has ended. */
    CLO_EVENT_CANCEL = 4,

    /* `job` has ended; its slot may be given to another one next. */
    CLO_EVENT_END = 5,

    /* The time that a choice has asked for (clo_choice.wake_ns) has come. */
    CLO_EVENT_TIMER = 6,

    /* A job outside this scheduler gave capacity back. */
    CLO_EVENT_CAPACITY = 7,

    /* `executor` has come to `job` (CLO_STAGE_MOVE) and is free. `job` is CLO_NONE if the job has ended meanwhile. */
    CLO_EVENT_MOVED = 8
} clo_event_kind;

/* Made by the library, which appends fields. */
typedef struct clo_event {
    clo_event_kind kind;
    uint32_t job, stage, executor, count;
} clo_event;

/* Values of clo_choice.stage that start nothing. `executor` is a free one, `job` a live one of the band.
 *
 * CLO_STAGE_MOVE   The executor goes to the job, as an executor of Spark does, and is bound to it. CLO_EVENT_MOVED
 *                  comes when it is there: at once, except in a simulation whose environment says how long that takes.
 *                  Until then the executor is not free.
 * CLO_STAGE_LEAVE  The executor, bound to the job, gives up what it keeps of its last stage, and stays with the job.
 *
 * An instance can be started on an executor of another job without a move before: the executor then goes to the job
 * with it, which takes as long as a move. Between two inputs there may be at most twice as many moves that take no time
 * as there are executors; a further one is refused. */
#define CLO_STAGE_MOVE (CLO_NONE - 1)
#define CLO_STAGE_LEAVE (CLO_NONE - 2)

/* What a policy answers. The scheduler passes it with count 1, limit and wake_ns 0, and all else CLO_NONE; a policy
 * sets what it wants. */
typedef struct clo_choice {
    /* The slot and the stage. job CLO_NONE: nothing is started. Stage CLO_STAGE_MOVE, CLO_STAGE_LEAVE: see above. */
    uint32_t job, stage;

    /* Instances to start; a larger number than there are, or than may run, means all of them. */
    uint32_t count;

    /* CLO_NONE: any free executors that have room. A free executor: the instances start there. An executor that is not
     * free, or a stage whose inputs are not there yet: they wait in the executor's queue, behind what is of their own
     * band or a higher one, and the executor is kept for them and for higher bands. */
    uint32_t executor;

    /* A predecessor, duplicable and of one instance: it is recomputed on `executor` first (LACHESIS, DEFT). CLO_NONE:
     * nothing is recomputed. Refused if clo_view_may_duplicate is false. Its body is called there (clo_call.is_replica)
     * and writes a buffer of its own; of the outputs that exist when a consumer begins, it reads the one that can be in
     * its memory first. A replica that fails or runs too long is treated like any other execution. Every job with a
     * policy has room for all replicas that may be asked for: one of each such predecessor in each memory. */
    uint32_t duplicate;

    /* The job's parallelism limit from now on; 0: unchanged, CLO_NONE: none. Between two inputs there may be at most as
     * many choices that only set a limit as there are live jobs; a further one is refused. */
    uint32_t limit;

    /* When to ask the policy again (CLO_EVENT_TIMER), whatever happens before; 0: no wish. The earliest time counts. */
    int64_t wake_ns;
} clo_choice;

/* When a stage counts as ready. */
typedef enum clo_readiness {
    /* All its predecessors have finished. */
    CLO_READY_FINISHED = 0,

    /* All instances of its predecessors are at least assigned: committed, running or finished (LACHESIS, section
     * 4.1). What is chosen then waits in the queue of its executor. */
    CLO_READY_ASSIGNED = 1
} clo_readiness;

/* A policy. Plain values; static, or kept by the caller while it is in use.
 * Threads: `prepare` is called on the submitter's thread, at the same time as anything else; all other functions by one
 * thread at a time, on any worker.
 * Real time: `event` and `decide` must not allocate, lock or block. */
typedef struct clo_policy {
    /* What clo_policy_find and reports use. */
    const char *name;

    /* One line for a reader. */
    const char *summary;

    /* sizeof(clo_policy). */
    size_t size;

    clo_readiness readiness;

    /* 1: decide is called also while no executor is free (its choices go into queues). */
    uint32_t commits;

    /* Bytes of state for a scheduler, and for each job of it; zeroed by the runtime. NULL: none. */
    size_t (*state_bytes)(const clo_limits *limits, const void *argument);
    size_t (*job_bytes)(const clo_cost *cost, const void *argument);

    /* Fills a job's state before it arrives: ranks, preferred orders, embeddings. A failure refuses the job. NULL:
     * nothing to do. */
    clo_status (*prepare)(void *job_state, const clo_cost *cost, const void *argument);

    /* Called once, before the first event. NULL: nothing to do. */
    clo_status (*init)(void *state, const clo_view *view);

    /* Something happened. The cost of the call must be in proportion to what has changed. NULL: the policy gets no
     * events, and reads the view instead. */
    void (*event)(void *state, const clo_view *view, const clo_event *event);

    /* What next? True: *choice holds it; decide is called again. False: nothing more until the next input.
     *
     * Called while stages of the band are ready (or were, by `readiness`) and executors are free. A choice that is
     * impossible (an unknown or ended job, a stage that is not ready, an executor that cannot run it, a job of another
     * band) is refused and counted; then the scheduler's own rule decides until the next input: the oldest ready stage
     * that may run goes to the first free executor. The same rule steps in when a decision reaches its bound
     * (clo_view_step), when a policy leaves all executors idle with work to do and no timer, and if a lower band would
     * get an executor that work of this band could use (as far as the bound lets the scheduler look). */
    bool (*decide)(void *state, const clo_view *view, clo_choice *choice);

    /* Bytes of an argument, and how to read one from text ("fair:2"). NULL: the policy takes none from text. */
    size_t argument_bytes;
    clo_status (*parse)(const char *text, void *argument);

    /* 1: decide is called also while no stage of a band is ready but jobs of it live (to move executors). */
    uint32_t moves;

    /* Frees what parse has opened for the argument, when the policy is no longer in use; the argument's own bytes are
     * the caller's. Called once for each parse that returned CLO_OK, and by who fills an argument that owns something. NULL:
     * nothing is to be freed. */
    void (*release)(const void *argument);
} clo_policy;

/* A built-in policy by name; NULL, with a text in clo_last_error, if there is none. Static.
 * clo_registry_entry("policies", ...) lists all names except "lachesis" (the more stages are ready, the longer its
 * decisions take) and "residual", "easy-residual" (see learned.h). Threads: any. Real time:
 * yes, O(policies). */
CLO_API const clo_policy *clo_policy_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
