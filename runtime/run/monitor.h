/* run/monitor.h - the list of jobs that monitors look into, from any thread and at any time (clo_runtime_visit_jobs).
 *
 * A slot of the list points to the job that exists there. It is read under RCU (sync/rcu.h); workers never look at it.
 * Both calls with `control` held. */
#ifndef CLO_RUN_MONITOR_H
#define CLO_RUN_MONITOR_H

#include "run/job.h"

/* All that does not change about the job is set. */
void clo_monitor_add(clo_job *job);

/* Who frees the job calls clo_rcu_wait first. */
void clo_monitor_remove(const clo_job *job);

#endif
