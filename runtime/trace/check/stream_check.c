/* stream_check.c - the passes of the stream checker, in order. Each is near-linear, so that a log of ten million
 * records is judged in seconds. */
#include "base/status.h"
#include "trace/check/check.h"
#include "trace/check/kept.h"
#include "trace/judge/arms.h"
#include "trace/judge/figures.h"
#include "trace/judge/jobs.h"
#include "trace/judge/records.h"
#include "trace/judge/shapes.h"
#include "trace/judge/sweep.h"

#include <clotho/runtime.h>

#define REPORT_SIZE_V1 CLO_BYTES_UP_TO(clo_stream_report, utilization)

_Static_assert(CLO_STREAM_FAULTS_COUNT <= 64, "clo_stream_report.by_kind and clo_stream_case.ignore have 64 places");

enum { JOBS_MAX = 1 << 30 };

static clo_status read_case(clo_stream_case *mine, const clo_stream_case *theirs)
{
    clo_status status = clo_config_read(mine, sizeof *mine, theirs, "clo_stream_case");

    if (status != CLO_OK)
        return status;
    if (mine->platform == NULL || (mine->jobs == NULL && mine->jobs_count > 0))
        return clo_fail_null("clo_stream_check", "stream->platform or jobs");
    if (mine->jobs_count > JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_stream_check: %zu jobs; at most %d are judged", mine->jobs_count, JOBS_MAX);
    for (size_t j = 0; mine->ends != NULL && j < mine->jobs_count; j++)
        if (mine->ends[j] > CLO_STREAM_END_FAILED)
            return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: stream->ends[%zu] is %u; use CLO_STREAM_END_...", j,
                            mine->ends[j]);
    if (mine->faults == NULL)
        mine->faults_max = 0;
    if (mine->backlog == NULL)
        mine->backlog_count = 0;
    return CLO_OK;
}

static clo_status read_log(clo_judge *judge, const clo_log *log)
{
    size_t count;

    judge->records = clo_log_records(log, &count);
    judge->about = clo_log_about(log);
    if (clo_log_dropped(log) > 0)
        return clo_fail(CLO_ERR_STATE,
                        "the log was full and dropped %llu records, so it cannot be judged; write it with more room",
                        (unsigned long long)clo_log_dropped(log));
    if (count >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the log has %zu records; at most 2^32 - 2 are judged", count);
    if (judge->about->executors != 0 && judge->about->executors != judge->executors)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the log is of a platform with %u executors, this one has %u; name the platform of the run",
                        judge->about->executors, judge->executors);
    judge->records_count = (uint32_t)count;
    judge->has_exact_times = judge->about->clock == CLO_CLOCK_VIRTUAL && judge->about->environment == NULL;
    judge->has_transfers = judge->about->clock != CLO_CLOCK_REAL;
    return CLO_OK;
}

static clo_status run_passes(clo_judge *judge)
{
    static clo_status (*const passes[])(clo_judge *) = {
        clo_judge_read_jobs, clo_judge_read_arms, clo_judge_read_records, clo_judge_said,
        clo_judge_ends,      clo_judge_arms,      clo_judge_instances,    clo_judge_stretches,
        clo_judge_inputs,    clo_judge_overlaps,  clo_judge_capacities,   clo_judge_limits,
        clo_judge_kept,      clo_judge_bands,     clo_judge_figures,      clo_judge_bound};
    clo_status status = CLO_OK;

    for (size_t p = 0; p < sizeof passes / sizeof passes[0] && status == CLO_OK; p++)
        status = passes[p](judge);
    return status;
}

clo_status clo_stream_check(const clo_stream_case *stream, const clo_log *log, clo_stream_report *report)
{
    clo_stream_case mine = CLO_STREAM_CASE_INIT;

    if (stream == NULL || log == NULL)
        return clo_fail_null("clo_stream_check", "stream or log");
    clo_status status = clo_result_check(report, REPORT_SIZE_V1, "clo_stream_report");
    if (status == CLO_OK)
        status = read_case(&mine, stream);
    if (status != CLO_OK)
        return status;
    clo_judge judge = {.stream = &mine,
                       .platform = mine.platform,
                       .executors = clo_platform_executors(mine.platform),
                       .machines = clo_platform_machines(mine.platform),
                       .jobs_count = (uint32_t)mine.jobs_count};
    status = read_log(&judge, log);
    if (status == CLO_OK)
        status = run_passes(&judge);
    if (status == CLO_OK) {
        judge.report.size = sizeof judge.report;
        clo_result_write(report, &judge.report, sizeof judge.report);
        if (judge.report.faults > 0)
            status = clo_fail(CLO_ERR_INVALID, "%s", judge.first_fault);
    }
    clo_judge_free_records(&judge);
    clo_judge_free_arms(&judge);
    clo_judge_free_jobs(&judge);
    return status;
}
