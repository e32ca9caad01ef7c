/* ends.c - how the jobs end. A log holds a CANCEL exactly where a body failed or was left out, before the job was done; so it
 * says twice how the job has ended. Who waited for the run may say it a third time (clo_stream_case.ends). */
#include "trace/check/check.h"

static const char *const texts[] = {"all of it finished", "it was cut short", "a body failed"};

/* DONE by what came before it. */
static int64_t due_value(const clo_judge *judge, const clo_judge_job *job)
{
    if (job->cancel_record == CLO_NONE || job->cancel_record > job->done_record)
        return CLO_LOG_DONE_OK;
    return judge->records[job->cancel_record].value == 0 ? CLO_LOG_DONE_CANCELLED : CLO_LOG_DONE_FAILED;
}

static void check_end(clo_judge *judge, uint32_t j)
{
    static const uint8_t ends[] = {CLO_STREAM_END_OK, CLO_STREAM_END_CUT, CLO_STREAM_END_FAILED};
    const clo_judge_job *job = &judge->jobs[j];
    int64_t value = judge->records[job->done_record].value, due = due_value(judge, job);
    uint8_t end = judge->stream->ends != NULL ? judge->stream->ends[j] : CLO_STREAM_END_UNKNOWN;

    if (value < CLO_LOG_DONE_OK || value > CLO_LOG_DONE_FAILED)
        return;
    if (value != due)
        clo_judge_fault(judge, CLO_STREAM_WRONG_END, job->done_record, "job %llu: DONE says that %s, CANCEL that %s",
                        clo_judge_number(judge, j), texts[value], texts[due]);
    else if (end != CLO_STREAM_END_UNKNOWN && end != ends[value])
        clo_judge_fault(judge, CLO_STREAM_WRONG_END, job->done_record,
                        "job %llu: DONE says that %s; who waited for it was told that %s", clo_judge_number(judge, j),
                        texts[value], texts[end - 1]);
}

clo_status clo_judge_ends(clo_judge *judge)
{
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        if (judge->jobs[j].done_record != CLO_NONE)
            check_end(judge, j);
    return CLO_OK;
}
