/* job_order_policy.c - a policy that follows an order of jobs, and the environment for it. */
#include "online/job_order.h"

#include <clotho/environment.h>

static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_graph_tasks(clo_cost_graph(cost)) * sizeof(int64_t);
}

static clo_status prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)argument;
    clo_cost_rank_u(cost, job_state);
    return CLO_OK;
}

/* The ready stage of the highest rank; ties: the lowest number. CLO_NONE: none. */
static uint32_t first_stage(const clo_view *view, uint32_t slot)
{
    const clo_live_job *job = clo_view_job(view, slot);
    const int64_t *rank = job->state;
    uint32_t best = CLO_NONE;

    for (uint32_t s = job->first_ready; s != CLO_NONE; s = clo_view_stage(view, slot, s)->next_ready)
        if (best == CLO_NONE || rank[s] > rank[best] || (s < best && rank[s] == rank[best]))
            best = s;
    return best;
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    const job_order *order = clo_view_argument(view);

    (void)state;
    for (uint32_t k = 0; k < order->jobs; k++) {
        uint32_t slot = clo_view_first_job(view);
        while (slot != CLO_NONE && clo_view_job(view, slot)->id != order->order[k])
            slot = clo_view_job(view, slot)->next;
        uint32_t stage = slot != CLO_NONE ? first_stage(view, slot) : CLO_NONE;
        if (stage == CLO_NONE)
            continue;
        choice->job = slot;
        choice->stage = stage;
        choice->count = clo_view_stage(view, slot, stage)->unstarted;
        return true;
    }
    return false;
}

const clo_policy job_order_policy = {
    .size = sizeof(clo_policy),
    .name = "best-order",
    .summary = "follows the best order of the jobs",
    .job_bytes = job_bytes,
    .prepare = prepare,
    .decide = decide,
    .argument_bytes = sizeof(job_order),
};

static int64_t cost_ns(void *state, const clo_environment_execution *execution)
{
    (void)state;
    return execution->cost_ns;
}

const clo_environment job_order_environment = {.size = sizeof(clo_environment), .name = "costs", .time_ns = cost_ns};
