/* launch.c - starts a run: of a job with a policy by its arrival at the scheduler, of one with an order in virtual time
 * by a turn of that, of any other by handing out its roots. */
#include "run/dispatch/launch.h"

#include "run/dispatch/virtual.h"
#include "run/job/begin.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/scheduler/combining.h"
#include "run/state/series.h"

void clo_job_run_go(clo_job *job)
{
    if (job->virtual_time != NULL)
        clo_virtual_start(job);
    else if (job->scheduled != NULL)
        clo_job_ask(job, CLO_ASK_ARRIVE);
    else
        clo_job_run_distribute(job);
}

void clo_job_run_start(clo_job *job, uint64_t release)
{
    clo_job_run_arm(job, release);
    clo_job_run_go(job);
}

void clo_job_run_next(clo_job *job)
{
    clo_series *series = job->series;

    if (clo_job_is_stopped(job))
        clo_job_run_take_off(job);
    else
        clo_job_run_start(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
}
