/* run/sharing/task_time.h - how long an item takes on a worker, lately. All calls are the owner's. */
#ifndef CLO_RUN_SHARING_TASK_TIME_H
#define CLO_RUN_SHARING_TASK_TIME_H

#include "run/state/worker.h"

/* The clock is read once in so many items. */
#define CLO_TASK_TIME_ITEMS 64u

/* Judges the items since the last call (worker->ran), and begins anew. */
void clo_worker_take_pace(clo_worker *worker);

/* An item has taken so long: quick to see that items are long, slow to believe that they are short. */
void clo_worker_note_pace(clo_worker *worker, int64_t task_time_ns);

#endif
