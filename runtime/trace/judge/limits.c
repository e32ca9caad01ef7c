/* limits.c - a job's limit: when an execution begins, no more executions of the job run (this one included) than the
 * limit that held when it was decided. A limit that falls does not stop what runs or is decided. What is committed
 * begins later, when the limit may have risen and others have begun: the highest limit of all counts for it. */
#include "trace/judge/jobs.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

typedef struct moment {
    int64_t time_ns;
    uint32_t execution;
} moment;

static int by_time(const void *left, const void *right)
{
    const moment *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->execution < b->execution ? -1 : a->execution > b->execution;
}

static void check_job(clo_judge *judge, const clo_judge_job *job, moment *starts, moment *finishes)
{
    uint32_t count = 0, ended = 0;
    char text[CLO_JUDGE_LABEL_BYTES];

    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t index = judge->by_job[job->first + i];
        const clo_judge_execution *x = &judge->executions[index];
        if (x->finish_record == CLO_NONE || x->finish_ns < x->start_ns)
            continue;
        starts[count] = (moment){clo_judge_held_from(judge, x), index};
        finishes[count++] = (moment){x->finish_ns, index};
    }
    qsort(starts, count, sizeof starts[0], by_time);
    qsort(finishes, count, sizeof finishes[0], by_time);
    for (uint32_t begun = 1; begun <= count; begun++) {
        const clo_judge_execution *x = &judge->executions[starts[begun - 1].execution];
        while (ended < begun - 1 && finishes[ended].time_ns <= starts[begun - 1].time_ns)
            ended++;
        bool is_committed = judge->records[x->record].what == CLO_LOG_COMMIT;
        uint32_t limit = is_committed ? job->highest : x->limit;
        if (limit > 0 && begun - ended > limit)
            clo_judge_fault(judge, CLO_STREAM_LIMIT, x->record, "%s: %u executions of the job run, its limit is %u",
                            clo_judge_label_times(judge, x, text), begun - ended, limit);
    }
}

clo_status clo_judge_limits(clo_judge *judge)
{
    size_t most = 0;

    for (uint32_t j = 0; j < judge->jobs_count; j++)
        if (judge->jobs[j].has_limit && judge->jobs[j].count > most)
            most = judge->jobs[j].count;
    moment *starts = clo_allocate(most, sizeof *starts), *finishes = clo_allocate(most, sizeof *finishes);
    clo_status status = starts != NULL && finishes != NULL ? CLO_OK : clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++)
        if (judge->jobs[j].has_limit)
            check_job(judge, &judge->jobs[j], starts, finishes);
    clo_free(starts);
    clo_free(finishes);
    return status;
}
