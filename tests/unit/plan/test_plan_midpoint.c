/* The planner lp-midpoint: valid plans from the order of a linear program; what it says when the solver or memory is
 * missing; and that nobody meets it who has not named it. The linker puts __wrap_dlopen in place of dlopen (see
 * test_synch_faults.c). */
#include "fault.h"
#include "fixture.h"
#include "random.h"

#include <clotho/synch.h>
#include <dlfcn.h>

#define BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

static bool is_missing;

BEFORE_SANITIZERS void *__wrap_dlopen(const char *name, int flags)
{
    return is_missing && name != NULL && strstr(name, "Clp") != NULL ? NULL : __real_dlopen(name, flags);
}

static void need_solver(void)
{
    if (!clo_synch_has_lp())
        skip_unless_ci("no LP solver here", "apt-get install coinor-libclp-dev, then configure anew");
}

static clo_status plan_with(const clo_cost *cost, const char *planner, clo_plan **out)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.planner = planner_named(planner);
    return clo_plan_create(cost, &config, out);
}

static clo_status nothing(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
                          clo_placement *placements, size_t *count)
{
    (void)planner, (void)cost, (void)config, (void)placements;
    *count = 0;
    return CLO_OK;
}

static void it_is_found_by_its_name_and_stands_in_no_list(void **state)
{
    clo_entry row = CLO_ENTRY_INIT;

    (void)state;
    assert_ptr_equal(clo_planner_find("LP_Midpoint"), &clo_planner_lp_midpoint);
    for (uint32_t i = 0; clo_registry_entry("planners", i, &row); i++)
        assert_string_not_equal(row.name, "lp-midpoint");
    static const clo_planner mine = {
        .name = "lpmidpoint", .summary = "has the name", .size = sizeof(clo_planner), .plan = nothing};
    fails(CLO_ERR_ARGUMENT, "there is a planner 'lpmidpoint' already", clo_planner_register(&mine));
}

/* All features at once, a random choice of them, and packings. */
static void plans_are_valid_not_below_the_bound_and_reproducible(void **state)
{
    const uint32_t count = 60;
    uint32_t other = 0;
    double ratio = 0;

    (void)state;
    need_solver();
    for (uint64_t seed = 1; seed <= count; seed++) {
        unsigned features = seed % 3 == 0   ? RANDOM_ALL | RANDOM_UNTIMED
                            : seed % 3 == 1 ? RANDOM_DEMANDS | RANDOM_NO_BYTES | RANDOM_INSTANCES
                                            : (unsigned)(seed * 37 % 512);
        clo_graph *graph = random_graph(seed, features);
        clo_platform *platform = random_platform(seed, features & RANDOM_DEMANDS);
        clo_bound bound = CLO_BOUND_INIT;
        clo_plan *plan, *again, *rule;
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        ok(clo_cost_bound(cost, &bound));
        ok(plan_with(cost, "lp-midpoint", &plan));
        ok(plan_with(cost, "lp-midpoint", &again));
        ok(plan_with(cost, "sgs-serial", &rule));
        ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
        assert_true(clo_plan_makespan_ns(plan) >= bound.best_ns);
        size_t rows, rows_again;
        const clo_placement *p = clo_plan_placements(plan, &rows), *q = clo_plan_placements(again, &rows_again);
        assert_int_equal(rows, rows_again);
        assert_memory_equal(p, q, rows * sizeof *p);
        ratio += (double)clo_plan_makespan_ns(plan) / (double)clo_plan_makespan_ns(rule) / count;
        other += clo_plan_makespan_ns(plan) != clo_plan_makespan_ns(rule);
        clo_plan_destroy(plan);
        clo_plan_destroy(again);
        clo_plan_destroy(rule);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    assert_true(other >= count / 4);
    assert_true(ratio > 0.9 && ratio < 1.1);
}

static void tasks_of_no_time_and_graphs_of_one_task_are_planned(void **state)
{
    (void)state;
    need_solver();
    for (int64_t work_ns = 0; work_ns < 2; work_ns++) {
        fixture f = fixture_new();
        clo_plan *plan;
        fixture_task(&f, "a", work_ns);
        fixture_seal(&f, 2, NULL, -1);
        ok(plan_with(f.cost, "lp-midpoint", &plan));
        assert_int_equal(clo_plan_makespan_ns(plan), work_ns);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

/* The longest time that there is: no sum overflows (UBSan sees it). */
static void the_longest_times_are_planned(void **state)
{
    fixture f = fixture_new();
    clo_plan *plan = NULL;

    (void)state;
    need_solver();
    uint32_t a = fixture_task(&f, "a", INT64_C(1) << 55), b = fixture_task(&f, "b", INT64_C(1) << 55);
    fixture_task(&f, "c", 1);
    ok(clo_graph_add_edge(f.graph, a, b, 0));
    fixture_seal(&f, 2, NULL, 5);
    ok(plan_with(f.cost, "lp-midpoint", &plan));
    assert_true(clo_plan_makespan_ns(plan) == INT64_C(1) << 56);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static clo_status plan_and_drop(void *context)
{
    clo_plan *plan = NULL;
    clo_status status = plan_with(context, "lp-midpoint", &plan);

    clo_plan_destroy(plan);
    return status;
}

static void without_memory_or_solver_it_says_so(void **state)
{
    fixture f = fixture_new();

    (void)state;
    need_solver();
    uint32_t a = fixture_task(&f, "a", 10), b = fixture_task(&f, "b", 20);
    ok(clo_graph_add_edge(f.graph, a, b, 5));
    fixture_seal(&f, 2, NULL, -1);
    assert_in_range(fault_each(plan_and_drop, f.cost), 5, 10000);
    is_missing = true;
    fails(CLO_ERR_UNSUPPORTED, "no LP solver", plan_and_drop(f.cost));
    is_missing = false;
    ok(plan_and_drop(f.cost));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_name_and_stands_in_no_list),
        cmocka_unit_test(plans_are_valid_not_below_the_bound_and_reproducible),
        cmocka_unit_test(tasks_of_no_time_and_graphs_of_one_task_are_planned),
        cmocka_unit_test(the_longest_times_are_planned),
        cmocka_unit_test(without_memory_or_solver_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
