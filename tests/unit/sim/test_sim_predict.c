/* Predictions under spread: what is known exactly gives the exact makespan; what varies gives an interval that holds what
 * it says; the same arguments give the same numbers. */
#include "support.h"

#include "base/numbers/rng.h"

#include <clotho/plan.h>
#include <clotho/sim.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_profile *profile;
    clo_cost *cost;
    clo_plan *plan;
} scene;

/* A fork of eight codelets that varied so much, and a join of nothing known. */
static scene open_scene(int64_t spread_ns)
{
    scene s;
    uint32_t join;

    ok(clo_platform_open("uniform:4", &s.platform));
    ok(clo_graph_create("fork", &s.graph));
    for (uint32_t t = 0; t < 8; t++) {
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 1}, NULL));
        ok(clo_graph_set_codelet(s.graph, t, &(clo_codelet){"part", 0, 1}));
    }
    ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 500}, &join));
    for (uint32_t t = 0; t < 8; t++)
        ok(clo_graph_add_edge(s.graph, t, join, 0));
    ok(clo_graph_seal(s.graph));
    ok(clo_profile_create(0, &s.profile));
    ok(clo_profile_add(s.profile, &(clo_profile_entry){.codelet = "part",
                                                       .kind = clo_platform_kind_name(s.platform, 0),
                                                       .footprint = 1,
                                                       .samples = 100,
                                                       .location_ns = 10000,
                                                       .spread_ns = spread_ns,
                                                       .high_ns = 10000 + 2 * spread_ns,
                                                       .most_ns = 10000 + 4 * spread_ns}));
    ok(clo_profile_publish(s.profile));
    ok(clo_cost_create_measured(s.graph, s.platform, s.profile, NULL, &s.cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    return s;
}

static void close_scene(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_profile_destroy(s->profile);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static clo_prediction predict(const scene *s, const clo_plan *plan, uint64_t seed)
{
    clo_prediction prediction = CLO_PREDICTION_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.plan = plan;
    prediction.seed = seed;
    ok(clo_profile_predict(s->profile, s->cost, &config, &prediction));
    return prediction;
}

static void without_spread_the_makespan_is_exact(void **state)
{
    scene s = open_scene(0);
    clo_prediction p = predict(&s, s.plan, 1);

    (void)state;
    assert_int_equal(p.median_ns, 20500);
    assert_int_equal(p.low_ns, 20500);
    assert_int_equal(p.high_ns, 20500);
    p = predict(&s, NULL, 1); /* work stealing */
    assert_int_equal(p.median_ns, 20500);
    close_scene(&s);
}

/* The longest of four pairs is longer than a pair: locations alone would predict too little. */
static void where_tasks_meet_the_longest_counts(void **state)
{
    scene s = open_scene(1000);
    clo_prediction p = predict(&s, s.plan, 1), again = predict(&s, s.plan, 1), other = predict(&s, s.plan, 2);

    (void)state;
    assert_true(p.median_ns > 20500 + 500 && p.median_ns < 20500 + 6000);
    assert_true(p.low_ns < p.median_ns && p.median_ns < p.high_ns);
    assert_int_equal(p.median_ns, again.median_ns);
    assert_int_equal(p.low_ns, again.low_ns);
    assert_int_equal(p.high_ns, again.high_ns);
    assert_true(other.median_ns != p.median_ns && llabs(other.median_ns - p.median_ns) < 500);
    close_scene(&s);
}

static int64_t drawn(clo_rng *rng, int64_t spread_ns)
{
    double u = clo_rng_below(rng, 1 << 20) / (double)(1 << 20);

    if (u < 0.5)
        return 10000 - 2 * spread_ns + (int64_t)(2 * (double)spread_ns * u / 0.5);
    if (u < 0.9)
        return 10000 + (int64_t)(2 * (double)spread_ns * (u - 0.5) / 0.4);
    return 10000 + 2 * spread_ns + (int64_t)(2 * (double)spread_ns * (u - 0.9) / 0.1);
}

/* 4000 runs of tasks that vary as the profile says: nine of ten lie in the interval. */
static void nine_of_ten_runs_lie_in_the_interval(void **state)
{
    scene s = open_scene(1000);
    clo_prediction p = predict(&s, s.plan, 3);
    clo_rng rng = clo_rng_seed(4);
    uint32_t inside = 0, below = 0;

    (void)state;
    for (int run = 0; run < 4000; run++) {
        int64_t most_ns = 0;
        for (int e = 0; e < 4; e++) {
            int64_t pair_ns = drawn(&rng, 1000) + drawn(&rng, 1000);
            most_ns = pair_ns > most_ns ? pair_ns : most_ns;
        }
        inside += most_ns + 500 >= p.low_ns && most_ns + 500 <= p.high_ns;
        below += most_ns + 500 <= p.median_ns;
    }
    assert_true(inside > 4000 * 82 / 100 && inside < 4000 * 96 / 100);
    assert_true(below > 4000 * 42 / 100 && below < 4000 * 58 / 100);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_spread_the_makespan_is_exact),
        cmocka_unit_test(where_tasks_meet_the_longest_counts),
        cmocka_unit_test(nine_of_ten_runs_lie_in_the_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
