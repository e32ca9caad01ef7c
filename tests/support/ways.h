/* ways.h - the ways in which a job is dispatched, for tests that try a thing in each of them. */
#ifndef CLO_TEST_WAYS_H
#define CLO_TEST_WAYS_H

#include "planner_named.h"
#include "running.h"

enum { STEAL, PLAN, POLICY, SLOTS, SLOTS_POLICY, WAYS };

static inline fixture start_way(int way, clo_graph *graph)
{
    fixture f = {.graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    if (way < SLOTS)
        return start(3, graph, CLO_CLOCK_REAL);
    config.trace = config.unpinned = 1;
    ok(clo_platform_open("slots:5", &f.platform));
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static inline clo_plan *plan_of(const fixture *f, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = planner_named(planner);
    ok(clo_plan_create(f->cost, &config, &plan));
    return plan;
}

#endif
