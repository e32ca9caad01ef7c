/* run/threads/watchdog_loop.h - the watchdog's life, and the jobs that it looks after. Control path only. */
#ifndef CLO_RUN_THREADS_WATCHDOG_LOOP_H
#define CLO_RUN_THREADS_WATCHDOG_LOOP_H

#include "run/state/watchdog.h"

clo_status clo_watchdog_init(clo_watchdog *watchdog, clo_runtime *runtime);

/* Joins the thread, if there is one. */
void clo_watchdog_stop(clo_watchdog *watchdog);

/* Creates the thread, if there is none. It has its memory, its priority (or was refused it: `fifo_error`) and its CPUs
 * when this returns. */
clo_status clo_watchdog_need(clo_watchdog *watchdog);

/* The job has a series. Adding one that is watched, and removing one that is not, change nothing. */
void clo_watchdog_add(clo_watchdog *watchdog, clo_job *job);
void clo_watchdog_remove(clo_watchdog *watchdog, clo_job *job);

#endif
