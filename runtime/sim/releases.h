/* sim/releases.h - a plan with several releases in flight, in virtual time. */
#ifndef CLO_SIM_RELEASES_H
#define CLO_SIM_RELEASES_H

#include "trace/trace.h"

#include <clotho/sim.h>

/* CLO_OK where the config has no releases in flight, or all that they need; else as clo_simulate. */
clo_status clo_sim_check_releases(const clo_sim_config *config);

/* As clo_simulate, of a config that was checked. *result: written where the status is CLO_OK or CLO_ERR_TASK. */
clo_status clo_sim_run_releases(const clo_cost *cost, const clo_sim_config *config, clo_job_result *result,
                                clo_trace **trace, uint64_t *output_hash);

#endif
