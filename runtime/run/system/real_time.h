/* run/system/real_time.h - the threads of a runtime, as real-time work needs them, and which of them the caller is. */
#ifndef CLO_RUN_SYSTEM_REAL_TIME_H
#define CLO_RUN_SYSTEM_REAL_TIME_H

#include <clotho/runtime.h>

#include <pthread.h>

#define CLO_STACK_DEFAULT_BYTES ((size_t)256 << 10)
#define CLO_FIFO_MAX 98 /* of workers: SCHED_FIFO ends at 99, and the watchdog has one more */

/* Which thread to create: this one, or the worker of that number. */
enum { CLO_THREAD_WATCHDOG = -1 };

/* Returns an errno value, 0: created. */
int clo_thread_create(clo_runtime *runtime, int what, pthread_t *thread, void *(*main_of)(void *), void *argument);

/* On the thread itself, first. Returns what SCHED_FIFO met with: an errno value, or 0. The watchdog may run on each CPU
 * that the runtime may use, whichever thread has created it. */
int clo_thread_begin(clo_runtime *runtime, bool is_watchdog);

/* For pthread_cleanup_push: the calling thread, one of a runtime, ends within a body or a handler that could not be
 * ended alone (engine/execution/body.h). Jobs would never end: the process does, after one line on stderr. */
void clo_thread_lost(void *unused);

/* Whether the calling thread is one of the runtime's workers. */
bool clo_thread_is_worker(const clo_runtime *runtime);

/* Whether the calling thread is the runtime's watchdog. */
bool clo_thread_is_watchdog(const clo_runtime *runtime);

/* Whether the calling thread is neither a worker nor a watchdog, of any runtime. */
bool clo_thread_is_foreign(void);

/* The calling thread, which is foreign, counts as a worker of the runtime from now on; NULL: no longer. */
void clo_thread_stands_in(const clo_runtime *runtime);

/* In the child of a fork: the calling thread, if it is a runtime's, blocks the signals that it blocked before. */
void clo_thread_unblock_signals(void);

/* The calling thread's, as the kernel numbers threads. */
int32_t clo_thread_id(void);

/* Locks and touches the memory, if that was asked for. CLO_ERR_SYSTEM: required, and refused. */
clo_status clo_real_time_lock(clo_runtime *runtime);

/* Threads of the runtime get a priority, or are meant to stay within its memory: the watchdog, too, is created with the
 * runtime then. Else it is with the first job that needs it. */
bool clo_real_time_is_wanted(const clo_runtime *runtime);

/* After all workers, or the watchdog, have begun; `error` is what the first of them was told. CLO_ERR_SYSTEM: required,
 * and refused. */
clo_status clo_real_time_report_priority(clo_runtime *runtime, bool is_watchdog, int error);

/* The page faults of the calling thread so far: minor, major. */
void clo_thread_own_faults(uint64_t faults[2]);

#endif
