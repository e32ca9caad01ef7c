/* run/records/monitor.h - the list of jobs that monitors look into, from any thread and at any time
 * (clo_runtime_visit_jobs).
 *
 * A slot of the list points to the job that exists there. It is read under RCU (sync/protocol/rcu.h); workers never
 * look at it. Who adds or removes a job holds `control`. */
#ifndef CLO_RUN_RECORDS_MONITOR_H
#define CLO_RUN_RECORDS_MONITOR_H

#include "run/state/job.h"

/* All that does not change about the job is set. */
void clo_monitor_add(clo_job *job);

/* Who frees the job calls clo_monitor_wait first. */
void clo_monitor_remove(const clo_job *job);

/* Until nobody looks at a job that was removed; at once where nobody has ever looked at any job of the runtime. Without
 * `control`. */
void clo_monitor_wait(const clo_runtime *runtime);

#endif
