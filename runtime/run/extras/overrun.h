/* run/extras/overrun.h - limits of bodies: a worker says when it begins and ends one, the watchdog looks meanwhile. */
#ifndef CLO_RUN_EXTRAS_OVERRUN_H
#define CLO_RUN_EXTRAS_OVERRUN_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Before and after the body of an execution, for jobs whose series has limits. */
void clo_overrun_begin(clo_worker *worker, const clo_job *job, uint32_t execution, uint64_t release);
void clo_overrun_end(clo_worker *worker, clo_job *job);

/* Reports overruns; returns when to look again. The watchdog's. */
int64_t clo_overrun_poll(clo_runtime *runtime, int64_t now_ns);

/* How long the body of an execution may take there; 0: as long as it likes. The job has a series. */
int64_t clo_job_limit_ns(const clo_job *job, uint32_t execution, uint32_t executor);

#endif
