/* replan.c - each job follows a plan of its own: when it is submitted, the planner `best` plans its whole graph on
 * the empty platform with a budget of schedules (64, or the argument), off the turn. Online, ready stages of all jobs
 * go in the order of (arrival + planned start); a stage goes to its planned executor where that is free and has room,
 * else where it is expected to finish first (as eft). Stages are placed only while some executor has nothing to do.
 *
 * After LACHESIS's batch mode (section 4.2, all that is known is planned) and the search of `best` (plan/search). A
 * plan is made of one job at a time: what others hold is not known off the turn, and is met by the second rule.
 * Stages of several instances have a planned order, no planned executor. O(log jobs + log stages) an event,
 * O(executors * inputs) a decision; `prepare` costs the budget. */
#include "policy/by_rank.h"
#include "policy/planned.h"
#include "policy/policies.h"

#include "base/saturate.h"
#include "base/status.h"
#include "cost/cost.h"

enum { SCHEDULES_DEFAULT = 64, SCHEDULES_MAX = 1000000 };

typedef struct replan_argument {
    uint32_t schedules;
} replan_argument;

static clo_status replan_parse(const char *text, void *argument)
{
    uint32_t schedules = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && schedules <= SCHEDULES_MAX; at++)
        schedules = schedules * 10 + (uint32_t)(*at - '0');
    if (at == text || *at != '\0' || schedules == 0 || schedules > SCHEDULES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'replan': '%.40s' is no number of schedules from 1 to %d; write replan:%d", text,
                        SCHEDULES_MAX, SCHEDULES_DEFAULT);
    ((replan_argument *)argument)->schedules = schedules;
    return CLO_OK;
}

/* Of a job: the stages by planned start, and behind that their executors. */
static uint32_t *executors_of(clo_ranked *ranked, const clo_cost *cost)
{
    return (uint32_t *)(void *)((char *)(ranked + 1) + clo_ranked_bytes(cost));
}

static size_t replan_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(clo_ranked) + clo_ranked_bytes(cost) + cost->graph->tasks * sizeof(uint32_t);
}

static clo_status replan_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    uint64_t schedules = argument != NULL ? ((const replan_argument *)argument)->schedules : SCHEDULES_DEFAULT;
    clo_ranked *ranked = job_state;

    clo_ranked_open(ranked, ranked + 1, cost);
    clo_status status = clo_planned(cost, "best", schedules, ranked->ranks, executors_of(ranked, cost));
    for (uint32_t t = 0; t < cost->graph->tasks && status == CLO_OK; t++)
        ranked->ranks[t] = -ranked->ranks[t];
    return status;
}

static void replan_event(void *state, const clo_view *view, const clo_event *event)
{
    if (!clo_by_rank_event(state, view, event))
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    clo_job_queue_put(state, job, event->job,
                      clo_time_add(job->arrival_ns, clo_ranked_key(job->state, view, event->job)));
}

static bool any(const clo_view *view, uint32_t job, uint32_t stage)
{
    (void)view, (void)job, (void)stage;
    return true;
}

static bool replan_decide(void *state, const clo_view *view, clo_choice *choice)
{
    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE || !clo_by_rank_select(state, view, any, choice))
        return false;
    const clo_live_job *job = clo_view_job(view, choice->job);
    uint32_t planned = executors_of(job->state, job->cost)[choice->stage];
    bool is_free = planned != CLO_NONE && clo_view_executor(view, planned)->job == CLO_NONE &&
                   clo_view_executor(view, planned)->committed == 0;
    if (is_free && clo_view_fits(view, choice->job, choice->stage, planned))
        choice->executor = planned;
    else
        choice->executor = clo_view_earliest(view, choice->job, choice->stage);
    return true;
}

const clo_policy clo_policy_replan = {
    .size = sizeof(clo_policy),
    .name = "replan",
    .summary = "each job by a plan of its own ('best' with a budget of schedules, made at its submission); replan:64",
    .commits = 1,
    .state_bytes = clo_by_job_bytes,
    .job_bytes = replan_job_bytes,
    .prepare = replan_prepare,
    .init = clo_by_job_init,
    .event = replan_event,
    .decide = replan_decide,
    .argument_bytes = sizeof(replan_argument),
    .parse = replan_parse,
};

const clo_selector clo_selector_replan = {&clo_policy_replan, clo_by_rank_select};
