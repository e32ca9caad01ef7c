/* replan.c - jobs follow plans. When a job is submitted, the planner `best` plans its whole graph on the empty platform
 * with a budget of schedules (64, or the argument), off the turn. Online, ready stages of all jobs go in the order of
 * (arrival + planned start); a stage goes to its planned executor where that is free and has room, else where it is
 * expected to finish first (as eft). Stages are placed only while some executor has nothing to do.
 *
 * After LACHESIS's batch mode (section 4.2, all that is known is planned) and the search of `best` (plan/search). What
 * others hold is not known off the turn. With joint=N, an arrival therefore also plans the unfinished rest of all live
 * jobs together (joint.h), as long as that is N stages at most: list schedules in the memory of the policy's state,
 * `tries` of them, each look counted as a step. Where there is more, or the bound of steps is reached before the first
 * schedule is whole, the job that arrives keeps its own plan, and the others what they have. `best` itself cannot run
 * there: it allocates, and what it knew of other jobs off the turn would depend on the moment, which no log repeats.
 *
 * Stages of several instances have a planned order, no planned executor. O(log jobs + log stages) an event, and with
 * joint the schedules for an arrival; O(executors * inputs) a decision; `prepare` costs the budget. */
#include "policy/placement/joint.h"
#include "policy/placement/planned.h"
#include "policy/select/by_rank.h"
#include "policy/select/policies.h"

#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"

#include <string.h>

enum { SCHEDULES_DEFAULT = 64, SCHEDULES_MAX = 1000000, STAGES_MAX = 65536, TRIES_DEFAULT = 8, TRIES_MAX = 4096 };

typedef struct replan_argument {
    uint32_t schedules;
    uint32_t stages_max; /* 0: each job by its own plan alone */
    uint32_t tries;
    clo_joint_goal goal;
} replan_argument;

static const replan_argument defaults = {SCHEDULES_DEFAULT, 0, TRIES_DEFAULT, CLO_JOINT_COMPLETION};

static const replan_argument *read_argument(const void *argument)
{
    return argument != NULL ? argument : &defaults;
}

/* A number from 1 to `most`; moves *text behind it. */
static bool read_number(const char **text, uint32_t most, uint32_t *out)
{
    const char *at = *text;
    uint32_t number = 0;

    for (; *at >= '0' && *at <= '9' && number <= most; at++)
        number = number * 10 + (uint32_t)(*at - '0');
    if (at == *text || number == 0 || number > most)
        return false;
    *text = at;
    *out = number;
    return true;
}

/* What stands behind a comma. */
static bool read_option(const char **text, replan_argument *with)
{
    static const char joint[] = "joint=", tries[] = "tries=", makespan[] = "for=makespan";
    const char *at = *text;

    if (strncmp(at, joint, sizeof joint - 1) == 0)
        return *text = at + sizeof joint - 1, read_number(text, STAGES_MAX, &with->stages_max);
    if (strncmp(at, tries, sizeof tries - 1) == 0)
        return *text = at + sizeof tries - 1, read_number(text, TRIES_MAX, &with->tries);
    if (strncmp(at, makespan, sizeof makespan - 1) != 0)
        return false;
    *text = at + sizeof makespan - 1;
    with->goal = CLO_JOINT_MAKESPAN;
    return true;
}

static clo_status replan_parse(const char *text, void *argument)
{
    replan_argument with = defaults;
    const char *at = text;

    if (!read_number(&at, SCHEDULES_MAX, &with.schedules) || (*at != ',' && *at != '\0'))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'replan': '%.40s' is no number of schedules from 1 to %d; write replan:%d", text,
                        SCHEDULES_MAX, SCHEDULES_DEFAULT);
    while (*at == ',') {
        const char *option = ++at;
        if (!read_option(&at, &with) || (*at != ',' && *at != '\0'))
            return clo_fail(CLO_ERR_ARGUMENT,
                            "policy 'replan': '%.40s' is none of joint=1..%d, tries=1..%d, for=makespan", option,
                            STAGES_MAX, TRIES_MAX);
    }
    *(replan_argument *)argument = with;
    return CLO_OK;
}

/* Of a job. Behind it: what clo_ranked needs, and the arrays. */
typedef struct replan_job {
    clo_ranked ranked; /* first, see select/ranked.h */
    clo_joint_own own;
    uint32_t *executor; /* [tasks] */
    replan_argument with;
    bool is_cancelled;
    bool is_joint; /* the ranks are of a plan of all jobs */
} replan_job;

static size_t replan_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(replan_job) + clo_ranked_bytes(cost) + cost->graph->tasks * (sizeof(int64_t) + 3 * sizeof(uint32_t));
}

/* Its stages by planned start; what starts together in an order in which it may run. */
static void sort_stages(replan_job *job, const clo_graph *graph)
{
    clo_heap *heap = &job->ranked.heap;

    for (uint32_t i = 0; i < graph->tasks; i++)
        clo_heap_push(heap, job->own.start_ns[graph->task_order[i]], i);
    for (uint32_t i = 0; i < graph->tasks; i++)
        job->own.order[i] = graph->task_order[clo_heap_pop(heap).id];
}

static void follow_own_plan(replan_job *job, const clo_graph *graph)
{
    for (uint32_t t = 0; t < graph->tasks; t++)
        job->ranked.ranks[t] = -job->own.start_ns[t];
    job->is_joint = false;
}

static clo_status replan_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    uint32_t tasks = cost->graph->tasks;
    replan_job *job = job_state;

    job->with = *read_argument(argument);
    clo_ranked_open(&job->ranked, job + 1, cost);
    job->own.start_ns = (int64_t *)(void *)((char *)(job + 1) + clo_ranked_bytes(cost));
    job->executor = (uint32_t *)(job->own.start_ns + tasks);
    job->own.order = job->executor + tasks;
    job->own.row = job->own.order + tasks;
    clo_status status =
        clo_planned(cost, &clo_planner_best, job->with.schedules, job->own.start_ns, job->executor, NULL);
    if (status != CLO_OK)
        return status;
    sort_stages(job, cost->graph);
    follow_own_plan(job, cost->graph);
    return CLO_OK;
}

static size_t replan_bytes(const clo_limits *limits, const void *argument)
{
    uint32_t stages_max = read_argument(argument)->stages_max;
    size_t joint = stages_max > 0 ? clo_joint_bytes(limits->executors, stages_max) : 0;

    return clo_by_job_bytes(limits, argument) + sizeof(clo_joint) + joint;
}

static replan_job *job_of(const clo_view *view, uint32_t slot)
{
    return clo_view_job(view, slot)->state;
}

static const clo_joint_own *own_of(const clo_view *view, uint32_t slot)
{
    const replan_job *job = job_of(view, slot);

    return job->is_cancelled ? NULL : &job->own;
}

static int64_t key_of(const clo_view *view, uint32_t slot)
{
    const clo_live_job *job = clo_view_job(view, slot);

    return clo_time_add(job->arrival_ns, clo_ranked_key(job->state, view, slot));
}

/* The job's ready stages, and the job among the others, by the starts that it has now. */
static void order_anew(clo_job_queue *queue, const clo_view *view, uint32_t slot)
{
    const clo_live_job *live = clo_view_job(view, slot);
    clo_ranked *ranked = live->state;

    ranked->heap.count = 0;
    for (uint32_t stage = live->first_ready; stage != CLO_NONE; stage = clo_view_stage(view, slot, stage)->next_ready)
        clo_heap_push(&ranked->heap, -ranked->ranks[stage], stage);
    if (clo_job_queue_has(queue, slot))
        clo_job_queue_put(queue, live, slot, key_of(view, slot));
}

/* The job has arrived: all that is left of all jobs is planned. */
static void plan_jointly(void *state, const clo_view *view, const replan_argument *with)
{
    const clo_limits *limits = clo_view_limits(view);
    const clo_joint_request request = {with->tries, with->goal, own_of};
    clo_joint *joint = (clo_joint *)(void *)((char *)state + clo_by_job_bytes(limits, with));

    if (joint->stages_max == 0) /* the first time */
        clo_joint_open(joint, joint + 1, limits->executors, with->stages_max);
    if (!clo_joint_plan(joint, view, &request))
        return;
    for (uint32_t r = 0; r < joint->rows_count; r++) {
        const clo_joint_row *row = &joint->rows[r];
        const clo_live_job *live = clo_view_job(view, row->job);
        replan_job *job = job_of(view, row->job);
        job->ranked.ranks[row->stage] = clo_time_sub(live->arrival_ns, row->best_ns);
        job->is_joint = true;
    }
    for (uint32_t j = 0; j < joint->jobs_count; j++)
        order_anew(state, view, joint->jobs[j].slot);
}

static void replan_event(void *state, const clo_view *view, const clo_event *event)
{
    bool has_changed = clo_by_rank_event(state, view, event);

    if (has_changed)
        clo_job_queue_put(state, clo_view_job(view, event->job), event->job, key_of(view, event->job));
    if (event->kind == CLO_EVENT_CANCEL)
        job_of(view, event->job)->is_cancelled = true;
    if (event->kind != CLO_EVENT_ARRIVE)
        return;
    replan_job *job = job_of(view, event->job);
    job->is_cancelled = false;
    if (job->is_joint) /* in an earlier run */
        follow_own_plan(job, clo_view_job(view, event->job)->cost->graph);
    if (job->with.stages_max > 0)
        plan_jointly(state, view, &job->with);
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
    uint32_t planned = ((const replan_job *)job->state)->executor[choice->stage];
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
    .summary = "each job by a plan of its own ('best' with a budget of schedules, made at its submission), or all live "
               "jobs by one made at each arrival; replan:64[,joint=STAGES][,tries=8][,for=makespan]",
    .commits = 1,
    .state_bytes = replan_bytes,
    .job_bytes = replan_job_bytes,
    .prepare = replan_prepare,
    .init = clo_by_job_init,
    .event = replan_event,
    .decide = replan_decide,
    .argument_bytes = sizeof(replan_argument),
    .parse = replan_parse,
};

const clo_selector clo_selector_replan = {&clo_policy_replan, clo_by_rank_select, NULL};
