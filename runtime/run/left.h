/* run/left.h - roots of short jobs, left for the thread that submitted them and will wait for its job (help.h).
 *
 * They lie on a list of their own of some worker (clo_worker.left), so that others leave them alone for a moment: an
 * idle worker takes what it has seen there before while no job has ended since. For everything that is left, some
 * worker is on the look-out, or has been woken for it; if neither was possible, or that worker has found something else
 * to do, it goes to the public lists, where everybody finds it. */
#ifndef CLO_RUN_LEFT_H
#define CLO_RUN_LEFT_H

#include "run/job.h"
#include "run/runtime.h"
#include "run/worker.h"

/* Leaves all roots of the job, and sees to it that somebody will run them. */
void clo_left_put(clo_job *job);

/* An idle worker: something that has been left for a while, and the rest of its list to its own deque; CLO_ITEM_NONE:
 * nothing. With `now` whatever there is. */
uint64_t clo_left_take(clo_worker *worker, bool now);

/* Everything that is left goes to the public lists. */
void clo_left_publish(clo_runtime *runtime);

#endif
