/* rt.h - a chain with side branches on a hot runtime, for the tests of the real-time guarantees. */
#ifndef CLO_TEST_RT_H
#define CLO_TEST_RT_H

#include "scene.h"

#include <stdatomic.h>
#include <string.h>

#define RT_TASKS 40u

static _Atomic uint64_t rt_calls;

static inline int rt_body(const clo_call *call)
{
    volatile uint64_t hash = call->task;

    for (int i = 0; i < 200; i++)
        hash = hash * 31 + (uint64_t)i;
    atomic_fetch_add_explicit(&rt_calls, 1, memory_order_relaxed);
    return 0;
}

/* Each task after the one before it and the one three before. */
static inline clo_graph *rt_graph(clo_task_fn body)
{
    clo_task task = {.body = body, .work_ns = 500};
    clo_graph *graph;

    ok(clo_graph_create("rt", &graph));
    for (uint32_t t = 0; t < RT_TASKS; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < RT_TASKS; t++) {
        if (t % 2 == 1)
            ok(clo_graph_add_edge(graph, t - 1, t, 0));
        if (t >= 3)
            ok(clo_graph_add_edge(graph, t - 3, t, 0));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* The ways to dispatch that every guarantee is tested with. */
enum { RT_STEAL, RT_REPLAY, RT_POLICY, RT_WAYS };

typedef struct rt_scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} rt_scene;

static inline void rt_open(rt_scene *s, int way, clo_runtime_config *runtime, clo_job_config *job)
{
    *s = (rt_scene){.platform = scene_platform(2, 0), .graph = rt_graph(rt_body)};
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    if (way == RT_REPLAY)
        ok(clo_plan_create(s->cost, NULL, &s->plan));
    job->plan = s->plan;
    job->policy = way == RT_POLICY ? clo_policy_find("rank") : NULL;
    runtime->unpinned = 1;
    if (runtime->memory == NULL)
        ok(clo_runtime_create(s->platform, runtime, &s->runtime));
    if (runtime->memory == NULL && job->memory == NULL)
        ok(clo_job_create(s->runtime, s->cost, job, &s->job));
}

static inline void rt_close(rt_scene *s)
{
    clo_job_destroy(s->job);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

#endif
