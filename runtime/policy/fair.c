/* fair.c - weighted fair sharing: the job with the fewest executors for its weight goes first. */
#include "policy/by_job.h"
#include "policy/policies.h"

static int64_t key(const clo_live_job *job)
{
    int64_t used = (int64_t)job->running + job->committed;

    return job->weight == 1 ? used * INT64_C(0x10000) : used * INT64_C(0x10000) / job->weight;
}

static void fair_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

/* One instance at a time: with each the share changes. */
static bool fair_decide(void *state, const clo_view *view, clo_choice *choice)
{
    if (!clo_by_job_decide(state, view, choice))
        return false;
    choice->count = 1;
    return true;
}

const clo_policy clo_policy_fair = {
    .size = sizeof(clo_policy),
    .name = "fair",
    .summary = "the job with the fewest executors for its weight first",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = fair_event,
    .decide = fair_decide,
};
