/* edf.c - earliest deadline first (Liu and Layland 1973), by job: what has no deadline goes last. */
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

static int64_t key(const clo_live_job *job)
{
    return job->deadline_ns;
}

static void edf_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

const clo_policy clo_policy_edf = {
    .size = sizeof(clo_policy),
    .name = "edf",
    .summary = "the job with the earliest deadline first; those without one last",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = edf_event,
    .decide = clo_by_job_decide,
};

const clo_selector clo_selector_edf = {&clo_policy_edf, clo_by_job_select, NULL};
