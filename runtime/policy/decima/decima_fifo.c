/* decima_fifo.c - first come, first served, as decima-sim has it (spark_agent.py): a job gets as many executors as
 * there are, all told since it arrived, before the next one gets any. What it gives back counts as given. */
#include "policy/decima/decima.h"
#include "policy/select/policies.h"

static uint32_t room(const clo_decima *d, const clo_decima_job *job)
{
    return job->given < d->executors_count ? d->executors_count - job->given : 0;
}

static clo_status init(void *state, const clo_view *view)
{
    return clo_decima_init(state, view, room);
}

const clo_policy clo_policy_decima_fifo = {
    CLO_DECIMA_POLICY,
    .name = "decima-fifo",
    .summary = "FIFO with executors bound to jobs, as in Decima's simulator",
    .init = init,
};
