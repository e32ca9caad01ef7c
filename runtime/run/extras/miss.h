/* run/extras/miss.h - tells the application of a miss: a deadline, a release or a limit that was not kept. */
#ifndef CLO_RUN_EXTRAS_MISS_H
#define CLO_RUN_EXTRAS_MISS_H

#include <clotho/job.h>

/* Calls the job's handler, if it has one; on the watchdog's thread only. Fills in when the release was due and, for a
 * deadline, a task that runs. */
void clo_miss_report(clo_job *job, clo_miss miss);

#endif
