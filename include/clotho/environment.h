/* environment.h - a time model for simulated streams, in place of the costs.
 *
 * Under an environment (clo_stream_config.environment) executors are bound to jobs. An executor that goes to another
 * job is on its way for moving_ns first, whether the policy sends it (CLO_STAGE_MOVE) or starts an instance of that job
 * there. When an execution is started, the environment says once how long it takes. That time may depend on what the
 * executor did before, on how many executors the job has, and on random draws. Policies still see the costs, as
 * estimates.
 *
 * Nothing is recomputed: clo_choice.duplicate is ignored. If a policy names no executor (clo_choice.executor),
 * executors that are bound to the job are taken first.
 *
 * At one instant all arrivals come first, before any decision; then the executions that end, in the order in which they
 * began. So the jobs of a batch are known together.
 *
 * A log names its environment (clo_log_header.environment), and its times are those that were drawn: the stream checker
 * does not compare them with the costs, and `clotho simulate --replay` draws them again.
 *
 * Library: libclotho-decide. */
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

    /* The time of the execution by the cost. */
    int64_t cost_ns;
} clo_environment_execution;

/* A time model. Plain values: a caller may fill in its own. */
typedef struct clo_environment {
    /* Set by CLO_ENVIRONMENT_INIT. */
    size_t size;

    /* The name that a log gives it; static, or kept while the environment is in use. */
    const char *name;

    /* How long an executor is on its way to another job; >= 0. */
    int64_t moving_ns;

    /* How long the execution takes, >= 0. Called once for each execution, in the order of their starts. */
    int64_t (*time_ns)(void *state, const clo_environment_execution *execution);

    /* Passed to time_ns. Used by one simulation at a time. */
    void *state;

    /* Frees `state`. NULL: nothing to free. */
    void (*close)(void *state);

    /* 1: an executor whose execution has ended goes on with the next instance of the same stage, if there is one and
     * nothing forbids it (limits, capacities, a higher band with ready stages). The policy is not asked. */
    uint32_t keeps_stages;
} clo_environment;

#define CLO_ENVIRONMENT_INIT CLO_SIZED_INIT(clo_environment)

/* Decima's environment (Mao et al., SIGCOMM 2019, and its public simulator, decima-sim). The time of an execution is
 * drawn from the times measured (waves.h) at a level next to the number of the job's executors. Levels are 5, 10, 20,
 * 40, 50, 60, 80 and 100. If the number lies between two levels, one of the two is drawn; the nearer one is more
 * likely. A stage that was not measured at that level uses its largest level. An executor keeps its stage
 * (keeps_stages). The wave is
 *   fresh  if last_stage is CLO_NONE; without such a measurement: a time of `first`, plus warmup_ns
 *   rest   if last_stage is this stage, and such a measurement exists
 *   first  otherwise; without such a measurement: a time of `fresh`
 * A stage without any measurement takes the time of its cost. */
typedef struct clo_decima_config {
    /* Set by CLO_DECIMA_CONFIG_INIT. */
    size_t size;

    /* 1: between two levels the *farther* one is more likely, as in decima-sim: of two levels l < r it takes l with the
     * chance (executors - l) / (r - l), which should be the chance of r. */
    uint32_t faithful;

    /* 0: 2 s and 1 s. Moving times other than 2 s are a part of the environment's name. */
    int64_t moving_ns, warmup_ns;

    /* Fixes every draw. */
    uint64_t seed;

    /* The source of random numbers: returns one of 0 .. bound - 1, all with the same chance; bound >= 1. `stream` is 0
     * for levels, 1 for times: decima-sim has a generator for each. NULL: a generator of the library, from `seed`. */
    uint32_t (*below)(void *source, uint32_t stream, uint32_t bound);
    void *source;
} clo_decima_config;

#define CLO_DECIMA_CONFIG_INIT CLO_SIZED_INIT(clo_decima_config)

/* Makes Decima's environment.
 *
 *   config  NULL: all defaults. Read during the call only; `source` must live until clo_environment_close.
 *   out     set out->size by CLO_ENVIRONMENT_INIT. Give it to clo_environment_close at the end.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown fields, a negative time) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). A draw is O(levels of the stage). */
CLO_API CLO_NODISCARD clo_status clo_decima_open(const clo_decima_config *config, clo_environment *out);

/* An environment by its name.
 *
 *   text  "decima", "decima:faithful", "decima:moving=500ms" or "decima:faithful,moving=500ms". `moving`: how long an
 *         executor is on its way to another job, whole ns, us, ms or s, up to 1000000s; 0: no time.
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
