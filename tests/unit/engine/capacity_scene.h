/* capacity_scene.h - a plan of tasks that demand capacities of two machines, compiled. */
#ifndef CLO_TEST_CAPACITY_SCENE_H
#define CLO_TEST_CAPACITY_SCENE_H

#include "support.h"

#include "engine/program/compile.h"

/* Executors 0 and 1 are machine 0, which has 5 of resource 0 and 4 of resource 1; executors 2 and 3 are machine 1,
 * which has 9 of resource 0 and any amount of resource 1. */
enum { CAPACITY_EXECUTORS = 4, CAPACITY_TASKS = 7 };

/* Each task with what it demands, where it runs and when it starts; each takes 1000 ns. Nobody waits for data. */
static const struct {
    int64_t demand[2];
    uint32_t executor;
    int64_t start_ns;
} capacity_tasks[CAPACITY_TASKS] = {
    {{2, 0}, 0, 0},    {{2, 1}, 1, 500}, {{0, 4}, 0, 2000}, {{3, 0}, 1, 3000},
    {{0, 0}, 2, 5000}, {{2, 1}, 2, 700}, {{1, 1}, 3, 800},
};

typedef struct capacity_scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
    clo_program *program;
} capacity_scene;

static clo_platform *capacity_platform(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[CAPACITY_EXECUTORS];
    int64_t capacities[2 * CLO_RESOURCES_MAX];
    clo_platform *platform;

    for (uint32_t e = 0; e < CAPACITY_EXECUTORS; e++)
        executors[e] = (clo_executor){.machine = e / 2, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = -1;
    capacities[0] = 5;
    capacities[1] = 4;
    capacities[CLO_RESOURCES_MAX] = 9;
    desc.executors_count = CAPACITY_EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 2;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* `demands`: else all of them demand nothing. */
static capacity_scene capacity_open(bool demands)
{
    clo_placement placements[CAPACITY_TASKS];
    capacity_scene s = {.platform = capacity_platform()};

    ok(clo_graph_create("capacities", &s.graph));
    for (uint32_t t = 0; t < CAPACITY_TASKS; t++) {
        clo_task task = {.work_ns = 1000};
        for (uint32_t r = 0; r < 2 && demands; r++)
            task.demand[r] = capacity_tasks[t].demand[r];
        ok(clo_graph_add_task(s.graph, &task, NULL));
        placements[t] = (clo_placement){.task = t,
                                        .executor = capacity_tasks[t].executor,
                                        .start_ns = capacity_tasks[t].start_ns,
                                        .finish_ns = capacity_tasks[t].start_ns + 1000};
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_program_create(s.cost, placements, CAPACITY_TASKS, NULL, &s.arena, &s.program));
    return s;
}

static void capacity_close(capacity_scene *s)
{
    clo_arena_close(&s->arena);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

#endif
