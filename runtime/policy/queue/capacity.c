/* capacity.c - breadth first in the manner of a capacity scheduler (YARN's, the baseline BFS of Graphene, OSDI 2016,
 * section 8): each user is a queue with the same share of the cluster; the queue that holds the fewest executors goes
 * first, in it the oldest job, in the job the ready stage with the fewest edges behind it (its level). O(log jobs + log
 * stages) an event. */
#include "policy/select/policies.h"
#include "policy/select/ranked.h"
#include "policy/select/users.h"

static const clo_job_order by_queue = {
    .first = clo_users_first, .pass = clo_users_pass, .restore = clo_users_restore, .pick = clo_ranked_pick};

/* Of a job: the stages by level, and behind that what has been counted of each. */
static size_t capacity_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(clo_ranked) + clo_ranked_bytes(cost) + clo_users_job_bytes(cost);
}

static uint32_t *counted_of(const clo_live_job *job)
{
    clo_ranked *ranked = job->state;

    return (uint32_t *)(void *)((char *)(ranked + 1) + clo_ranked_bytes(job->cost));
}

static clo_status capacity_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    const clo_graph *graph = clo_cost_graph(cost);
    clo_ranked *ranked = job_state;
    uint32_t *levels = (uint32_t *)(void *)((char *)(ranked + 1) + clo_ranked_bytes(cost)); /* not counted yet */

    (void)argument;
    clo_ranked_open(ranked, ranked + 1, cost);
    clo_graph_levels(graph, levels);
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        ranked->ranks[t] = -(int64_t)levels[t];
    return CLO_OK;
}

static clo_status capacity_init(void *state, const clo_view *view)
{
    clo_users_open(state, view, false);
    return CLO_OK;
}

static void capacity_event(void *state, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    clo_ranked_event(job->state, event);
    clo_users_event(state, view, event, counted_of(job));
}

static bool capacity_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    if (!clo_select_by(&by_queue, state, view, may, choice))
        return false;
    choice->count = 1; /* with each the share changes */
    return true;
}

static bool capacity_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return capacity_select(state, view, clo_select_startable, choice);
}

const clo_policy clo_policy_capacity = {
    .size = sizeof(clo_policy),
    .name = "capacity",
    .summary = "the user (group, or job without one) with the fewest executors first, its oldest job, breadth first",
    .state_bytes = clo_users_bytes,
    .job_bytes = capacity_job_bytes,
    .prepare = capacity_prepare,
    .init = capacity_init,
    .event = capacity_event,
    .decide = capacity_decide,
};

const clo_selector clo_selector_capacity = {&clo_policy_capacity, capacity_select, NULL};
