/* fair.c - weighted fair sharing: the job with the fewest executors for its weight goes first. */
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

static int64_t key(const clo_live_job *job)
{
    int64_t used = (int64_t)job->running + job->committed;

    return job->weight == 1 ? used * INT64_C(0x10000) : used * INT64_C(0x10000) / job->weight;
}

static void fair_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

const clo_policy clo_policy_fair = {
    .size = sizeof(clo_policy),
    .name = "fair",
    .summary = "the job with the fewest executors for its weight first",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = fair_event,
    .decide = clo_by_job_decide_one,
};

const clo_selector clo_selector_fair = {&clo_policy_fair, clo_by_job_select, NULL};
