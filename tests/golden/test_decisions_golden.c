/* What the generator, the planners, the policies and the simulator decide, under tests/golden/decisions: a line for
 * each case with the figures a reader compares, and a hash of everything else. After a wanted change:
 * CLO_UPDATE_GOLDEN=1 build/.../test_decisions_golden, then read the difference. Planners limited by time are left
 * out. */
#include "golden.h"

#include "base/text.h"
#include "planner_named.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = add(hash, (unsigned char)*text);
    return hash;
}

/* Everything that a caller can read of a graph. */
static uint64_t hash_of_graph(const clo_graph *graph, int64_t *work_ns, uint64_t *bytes)
{
    uint64_t hash = HASH_BEGIN;

    *work_ns = 0;
    *bytes = 0;
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        char scratch[16];
        clo_task task = CLO_TASK_INIT;
        int64_t time_ns;
        ok(clo_graph_task(graph, t, &task));
        *work_ns += task.work_ns;
        hash = add_text(hash, clo_graph_task_name(graph, t, scratch));
        hash = add(add(hash, (uint64_t)task.work_ns), task.output_bytes);
        hash = add(add(hash, task.duplicable), task.task_class);
        for (uint32_t k = 0; k < clo_graph_kinds(graph); k++)
            hash = add(hash, clo_graph_time(graph, t, k, &time_ns) ? (uint64_t)time_ns : 0);
    }
    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge;
        ok(clo_graph_edge(graph, e, &edge));
        hash = add(add(add(hash, edge.from), edge.to), edge.bytes);
        *bytes += edge.bytes;
    }
    return hash;
}

static void generated_graphs_are_golden(void **state)
{
    (void)state;
    static const clo_generate_config configs[] = {
        {.size = sizeof(clo_generate_config)},
        {.size = sizeof(clo_generate_config), .seed = 3, .tasks = 1},
        {.size = sizeof(clo_generate_config),
         .seed = 5,
         .tasks = 29,
         .width = 3,
         .ccr = 0.5,
         .work_spread = 0.7,
         .outputs = 1},
        {.size = sizeof(clo_generate_config),
         .seed = 7,
         .tasks = 300,
         .width = 5,
         .ccr = 2,
         .work_spread = 1,
         .work_mean_ns = 1234567,
         .kinds = 3,
         .beta = 1.5,
         .duplicable = 1},
    };
    clo_text text = {0};
    const char *family;

    for (uint32_t f = 0; (family = name_at("families", f)) != NULL; f++)
        for (size_t c = 0; c < sizeof configs / sizeof configs[0]; c++) {
            clo_graph *graph;
            int64_t work_ns;
            uint64_t bytes;
            ok(clo_graph_generate(family, &configs[c], &graph));
            uint64_t hash = hash_of_graph(graph, &work_ns, &bytes);
            clo_text_add(&text,
                         "%-12s %zu  tasks %-3u edges %-4u work %-10" PRId64 " bytes %-10" PRIu64 " %016" PRIx64 "\n",
                         family, c, clo_graph_tasks(graph), clo_graph_edges(graph), work_ns, bytes, hash);
            clo_graph_destroy(graph);
        }
    is_golden("decisions/graphs.txt", &text);
}

/* A graph on a platform; what its name says is what it is for. */
typedef struct scene {
    const char *name;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} scene;

enum { SCENES = 9 };

static scene open_scene(int which)
{
    static const struct {
        const char *name, *family, *platform;
        uint64_t seed;
        unsigned features;
    } scenes[SCENES] = {
        {"plain", NULL, NULL, 2, 0},
        {"everything", NULL, NULL, 1, RANDOM_ALL},
        {"replicas", NULL, NULL, 31, RANDOM_DUPLICABLE | RANDOM_INSTANCES},
        {"packing", NULL, NULL, 1, RANDOM_DEMANDS | RANDOM_NO_BYTES},
        {"masks", NULL, NULL, 4, RANDOM_MASKS | RANDOM_KINDS},
        {"small", NULL, NULL, 1, RANDOM_SMALL | RANDOM_DUPLICABLE},
        {"cholesky", "cholesky", "rk3588", 1, 0},
        {"montage", "montage", "zcu102", 2, 0},
        {"equal", "layered", "uniform:4", 3, 0},
    };
    scene s = {.name = scenes[which].name};

    if (scenes[which].family != NULL) {
        clo_generate_config config = {.size = sizeof config,
                                      .seed = scenes[which].seed,
                                      .tasks = 40,
                                      .ccr = 1,
                                      .work_spread = 0.5,
                                      .duplicable = 1};
        ok(clo_graph_generate(scenes[which].family, &config, &s.graph));
        ok(clo_platform_open(scenes[which].platform, &s.platform));
    } else {
        s.graph = random_graph(scenes[which].seed, scenes[which].features);
        s.platform = random_platform(scenes[which].seed, scenes[which].features & RANDOM_DEMANDS);
    }
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static void close_scene(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static void bounds_and_ranks_are_golden(void **state)
{
    (void)state;
    clo_text text = {0};

    for (int i = 0; i < SCENES; i++) {
        scene s = open_scene(i);
        int64_t *up = calloc(clo_graph_tasks(s.graph), sizeof *up),
                *down = calloc(clo_graph_tasks(s.graph), sizeof *down);
        uint32_t *path = calloc(clo_graph_tasks(s.graph), sizeof *path);
        uint64_t hash = HASH_BEGIN;
        clo_bound bound = CLO_BOUND_INIT;

        assert_true(up != NULL && down != NULL && path != NULL);
        clo_cost_rank_u(s.cost, up);
        clo_cost_rank_d(s.cost, down);
        for (uint32_t t = 0; t < clo_graph_tasks(s.graph); t++)
            hash = add(add(hash, (uint64_t)up[t]), (uint64_t)down[t]);
        uint32_t length = clo_cost_critical_path(s.cost, path);
        for (uint32_t t = 0; t < length; t++)
            hash = add(hash, path[t]);
        ok(clo_cost_bound(s.cost, &bound));
        clo_text_add(&text,
                     "%-10s path %" PRId64 " area %" PRId64 " resource %" PRId64 " combined %" PRId64 " best %" PRId64
                     "  critical path of %u  %016" PRIx64 "\n",
                     s.name, bound.critical_path_ns, bound.area_ns, bound.resource_ns, bound.combined_ns, bound.best_ns,
                     length, hash);
        free(up);
        free(down);
        free(path);
        close_scene(&s);
    }
    is_golden("decisions/bounds.txt", &text);
}

/* Bounds of many graphs: the sum of each, which a change of any of them moves. */
static void sums_of_bounds_are_golden(void **state)
{
    (void)state;
    static const unsigned features[] = {0,
                                        RANDOM_DEMANDS | RANDOM_NO_BYTES,
                                        RANDOM_ALL,
                                        RANDOM_KINDS | RANDOM_MASKS,
                                        RANDOM_SMALL | RANDOM_NO_BYTES,
                                        RANDOM_INSTANCES | RANDOM_NO_BYTES};
    clo_text text = {0};

    for (size_t f = 0; f < sizeof features / sizeof features[0]; f++) {
        clo_bound sum = CLO_BOUND_INIT;
        for (uint64_t seed = 100; seed < 150; seed++) {
            clo_graph *graph = random_graph(seed, features[f]);
            clo_platform *platform = random_platform(seed, features[f] & RANDOM_DEMANDS);
            clo_cost *cost;
            clo_bound bound = CLO_BOUND_INIT;
            ok(clo_cost_create(graph, platform, &cost));
            ok(clo_cost_bound(cost, &bound));
            sum.critical_path_ns += bound.critical_path_ns;
            sum.area_ns += bound.area_ns;
            sum.resource_ns += bound.resource_ns;
            sum.combined_ns += bound.combined_ns;
            clo_cost_destroy(cost);
            clo_platform_destroy(platform);
            clo_graph_destroy(graph);
        }
        clo_text_add(&text,
                     "features %-3u path %" PRId64 " area %" PRId64 " resource %" PRId64 " combined %" PRId64 "\n",
                     features[f], sum.critical_path_ns, sum.area_ns, sum.resource_ns, sum.combined_ns);
    }
    is_golden("decisions/bound_sums.txt", &text);
}

static void add_plan(clo_text *text, const scene *s, const char *planner, uint32_t justify)
{
    clo_plan_config config = {
        .size = sizeof config, .planner = planner_named(planner), .seed = 9, .schedules_max = 2000, .justify = justify};
    uint64_t hash = HASH_BEGIN;
    clo_plan *plan;
    size_t count;

    ok(clo_plan_create(s->cost, &config, &plan));
    const clo_placement *p = clo_plan_placements(plan, &count);
    for (size_t i = 0; i < count; i++) {
        hash = add(add(add(hash, p[i].task), p[i].instance), p[i].executor);
        hash = add(add(add(hash, p[i].is_replica), (uint64_t)p[i].start_ns), (uint64_t)p[i].finish_ns);
    }
    clo_text_add(text,
                 "%-10s %s%-21s makespan %-9" PRId64 " executions %-3zu schedules %-5" PRIu64 "%s %016" PRIx64 "\n",
                 s->name, justify ? "justified " : "", planner, clo_plan_makespan_ns(plan), count,
                 clo_plan_schedules(plan), clo_plan_is_optimal(plan) ? " optimal" : "", hash);
    clo_plan_destroy(plan);
}

static void plans_are_golden(void **state)
{
    (void)state;
    clo_text text = {0};
    const char *planner;

    for (int i = 0; i < SCENES; i++) {
        scene s = open_scene(i);
        for (uint32_t k = 0; (planner = name_at("planners", k)) != NULL; k++)
            add_plan(&text, &s, planner, 0);
        add_plan(&text, &s, "heft", 1);
        add_plan(&text, &s, "deft", 1);
        close_scene(&s);
    }
    is_golden("decisions/plans.txt", &text);
}

static void add_simulation(clo_text *text, const scene *s, const char *name, const clo_sim_config *config)
{
    clo_job_result r = CLO_JOB_RESULT_INIT;
    clo_trace *trace;

    ok(clo_simulate(s->cost, config, &r, &trace, NULL));
    clo_text_add(text,
                 "%-10s %-7s makespan %-9" PRId64 " busy %-9" PRId64 " executed %" PRIu64 "+%" PRIu64
                 " transfers %-3" PRIu64 " of %" PRIu64 " steals %-3" PRIu64 " decisions %" PRIu64 " steps %" PRIu64
                 "  %016" PRIx64 "\n",
                 s->name, name, r.makespan_ns, r.busy_ns, r.executed, r.duplicates_run, r.transfers,
                 r.transferred_bytes, r.steals, r.decisions, r.decision_steps, hash_of_trace(trace));
    clo_trace_destroy(trace);
}

/* Selections that are no policies of their own. */
static void add_selections(clo_text *text, const scene *s)
{
    static const char *const selections[] = {"decima", "task-fifo", "task-sjf", "task-hrrn"};

    for (size_t k = 0; k < sizeof selections / sizeof selections[0]; k++) {
        _Alignas(16) unsigned char argument[256];
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        char name[32];
        config.policy = clo_policy_find("deft");
        config.argument = argument;
        assert_true(config.policy->argument_bytes <= sizeof argument);
        ok(config.policy->parse(selections[k], argument));
        snprintf(name, sizeof name, "deft:%s", selections[k]);
        add_simulation(text, s, name, &config);
    }
}

static void simulated_decisions_are_golden(void **state)
{
    (void)state;
    clo_text text = {0};
    const clo_policy *policy;

    for (int i = 0; i < SCENES; i++) {
        scene s = open_scene(i);
        clo_plan_config planning = {.size = sizeof planning, .planner = &clo_planner_deft};
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_plan *plan;

        for (uint32_t k = 0; (policy = policy_at(k)) != NULL; k++) {
            config.policy = policy;
            add_simulation(&text, &s, policy->name, &config);
        }
        add_selections(&text, &s);
        config.policy = NULL;
        ok(clo_plan_create(s.cost, &planning, &plan));
        config.plan = plan;
        add_simulation(&text, &s, "replay", &config);
        clo_plan_destroy(plan);
        close_scene(&s);
    }
    is_golden("decisions/simulations.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_graphs_are_golden),    cmocka_unit_test(bounds_and_ranks_are_golden),
        cmocka_unit_test(sums_of_bounds_are_golden),      cmocka_unit_test(plans_are_golden),
        cmocka_unit_test(simulated_decisions_are_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
