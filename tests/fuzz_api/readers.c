/* readers.c - calls that only read: graphs and costs, plans, platforms; and a policy that reads its whole view. */
#include "fuzz_api.h"
#include "graph/control_flow.h"
#include "graph/graph.h"
#include "plan/facts.h"
#include "platform/model/platform.h"

#include <stdlib.h>

static model_slot *share(thread *t, uint32_t *index)
{
    *index = below(t, MODELS);
    return use_begin(&w.models[*index].object, USE_SHARED) ? &w.models[*index] : NULL;
}

static void read_tasks(thread *t, const clo_graph *graph)
{
    uint32_t tasks = clo_graph_tasks(graph), instances = 0, task = draw_count(t, tasks);
    char scratch[16];
    int64_t time_ns;
    uint32_t count;

    for (uint32_t i = 0; i < tasks; i++)
        instances += clo_graph_ranges(graph, i);
    if (instances != clo_graph_instances(graph) || clo_graph_name(graph) == NULL)
        broken("a graph of %u ranges has %u instances", instances, clo_graph_instances(graph));
    if (clo_graph_task_name(graph, task, scratch) == NULL || clo_graph_task_name(graph, task, NULL) == NULL)
        broken("a task without a name");
    (void)clo_graph_time(graph, task, below(t, 2), &time_ns);
    (void)clo_graph_kind_name(graph, draw_count(t, clo_graph_kinds(graph)));
    (void)clo_graph_resource_name(graph, draw_count(t, 9));
    uint32_t levels = clo_graph_wave_levels(graph, task);
    if (levels != 0 || clo_graph_wave_level(graph, task, 0) != 0 ||
        clo_graph_wave_times(graph, task, below(t, 3), (clo_wave)below(t, 4), &count) != NULL)
        broken("a graph without waves has %u levels", levels);
}

static void read_shape(thread *t, const clo_graph *graph)
{
    uint32_t tasks = clo_graph_tasks(graph), branches = 0, task = below(t, tasks);
    clo_handle handle;
    clo_access access;

    for (uint32_t i = 0; i < tasks; i++)
        branches += clo_graph_arms(graph, i) > 0;
    if (branches != clo_graph_branches(graph) || clo_graph_edges_added(graph) > clo_graph_edges(graph))
        broken("%u branches, not %u", branches, clo_graph_branches(graph));
    (void)clo_graph_chance(graph, task, draw_count(t, 3));
    (void)clo_graph_bound(graph, task);
    (void)clo_graph_is_merge(graph, draw_count(t, tasks));
    (void)clo_graph_edge_arm(graph, draw_count(t, clo_graph_edges(graph)));
    (void)clo_graph_pinned_by(graph, task);
    for (uint32_t i = 0; i < clo_graph_handles(graph); i++)
        (void)expect(clo_graph_handle(graph, i, &handle), CLO_OK);
    for (uint32_t i = 0; i < clo_graph_accesses(graph); i++)
        if (expect(clo_graph_access(graph, i, &access), CLO_OK) == CLO_OK &&
            (access.task >= tasks || access.handle >= clo_graph_handles(graph)))
            broken("an access of task %u to handle %u", access.task, access.handle);
    (void)expect(clo_graph_handle(graph, clo_graph_handles(graph), &handle), CLO_ERR_ARGUMENT);
    (void)expect(clo_graph_access(graph, clo_graph_accesses(graph), &access), CLO_ERR_ARGUMENT);
}

static void read_cost(thread *t, const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t tasks = clo_graph_tasks(graph), task = draw_count(t, tasks), path[TASKS_MAX], levels[TASKS_MAX];
    int64_t up_ns[TASKS_MAX], down_ns[TASKS_MAX];

    uint32_t kinds = clo_graph_kinds(graph); /* those of kernels */
    if (clo_cost_platform(cost) == NULL || clo_cost_unmatched_kind(cost, kinds + draw_count(t, 2) % 8) != NULL)
        broken("more kinds without a match than there are");
    (void)clo_cost_mean_execution_ns(cost, task);
    (void)clo_cost_mean_transfer_ns(cost, below(t, 1000));
    clo_cost_rank_u(cost, up_ns);
    clo_cost_rank_d(cost, down_ns);
    clo_graph_levels(graph, levels);
    uint32_t count = clo_cost_critical_path(cost, path);
    if (count == 0 || count > tasks)
        broken("a critical path of %u of %u tasks", count, tasks);
}

void call_read_graph(thread *t)
{
    uint32_t index;
    model_slot *model = share(t, &index);

    if (model == NULL)
        return;
    log_begin(t, "read a graph and its cost", index);
    read_tasks(t, model->graph);
    read_shape(t, model->graph);
    read_cost(t, model->costs[below(t, PLATFORMS)]);
    log_end(t, 0);
    use_end(&model->object, USE_SHARED);
}

void call_read_plan(thread *t)
{
    uint32_t index, p = below(t, PLATFORMS), depths[TASKS_MAX * 8];
    model_slot *model = share(t, &index);
    size_t count;

    if (model == NULL)
        return;
    log_begin(t, "read a plan", index);
    const clo_plan *plan = model->plans[p][below(t, PLANS)];
    const clo_placement *list = clo_plan_placements(plan, &count);
    int64_t last_ns = 0;
    for (size_t i = 0; i < count; i++)
        last_ns = list[i].finish_ns > last_ns ? list[i].finish_ns : last_ns;
    if (clo_plan_makespan_ns(plan) != last_ns || clo_plan_planner(plan) == NULL || clo_plan_in_flight(plan) == 0)
        broken("a plan ends at %lld, its last placement at %lld", (long long)clo_plan_makespan_ns(plan),
               (long long)last_ns);
    (void)clo_plan_schedules(plan);
    (void)clo_plan_is_optimal(plan);
    (void)clo_plan_is_skipped(plan, draw_count(t, TASKS_MAX));
    if (with(WITH_foreign))
        (void)expect(clo_plan_matches(plan, model->costs[below(t, PLATFORMS)]), CLO_OK, CLO_ERR_ARGUMENT);
    (void)expect(clo_plan_matches(plan, model->costs[p]), CLO_OK);
    if (clo_graph_instances(model->graph) <= TASKS_MAX * 8)
        (void)expect(clo_plan_buffer_depths(plan, model->costs[p], depths), CLO_OK, CLO_ERR_ARGUMENT);
    log_end(t, 0);
    use_end(&model->object, USE_SHARED);
}

void call_read_platform(thread *t)
{
    const clo_platform *platform = w.platforms[below(t, PLATFORMS)];
    uint32_t executors = clo_platform_executors(platform), from = below(t, executors), to = below(t, executors);
    char *text = NULL;

    log_begin(t, "read a platform", 0);
    if (clo_platform_name(platform) == NULL || clo_platform_kinds(platform) == 0 ||
        clo_platform_memories(platform) == 0 || clo_platform_machines(platform) == 0)
        broken("a platform with nothing");
    (void)clo_platform_is_native(platform);
    (void)clo_platform_is_coherent(platform);
    (void)clo_platform_executor_name(platform, draw_count(t, executors));
    (void)clo_platform_kind_name(platform, draw_count(t, 2));
    (void)clo_platform_resource_name(platform, draw_count(t, 9));
    (void)clo_platform_port_bytes_per_ns(platform, draw_count(t, 2));
    (void)clo_platform_cut_bytes(platform, draw_count(t, clo_platform_link_pieces(platform)));
    if (clo_platform_transfer_ns(platform, below(t, 1000), from, to) < 0 ||
        clo_platform_transfer_ns(platform, UINT64_MAX, from, to) < 0)
        broken("a transfer of less than no time");
    if (chance(t, 20) && expect(clo_platform_describe_json(platform, &text), CLO_OK) == CLO_OK)
        free(text);
    log_end(t, 0);
}

/* The policy: reads all it can, with numbers that may not exist, and starts the first thing that may start. */

static void look_at_job(const clo_view *view, uint32_t job)
{
    const clo_live_job *row = clo_view_job(view, job);
    const clo_limits *limits = clo_view_limits(view);

    if (row == NULL)
        return;
    for (uint32_t stage = 0; clo_view_stage(view, job, stage) != NULL; stage++) {
        for (uint32_t e = 0; e <= limits->executors; e++) {
            (void)clo_view_execution_ns(view, job, stage, e);
            (void)clo_view_may_duplicate(view, job, stage, e);
            (void)clo_view_fits(view, job, stage, e);
        }
        (void)clo_view_earliest(view, job, stage);
    }
}

static void look_at_executors(const clo_view *view)
{
    uint32_t free_count = 0;

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_view_next_free(view, e))
        free_count++;
    if (free_count > clo_view_limits(view)->executors)
        broken("%u executors are free", free_count);
    for (uint32_t e = 0; clo_view_executor(view, e) != NULL; e++)
        if (clo_view_available_ns(view, e) < clo_view_now_ns(view))
            broken("an executor was free before now");
    (void)clo_view_capacity_left(view, 0, 0);
    (void)clo_view_capacity_left(view, CLO_NONE, CLO_NONE);
}

static void look_at_event(void *state, const clo_view *view, const clo_event *event)
{
    (void)state;
    (void)clo_view_argument(view);
    look_at_executors(view);
    if (event->kind == CLO_EVENT_ARRIVE || event->kind == CLO_EVENT_READY)
        look_at_job(view, event->job);
    (void)clo_view_job(view, CLO_NONE);
    (void)clo_view_stage(view, event->job, CLO_NONE);
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    if (clo_view_jobs(view) == 0 || clo_view_first_job(view) == CLO_NONE || clo_view_band(view) >= CLO_BANDS_MAX)
        broken("asked without a job");
    clo_view_partial(view);
    (void)clo_view_unfit(view, clo_view_first_job(view));
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_steps(view, 2);
         at = clo_view_next_ready(view, at)) {
        uint32_t executor = clo_view_free_for(view, at.job, at.stage);
        if (executor == CLO_NONE)
            continue;
        if (clo_view_arrival_ns(view, at.job, at.stage, executor) < 0 ||
            clo_view_input_arrival_ns(view, at.job, at.stage, 0, executor) < 0)
            broken("inputs that arrive before time begins");
        *choice = (clo_choice){at.job, at.stage, 1, executor, CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

const clo_policy curious = {
    .size = sizeof(clo_policy), .name = "curious", .summary = "", .event = look_at_event, .decide = decide};
