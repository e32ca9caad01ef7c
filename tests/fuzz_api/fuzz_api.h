/* fuzz_api.h - a fuzzer of sequences of public calls from several threads.
 *
 *   rules.c      which calls may run beside which, as the headers say; how the fuzzer keeps to it
 *   draw.c       random arguments
 *   models.c     shared graphs with costs, plans and the hash of their outputs; platforms
 *   graphs.c     what graphs hold besides plain tasks: grains, handles, branches, loops, modules
 *   bodies.c     task bodies (some call the library), miss handlers, policies
 *   pending.c    bodies that finish later, and the thread that completes them
 *   slots.c      taking runtimes and jobs out of their slots for a call
 *   runtimes.c   calls on runtimes
 *   jobs.c       calls on jobs: make, run, wait, end; timing.c: what is read and checked afterwards
 *   objects.c    calls on graphs, plans, traces, simulations, platforms; bad arguments
 *   readers.c    calls that only read graphs, costs, plans, platforms; views, by a policy that calls them all
 *   devices.c    kernels in place of bodies, on a device that may be lost
 *   flights.c    plans with an interval, their simulation and its judge
 *   streams.c    workloads, their simulation, replay and judge; logs of runtimes, held time
 *   log.c        what each thread does, the watch over hangs, what is printed on a failure
 *   hunger.c     how long threads waited for a CPU
 *   main.c       options, threads, epochs, leaks
 *
 * Objects live in slots. A thread draws a call and slots for its arguments, takes leave of rules.c, makes the call and
 * checks its status and what else can be known of its result. An epoch ends with nothing alive: threads, descriptors
 * and memory must be as before. */
#ifndef CLO_FUZZ_API_H
#define CLO_FUZZ_API_H

#include "base/numbers/rng.h"

#include <clotho/clotho.h>

#include <stdatomic.h>

#if defined(__SANITIZE_THREAD__)
#define CLO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLO_TSAN 1
#endif
#endif
#ifndef CLO_TSAN
#define CLO_TSAN 0
#endif

enum {
    THREADS_MAX = 16,
    RUNTIMES = 3,
    JOBS = 12,
    MODELS = 5,
    TRACES = 4,
    PLATFORMS = 6,
    PLANS = 3,
    WORKERS_MAX = 16,
    TASKS_DRAWN = 16,
    LOOP_TRAITS = 3,
    TASKS_MAX = 64
};

/* How a call uses an object. The order is that of the table in rules.c. */
typedef enum use_kind {
    USE_SUBMIT,
    USE_WAIT, /* wait, wait_for */
    USE_SWAP, /* swap_plan */
    USE_TIMING,
    USE_ID,
    USE_CANCEL,
    USE_OUTPUT, /* output, output_hash */
    USE_TRACE,
    USE_DESTROY, /* also: make one in the slot */
    USES_OF_JOB,
    USE_RUNTIME = USES_OF_JOB, /* every call on a runtime or on a job of it */
    USE_CLOSE,
    USE_RECORDS, /* of one worker */
    USE_SHARED,  /* read a model or a trace, or something alive borrows it */
    USE_FREE,
    USES
} use_kind;

typedef struct object_slot {
    _Atomic uint32_t guard, closing;
    _Atomic uint32_t active[USES];
} object_slot;

typedef struct model_slot {
    object_slot object;
    clo_graph *graph;
    clo_cost *costs[PLATFORMS];
    clo_plan *plans[PLATFORMS][PLANS];
    uint64_t hash;
    struct body_trait *traits;   /* arguments of the bodies, one a task */
    struct fuzz_kernel *kernels; /* one a task; of those that have one */
    bool keeps;                  /* handles are kept from run to run */
} model_slot;

typedef struct runtime_slot {
    object_slot object, readers[WORKERS_MAX];
    clo_runtime *_Atomic runtime;
    const clo_policy *_Atomic policy; /* of its jobs, as far as is known; NULL: none had one */
    uint32_t platform;
    clo_clock clock;
    bool traces;
    void *memory;
} runtime_slot;

typedef struct job_slot {
    object_slot object;
    clo_job *_Atomic job;
    uint32_t index, runtime, model;
    bool is_replay, is_policy, is_callers, is_periodic, is_endless, has_handler;
    _Atomic bool is_looked_at; /* by the one thread that output_hash and data are for */
    bool is_flight, is_part;   /* releases in flight; some of it was done before */
    uint64_t releases;
    void *memory;
    /* Numbers of submits: begun and done by the library; the last one that was waited for, and with CLO_OK. */
    _Atomic uint64_t begun, done, waited, waited_ok;
    _Atomic bool is_countable; /* the handler's counts since the last submit are of this submit alone */
    _Atomic uint64_t misses[3];
} job_slot;

typedef struct trace_slot {
    object_slot object;
    clo_trace *_Atomic trace;
    uint32_t model, platform;
} trace_slot;

typedef struct world {
    clo_platform *platforms[PLATFORMS];
    uint32_t workers[PLATFORMS];
    model_slot models[MODELS];
    runtime_slot runtimes[RUNTIMES];
    job_slot jobs[JOBS];
    trace_slot traces[TRACES];
} world;

extern world w;

typedef struct thread {
    uint32_t index;
    clo_rng rng;
} thread;

/* Every kind of call that a thread makes: function, weight. FEATURES are left out by name too. */
#define CALLS(X)           \
    X(runtime_create, 4)   \
    X(runtime_close, 2)    \
    X(runtime_destroy, 2)  \
    X(runtime_read, 3)     \
    X(worker_stats, 3)     \
    X(visit_jobs, 6)       \
    X(record_read, 3)      \
    X(job_create, 16)      \
    X(job_memory_bytes, 2) \
    X(submit, 24)          \
    X(wait, 6)             \
    X(wait_for, 12)        \
    X(cancel, 6)           \
    X(end, 8)              \
    X(job_destroy, 5)      \
    X(timing_read, 10)     \
    X(job_id, 2)           \
    X(output, 4)           \
    X(check, 8)            \
    X(job_trace, 4)        \
    X(swap_plan, 8)        \
    X(swap_policy, 6)      \
    X(model_new, 2)        \
    X(graph_build, 2)      \
    X(plan_calls, 3)       \
    X(trace_calls, 4)      \
    X(simulate, 4)         \
    X(platform_calls, 1)   \
    X(job_data, 2)         \
    X(hold_time, 2)        \
    X(log, 2)              \
    X(read_graph, 3)       \
    X(read_plan, 2)        \
    X(read_platform, 1)    \
    X(pipeline, 3)         \
    X(device, 4)           \
    X(stream, 3)           \
    X(rest, 3)
#define FEATURES(X)                                                          \
    X(foreign, "plans, traces and costs of another graph or platform")       \
    X(extreme, "times and sizes that overflow, negative ones, tiny periods") \
    X(null, "NULL arguments")                                                \
    X(body_calls, "bodies that call the library")                            \
    X(failing, "bodies that fail")                                           \
    X(abort, "CLO_MISS_ABORT")                                               \
    X(limits, "limits for bodies")                                           \
    X(periods, "periodic jobs")                                              \
    X(replay, "jobs with a plan")                                            \
    X(policies, "jobs with a policy")                                        \
    X(counts, "the check that the handler saw each miss once")               \
    X(lateness, "the check that no miss is reported before its time")        \
    X(pending, "bodies that finish later")                                   \
    X(kernels, "kernels in place of bodies")                                 \
    X(hedges, "second executions of what takes long")                        \
    X(branches, "branches, merges and loops")                                \
    X(handles, "handles")                                                    \
    X(grains, "ranges of instances")                                         \
    X(flights, "releases in flight")                                         \
    X(done, "jobs of which some is done before")                             \
    X(failing_init, "policies whose init fails")                             \
    X(callers_memory, "runtimes and jobs in the caller's memory")

enum {
#define X(name, weight) CALL_##name,
    CALLS(X)
#undef X
        CALLS_COUNT
};

typedef enum feature_name {
#define X(name, text) WITH_##name,
    FEATURES(X)
#undef X
        FEATURES_COUNT
} feature_name;

#define X(name, weight) void call_##name(thread *t);
CALLS(X)
#undef X

/* rules.c */
bool use_begin(object_slot *object, use_kind use);
void use_again(object_slot *object, use_kind use);
void use_end(object_slot *object, use_kind use);
bool use_alone(object_slot *object, use_kind use); /* waits until the others are done, not for ever; then use_end */
void rules_check(void);
extern bool rules_allow_unstated;
void rules_print(void);

/* draw.c */
uint32_t below(thread *t, uint32_t bound);
bool chance(thread *t, uint32_t percent);
bool with(feature_name feature);
extern bool left_out[FEATURES_COUNT];
int64_t draw_time(thread *t, int64_t most_ns); /* ordinary or extreme */
uint32_t draw_count(thread *t, uint32_t most);
int64_t now_ns(void);

/* models.c */
void platforms_open(void);
void platforms_close(void);
bool model_create(thread *t, model_slot *model, uint32_t index);
void model_free(model_slot *model);
void model_release(uint32_t index); /* of a job that is gone */
void models_create(thread *t);
void models_destroy(void);

/* bodies.c */
#define ACTION_FAIL UINT32_MAX
typedef struct body_trait {
    uint32_t action; /* what the body does besides computing */
    uint32_t model;
    int64_t spin_ns;
    uint32_t pends;        /* 1: it finishes later; 2: with a cancel function */
    uint32_t arms;         /* a branch */
    uint32_t bound, first; /* the condition of a loop, and its task in the first iteration */
    bool has_kernel;       /* on some kinds of executors */
    bool keeps;            /* what it reads of handles does not count: they are kept */
} body_trait;
body_trait draw_trait(thread *t, uint32_t model);
int fuzz_body(const clo_call *call);
void fuzz_compute(const clo_call *call, const body_trait *trait); /* what a body does besides calls */
void fuzz_miss(void *argument, clo_job *job, const clo_miss *miss);
const clo_policy *draw_policy(thread *t);
extern _Thread_local bool is_quiet; /* bodies only compute: the expected outputs are being made */

/* graphs.c */
typedef enum graph_shape { SHAPE_PLAIN, SHAPE_GRAINS, SHAPE_HANDLES, SHAPE_BRANCHES, SHAPE_LOOP } graph_shape;
graph_shape draw_shape(thread *t);
void shape_task(thread *t, graph_shape shape, body_trait *trait, clo_task *task);
void shape_edge(thread *t, model_slot *model, uint32_t from, uint32_t to);
void shape_rest(thread *t, model_slot *model, graph_shape shape, uint32_t tasks);

/* readers.c */
extern const clo_policy curious; /* calls all that a view has */

/* pending.c */
bool pending_begin(const clo_call *call, uint32_t pends, int code); /* false: it finishes at once */
void pending_start(void);
void pending_stop(void); /* when no runtime is left */

/* devices.c */
bool draw_kernel(thread *t, graph_shape shape); /* the next task has one */
void device_start(thread *t);
void device_stop(void); /* when no runtime is left */
void kernels_make(thread *t, model_slot *model,
                  uint32_t tasks);                        /* before the graph is sealed: of tasks that has_kernel */
void kernels_complete(model_slot *model, uint32_t tasks); /* and after */

/* slots.c */
bool runtime_use(uint32_t index, clo_runtime **out);
bool job_use(job_slot *slot, use_kind use, clo_job **out); /* with its runtime */
bool job_use_alone(job_slot *slot, clo_job **out);         /* USE_OUTPUT, for calls of one thread */
void job_unuse_alone(job_slot *slot);
void job_unuse(job_slot *slot, use_kind use);
void job_gone(job_slot *slot);                       /* the library has freed it */
clo_status job_submit(job_slot *slot, clo_job *job); /* with USE_SUBMIT held */

/* timing.c */
void job_waited(job_slot *slot, uint64_t seen, clo_status status);
void job_check(job_slot *slot);

/* runtimes.c */
void runtimes_end(void);

/* log.c */
void log_begin(const thread *t, const char *what, uint32_t slot);
void log_end(const thread *t, int status);
uint64_t log_count(const thread *t); /* calls begun */
void log_start(uint64_t seed);
void log_stop(void);
_Noreturn void broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The status must be one of those listed, and a failure must have a line of text. */
#define expect(status, ...)                                               \
    expect_one((status), #__VA_ARGS__, (const clo_status[]){__VA_ARGS__}, \
               sizeof((const clo_status[]){__VA_ARGS__}) / sizeof(clo_status), __func__)
clo_status expect_one(clo_status status, const char *names, const clo_status *list, size_t count, const char *where);
extern uint32_t hang_seconds;

/* The most that a thread of this process waited for a CPU since the last call, of those that were there then. One thread
 * calls it. */
uint64_t hunger_ns(void);
extern _Atomic uint64_t calls_made[CALLS_COUNT];

#endif
