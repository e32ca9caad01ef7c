/* sim/recorded.h - a recorded run, decided again. */
#ifndef CLO_SIM_RECORDED_H
#define CLO_SIM_RECORDED_H

#include "sim/drive.h"

/* Drives the engine by a recorded run. Returns CLO_OK, CLO_ERR_STATE (the first decision that differs, named),
 * CLO_ERR_TASK or CLO_ERR_MEMORY. */
clo_status clo_sim_replay(clo_sim *sim, const clo_trace *recorded);

#endif
