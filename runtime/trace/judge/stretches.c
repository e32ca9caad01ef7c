/* stretches.c - what is preempted (CLO_LOG_PREEMPT): the executions of an instance follow each other, all but the last
 * one are stopped, and together they are its time. A stretch of t ns on an executor where the instance takes T ns is
 * t / T of it. Of a log without PREEMPT nothing is looked at here. */
#include "trace/judge/jobs.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <stdlib.h>

typedef struct stretch {
    const clo_judge_execution *execution;
    uint32_t instance; /* of the graph */
} stretch;

static int by_instance(const void *left, const void *right)
{
    const stretch *a = left, *b = right;

    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return a->execution->record < b->execution->record ? -1 : a->execution->record > b->execution->record;
}

/* What is never stopped takes its time, to the ns. What is stopped ends in the ns in which its shares sum up to 1, or in
 * the next one: each of them was rounded down. */
static void check_time(clo_judge *judge, const clo_judge_shape *shape, const stretch *of, uint32_t count)
{
    const clo_judge_execution *last = of[count - 1].execution;
    int64_t sum_ns = 0, due_ns = clo_cost_execution_ns(shape->cost, last->stage, last->executor);
    double shares = 0, rounding = 0x1p-30;
    bool is_equal = true;
    char text[CLO_JUDGE_LABEL_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        int64_t time_ns = clo_cost_execution_ns(shape->cost, last->stage, of[i].execution->executor);
        int64_t ran_ns = clo_time_sub(of[i].execution->finish_ns, of[i].execution->start_ns);
        if (time_ns == CLO_TIME_NEVER || ran_ns < 0) /* said before */
            return;
        sum_ns = clo_time_add(sum_ns, ran_ns);
        shares += time_ns > 0 ? (double)ran_ns / (double)time_ns : 1;
        is_equal = is_equal && time_ns == due_ns;
    }
    double most = 1 + rounding + (count > 1 && due_ns > 0 ? 1.0 / (double)due_ns : 0);
    if (count == 1 ? sum_ns != due_ns : (is_equal ? sum_ns < due_ns : shares < 1 - rounding) || shares > most)
        clo_judge_fault(judge, count == 1 ? CLO_STREAM_DURATION : CLO_STREAM_PREEMPTED, last->finish_record,
                        "%s: it ran for %lld ns in %u stretches, %.9f of its time",
                        clo_judge_label_times(judge, last, text), (long long)sum_ns, count, shares);
}

/* The originals of one instance, in order of their records. */
static void check_instance(clo_judge *judge, const clo_judge_shape *shape, const stretch *of, uint32_t count)
{
    char text[CLO_JUDGE_LABEL_BYTES];
    bool is_over = true; /* all of it finished, and nothing but the last one is its end */

    for (uint32_t i = 0; i < count; i++) {
        const clo_judge_execution *x = of[i].execution;
        is_over = is_over && x->finish_record != CLO_NONE && x->is_preempted == (i + 1 < count);
        if (i == 0)
            continue;
        const clo_judge_execution *before = of[i - 1].execution;
        if (before->is_preempted && (before->finish_record > x->record || before->finish_ns > x->start_ns))
            clo_judge_fault(judge, CLO_STREAM_PREEMPTED, x->record, "%s: its stretch before, from record %u, goes on",
                            clo_judge_label(judge, x, text), before->record);
        if (!before->is_preempted && x->is_preempted)
            clo_judge_fault(judge, CLO_STREAM_PREEMPTED, x->record, "%s: it has finished before, from record %u",
                            clo_judge_label(judge, x, text), before->record);
    }
    if (is_over && judge->has_exact_times && !of[0].execution->is_skipped)
        check_time(judge, shape, of, count);
}

/* rows: room for the executions of any job. */
static void check_job(clo_judge *judge, uint32_t j, stretch *rows)
{
    const clo_judge_job *job = &judge->jobs[j];
    const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->count; i++) {
        const clo_judge_execution *x = &judge->executions[judge->by_job[job->first + i]];
        if (!clo_judge_is_replica(judge, x) && !x->is_dropped)
            rows[count++] = (stretch){x, shape->first_instance[x->stage] + x->instance};
    }
    qsort(rows, count, sizeof rows[0], by_instance);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && rows[end].instance == rows[first].instance;)
            end++;
        check_instance(judge, shape, &rows[first], end - first);
    }
}

clo_status clo_judge_stretches(clo_judge *judge)
{
    uint32_t most = 0;

    if (!judge->has_stretches)
        return CLO_OK;
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        most = judge->jobs[j].count > most ? judge->jobs[j].count : most;
    stretch *rows = clo_allocate(most, sizeof *rows);
    if (rows == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        check_job(judge, j, rows);
    clo_free(rows);
    return CLO_OK;
}
