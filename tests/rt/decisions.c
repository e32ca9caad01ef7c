/* decisions.c - R9: prints a hash of every plan and of every simulated decision over many seeded graphs, so that two
 * machines can be compared. Run by tests/cross/same.py on this one and, through an emulator, on others. */
#include "base/numbers/rng.h"
#include "plan/all/registry.h"
#include "planner_named.h"
#include "policy/registry.h"

#include <clotho/clotho.h>

#include <stdio.h>
#include <stdlib.h>

static uint64_t hash = 0xcbf29ce484222325u;

static void add(uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        hash = (hash ^ (value & 255)) * 0x100000001b3u;
}

static void check(clo_status status, const char *what)
{
    if (status == CLO_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, clo_last_error());
    exit(1);
}

static clo_graph *make_graph(clo_rng *rng)
{
    clo_graph *graph;
    uint32_t tasks = 5 + clo_rng_below(rng, 60);

    check(clo_graph_create("g", &graph), "graph");
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.work_ns = 1 + clo_rng_below(rng, 1000000), .duplicable = (uint8_t)clo_rng_below(rng, 2)};
        task.instances = 1 + clo_rng_below(rng, 3);
        check(clo_graph_add_task(graph, &task, NULL), "task");
    }
    for (uint32_t t = 1; t < tasks; t++) {
        uint32_t a = clo_rng_below(rng, t), b = clo_rng_below(rng, t);
        check(clo_graph_add_edge(graph, a, t, clo_rng_below(rng, 100000)), "edge");
        if (b != a)
            check(clo_graph_add_edge(graph, b, t, clo_rng_below(rng, 100000)), "edge");
    }
    check(clo_graph_seal(graph), "seal");
    return graph;
}

static clo_platform *make_platform(clo_rng *rng)
{
    enum { MAX = 8 };
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[MAX];
    int64_t latency_ns[MAX * MAX];
    double bandwidth[MAX * MAX];
    clo_platform *platform;

    desc.executors_count = 1 + clo_rng_below(rng, MAX);
    for (uint32_t e = 0; e < desc.executors_count; e++) {
        uint32_t speed = 20000 + clo_rng_below(rng, 200000);
        executors[e] = (clo_executor){0, 0, e, -1, {speed, speed, speed, speed}};
    }
    for (uint32_t i = 0; i < MAX * MAX; i++) {
        latency_ns[i] = clo_rng_below(rng, 5000);
        bandwidth[i] = 0.5 + clo_rng_below(rng, 8); /* exact in binary */
    }
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    check(clo_platform_create(&desc, &platform), "platform");
    return platform;
}

/* Of the internal table, so that the program needs no other registries. */
static const char *name_at(const clo_registry *registry, uint32_t index)
{
    const char *row = registry->row_bytes > 0 ? (const char *)registry->rows + index * registry->row_bytes
                                              : ((const char *const *)registry->rows)[index];

    return row != NULL ? ((const clo_registry_head *)(const void *)row)->name : NULL;
}

enum { SCHEDULES = 100 }; /* of a planner that searches: emulators are slow */

static void add_plans(const clo_cost *cost)
{
    const char *planner;

    for (uint32_t i = 0; (planner = name_at(&clo_planners, i)) != NULL; i++) {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan;
        size_t count;

        config.planner = planner_named(planner);
        config.schedules_max = SCHEDULES;
        check(clo_plan_create(cost, &config, &plan), planner);
        const clo_placement *placements = clo_plan_placements(plan, &count);
        for (size_t p = 0; p < count; p++) {
            add((uint64_t)placements[p].task << 32 | placements[p].executor);
            add((uint64_t)placements[p].start_ns);
            add((uint64_t)placements[p].finish_ns);
        }
        clo_plan_destroy(plan);
    }
}

static void add_decisions(const clo_cost *cost)
{
    const char *policy;

    for (uint32_t p = 0; (policy = name_at(&clo_policies, p)) != NULL; p++)
        for (uint32_t bound = 0; bound <= 4; bound += 4) {
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            clo_trace *trace;
            size_t count;

            config.policy = clo_policy_find(policy);
            config.steps_max = bound;
            check(clo_simulate(cost, &config, NULL, &trace, NULL), config.policy->name);
            const clo_trace_event *events = clo_trace_events(trace, &count);
            for (size_t e = 0; e < count; e++) {
                add((uint64_t)events[e].task << 32 | events[e].executor);
                add((uint64_t)events[e].start_ns);
                add(events[e].sequence);
            }
            clo_trace_destroy(trace);
        }
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_graph *graph = make_graph(&rng);
        clo_platform *platform = make_platform(&rng);
        clo_cost *cost;

        check(clo_cost_create(graph, platform, &cost), "cost");
        add_plans(cost);
        add_decisions(cost);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    printf("%016llx\n", (unsigned long long)hash);
    return 0;
}
