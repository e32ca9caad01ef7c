/* decima_fair.c - fair sharing as decima-sim has it (heuristic_agent.py): each job with a stage that is not saturated
 * may have the same number of executors, rounded up; those on their way and committed to it count. */
#include "policy/decima/decima.h"
#include "policy/select/policies.h"

static uint32_t room(const clo_decima *d, const clo_decima_job *job)
{
    uint32_t jobs = d->unfinished > 0 ? d->unfinished : 1, has = job->executors + job->coming;
    uint32_t share = (d->executors_count + jobs - 1) / jobs;

    return has < share ? share - has : 0;
}

static clo_status init(void *state, const clo_view *view)
{
    return clo_decima_init(state, view, room);
}

const clo_policy clo_policy_decima_fair = {
    CLO_DECIMA_POLICY,
    .name = "decima-fair",
    .summary = "equal shares of executors bound to jobs, as in Decima's simulator",
    .init = init,
};
