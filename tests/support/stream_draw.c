/* stream_draw.c - see stream_draw.h. */
#include "stream_draw.h"

void stream_draw_platform(stream_run *run, clo_rng *rng)
{
    clo_executor executors[STREAM_EXECUTORS_MAX] = {{0}};
    int64_t capacities[2 * CLO_RESOURCES_MAX], latency[STREAM_EXECUTORS_MAX * STREAM_EXECUTORS_MAX];
    double bandwidth[STREAM_EXECUTORS_MAX * STREAM_EXECUTORS_MAX];

    uint32_t executors_count = 2 + clo_rng_below(rng, STREAM_EXECUTORS_MAX - 1);
    uint32_t machines = 1 + clo_rng_below(rng, 2);
    uint32_t memories = 1 + clo_rng_below(rng, executors_count);
    for (uint32_t e = 0; e < executors_count; e++) {
        executors[e] = (clo_executor){.kind = e % 2,
                                      .machine = e % machines,
                                      .memory = e < memories ? e : clo_rng_below(rng, memories),
                                      .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[e].speed_q16[c] = CLO_SPEED_ONE / (1 + e % 2);
    }
    for (uint32_t i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < 2 ? 6 + (int64_t)clo_rng_below(rng, 10) : -1;
    for (uint32_t i = 0; i < executors_count * executors_count; i++) {
        latency[i] = clo_rng_below(rng, 20);
        bandwidth[i] = 1 + clo_rng_below(rng, 4);
    }
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    desc.executors_count = executors_count;
    desc.executors = executors;
    desc.kinds_count = 2;
    desc.machines_count = machines;
    desc.capacities = capacities;
    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &run->platform));
}

static void draw_graph(stream_run *run, clo_rng *rng, uint32_t j)
{
    static const char *const names[] = {"ant", "bee", "cat", "dog", "eel", "fox", "gnu"};
    clo_graph *graph;
    uint32_t tasks = 1 + clo_rng_below(rng, STREAM_TASKS_MAX), kind;

    ok(clo_graph_create("stream", &graph));
    ok(clo_graph_kind(graph, "k1", &kind));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.name = names[t], .work_ns = clo_rng_below(rng, 8) == 0 ? 0 : 1 + clo_rng_below(rng, 100)};
        task.instances = clo_rng_below(rng, 3) == 0 ? 1 + clo_rng_below(rng, STREAM_INSTANCES_MAX) : 1;
        task.duplicable = clo_rng_below(rng, 2) == 0;
        task.demand[0] = clo_rng_below(rng, 2) == 0 ? clo_rng_below(rng, 7) : 0;
        task.demand[1] = clo_rng_below(rng, 4) == 0 ? clo_rng_below(rng, 7) : 0;
        ok(clo_graph_add_task(graph, &task, NULL));
        /* Kind 0 has an executor on every platform, and every machine at least 6 of each resource. */
        if (clo_rng_below(rng, 4) == 0)
            ok(clo_graph_set_time(graph, t, kind, CLO_TIME_NEVER));
        for (uint32_t from = 0; from < t; from++)
            if (clo_rng_below(rng, 3) == 0)
                ok(clo_graph_add_edge(graph, from, t, clo_rng_below(rng, 2) == 0 ? clo_rng_below(rng, 300) : 0));
    }
    ok(clo_graph_seal(graph));
    run->graphs[j] = graph;
    ok(clo_cost_create(graph, run->platform, &run->costs[j]));
}

void stream_draw_job(stream_run *run, clo_rng *rng, uint32_t j, bool has_bands)
{
    draw_graph(run, rng, j);
    run->jobs[j] = (clo_stream_job){.job = 3 + 7 * (uint64_t)j,
                                    .cost = run->costs[j],
                                    .arrival_ns = clo_rng_below(rng, 400),
                                    .deadline_ns = clo_rng_below(rng, 2) == 0 ? 1 + clo_rng_below(rng, 1000) : 0,
                                    .weight = clo_rng_below(rng, 3),
                                    .limit = clo_rng_below(rng, 3) == 0 ? 1 + clo_rng_below(rng, 3) : 0,
                                    .band = has_bands ? clo_rng_below(rng, 3) : 4};
}
