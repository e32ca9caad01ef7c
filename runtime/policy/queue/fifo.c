/* fifo.c - first come, first served: the oldest job that has something to run, in it the stage that became ready first.
 * The plainest baseline. */
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

static int64_t key(const clo_live_job *job)
{
    (void)job;
    return 0; /* ties go to the oldest */
}

static void fifo_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

const clo_policy clo_policy_fifo = {
    .size = sizeof(clo_policy),
    .name = "fifo",
    .summary = "oldest job first, in it the oldest ready stage, on whichever executor is free",
    .state_bytes = clo_by_job_bytes,
    .init = clo_by_job_init,
    .event = fifo_event,
    .decide = clo_by_job_decide,
};

const clo_selector clo_selector_fifo = {&clo_policy_fifo, clo_by_job_select, NULL};
