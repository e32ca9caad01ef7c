/* What every planner decides for graphs with stages (tasks of many instances), under tests/golden/decisions/staged.txt:
 * a line for each planner and family of graphs, with the sum of the makespans and a hash of all placements. An edge
 * between stages stands for all pairs of their instances; a planner that takes it as one must decide as one that
 * looks at each pair. After a wanted change: CLO_UPDATE_GOLDEN=1 build/.../test_staged_plans_golden. CLO_TEST_VERBOSE=1
 * prints a line for each graph. */
#include "golden.h"
#include "planner_named.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 24, SCHEDULES = 40 };

static const struct {
    const char *name;
    unsigned features;
} families[] = {
    {"staged", RANDOM_STAGES},
    {"staged+replicas", RANDOM_STAGES | RANDOM_DUPLICABLE},
    {"staged+all", RANDOM_STAGES | RANDOM_ALL},
    {"staged+packing", RANDOM_STAGES | RANDOM_DEMANDS | RANDOM_NO_BYTES},
    {"staged+masks", RANDOM_STAGES | RANDOM_MASKS | RANDOM_KINDS | RANDOM_NO_BYTES},
    {"few", RANDOM_INSTANCES | RANDOM_DUPLICABLE},
    {"few+all", RANDOM_INSTANCES | RANDOM_ALL},
    {"small", RANDOM_INSTANCES | RANDOM_SMALL | RANDOM_DUPLICABLE},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* What a line says. */
typedef struct figures {
    uint64_t hash;
    int64_t makespan_ns;
    uint64_t executions, transfers, bytes;
} figures;

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform, *equal;
    clo_cost *cost[2]; /* on a random platform; on equal executors that share a memory */
} scene;

static scene open_scene(uint64_t seed, unsigned features)
{
    scene s = {.graph = random_graph(seed, features), .platform = random_platform(seed, features & RANDOM_DEMANDS)};

    ok(clo_cost_create(s.graph, s.platform, &s.cost[0]));
    ok(clo_platform_open("uniform:16", &s.equal));
    if (!(features & (RANDOM_MASKS | RANDOM_KINDS)))
        ok(clo_cost_create(s.graph, s.equal, &s.cost[1]));
    return s;
}

static void close_scene(scene *s)
{
    for (int i = 0; i < 2; i++)
        clo_cost_destroy(s->cost[i]);
    clo_platform_destroy(s->platform);
    clo_platform_destroy(s->equal);
    clo_graph_destroy(s->graph);
}

static void take_plan(figures *f, const clo_cost *cost, const clo_plan *plan)
{
    clo_plan_metrics m = CLO_PLAN_METRICS_INIT;
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);

    for (size_t i = 0; i < count; i++) {
        f->hash = add(add(add(f->hash, p[i].task), p[i].instance), p[i].executor);
        f->hash = add(add(add(f->hash, p[i].is_replica), (uint64_t)p[i].start_ns), (uint64_t)p[i].finish_ns);
    }
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    ok(clo_plan_measure(plan, cost, &m));
    f->makespan_ns += m.makespan_ns;
    f->executions += count;
    f->transfers += m.transfers;
    f->bytes += m.transferred_bytes;
}

static void take_planner(figures *f, const scene *s, const char *planner, uint32_t justify)
{
    for (int i = 0; i < 2; i++) {
        clo_plan_config config = {.size = sizeof config,
                                  .planner = planner_named(planner),
                                  .seed = 5,
                                  .schedules_max = SCHEDULES,
                                  .justify = justify};
        clo_plan *plan;
        if (s->cost[i] == NULL)
            continue;
        ok(clo_plan_create(s->cost[i], &config, &plan));
        take_plan(f, s->cost[i], plan);
        clo_plan_destroy(plan);
    }
}

static void take_bounds(figures *f, const clo_cost *cost)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost));
    int64_t *ranks = calloc(2 * (size_t)tasks, sizeof *ranks);
    uint32_t *path = calloc(2 * (size_t)tasks, sizeof *path);
    clo_bound bound = CLO_BOUND_INIT;

    assert_true(ranks != NULL && path != NULL);
    clo_cost_rank_u(cost, ranks);
    clo_cost_rank_d(cost, ranks + tasks);
    clo_graph_levels(clo_cost_graph(cost), path);
    (void)clo_cost_critical_path(cost, path + tasks);
    ok(clo_cost_bound(cost, &bound));
    for (uint32_t i = 0; i < 2 * tasks; i++)
        f->hash = add(add(f->hash, (uint64_t)ranks[i]), path[i]);
    f->hash = add(add(f->hash, (uint64_t)bound.critical_path_ns), (uint64_t)bound.area_ns);
    f->hash = add(add(f->hash, (uint64_t)bound.resource_ns), (uint64_t)bound.combined_ns);
    f->makespan_ns += bound.best_ns;
    free(ranks);
    free(path);
}

static void add_line(clo_text *text, const char *what, const char *family, uint64_t seed, const figures *f)
{
    char line[256];

    snprintf(line, sizeof line,
             "%-26s %-16s makespans %-10" PRId64 " executions %-6" PRIu64 " transfers %-7" PRIu64 " of %-10" PRIu64
             " %016" PRIx64 "\n",
             what, family, f->makespan_ns, f->executions, f->transfers, f->bytes, f->hash);
    if (text != NULL)
        clo_text_add(text, "%s", line);
    else if (getenv("CLO_TEST_VERBOSE") != NULL)
        print_message("seed %-3" PRIu64 " %s", seed, line);
}

/* One planner over all graphs of a family; NULL: bounds and ranks. */
static void add_planner(clo_text *text, int family, const char *planner, uint32_t justify)
{
    figures sum = {.hash = HASH_BEGIN};
    char what[64];

    snprintf(what, sizeof what, "%s%s", justify ? "justified " : "", planner != NULL ? planner : "bounds");
    for (uint64_t seed = 300; seed < 300 + SEEDS; seed++) {
        scene s = open_scene(seed, families[family].features);
        if (planner != NULL)
            take_planner(&sum, &s, planner, justify);
        else
            take_bounds(&sum, s.cost[0]);
        add_line(NULL, what, families[family].name, seed, &sum);
        close_scene(&s);
    }
    add_line(text, what, families[family].name, 0, &sum);
}

static void staged_plans_are_golden(void **state)
{
    clo_text text = {0};
    const char *planner;

    (void)state;
    for (int f = 0; f < FAMILIES; f++) {
        add_planner(&text, f, NULL, 0);
        for (uint32_t k = 0; (planner = name_at("planners", k)) != NULL; k++)
            add_planner(&text, f, planner, 0);
        add_planner(&text, f, "heft", 1);
        add_planner(&text, f, "deft", 1);
    }
    is_golden("decisions/staged.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(staged_plans_are_golden)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
