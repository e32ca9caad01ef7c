/* Plans with an interval, on random graphs and platforms: the checker takes them; the bound is the true one where all
 * assignments can be tried; releases unrolled by hand never meet; planted faults are found. */
#include "support.h"

#include "base/numbers/rng.h"
#include "graph/graph.h"
#include "plan/facts.h"
#include "random_scene.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS (SANITIZED ? 120u : 600u)
#define TINY_INSTANCES 7u
#define TINY_EXECUTORS 4u

static unsigned features_of(uint64_t seed)
{
    unsigned features = RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS;

    return seed % 5 == 4 ? features | RANDOM_STAGES : features;
}

/* Of each instance, its placement. */
static const clo_placement **placements_of(const scene *s, const clo_plan *plan)
{
    const clo_placement **of = calloc(s->graph->instances, sizeof *of);
    size_t count;
    const clo_placement *placements = clo_plan_placements(plan, &count);

    assert_non_null(of);
    assert_int_equal(count, s->graph->instances);
    for (size_t i = 0; i < count; i++)
        of[s->graph->first_instance[placements[i].task] + placements[i].instance] = &placements[i];
    return of;
}

/* Releases k and k + d on one executor: from either side of one another, for as many d as can meet. */
static void check_overlaps(const scene *s, const clo_placement **of, int64_t interval_ns, uint32_t in_flight)
{
    for (uint32_t a = 0; a < s->graph->instances; a++)
        for (uint32_t b = 0; b < s->graph->instances; b++)
            for (uint32_t d = a == b; d <= in_flight && of[a]->executor == of[b]->executor; d++) {
                int64_t start_ns = of[b]->start_ns + d * interval_ns, finish_ns = of[b]->finish_ns + d * interval_ns;
                if (a == b || d > 0 || a < b)
                    assert_true(of[a]->finish_ns <= start_ns || finish_ns <= of[a]->start_ns);
            }
}

/* No output is written over before its last consumer has ended; with one buffer less some would be. */
static void check_depths(const scene *s, const clo_plan *plan, const clo_placement **of)
{
    const clo_graph *graph = s->graph;
    int64_t interval_ns = clo_plan_interval_ns(plan);
    uint32_t *depths = calloc(graph->instances, sizeof *depths);

    assert_non_null(depths);
    ok(clo_plan_buffer_depths(plan, s->cost, depths));
    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++) {
            int64_t last_ns = of[i]->finish_ns;
            assert_in_range(depths[i], 1, clo_plan_in_flight(plan));
            if (clo_graph_output(graph, t) == 0)
                continue;
            for (uint32_t k = graph->out_first[t]; k < graph->out_first[t + 1]; k++)
                for (uint32_t c = graph->first_instance[graph->out[k]]; c < graph->first_instance[graph->out[k] + 1];
                     c++)
                    last_ns = of[c]->finish_ns > last_ns ? of[c]->finish_ns : last_ns;
            assert_true(of[i]->start_ns + depths[i] * interval_ns >= last_ns);
            assert_true(depths[i] == 1 || of[i]->start_ns + (depths[i] - 1) * interval_ns < last_ns);
        }
    free(depths);
}

static void check_measures(const scene *s, const clo_plan *plan, const clo_interval_bound *bound)
{
    clo_pipeline_metrics m = CLO_PIPELINE_METRICS_INIT;

    ok(clo_plan_pipeline_measure(plan, s->cost, &m));
    assert_true(m.interval_ns == clo_plan_interval_ns(plan) && m.bound_ns == bound->best_ns);
    assert_true(m.gap >= 0 && m.utilization <= 1.0000001 && m.latency_ns >= m.latency_bound_ns);
    assert_true(m.buffer_bytes >= m.single_bytes && m.in_flight == clo_plan_in_flight(plan));
}

/* Without a limit any assignment of executors can be had at the load of its fullest; so that of HEFT's can. */
static void check_beside_heft(const scene *s, const clo_plan *plan)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *heft;
    size_t count;
    int64_t *load_ns = calloc(clo_platform_executors(s->platform), sizeof *load_ns), fullest_ns = 1;

    assert_non_null(load_ns);
    config.no_duplicates = 1;
    ok(clo_plan_create(s->cost, &config, &heft));
    const clo_placement *placements = clo_plan_placements(heft, &count);
    for (size_t i = 0; i < count; i++) {
        int64_t *load = &load_ns[placements[i].executor];
        *load += placements[i].finish_ns - placements[i].start_ns;
        fullest_ns = *load > fullest_ns ? *load : fullest_ns;
    }
    assert_true(clo_plan_interval_ns(plan) <= fullest_ns);
    clo_plan_destroy(heft);
    free(load_ns);
}

static void random_plans_hold(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 2, 3, 8};
    uint32_t optimal = 0, deep = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = make_scene(seed, features_of(seed));
        clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
        clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
        clo_plan *plan;

        config.releases_in_flight = limits[seed % 5];
        ok(clo_cost_interval_bound(s.cost, &bound));
        ok(clo_plan_pipeline(s.cost, &config, &plan));
        ok(clo_plan_check(plan, s.cost, CLO_CHECK_FULL));
        assert_true(clo_plan_interval_ns(plan) >= bound.best_ns && clo_plan_interval_ns(plan) > 0);
        assert_true(config.releases_in_flight == 0 || clo_plan_in_flight(plan) <= config.releases_in_flight);
        bool is_bound = clo_plan_interval_ns(plan) == (bound.best_ns > 0 ? bound.best_ns : 1);
        assert_int_equal(clo_plan_is_optimal(plan), is_bound);
        const clo_placement **of = placements_of(&s, plan);
        if (s.graph->instances <= 200)
            check_overlaps(&s, of, clo_plan_interval_ns(plan), clo_plan_in_flight(plan));
        check_depths(&s, plan, of);
        check_measures(&s, plan, &bound);
        if (config.releases_in_flight == 0)
            check_beside_heft(&s, plan);
        optimal += is_bound;
        deep += clo_plan_in_flight(plan) > 1;
        free(of);
        clo_plan_destroy(plan);
        drop_scene(&s);
    }
    assert_true(optimal > SEEDS / 20 && deep > SEEDS / 8);
}

/* The load of the fullest executor where instance i runs on digit i of `code`; INT64_MAX: one cannot run there. */
static int64_t load_of(const scene *s, uint64_t code, uint32_t executors)
{
    int64_t loads_ns[TINY_EXECUTORS] = {0}, fullest_ns = 0;

    for (uint32_t i = 0; i < s->graph->instances; i++, code /= executors) {
        uint32_t e = (uint32_t)(code % executors);
        int64_t time_ns = clo_cost_execution_ns(s->cost, s->graph->task_of[i], e);
        if (time_ns == CLO_TIME_NEVER)
            return INT64_MAX;
        loads_ns[e] += time_ns;
        fullest_ns = loads_ns[e] > fullest_ns ? loads_ns[e] : fullest_ns;
    }
    return fullest_ns;
}

/* The smallest of all assignments. */
static int64_t brute_load(const scene *s, uint32_t executors)
{
    int64_t best_ns = INT64_MAX;
    uint64_t codes = 1;

    for (uint32_t i = 0; i < s->graph->instances; i++)
        codes *= executors;
    for (uint64_t code = 0; code < codes; code++) {
        int64_t load_ns = load_of(s, code, executors);
        best_ns = load_ns < best_ns ? load_ns : best_ns;
    }
    return best_ns;
}

static void the_bound_of_tiny_graphs_is_the_true_interval(void **state)
{
    (void)state;
    uint32_t tried = 0;

    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        scene s = make_scene(seed, (RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS) | RANDOM_SMALL);
        uint32_t executors = clo_platform_executors(s.platform);
        if (s.graph->instances <= TINY_INSTANCES && executors <= TINY_EXECUTORS) {
            clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
            int64_t brute_ns = brute_load(&s, executors);
            clo_plan *plan;

            ok(clo_cost_interval_bound(s.cost, &bound));
            assert_int_equal(bound.best_ns, brute_ns);
            ok(clo_plan_pipeline(s.cost, NULL, &plan)); /* no limit: any assignment can be had at its load */
            assert_int_equal(clo_plan_interval_ns(plan), brute_ns > 0 ? brute_ns : 1);
            assert_true(clo_plan_is_optimal(plan));
            clo_plan_destroy(plan);
            tried++;
        }
        drop_scene(&s);
    }
    assert_true(tried > SEEDS / 20);
}

/* Tasks that take 2^61 ns in all and hold shares of a machine: at the offsets at which there is room for them, each may
 * have to wait for nearly an interval. */
static void times_do_not_overflow(void **state)
{
    enum { TASKS = 40 };
    const clo_executor executors[4] = {{.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
                                       {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
                                       {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
                                       {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    const int64_t capacities[CLO_RESOURCES_MAX] = {10, 2, 5, -1, -1, -1, -1, -1}, work_ns = (1ll << 61) / TASKS - 1;
    static const int64_t demands[] = {0, 5, 6, 9};
    (void)state;

    for (uint64_t seed = 0; seed < 20; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_platform_desc desc = {.size = sizeof desc, .executors_count = 4, .executors = executors, .kinds_count = 1};
        scene s;
        clo_plan *plan;

        desc.capacities = capacities;
        ok(clo_platform_create(&desc, &s.platform));
        ok(clo_graph_create(NULL, &s.graph));
        for (uint32_t t = 0; t < TASKS; t++) {
            clo_task task = {.work_ns = work_ns / (1 + clo_rng_below(&rng, 3))};
            task.demand[0] = demands[clo_rng_below(&rng, 4)];
            task.demand[1] = clo_rng_below(&rng, 3);
            task.demand[2] = clo_rng_below(&rng, 3) * clo_rng_below(&rng, 3);
            ok(clo_graph_add_task(s.graph, &task, NULL));
            for (uint32_t from = t > 3 ? t - 3 : 0; from < t; from++)
                if (clo_rng_below(&rng, 5) < 3)
                    ok(clo_graph_add_edge(s.graph, from, t, 0));
        }
        ok(clo_graph_seal(s.graph));
        ok(clo_cost_create(s.graph, s.platform, &s.cost));
        ok(clo_plan_pipeline(s.cost, NULL, &plan));
        ok(clo_plan_check(plan, s.cost, CLO_CHECK_FULL));
        clo_plan_destroy(plan);
        drop_scene(&s);
    }
}

static void refused(const scene *s, const clo_placement *placements, size_t count, int64_t interval_ns, const char *why)
{
    clo_plan *plan;

    ok(clo_plan_from_interval(s->cost, "planted", placements, count, interval_ns, &plan));
    fails(CLO_ERR_INVALID, why, clo_plan_check(plan, s->cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
}

/* A sink moved to where another instance is in another release: no order of the release is broken. */
static bool plant_overlap(const scene *s, const clo_plan *plan, clo_placement *mine, size_t count)
{
    int64_t interval_ns = clo_plan_interval_ns(plan), far_ns = (clo_plan_makespan_ns(plan) / interval_ns + 2);

    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            bool is_sink = s->graph->out_first[mine[a].task] == s->graph->out_first[mine[a].task + 1];
            if (a == b || !is_sink || mine[a].executor != mine[b].executor || mine[a].finish_ns == mine[a].start_ns ||
                mine[b].finish_ns == mine[b].start_ns)
                continue;
            clo_placement kept = mine[a];
            mine[a].start_ns = mine[b].start_ns + far_ns * interval_ns;
            mine[a].finish_ns = mine[a].start_ns + kept.finish_ns - kept.start_ns;
            refused(s, mine, count, interval_ns, "overlap");
            mine[a] = kept;
            return true;
        }
    return false;
}

static void planted_faults_are_found(void **state)
{
    (void)state;
    uint32_t overlaps = 0, shortened = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = make_scene(seed, features_of(seed));
        clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
        clo_plan *plan;
        size_t count;

        ok(clo_cost_interval_bound(s.cost, &bound));
        ok(clo_plan_pipeline(s.cost, NULL, &plan));
        const clo_placement *placements = clo_plan_placements(plan, &count);
        clo_placement *mine = calloc(count, sizeof *mine);
        assert_non_null(mine);
        memcpy(mine, placements, count * sizeof *mine);
        if (bound.best_ns > 1) { /* below the bound somebody is too full, whatever the offsets */
            refused(&s, mine, count, bound.best_ns - 1, "");
            refused(&s, mine, count, bound.best_ns / 2 + 1 < bound.best_ns ? bound.best_ns / 2 + 1 : 1, "");
            shortened++;
        }
        if (count <= 200)
            overlaps += plant_overlap(&s, plan, mine, count);
        free(mine);
        clo_plan_destroy(plan);
        drop_scene(&s);
    }
    assert_true(overlaps > SEEDS / 3 && shortened > SEEDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_plans_hold),
        cmocka_unit_test(the_bound_of_tiny_graphs_is_the_true_interval),
        cmocka_unit_test(times_do_not_overflow),
        cmocka_unit_test(planted_faults_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
