/* sim.h - one job in virtual time: the engine and the policies of a real run, with an event heap for a clock.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_SIM_H
#define CLOTHO_SIM_H

#include <clotho/job.h>
#include <clotho/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_sim_config {
    /* Set by CLO_SIM_CONFIG_INIT. */
    size_t size;

    /* Replay of this plan. NULL: a policy decides. */
    const clo_plan *plan;

    /* The policy, not together with `plan`. Both NULL: the policy "steal". */
    const clo_policy *policy;

    /* A recorded run: its durations, transfer times and order of completions take the place of the cost model. Every
     * decision must be equal to the recorded one. NULL: the cost model. */
    const clo_trace *recorded;

    /* 1: the bodies are called too, on this thread, in order of virtual time. */
    uint32_t execute;

    /* From the start, or from when a release is due; 0: none. It only sets clo_job_result.missed_deadline (with
     * period_ns: if any release missed it). */
    int64_t deadline_ns;

    /* As clo_job_config.steps_max. */
    uint32_t steps_max;

    /* As clo_job_config.memory_limit_bytes. Messages between machines with ports, and memory_parts, are not counted. */
    uint64_t memory_limit_bytes;

    /* Argument of the policy (see clo_policy); borrowed during the call. NULL: none. */
    const void *argument;

    /* As clo_job_config.seed, for this one run: the seed for the arms of branches, unless bodies that are run choose
     * the arms or `recorded` gives them. */
    uint64_t seed;

    /* With a plan: as clo_job_config.releases_in_flight (pipeline.h); 0: one run, of one release. Not together with
     * `recorded`. */
    uint32_t releases_in_flight;

    /* With releases_in_flight: releases in all. 0: one. */
    uint64_t releases;

    /* With releases_in_flight: release k is due at k * period_ns, and deadline_ns counts from there (0: the period).
     * 0: each release begins as soon as it may. */
    int64_t period_ns;

    /* With period_ns: receives the timing of the series, in virtual time, as clo_job_timing_read does; set timing->size
     * with CLO_JOB_TIMING_INIT. NULL: not wanted. */
    clo_job_timing *timing;

    /* With period_ns: [CLO_LATENCY_BUCKETS] receives how long the releases took, in virtual time, as
     * clo_job_latency_read says it. NULL: not wanted. */
    uint32_t *responses;

    /* [tasks * kinds of the platform] the memory parts of executions (memory.h): those that run at once on executors of
     * one memory slow each other down. Borrowed during the call. Not together with `recorded` or releases_in_flight.
     * NULL: each takes what the cost says. */
    const clo_memory_part *memory_parts;
} clo_sim_config;

#define CLO_SIM_CONFIG_INIT CLO_SIZED_INIT(clo_sim_config)

/* Simulates one job. The same arguments give the same result on every machine.
 *
 *   cost         of the graph and the platform; borrowed during the call.
 *   config       NULL: all defaults. What it points to is borrowed during the call.
 *   result       as clo_job_wait; may be NULL. Also filled for CLO_ERR_TASK.
 *   trace        what happened; owned by the caller; may be NULL. With releases_in_flight: of all releases.
 *   output_hash  as clo_job_output_hash, with config.execute; may be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the plan or `recorded` is of another graph or platform; plan and policy are
 *                     both given; result->size is wrong; unknown config fields; releases_in_flight without a plan,
 *                     above CLO_IN_FLIGHT_MAX, fewer than the plan needs, or with something that it cannot be combined
 *                     with (job.h); releases or period_ns without releases_in_flight; a negative period_ns; timing
 *                     without period_ns, or its size is wrong; a memory part out of range; memory_parts with
 *                     `recorded`, or on a platform that states a capacity of 0
 *   CLO_ERR_INVALID   the plan is incomplete, or its order is impossible; with releases_in_flight: clo_plan_check
 *                     refuses it
 *   CLO_ERR_UNSUPPORTED  a platform with ports: neither a plan nor `recorded` is given, or releases_in_flight is, or
 *                        memory_parts are, or the graph has branches; memory_parts with releases_in_flight
 *   CLO_ERR_STATE     a decision differs from the recorded one (clo_last_error names the first); or the tasks that are
 *                     left demand more than any machine has
 *   CLO_ERR_LIMIT     memory_limit_bytes; with ports: more than 2^25 pairs of instances
 *   CLO_ERR_TASK      a body failed
 *   CLO_ERR_MEMORY
 *
 * Not promised: that a real run takes as long. Costs are a model.
 *
 * Threads: any; bodies run on the calling thread. Real time: no. O(executions * (log executions + decision)), times
 * the releases. */
CLO_API CLO_NODISCARD clo_status clo_simulate(const clo_cost *cost, const clo_sim_config *config,
                                              clo_job_result *result, clo_trace **trace, uint64_t *output_hash);

/* What clo_profile_predict takes and tells. */
typedef struct clo_prediction {
    /* Set by CLO_PREDICTION_INIT. */
    size_t size;

    /* Simulations: 1 .. 100 000. CLO_PREDICTION_INIT sets 200. */
    uint32_t samples;

    /* Of the draws. */
    uint64_t seed;

    /* Out: half of the simulated makespans are at most the median; one in twenty is below `low_ns`, and one in twenty
     * above `high_ns`. */
    int64_t median_ns, low_ns, high_ns;

    /* Out: tasks with a memory part on a kind whose memory has a capacity. 0: no task was slowed by another. */
    uint32_t memory_tasks;
} clo_prediction;

#define CLO_PREDICTION_INIT                        \
    {                                              \
        sizeof(clo_prediction), 200, 0, 0, 0, 0, 0 \
    }

/* Predicts how long runs take whose tasks vary as the profile has seen them vary: simulates again and again, each time
 * with other durations. A task's duration is drawn once a simulation, from its location, spread and high value on each
 * kind; so is a factor of all of them (clo_run_spread), in multiples of its location where all times have a mean over
 * whole runs (clo_profile_entry.mean_ns). Tasks that were not measured take what `cost` says. Where the platform states
 * what its memory moves, tasks slow each other down by the memory parts of the profile (memory.h), unless
 * config->memory_parts gives others. The same arguments and the same snapshot give the same prediction on every machine.
 * (A plan with mean durations predicts too little: where tasks meet, the longest counts.)
 *
 *   profile     its snapshot is used.
 *   cost        of the graph and the platform; borrowed during the call.
 *   config      as for clo_simulate, without `recorded`, `execute` and `timing`; NULL: all defaults. releases_in_flight do
 *               not go together with memory parts that count.
 *   prediction  set prediction->size with CLO_PREDICTION_INIT.
 *
 * Returns as clo_simulate, and CLO_ERR_ARGUMENT if `samples` is out of range, or for what config must not hold.
 * Threads: any. Real time: no. O(samples * (cost + simulation)). */
CLO_API CLO_NODISCARD clo_status clo_profile_predict(const clo_profile *profile, const clo_cost *cost,
                                                     const clo_sim_config *config, clo_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
