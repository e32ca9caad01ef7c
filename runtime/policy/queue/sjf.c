/* sjf.c - shortest job first: the job with the least remaining work (the mean times of its unfinished instances), in
 * it the stage that became ready first. Known as SRPT where jobs may be interrupted (Schrage 1968); here an instance
 * that runs is never interrupted, so a job loses executors only as its instances end. The baseline of Decima, section
 * 7.1, and of LACHESIS, section 5. O(log jobs) an event. */
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

static int64_t key(const clo_live_job *job)
{
    return job->remaining_ns;
}

static void sjf_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

const clo_policy clo_policy_sjf = {
    .size = sizeof(clo_policy),
    .name = "sjf",
    .summary = "the job with the least remaining work first, in it the oldest ready stage",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = sjf_event,
    .decide = clo_by_job_decide,
};

const clo_selector clo_selector_sjf = {&clo_policy_sjf, clo_by_job_select, NULL};
