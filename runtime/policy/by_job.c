/* by_job.c - see by_job.h. */
#include "policy/by_job.h"

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

bool clo_by_job_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_job_queue_choose(state, view, choice);
}
