/* trace/judge/figures.h - what the report says beside the faults. */
#ifndef CLO_TRACE_JUDGE_FIGURES_H
#define CLO_TRACE_JUDGE_FIGURES_H

#include "trace/judge/judge.h"

/* Counts, completion times, use and backlog. */
clo_status clo_judge_figures(clo_judge *judge);

/* A lower bound on the mean completion time of the finished jobs: report.mean_completion_bound_ns. */
clo_status clo_judge_bound(clo_judge *judge);

static inline bool clo_judge_is_finished(const clo_judge_job *job)
{
    return job->arrive_record != CLO_NONE && job->done_record != CLO_NONE && job->done_value == CLO_LOG_DONE_OK &&
           job->last_finish_ns != INT64_MIN;
}

#endif
