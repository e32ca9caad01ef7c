/* scene.h - small graphs on small platforms, for tests of the drivers. */
#ifndef CLO_TEST_SCENE_H
#define CLO_TEST_SCENE_H

#include "support.h"

/* A platform of `executors` equal executors; each has its own memory if links are asked for (100 ns + 1 byte/ns). */
static inline clo_platform *scene_platform(uint32_t executors, int has_links)
{
    static const double bandwidth[64 * 64] = {0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[64];
    int64_t latency[64 * 64];
    clo_platform *platform;

    for (uint32_t e = 0; e < executors; e++)
        list[e] = (clo_executor){0, 0, has_links ? e : 0, -1, {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < 64 * 64; i++)
        latency[i] = 100;
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.latency_ns = has_links ? latency : NULL;
    desc.bandwidth_bytes_per_ns = has_links ? bandwidth : NULL;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* `layers` layers of `width` tasks, each after all of the layer before. */
static inline clo_graph *scene_layers(uint32_t layers, uint32_t width, const clo_task *task)
{
    clo_graph *graph;

    ok(clo_graph_create("layers", &graph));
    for (uint32_t i = 0; i < layers * width; i++)
        ok(clo_graph_add_task(graph, task, NULL));
    for (uint32_t i = width; i < layers * width; i++)
        for (uint32_t k = 0; k < width; k++)
            ok(clo_graph_add_edge(graph, (i / width - 1) * width + k, i, 64));
    ok(clo_graph_seal(graph));
    return graph;
}

/* A branch, tasks[0]; one task for each of its arms; and behind them a merge, the last one. */
static inline clo_graph *scene_fork(const clo_task *tasks, uint32_t arms)
{
    clo_graph *graph;

    ok(clo_graph_create("fork", &graph));
    ok(clo_graph_add_tasks(graph, tasks, arms + 2, NULL));
    ok(clo_graph_set_branch(graph, 0, arms, NULL));
    for (uint32_t a = 0; a < arms; a++) {
        ok(clo_graph_add_arm(graph, 0, a + 1, 0, a));
        ok(clo_graph_add_edge(graph, a + 1, arms + 1, 0));
    }
    ok(clo_graph_set_merge(graph, arms + 1));
    ok(clo_graph_seal(graph));
    return graph;
}

#endif
