/* plan/budget/parallel.h - a loop whose rounds are independent, on several threads.
 *
 * Round i runs on worker i mod threads, whatever the machine does: who keeps the best of its worker's rounds by (value,
 * round) and then of all workers the same way gets the same result with any number of threads. */
#ifndef CLO_PLAN_BUDGET_PARALLEL_H
#define CLO_PLAN_BUDGET_PARALLEL_H

#include "library.h"
#include <stdint.h>

#define CLO_PARALLEL_MAX 64

/* Calls fn(context, worker, round) for all rounds 0 .. count - 1; the rounds of one worker follow each other in rising
 * order. threads: 1 .. CLO_PARALLEL_MAX; 1: in the calling thread. Cannot fail: what a thread that could not be
 * created had to do, the caller does. */
CLO_INTERNAL void clo_parallel_for(uint32_t threads, uint32_t count,
                                   void (*fn)(void *context, uint32_t worker, uint32_t round), void *context);

#endif
