/* figures.c - see figures.h. A job completes with its last finish, not when the scheduler hears of it. */
#include "trace/judge/figures.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <stdlib.h>

static void count_job(clo_judge *judge, const clo_stream_job *what, const clo_judge_job *job)
{
    clo_stream_report *report = &judge->report;
    bool is_done = job->done_record != CLO_NONE, is_finished = clo_judge_is_finished(job);

    if (job->arrive_record == CLO_NONE) {
        report->absent++;
        return;
    }
    report->arrived++;
    report->finished += is_done && job->done_value == CLO_LOG_DONE_OK;
    report->cancelled += is_done && job->done_value == CLO_LOG_DONE_CANCELLED;
    report->failed += is_done && job->done_value == CLO_LOG_DONE_FAILED;
    if (what->deadline_ns > 0 &&
        (!is_finished || clo_time_sub(job->last_finish_ns, job->arrived_ns) > what->deadline_ns))
        report->missed_deadlines++;
}

static void add_completions(clo_judge *judge, int64_t *times)
{
    clo_stream_report *report = &judge->report;
    double sum = 0, weighted = 0, weights = 0;
    size_t count = 0;

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        const clo_judge_job *job = &judge->jobs[j];
        double weight = judge->stream->jobs[j].weight;
        count_job(judge, &judge->stream->jobs[j], job);
        if (!clo_judge_is_finished(job))
            continue;
        times[count] = clo_time_sub(job->last_finish_ns, job->arrived_ns);
        sum += (double)times[count];
        weighted += weight * (double)times[count++];
        weights += weight;
    }
    if (count == 0)
        return;
    clo_sort_times(times, count);
    report->mean_completion_ns = sum / (double)count;
    report->p95_completion_ns = times[(count * 95 + 99) / 100 - 1];
    report->weighted_completion_ns = weights > 0 ? weighted / weights : 0;
}

static void add_executions(clo_judge *judge)
{
    clo_stream_report *report = &judge->report;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

    for (uint32_t j = 0; j < judge->jobs_count; j++)
        if (judge->jobs[j].arrive_record != CLO_NONE && judge->jobs[j].arrived_ns < first_ns)
            first_ns = judge->jobs[j].arrived_ns;
    for (uint32_t i = 0; i < judge->executions_count; i++) {
        const clo_judge_execution *x = &judge->executions[i];
        if (x->finish_record == CLO_NONE)
            continue;
        report->executions += !x->is_preempted;
        report->replicas += !x->is_preempted && clo_judge_is_replica(judge, x);
        report->busy_ns = clo_time_add(report->busy_ns, clo_time_sub(x->finish_ns, x->start_ns));
        last_ns = x->finish_ns > last_ns ? x->finish_ns : last_ns;
    }
    if (last_ns <= first_ns)
        return;
    report->makespan_ns = clo_time_sub(last_ns, first_ns);
    report->utilization = (double)report->busy_ns / ((double)report->makespan_ns * judge->executors);
}

/* Samples at equal distances: arrivals up to then, less the jobs that were done by then. */
static void sample_backlog(clo_judge *judge, int64_t *arrivals, int64_t *ends)
{
    size_t arrived = 0, ended = 0, arrivals_count = 0, ends_count = 0, samples = judge->stream->backlog_count;
    int64_t begin_ns = judge->records_count > 0 ? judge->records[0].now_ns : 0;
    int64_t end_ns = judge->records_count > 0 ? judge->records[judge->records_count - 1].now_ns : 0;
    int64_t span_ns = clo_time_sub(end_ns, begin_ns), steps = samples > 1 ? (int64_t)samples - 1 : 1;

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        const clo_judge_job *job = &judge->jobs[j];
        if (job->arrive_record == CLO_NONE)
            continue;
        arrivals[arrivals_count++] = job->arrived_ns;
        if (job->done_record != CLO_NONE)
            ends[ends_count++] = job->done_ns;
    }
    clo_sort_times(arrivals, arrivals_count);
    clo_sort_times(ends, ends_count);
    for (size_t k = 0; k < samples; k++) {
        int64_t part = samples > 1 ? (int64_t)k : 1;
        int64_t at_ns = clo_time_add(begin_ns, span_ns / steps * part + span_ns % steps * part / steps);
        while (arrived < arrivals_count && arrivals[arrived] <= at_ns)
            arrived++;
        while (ended < ends_count && ends[ended] <= at_ns)
            ended++;
        judge->stream->backlog[k] = arrived > ended ? (uint32_t)(arrived - ended) : 0;
    }
}

clo_status clo_judge_figures(clo_judge *judge)
{
    int64_t *times = clo_allocate(judge->jobs_count, sizeof *times);
    int64_t *others = clo_allocate(judge->jobs_count, sizeof *others);
    clo_status status = times != NULL && others != NULL ? CLO_OK : clo_fail_memory("the check of a log");

    if (status == CLO_OK) {
        add_completions(judge, times);
        add_executions(judge);
        if (judge->stream->backlog != NULL)
            sample_backlog(judge, times, others);
    }
    clo_free(times);
    clo_free(others);
    return status;
}
