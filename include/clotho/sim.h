/* sim.h - the engine in virtual time: same dispatch, same policies, an event heap for a clock. */
#ifndef CLOTHO_SIM_H
#define CLOTHO_SIM_H

#include <clotho/job.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_sim_config {
    size_t size;               /* CLO_SIM_CONFIG_INIT                                                */
    const clo_plan *plan;      /* replay; else                                                       */
    const clo_policy *policy;  /* this policy; both NULL: the policy "steal"                         */
    const clo_trace *recorded; /* durations, transfer times and the order of completions of a recorded run in
                                 place of the cost model: the run is replayed and must decide alike  */
    uint32_t execute;          /* 1: call the bodies too (this thread, order of virtual time)         */
    int64_t deadline_ns;
    uint32_t steps_max;          /* as clo_job_config.steps_max                                       */
    uint64_t memory_limit_bytes; /* as clo_job_config.memory_limit_bytes                              */
} clo_sim_config;

#define CLO_SIM_CONFIG_INIT CLO_SIZED_INIT(clo_sim_config)

/* Simulates one job; deterministic.
 *   result  as clo_job_wait; may be NULL.
 *   trace   what happened; owned by the caller; may be NULL.
 *   output_hash  as clo_job_output_hash, if config.execute; may be NULL.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: the plan or the record is of another graph or platform, see
 * clo_plan_matches), CLO_ERR_INVALID (the plan is incomplete, or its order impossible), CLO_ERR_STATE
 * (the policy left every executor idle with work to do; or a recorded run decided otherwise: the first difference is
 * in clo_last_error), CLO_ERR_LIMIT (memory_limit_bytes), CLO_ERR_TASK, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_simulate(const clo_cost *cost, const clo_sim_config *config,
                                              clo_job_result *result, clo_trace **trace, uint64_t *output_hash);

#ifdef __cplusplus
}
#endif
#endif
