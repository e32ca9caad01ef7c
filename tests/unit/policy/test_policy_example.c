/* Decima's example of a job whose graph is to be looked at as a whole (SIGCOMM 2019, appendix A, figure 16): on five
 * slots it takes 28 + 3 e if the branch with the most work goes first, and 20 + 3 e at best.
 *
 *   start --> blue (40 tasks of 1) --> orange (4 of 10) --> join --> end      start, join, end: 5 tasks of e
 *     '-----> green (1 of 20) --------------------------------^
 *
 * The numbers of tasks are reconstructed from these two sums and the text: blue on all slots ends at 8, and green, which
 * begins then, at 28; if green begins at once beside blue, orange and green end together at 20, with no slot idle. */
#include "policy_scene.h"

#include <clotho/plan.h>
#include <clotho/planner.h>

enum { START, BLUE, GREEN, ORANGE, JOIN, END, STAGES };

#define S INT64_C(1000)
#define E INT64_C(1)
#define WORST (28 * S + 3 * E)
#define BEST (20 * S + 3 * E)

/* Which of the two branches is added first must not matter to who looks at the graph. */
static clo_graph *example(policy_scene *s, bool green_is_first)
{
    const uint32_t blue = green_is_first ? 2 : 1, green = 3 - blue;
    clo_task tasks[STAGES] = {
        {.work_ns = E, .instances = 5}, {0}, {0}, {.work_ns = 10 * S, .instances = 4}, {.work_ns = E, .instances = 5},
        {.work_ns = E, .instances = 5}};

    tasks[blue] = (clo_task){.work_ns = S, .instances = 40};
    tasks[green] = (clo_task){.work_ns = 20 * S, .instances = 1};
    clo_graph *graph = scene_graph(s, tasks, STAGES);
    ok(clo_graph_add_edge(graph, START, blue, 0));
    ok(clo_graph_add_edge(graph, START, green, 0));
    ok(clo_graph_add_edge(graph, blue, ORANGE, 0));
    ok(clo_graph_add_edge(graph, ORANGE, JOIN, 0));
    ok(clo_graph_add_edge(graph, green, JOIN, 0));
    ok(clo_graph_add_edge(graph, JOIN, END, 0));
    return graph;
}

/* The bound is a proof; planners find it, and so it is the optimum. */
static void the_optimum_is_20(void **state)
{
    const clo_planner *const planners[] = {&clo_planner_heft, &clo_planner_best};

    (void)state;
    for (int order = 0; order < 2; order++) {
        policy_scene s;
        clo_cost *cost;
        scene_open(&s, 5);
        clo_graph *graph = example(&s, order == 1);
        scene_add(&s, graph, (clo_workload_job){0});
        ok(clo_platform_create(&s.desc, &s.platform));
        ok(clo_cost_create(graph, s.platform, &cost));
        clo_bound bound = CLO_BOUND_INIT;
        ok(clo_cost_bound(cost, &bound));
        assert_int_equal(bound.best_ns, BEST);
        for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++) {
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            clo_plan *plan;
            config.planner = planners[i];
            ok(clo_plan_create(cost, &config, &plan));
            assert_int_equal(clo_plan_makespan_ns(plan), BEST);
            clo_plan_destroy(plan);
        }
        clo_cost_destroy(cost);
        scene_close(&s);
    }
}

/* The critical path by work, time * tasks: 80 through blue, 20 through green. A list schedule in that order. */
static void the_branch_with_the_most_work_first_takes_28(void **state)
{
    const int64_t behind[STAGES] = {[START] = 100, [BLUE] = 80, [GREEN] = 20, [ORANGE] = 40, [JOIN] = 2, [END] = 1};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    policy_scene s;
    clo_cost *cost;
    clo_plan *plan;

    (void)state;
    scene_open(&s, 5);
    clo_graph *graph = example(&s, false);
    scene_add(&s, graph, (clo_workload_job){0});
    ok(clo_platform_create(&s.desc, &s.platform));
    ok(clo_cost_create(graph, s.platform, &cost));
    config.planner = &clo_planner_deft;
    config.argument = behind;
    ok(clo_plan_create(cost, &config, &plan));
    assert_int_equal(clo_plan_makespan_ns(plan), WORST);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    scene_close(&s);
}

/* With blue added first, and with green. Who looks at what lies behind a stage finds the optimum either way; who takes
 * stages by age, or as they were added, only if green happens to come first; who takes the shortest tasks, the largest
 * share or the highest ratio never does. */
static void policies_that_look_at_the_graph_find_it(void **state)
{
    static const struct {
        const char *policy;
        int64_t blue_first_ns, green_first_ns;
    } rows[] = {
        {"rank", BEST, BEST},
        {"sjf-cp", BEST, BEST},
        {"graphene", BEST, BEST},
        {"parametric", BEST, BEST},
        {"lachesis", BEST, BEST},
        {"decima", BEST, BEST},
        {"deft:rank", BEST, BEST},
        {"deft:decima", BEST, BEST},
        {"fifo", WORST, BEST},
        {"fair", WORST, BEST},
        {"sjf", WORST, BEST},
        {"hrrn", WORST, BEST},
        {"eft", WORST, BEST},
        {"deft", WORST, BEST},
        {"tetris", WORST, BEST},
        {"decima-fair", WORST, BEST},
        {"decima-fifo", WORST, BEST},
        {"auto", WORST, BEST},
        {"replan", WORST, BEST},
        {"deft:task-fifo", WORST, BEST},
        {"graphene-star", WORST, WORST},
        {"deft:task-sjf", WORST, WORST},
        {"deft:task-hrrn", WORST, WORST},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int order = 0; order < 2; order++) {
            policy_scene s;
            scene_open(&s, 5);
            scene_add(&s, example(&s, order == 1), (clo_workload_job){0});
            scene_run(&s, rows[i].policy);
            int64_t want_ns = order == 1 ? rows[i].green_first_ns : rows[i].blue_first_ns;
            if (s.result.makespan_ns != want_ns)
                fail_msg("%s takes %lld, not %lld", rows[i].policy, (long long)s.result.makespan_ns,
                         (long long)want_ns);
            scene_close(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimum_is_20),
        cmocka_unit_test(the_branch_with_the_most_work_first_takes_28),
        cmocka_unit_test(policies_that_look_at_the_graph_find_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
