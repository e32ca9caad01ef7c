/* by_job.c - see by_job.h. */
#include "policy/select/by_job.h"

static const clo_job_order by_oldest_stage = {
    .first = clo_job_queue_order_first,
    .pass = clo_job_queue_order_pass,
    .restore = clo_job_queue_order_restore,
    .pick = clo_select_oldest,
};

size_t clo_by_job_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(clo_job_queue) + clo_job_queue_bytes(limits->jobs);
}

clo_status clo_by_job_init(void *state, const clo_view *view)
{
    clo_job_queue *queue = state;

    clo_job_queue_open(queue, queue + 1, clo_view_limits(view)->jobs);
    return CLO_OK;
}

bool clo_by_job_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    return clo_select_by(&by_oldest_stage, state, view, may, choice);
}

bool clo_by_job_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_select_by(&by_oldest_stage, state, view, clo_select_startable, choice);
}

bool clo_by_job_decide_one(void *state, const clo_view *view, clo_choice *choice)
{
    if (!clo_by_job_decide(state, view, choice))
        return false;
    choice->count = 1;
    return true;
}
