/* miss.c - fills in what a handler of misses is told, and calls it: without the watchdog's lock. The job stays, as it
 * is not settled before the watchdog says so. */
#include "run/extras/miss.h"

#include "engine/execution/body.h"
#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/state/worker.h"

/* A task of the job that runs now. */
static void find_running(const clo_job *job, clo_miss *miss)
{
    const clo_runtime *runtime = job->runtime;

    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        uint64_t current = atomic_load_explicit(&runtime->workers[w].current, memory_order_relaxed);
        if (current == CLO_ITEM_NONE || current >> 32 != job->slot)
            continue;
        miss->task = (uint32_t)current;
        miss->executor = w;
        return;
    }
}

void clo_miss_report(clo_job *job, clo_miss miss)
{
    clo_series *series = job->series;

    if (series->miss == NULL)
        return;
    miss.release_ns = clo_series_due_ns(series, miss.release);
    if (miss.kind == CLO_MISS_DEADLINE)
        find_running(job, &miss);
    pthread_mutex_unlock(&job->runtime->watchdog.lock);
    series->miss(series->argument, job, &miss);
    clo_body_end_child();
    pthread_mutex_lock(&job->runtime->watchdog.lock);
}
