/* sjf_cp.c - shortest job first, inside the job the critical path first (the heuristic SJF-CP of Decima, section 7.1):
 * the job with the least remaining work, in it the ready stage with the highest rank_u. O(log jobs + log stages) an
 * event. */
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"

static void sjf_cp_event(void *state, const clo_view *view, const clo_event *event)
{
    if (!clo_by_rank_event(state, view, event))
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    clo_job_queue_put(state, job, event->job, job->remaining_ns);
}

const clo_policy clo_policy_sjf_cp = {
    .size = sizeof(clo_policy),
    .name = "sjf-cp",
    .summary = "the job with the least remaining work first, in it the ready stage with the highest rank_u",
    .state_bytes = clo_by_job_bytes,
    .job_bytes = clo_by_rank_job_bytes,
    .prepare = clo_by_rank_prepare,
    .init = clo_by_job_init,
    .event = sjf_cp_event,
    .decide = clo_by_rank_decide,
};

const clo_selector clo_selector_sjf_cp = {&clo_policy_sjf_cp, clo_by_rank_select, NULL};
