/* lock.h - the locks of control: mutexes whose holder gets the priority of whoever waits for it (PTHREAD_PRIO_INHERIT).
 * So a holder of low priority is not kept from the CPU by a third thread. Workers take none on their own; bodies that
 * create, submit or destroy jobs do. In the order in which they are taken, and how long one may be held:
 *
 *   swapping   (run/state/scheduling.h) through a whole swap of policies, and until those who make jobs with the old
 *              one are done. Bodies never want it.
 *   coming     (run/state/scheduling.h) while a scheduler is made, a swap waits for the combiner, or a log ends: these
 *              call the policy (sizes, `init`, `prepare`) and wait for another thread. Bodies want it for jobs with a
 *              policy only: to create or destroy one.
 *   control    (run/state/runtime.h) for bounded steps; where a runtime that is closed cancels its jobs, these may be a
 *              turn of the scheduler (64 posts of others), which calls the policy (`event`, `decide`).
 *   lock       of the watchdog (run/state/watchdog.h): for a look at all watched jobs, which may take such a turn if
 *              nobody else does. Whoever replaces a scheduler waits with it for the end of the last turn, and whoever
 *              makes the watchdog until that is ready. Never held while a handler of misses runs. */
#ifndef CLO_SYNC_SLEEP_LOCK_H
#define CLO_SYNC_SLEEP_LOCK_H

#include "library.h"
#include <pthread.h>

/* Returns an errno value; 0: made. Gone with pthread_mutex_destroy. */
CLO_INTERNAL int clo_lock_init(pthread_mutex_t *lock);

#endif
