/* run/worker_loop.h - what a worker does all day. */
#ifndef CLO_RUN_WORKER_LOOP_H
#define CLO_RUN_WORKER_LOOP_H

#include "run/worker.h"

/* Until the runtime stops. On the worker's own thread. */
void clo_worker_run(clo_worker *worker);

#endif
