/* environment.h - what gives the times of a simulated stream, in place of the costs.
 *
 * Under an environment (clo_stream_config.environment) executors are bound to jobs. One that goes to another job is on
 * its way for moving_ns first, whether the policy sends it (CLO_STAGE_MOVE) or starts an instance of that job there.
 * How long an execution takes is what the environment says, once, when it is started: it may depend on what the
 * executor did before, on how many executors the job has, and on chance. Policies see the costs as before: their
 * estimate.
 *
 * Nothing is recomputed: a choice's `duplicate` is passed over. Where a policy names no executor (clo_choice.executor),
 * those that are bound to the job are taken first.
 *
 * At one instant arrivals come first, all of them before anything is decided; then what ends, in the order in which it
 * began. So the jobs of a batch are known together.
 *
 * A log names its environment (clo_log_header.environment), and its lengths are as they were drawn: the stream checker
 * does not compare them with the costs, and `clotho simulate --replay` draws them again. */
#ifndef CLOTHO_ENVIRONMENT_H
#define CLOTHO_ENVIRONMENT_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An execution that begins. Made by the library, which appends fields. */
typedef struct clo_environment_execution {
    const clo_graph *graph;

    /* Number of the job in the log. */
    uint64_t job;

    uint32_t stage, instance, executor;

    /* Executors that are bound to the job, this one included. */
    uint32_t bound;

    /* The stage of this job that the executor ran last. CLO_NONE: none since it came to the job, or since it left its
     * stage (CLO_STAGE_LEAVE). */
    uint32_t last_stage;

    /* By the cost. */
    int64_t cost_ns;
} clo_environment_execution;

/* A time model. Plain values: a caller may fill in one of his own. */
typedef struct clo_environment {
    /* Set by CLO_ENVIRONMENT_INIT. */
    size_t size;

    /* As a log names it; static, or kept while the environment is in use. */
    const char *name;

    /* How long an executor is on its way to another job; >= 0. */
    int64_t moving_ns;

    /* How long the execution takes, >= 0. Called once for each, in the order in which they are started. */
    int64_t (*time_ns)(void *state, const clo_environment_execution *execution);

    /* Given to time_ns; of one simulation at a time. */
    void *state;

    /* Frees `state`. NULL: nothing to free. */
    void (*close)(void *state);

    /* 1: an executor whose execution has ended goes on with the next instance of the same stage, where there is one and
     * nothing forbids it (limits, capacities, a higher band with ready stages); the policy is not asked. */
    uint32_t keeps_stages;
} clo_environment;

#define CLO_ENVIRONMENT_INIT CLO_SIZED_INIT(clo_environment)

/* Decima's environment (Mao et al., SIGCOMM 2019, and its public simulator, decima-sim). The time of an execution is
 * one of those measured (waves.h) at the level next to the number of the job's executors: levels 5, 10, 20, 40, 50, 60,
 * 80 and 100. Between two levels one is drawn, the nearer the likelier; a stage that was not measured at that level
 * takes its largest one. An executor keeps its stage (keeps_stages). The wave is
 *   fresh  where last_stage is CLO_NONE; without such a measurement `first`, and warmup_ns more
 *   rest   where last_stage is the stage, and there is one
 *   first  else; without one `fresh`
 * A stage without any measurement takes the time of its cost. */
typedef struct clo_decima_config {
    /* Set by CLO_DECIMA_CONFIG_INIT. */
    size_t size;

    /* 1: between two levels the *farther* one is the likelier, as in decima-sim. Its pair of levels l < r takes l with
     * the chance (executors - l) / (r - l), which is that of r. */
    uint32_t faithful;

    /* 0: 2 s and 1 s. */
    int64_t moving_ns, warmup_ns;

    /* Fixes every draw. */
    uint64_t seed;

    /* Where random numbers come from: 0 .. bound - 1, all with the same chance; bound >= 1. `stream` is 0 for levels,
     * 1 for times: decima-sim has a generator for each. NULL: a generator of the library, from `seed`. */
    uint32_t (*below)(void *source, uint32_t stream, uint32_t bound);
    void *source;
} clo_decima_config;

#define CLO_DECIMA_CONFIG_INIT CLO_SIZED_INIT(clo_decima_config)

/* Makes Decima's environment.
 *
 *   config  NULL: all defaults. Read during the call only; `source` is kept in use.
 *   out     set out->size by CLO_ENVIRONMENT_INIT; given to clo_environment_close.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown fields, a negative time) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). A draw is O(levels of the stage). */
CLO_API CLO_NODISCARD clo_status clo_decima_open(const clo_decima_config *config, clo_environment *out);

/* An environment by its name.
 *
 *   text  "decima" or "decima:faithful".
 *   seed  fixes every draw.
 *   out   as above.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: no such environment) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_environment_open(const char *text, uint64_t seed, clo_environment *out);

/* Frees what an environment holds. NULL, and one that was never opened, are allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_environment_close(clo_environment *environment);

#ifdef __cplusplus
}
#endif
#endif
