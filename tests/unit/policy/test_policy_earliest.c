/* clo_view_earliest leaves out what cannot be first; it says what a look at every executor says. */
#include "random.h"
#include "scene.h"

static uint64_t asked;

/* The definition: of all executors, the one where the end is earliest, the lowest of equal ones. */
static uint32_t look_at_all(const clo_view *view, clo_ready_stage ready)
{
    uint32_t best = CLO_NONE;
    int64_t best_ns = INT64_MAX;

    for (uint32_t e = 0; e < clo_view_limits(view)->executors; e++) {
        int64_t time_ns = clo_view_execution_ns(view, ready.job, ready.stage, e);
        int64_t start_ns = clo_view_available_ns(view, e);
        int64_t arrival_ns = clo_view_arrival_ns(view, ready.job, ready.stage, e);
        if (time_ns == CLO_TIME_NEVER)
            continue;
        start_ns = arrival_ns > start_ns ? arrival_ns : start_ns;
        if (best == CLO_NONE || start_ns + time_ns < best_ns) {
            best = e;
            best_ns = start_ns + time_ns;
        }
    }
    return best;
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage first = clo_view_first_ready(view);

    (void)state;
    for (clo_ready_stage at = first; at.job != CLO_NONE; at = clo_view_next_ready(view, at), asked++)
        assert_int_equal(clo_view_earliest(view, at.job, at.stage), look_at_all(view, at));
    *choice = (clo_choice){first.job, first.stage, 1, clo_view_earliest(view, first.job, first.stage), CLO_NONE, 0, 0};
    return first.job != CLO_NONE;
}

static void the_earliest_executor_is_that_of_a_look_at_all(void **state)
{
    clo_policy policy = {.size = sizeof policy, .name = "looks", .summary = "", .commits = 1, .decide = decide};
    clo_sim_config config = {.size = sizeof config, .policy = &policy};

    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_ALL);
        clo_platform *platform = random_platform(seed, RANDOM_DEMANDS);
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        for (int readiness = CLO_READY_FINISHED; readiness <= CLO_READY_ASSIGNED; readiness++) {
            policy.readiness = (clo_readiness)readiness;
            ok(clo_simulate(cost, &config, NULL, NULL, NULL));
        }
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    assert_true(asked > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_earliest_executor_is_that_of_a_look_at_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
