/* stamp.c - see stamp.h. */
#include "run/records/stamp.h"

static clo_tick_line line_until_now(const clo_runtime *runtime)
{
    clo_tick_line line = runtime->line;

    clo_clock_pair(&line.ticks2, &line.ns2);
    return line;
}

int64_t clo_stamp_submit_ns(const clo_job *job)
{
    int64_t submitted = atomic_load_explicit(&job->times.submitted, memory_order_relaxed);

    if (!clo_job_counts_ticks(job) || submitted == 0)
        return submitted;
    clo_tick_line line = line_until_now(job->runtime);
    return clo_tick_line_ns(&line, submitted);
}

int64_t clo_stamp_response_ns(const clo_job *job)
{
    int64_t response = atomic_load_explicit(&job->times.response, memory_order_relaxed);

    if (!clo_job_counts_ticks(job))
        return response;
    clo_tick_line line = line_until_now(job->runtime);
    return clo_tick_line_ns(&line, line.ticks + response) - line.ns;
}

int64_t clo_stamp_ticks_in_us(const clo_tick_line *line)
{
    int64_t ticks, ns;

    clo_clock_pair(&ticks, &ns);
    int64_t in_us = ns > line->ns ? (ticks - line->ticks) * 1000 / (ns - line->ns) : 1;
    return in_us > 0 ? in_us : 1;
}
