/* rank.c - highest rank_u first: list scheduling on the critical path (HEFT's order, Topcuoglu 2002, taken online),
 * over all jobs, on whichever executor is free. A job stands in the queue of jobs with the highest rank of its ready
 * stages. */
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"

static void rank_event(void *state, const clo_view *view, const clo_event *event)
{
    if (!clo_by_rank_event(state, view, event))
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    clo_job_queue_put(state, job, event->job, clo_ranked_key(job->state, view, event->job));
}

const clo_policy clo_policy_rank = {
    .size = sizeof(clo_policy),
    .name = "rank",
    .summary = "highest rank_u first over all jobs (HEFT's order, decided online), on whichever executor is free",
    .state_bytes = clo_by_job_bytes,
    .job_bytes = clo_by_rank_job_bytes,
    .prepare = clo_by_rank_prepare,
    .init = clo_by_job_init,
    .event = rank_event,
    .decide = clo_by_rank_decide,
};

const clo_selector clo_selector_rank = {&clo_policy_rank, clo_by_rank_select, NULL};
