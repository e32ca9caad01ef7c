/* by_rank.c - see by_rank.h. */
#include "policy/select/by_rank.h"

static const clo_job_order by_highest_rank = {
    .first = clo_job_queue_order_first,
    .pass = clo_job_queue_order_pass,
    .restore = clo_job_queue_order_restore,
    .pick = clo_ranked_pick,
};

size_t clo_by_rank_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(clo_ranked) + clo_ranked_bytes(cost);
}

clo_status clo_by_rank_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    clo_ranked *ranked = job_state;

    (void)argument;
    clo_ranked_open(ranked, ranked + 1, cost);
    clo_cost_rank_u(cost, ranked->ranks);
    return CLO_OK;
}

bool clo_by_rank_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    if (!clo_select_by(&by_highest_rank, state, view, may, choice))
        return false;
    choice->count = 1;
    return true;
}

bool clo_by_rank_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_by_rank_select(state, view, clo_select_startable, choice);
}

bool clo_by_rank_event(void *state, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return false;
    clo_ranked_event(clo_view_job(view, event->job)->state, event);
    return event->kind != CLO_EVENT_ARRIVE && clo_job_queue_event(state, view, event) != NULL;
}
