/* run/threads/worker_loop.h - what a worker does all day. */
#ifndef CLO_RUN_THREADS_WORKER_LOOP_H
#define CLO_RUN_THREADS_WORKER_LOOP_H

#include "run/state/worker.h"

/* Until the runtime stops. On the worker's own thread. */
void clo_worker_run(clo_worker *worker);

#endif
