/* run/control/place.h - the CPU of each worker. */
#ifndef CLO_RUN_CONTROL_PLACE_H
#define CLO_RUN_CONTROL_PLACE_H

#include "run/state/worker.h"

/* Chooses them. CLO_ERR_PLATFORM: the real clock, and there are not enough. */
clo_status clo_runtime_place(clo_runtime *runtime);

/* Pins the calling thread, which is the worker's, if it has a CPU. Returns 0, or an error number. */
int clo_worker_pin(const clo_worker *worker);

#endif
