/* result.c - waits for a job, and reads what its last run left. */
#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "run/job/done.h"
#include "run/records/record.h"
#include "run/records/running.h"
#include "run/records/stamp.h"
#include "run/records/timing.h"
#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "run/threads/help.h"

#include <stdio.h>

static void sum_stats(const clo_job *job, clo_job_result *result)
{
    int64_t wanted_ns = 0, missed_ns = 0;

    for (uint32_t w = 0; w < job->runtime->workers_count; w++) {
        const clo_engine_stats *stats = &job->stats[w];
        result->executed += clo_counter_read(&stats->executed);
        result->duplicates_run += stats->duplicates;
        result->transfers += stats->transfers;
        result->transferred_bytes += stats->transferred_bytes;
        result->copied_bytes += stats->copied_bytes;
        result->steals += stats->steals;
        result->hedged += stats->hedged;
        result->hedges_skipped += stats->hedges_skipped;
        result->hedges_won += stats->hedges_won;
        result->hedges_cancelled += stats->hedges_cancelled;
        result->skipped += stats->skipped;
        result->busy_ns += clo_job_busy_ns(job, stats->busy);
        wanted_ns += stats->wanted_ns;
        missed_ns += stats->missed_ns;
    }
    uint64_t dropped = atomic_load_explicit(&job->hedges.dropped, memory_order_relaxed);
    result->hedged += dropped;
    result->hedges_skipped += dropped;
    result->emulation_error = wanted_ns > 0 ? (double)missed_ns / (double)wanted_ns : 0;
    result->parks = clo_runtime_parks(job->runtime) - job->submit.parks_before;
}

static void read_decisions(const clo_job *job, clo_job_result *result)
{
    const clo_histogram *histogram = job->policy.decision_ns;

    result->decisions = job->policy.decisions;
    result->fallbacks = job->policy.fallbacks;
    result->refused = job->policy.refused;
    snprintf(result->refusal, sizeof result->refusal, "%s", job->policy.refusal != NULL ? job->policy.refusal : "");
    result->decision_steps = job->policy.most_steps;
    result->turn_steps = job->policy.most_turn_steps;
    result->partial = job->policy.partial;
    result->decision_p50_ns = clo_histogram_quantile(histogram, 0.5);
    result->decision_p99_ns = clo_histogram_quantile(histogram, 0.99);
    result->decision_p999_ns = clo_histogram_quantile(histogram, 0.999);
    result->decision_max_ns = histogram->max_ns;
}

static clo_status read_status(const clo_job *job, clo_job_result *result)
{
    uint64_t outcome = clo_outcome_read(&job->outcome);

    if (clo_outcome_is_failure(outcome)) {
        result->failed_task = clo_outcome_task(outcome);
        result->failed_code = clo_outcome_code(outcome);
        return clo_control_flow_fail_task(job->program->graph, result->failed_task, result->failed_code);
    }
    if (outcome == CLO_OUTCOME_CANCELLED)
        return clo_fail(CLO_ERR_CANCELLED, "the job was cancelled after %llu execution%s; a run has %u",
                        (unsigned long long)result->executed, result->executed == 1 ? "" : "s",
                        job->program->first_hedge);
    if (outcome == CLO_OUTCOME_ABORTED)
        return clo_fail(CLO_ERR_ABORTED,
                        "the %srun was aborted at its deadline or at the next release; raise "
                        "clo_job_config.deadline_ns, or choose another on_miss",
                        job->series != NULL && job->series->period_ns > 0 ? "last " : "");
    return CLO_OK;
}

/* Nobody wants more than the status, and it is good. */
static bool is_good_enough(const clo_job *job, const clo_job_result *out)
{
    return out == NULL && clo_outcome_read(&job->outcome) == CLO_OUTCOME_OPEN;
}

static clo_status read_result(clo_job *job, clo_job_result *out)
{
    if (is_good_enough(job, out))
        return CLO_OK;
    clo_job_result result = {.size = sizeof result, .failed_task = CLO_NONE};

    sum_stats(job, &result);
    result.makespan_ns = clo_stamp_response_ns(job);
    result.missed_deadline = job->deadline_ns > 0 && result.makespan_ns > job->deadline_ns;
    if (job->policy.decision_ns != NULL)
        read_decisions(job, &result);
    result.status = read_status(job, &result);
    clo_result_write(out, &result, sizeof result);
    return result.status;
}

static clo_status fail_late(const clo_job *job)
{
    char running[200];

    clo_runtime_name_running(job->runtime, job, running, sizeof running);
    return clo_fail(CLO_ERR_TIMEOUT, "the job has not ended yet; running: %s", running);
}

static clo_status wait_for(clo_job *job, int64_t until_ns, clo_job_result *out)
{
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_job_result, decision_max_ns), "clo_job_result");

    if (status != CLO_OK)
        return status;
    if (clo_phase_get(&job->phase) == CLO_PHASE_IDLE)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted; call clo_job_submit first");
    if (clo_thread_is_worker(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not wait for a job: it would block its worker");
    if (clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not wait for a job: it would block the watchdog");
    if (clo_runtime_is_forked(job->runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (until_ns == INT64_MAX && clo_job_help(job)) {
        status = read_result(job, out);
        clo_phase_read_end(&job->phase);
        return status;
    }
    while (clo_job_wait_until(job, until_ns)) { /* again if somebody has submitted it once more meanwhile */
        if (!clo_phase_read_begin(&job->phase))
            continue;
        status = read_result(job, out);
        clo_phase_read_end(&job->phase);
        return status;
    }
    return fail_late(job);
}

clo_status clo_job_wait(clo_job *job, clo_job_result *out)
{
    if (job == NULL)
        return clo_fail_null("clo_job_wait", "job");
    return wait_for(job, INT64_MAX, out);
}

clo_status clo_job_wait_for(clo_job *job, int64_t timeout_ns, clo_job_result *out)
{
    if (job == NULL)
        return clo_fail_null("clo_job_wait_for", "job");
    return wait_for(job, clo_time_add(clo_clock_ns(), timeout_ns > 0 ? timeout_ns : 0), out);
}
