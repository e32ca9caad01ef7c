/* overrun.c - bodies that take longer than they may.
 *
 * A worker tells which body it has begun and when that is too long (sync/sleep/watch.h); the watchdog looks while jobs
 * with limits run. One of the two finds an overrun first and counts it. */
#include "run/extras/overrun.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/extras/miss.h"
#include "run/state/item.h"
#include "run/state/series.h"

int64_t clo_job_limit_ns(const clo_job *job, uint32_t execution, uint32_t executor)
{
    const clo_series *series = job->series;
    int64_t limit_ns = series->limit_ns;

    if (series->limit_percent > 0) {
        int64_t expected_ns = clo_cost_time(job->program->cost, clo_program_task(job->program, execution), executor);
        int64_t part_ns = clo_time_add(clo_time_mul(expected_ns / 100, series->limit_percent),
                                       expected_ns % 100 * series->limit_percent / 100);
        if (expected_ns > 0 && (limit_ns == 0 || part_ns < limit_ns))
            limit_ns = part_ns > 0 ? part_ns : 1;
    }
    return limit_ns;
}

void clo_overrun_begin(clo_worker *worker, const clo_job *job, uint32_t execution, uint64_t release)
{
    int64_t limit_ns = clo_job_limit_ns(job, execution, worker->index);

    clo_watch_begin(&worker->watch, &(clo_watch_note){
                                        .item = clo_task_shown(job, clo_program_task(job->program, execution)),
                                        .release = release,
                                        .over_ns = limit_ns > 0 ? clo_time_add(clo_clock_ns(), limit_ns) : INT64_MAX,
                                    });
}

void clo_overrun_end(clo_worker *worker, clo_job *job)
{
    clo_watch_note body;

    if (!clo_watch_end(&worker->watch, clo_clock_ns(), &body))
        return;
    atomic_fetch_add_explicit(&job->series->overruns, 1, memory_order_relaxed);
    if (job->series->miss != NULL) /* else nobody wants to know which */
        clo_watch_leave_note(&worker->watch, &body);
}

static void report(clo_runtime *runtime, uint32_t worker, const clo_watch_note *note)
{
    clo_miss_report(clo_item_job(runtime, note->item), (clo_miss){.kind = CLO_MISS_OVERRUN,
                                                                  .task = (uint32_t)note->item,
                                                                  .executor = worker,
                                                                  .release = note->release,
                                                                  .late_ns = clo_clock_ns() - note->over_ns});
}

/* Returns when the body that runs now will be over its limit; INT64_MAX: none, or it was reported. */
static int64_t see_body(clo_runtime *runtime, uint32_t worker, int64_t now_ns)
{
    clo_watch *watch = &runtime->workers[worker].watch;
    clo_watch_note body;
    uint64_t word;

    if (!clo_watch_see(watch, &word, &body))
        return INT64_MAX;
    if (body.over_ns >= now_ns)
        return clo_time_add(body.over_ns, 1);
    if (!clo_watch_claim(watch, word))
        return INT64_MAX;
    atomic_fetch_add_explicit(&clo_item_job(runtime, body.item)->series->overruns, 1, memory_order_relaxed);
    report(runtime, worker, &body);
    return INT64_MAX;
}

int64_t clo_overrun_poll(clo_runtime *runtime, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    clo_watch_note note;

    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        while (clo_watch_read_note(&runtime->workers[w].watch, &note))
            report(runtime, w, &note);
        int64_t over_ns = see_body(runtime, w, now_ns);
        if (over_ns < next_ns)
            next_ns = over_ns;
    }
    return next_ns;
}
