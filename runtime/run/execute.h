/* run/execute.h - runs one item of any job. */
#ifndef CLO_RUN_EXECUTE_H
#define CLO_RUN_EXECUTE_H

#include "run/worker.h"

/* Returns the next item to run, or CLO_ITEM_NONE. The item's job may be gone afterwards. */
uint64_t clo_worker_execute(clo_worker *worker, uint64_t item);

#endif
