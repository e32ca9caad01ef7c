/* by_task.c - selections by task, as LACHESIS's baselines have them (section 5): the policies fifo, sjf and hrrn choose a
 * job, these a stage, whatever job it is of. Where a stage is one task, as in the paper, they are FIFO, SJF and HRRN of
 * tasks:
 *   task-fifo  whose predecessors finished first
 *   task-sjf   the shortest time of a task (SPT)
 *   task-hrrn  the highest (wait + time) / time; it waits since its predecessors have finished
 * Ties: who waits for longer, then the older job, then the lower stage. The same rules as the planners "fifo", "sjf" and
 * "hrrn" (plan/list/lachesis_baselines.c). O(successors) an event, O(ready stages) a decision. */
#include "policy/select/policies.h"
#include "policy/select/select.h"

#include "base/numbers/saturate.h"
#include "graph/graph.h"
#include "platform/model/platform.h"

/* A job's state: [stages] since when each could begin. */
static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_graph_tasks(clo_cost_graph(cost)) * sizeof(int64_t);
}

static void task_event(void *state, const clo_view *view, const clo_event *event)
{
    const clo_live_job *live = event->job != CLO_NONE ? clo_view_job(view, event->job) : NULL;

    (void)state;
    if (live == NULL || (event->kind != CLO_EVENT_ARRIVE && event->kind != CLO_EVENT_FINISH))
        return;
    const clo_graph *graph = clo_cost_graph(live->cost);
    int64_t *since_ns = live->state;
    if (event->kind == CLO_EVENT_ARRIVE) /* also by a swap: then waits begin anew */
        for (uint32_t s = 0; s < graph->tasks; s++)
            since_ns[s] = clo_view_now_ns(view);
    else if (clo_view_stage(view, event->job, event->stage)->unfinished == 0)
        for (uint32_t k = graph->out_first[event->stage]; k < graph->out_first[event->stage + 1]; k++)
            if (clo_view_stage(view, event->job, graph->out[k])->parents_left > 0) /* else a replica has ended before */
                since_ns[graph->out[k]] = clo_view_now_ns(view);
}

typedef struct task {
    uint32_t job, stage;
    uint64_t id;
    int64_t since_ns, time_ns;
} task;

static bool is_older(const task *a, const task *b)
{
    if (a->since_ns != b->since_ns)
        return a->since_ns < b->since_ns;
    return a->id != b->id ? a->id < b->id : a->stage < b->stage;
}

typedef bool (*is_before_fn)(const task *a, const task *b, int64_t now_ns);

static bool by_age(const task *a, const task *b, int64_t now_ns)
{
    (void)now_ns;
    return is_older(a, b);
}

static bool by_time(const task *a, const task *b, int64_t now_ns)
{
    (void)now_ns;
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : is_older(a, b);
}

/* Wait / time, crosswise. */
static bool by_ratio(const task *a, const task *b, int64_t now_ns)
{
    clo_u128 left = (clo_u128)(uint64_t)clo_time_sub(now_ns, a->since_ns) * (uint64_t)b->time_ns;
    clo_u128 right = (clo_u128)(uint64_t)clo_time_sub(now_ns, b->since_ns) * (uint64_t)a->time_ns;

    return left != right ? left > right : by_time(a, b, now_ns);
}

static bool select_task(const clo_view *view, clo_may_select may, is_before_fn is_before, clo_choice *choice)
{
    int64_t now_ns = clo_view_now_ns(view);
    task best = {.job = CLO_NONE};

    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *live = clo_view_job(view, at.job);
        if (live->running + live->committed >= live->limit || !may(view, at.job, at.stage))
            continue;
        const int64_t *since_ns = live->state;
        const task one = {at.job, at.stage, live->id, since_ns[at.stage],
                          clo_cost_mean_execution_ns(live->cost, at.stage)};
        if (best.job == CLO_NONE || is_before(&one, &best, now_ns))
            best = one;
    }
    if (best.job == CLO_NONE)
        return false;
    *choice = (clo_choice){best.job, best.stage, UINT32_MAX, CLO_NONE, CLO_NONE, 0, 0};
    return true;
}

static bool select_oldest(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    (void)state;
    return select_task(view, may, by_age, choice);
}

static bool select_shortest(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    (void)state;
    return select_task(view, may, by_time, choice);
}

static bool select_ratio(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    (void)state;
    return select_task(view, may, by_ratio, choice);
}

/* What a selection has of a policy. */
#define TASK_POLICY(its_name, its_summary)                                                            \
    {                                                                                                 \
        .size = sizeof(clo_policy), .name = its_name, .summary = its_summary, .job_bytes = job_bytes, \
        .event = task_event                                                                           \
    }

static const clo_policy policies[] = {
    TASK_POLICY("task-fifo", "the stage whose predecessors finished first"),
    TASK_POLICY("task-sjf", "the stage with the shortest task"),
    TASK_POLICY("task-hrrn", "the stage with the highest (wait + time) / time of a task"),
};

const clo_selector clo_selector_task_fifo = {&policies[0], select_oldest, NULL};
const clo_selector clo_selector_task_sjf = {&policies[1], select_shortest, NULL};
const clo_selector clo_selector_task_hrrn = {&policies[2], select_ratio, NULL};
