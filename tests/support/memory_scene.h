/* memory_scene.h - tasks with memory parts on executors of one or two memories, one after another on each executor. */
#ifndef CLO_TEST_MEMORY_SCENE_H
#define CLO_TEST_MEMORY_SCENE_H

#include "support.h"

#include <string.h>

enum { MEMORY_TASKS_MAX = 24, MEMORY_EXECUTORS_MAX = 4 };

typedef struct memory_task {
    uint32_t executor;
    int64_t length_ns;
    clo_memory_part part;
    uint32_t after; /* 1 + a task before it; 0: none */
} memory_task;

typedef struct memory_scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_memory_part parts[MEMORY_TASKS_MAX];
} memory_scene;

/* Executor e uses memory e / 2. A capacity < 0: none; by_memory: of each memory. */
static inline clo_platform *memory_platform(const int64_t capacities[3], int64_t latency_ns)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"other", CLO_MEMORY_RESOURCE, CLO_MEMORY_RESOURCE ".0",
                                                         CLO_MEMORY_RESOURCE ".1"};
    int64_t stated[CLO_RESOURCES_MAX] = {7, capacities[0], capacities[1], capacities[2], -1, -1, -1, -1};
    int64_t latency[MEMORY_EXECUTORS_MAX * MEMORY_EXECUTORS_MAX];
    clo_executor list[MEMORY_EXECUTORS_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    for (uint32_t e = 0; e < MEMORY_EXECUTORS_MAX; e++)
        list[e] = (clo_executor){0, 0, e / 2, -1, {65536, 65536, 65536, 65536}};
    for (int i = 0; i < MEMORY_EXECUTORS_MAX * MEMORY_EXECUTORS_MAX; i++)
        latency[i] = latency_ns;
    desc.executors_count = MEMORY_EXECUTORS_MAX;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = stated;
    desc.resource_names = names;
    desc.latency_ns = latency_ns > 0 ? latency : NULL;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* The plan has the tasks of an executor in the order of their numbers. */
static inline memory_scene memory_open(clo_platform *platform, const memory_task *tasks, uint32_t count)
{
    memory_scene s = {.platform = platform};
    clo_placement placements[MEMORY_TASKS_MAX];

    assert_true(count <= MEMORY_TASKS_MAX);
    ok(clo_graph_create("memory", &s.graph));
    for (uint32_t t = 0; t < count; t++) {
        const clo_task task = {
            .work_ns = tasks[t].length_ns, .duplicable = 1, .executors_mask = UINT64_C(1) << tasks[t].executor};
        ok(clo_graph_add_task(s.graph, &task, NULL));
        if (tasks[t].after > 0)
            ok(clo_graph_add_edge(s.graph, tasks[t].after - 1, t, 0));
        s.parts[t] = tasks[t].part;
        placements[t] = (clo_placement){t, 0, tasks[t].executor, 0, t, t + 1};
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_from_placements(s.cost, NULL, placements, count, &s.plan));
    return s;
}

static inline void memory_close(memory_scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

/* Of the plan, or under a policy; spans[t] receives what happened to task t. */
static inline clo_job_result memory_simulate(const memory_scene *s, const char *policy, const clo_memory_part *parts,
                                             clo_trace_event *spans)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace;
    size_t count;

    config.plan = policy == NULL ? s->plan : NULL;
    config.policy = policy != NULL ? clo_policy_find(policy) : NULL;
    config.memory_parts = parts;
    ok(clo_simulate(s->cost, &config, &result, &trace, NULL));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++)
        spans[events[i].task] = events[i];
    clo_trace_destroy(trace);
    return result;
}

#endif
