/* run/state/watchdog.h - the struct of the watchdog: the jobs that it looks after, its lock and its eventcount.
 *
 * What its thread does is in watchdog_loop.c. A runtime holds one, without a thread until a job needs it. Workers ring
 * the eventcount and never take the lock. */
#ifndef CLO_RUN_STATE_WATCHDOG_H
#define CLO_RUN_STATE_WATCHDOG_H

#include "sync/sleep/eventcount.h"
#include "sync/sleep/timeout_slot.h"

#include <clotho/job.h>

#include <pthread.h>

typedef struct clo_watchdog {
    clo_runtime *runtime;
    pthread_t thread;
    /* The thread was created, and is ready. */
    bool exists;
    /* What its SCHED_FIFO met with: an errno value, or 0. */
    int fifo_error;
    /* Futex word: 1 once its thread has its memory, its priority and its CPUs. */
    _Atomic uint32_t is_ready;
    /* Priority inheritance; control path only. */
    pthread_mutex_t lock;
    /* [jobs_max] those watched. */
    clo_job **jobs;
    uint32_t jobs_count;
    clo_eventcount eventcount;
    /* Those of all workers. */
    clo_timeouts timeouts;
    _Atomic uint32_t stopping;
} clo_watchdog;

#endif
