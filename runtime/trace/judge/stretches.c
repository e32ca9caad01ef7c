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

/* Shares of the instance's time that its finished stretches are. Where it takes no time it is done at once, and a stretch
 * of some time is one too many. < 0: said before. */
static double sum_shares(const clo_judge_shape *shape, const stretch *of, uint32_t count, int64_t due_ns,
                         int64_t *sum_ns, bool *is_equal)
{
    double shares = 0;

    *sum_ns = 0;
    *is_equal = true;
    for (uint32_t i = 0; i < count; i++) {
        const clo_judge_execution *x = of[i].execution;
        int64_t time_ns = clo_cost_execution_ns(shape->cost, x->stage, x->executor);
        int64_t ran_ns = clo_time_sub(x->finish_ns, x->start_ns);
        if (x->finish_record == CLO_NONE)
            continue;
        if (time_ns == CLO_TIME_NEVER || ran_ns < 0)
            return -1;
        *sum_ns = clo_time_add(*sum_ns, ran_ns);
        if (time_ns > 0)
            shares += (double)ran_ns / (double)time_ns;
        else
            shares = ran_ns > 0 ? shares + 2 : shares < 1 ? 1 : shares;
        *is_equal = *is_equal && time_ns == due_ns;
    }
    return shares;
}

/* What is never stopped takes its time, to the ns. What is stopped ends in the ns in which its shares sum up to 1, or in
 * the next one: each of them was rounded down. What is not over has run no longer than that. */
static void check_time(clo_judge *judge, const clo_judge_shape *shape, const stretch *of, uint32_t count, bool is_over)
{
    const clo_judge_execution *last = of[count - 1].execution;
    int64_t due_ns = clo_cost_execution_ns(shape->cost, last->stage, last->executor), sum_ns;
    bool is_equal;
    double shares = sum_shares(shape, of, count, due_ns, &sum_ns, &is_equal), rounding = 0x1p-30;
    double most = 1 + rounding + (due_ns > 0 && due_ns != CLO_TIME_NEVER ? 1.0 / (double)due_ns : 0);
    char text[CLO_JUDGE_LABEL_BYTES];

    if (shares < 0)
        return;
    bool is_short = is_over && (is_equal ? sum_ns < due_ns : shares < 1 - rounding);
    bool is_long = is_over && count == 1 ? sum_ns > due_ns : shares > most;
    if (is_short || is_long)
        clo_judge_fault(judge, count == 1 && is_over ? CLO_STREAM_DURATION : CLO_STREAM_PREEMPTED,
                        last->finish_record != CLO_NONE ? last->finish_record : last->record,
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
    if (judge->has_exact_times)
        check_time(judge, shape, of, count, is_over);
}

/* rows: room for the executions of any job. */
static void check_job(clo_judge *judge, uint32_t j, stretch *rows)
{
    const clo_judge_job *job = &judge->jobs[j];
    const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->count; i++) {
        const clo_judge_execution *x = &judge->executions[judge->by_job[job->first + i]];
        bool is_committed = judge->records[x->record].what == CLO_LOG_COMMIT;
        if (x->is_preempted && (clo_judge_is_replica(judge, x) || x->is_skipped || is_committed))
            clo_judge_fault(judge, CLO_STREAM_PREEMPTED, x->finish_record,
                            "job %llu: replicas, and what is skipped or committed, are not stopped",
                            clo_judge_number(judge, j));
        if (!clo_judge_is_replica(judge, x) && !x->is_dropped && !x->is_skipped) /* see check_body */
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
