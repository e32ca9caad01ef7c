/* test_synch_cases.c - hand-made workloads whose best weighted completion time is known; what cannot be planned;
 * LPs. */
#include "synch_case.h"

#include "plan/synch_lp/lp.h"

#include <string.h>

static const int64_t both[2] = {10, 10};

static clo_status plan(const synch_case *c, const char *planner, uint32_t lp, clo_synch **out)
{
    const clo_synch_config config = {.size = sizeof config, .planner = planner, .lp = lp};

    return clo_synch_create(c->workload, c->platform, &config, out);
}

/* Plans with every planner that can, in every form, and wants the sum. */
static void want_sum(const synch_case *c, int64_t sum, bool is_bound)
{
    for (uint32_t i = 0; synch_planners[i] != NULL; i++)
        for (uint32_t lp = 0; lp <= CLO_SYNCH_LP_NEVER; lp++) {
            const char *name = synch_planners[i];
            clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
            clo_synch *made = NULL;
            if ((strcmp(name, "synchpack-3") == 0 && !is_bound) || strncmp(name, "synchpack", 9) != 0 ||
                (strcmp(name, "synchpack-1") == 0 && lp == CLO_SYNCH_LP_NEVER) ||
                (lp == CLO_SYNCH_LP_ALWAYS && !clo_synch_has_lp()))
                continue;
            if (plan(c, name, lp, &made) != CLO_OK)
                fail_msg("%s: %s", name, clo_last_error());
            synch_case_judge(c, made);
            assert_int_equal(clo_synch_measure(made, &figures), CLO_OK);
            assert_int_equal(figures.weighted_completion, sum);
            clo_synch_destroy(made);
        }
}

static void test_jobs_of_one_task_on_one_executor_go_in_smiths_order(void **state)
{
    static const int64_t ten = 10, five = 5;
    synch_case c;

    (void)state;
    synch_case_open(&c, 1, 1, 100);
    synch_case_add(&c, 1, 0, &ten, 0, 1);
    synch_case_add(&c, 1, 0, &five, 0, 4);
    want_sum(&c, 5 * 4 + 15, true);
    synch_case_close(&c);
}

static void test_a_task_that_may_run_anywhere_leaves_the_machine_that_another_one_needs(void **state)
{
    static const int64_t only_first[2] = {10, -1};
    synch_case c;

    (void)state;
    synch_case_open(&c, 2, 1, 100);
    synch_case_add(&c, 1, 0, only_first, 0, 4);
    synch_case_add(&c, 1, 0, both, 0, 1);
    want_sum(&c, 50, false);
    synch_case_close(&c);
}

static void test_tasks_that_do_not_fit_together_run_one_after_the_other(void **state)
{
    static const int64_t time = 10;
    synch_case c;

    (void)state;
    synch_case_open(&c, 1, 4, 10);
    synch_case_add(&c, 3, 6, &time, 0, 1);
    want_sum(&c, 30, true);
    synch_case_close(&c);
}

static void test_no_task_starts_before_its_job_arrives(void **state)
{
    static const int64_t time = 10;
    synch_case c;

    (void)state;
    synch_case_open(&c, 1, 2, 10);
    synch_case_add(&c, 2, 1, &time, 100, 3);
    want_sum(&c, 3 * 110, true);
    synch_case_close(&c);
}

static void test_tasks_of_half_a_machine_make_the_bound_of_pairs_exact(void **state)
{
    static const int64_t time = 10;
    clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
    synch_case c;
    clo_synch *made = NULL;

    (void)state;
    if (!clo_synch_has_lp())
        skip_because("no LP solver here", "apt-get install coinor-libclp-dev, then configure anew");
    synch_case_open(&c, 1, 8, 10);
    for (int j = 0; j < 3; j++)
        synch_case_add(&c, 1, 6, &time, 0, 1);
    assert_int_equal(plan(&c, "synchpack-3", CLO_SYNCH_LP_ALWAYS, &made), CLO_OK);
    assert_int_equal(clo_synch_measure(made, &figures), CLO_OK);
    assert_int_equal(figures.weighted_completion, 60);
    assert_in_range(figures.lp_bound, 59, 60); /* 6 of 10 fill the machine: bins of level 1 */
    clo_synch_destroy(made);
    synch_case_close(&c);
}

static void want_failure(const synch_case *c, const char *planner, clo_status status, const char *text)
{
    clo_synch *made = NULL;

    assert_int_equal(plan(c, planner, CLO_SYNCH_LP_NEVER, &made), status);
    assert_null(made);
    if (strstr(clo_last_error(), text) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", clo_last_error(), text);
}

static void add_special(synch_case *c, clo_workload_job job, bool has_edge)
{
    clo_graph *graph;
    clo_task task = {.work_ns = 5};

    assert_int_equal(clo_graph_create("special", &graph), CLO_OK);
    assert_int_equal(clo_graph_add_task(graph, &task, NULL), CLO_OK);
    assert_int_equal(clo_graph_add_task(graph, &task, NULL), CLO_OK);
    if (has_edge)
        assert_int_equal(clo_graph_add_edge(graph, 0, 1, 0), CLO_OK);
    assert_int_equal(clo_graph_seal(graph), CLO_OK);
    assert_int_equal(clo_workload_adopt(c->workload, graph), CLO_OK);
    job.graph = graph;
    assert_int_equal(clo_workload_add(c->workload, &job), CLO_OK);
}

static void test_jobs_outside_the_model_are_refused(void **state)
{
    const struct {
        clo_workload_job job;
        bool has_edge;
        const char *text;
    } rows[] = {{CLO_WORKLOAD_JOB_INIT, true, "edges"},
                {{.size = sizeof(clo_workload_job), .period_ns = 9, .releases = 2}, false, "periodic"},
                {{.size = sizeof(clo_workload_job), .limit = 1}, false, "limit"},
                {{.size = sizeof(clo_workload_job), .band = 1}, false, "band"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        synch_case c;
        synch_case_open(&c, 2, 1, 10);
        synch_case_add(&c, 1, 1, both, 0, 1);
        add_special(&c, rows[i].job, rows[i].has_edge);
        want_failure(&c, NULL, CLO_ERR_INVALID, rows[i].text);
        synch_case_close(&c);
    }
}

static void test_wrong_arguments_are_refused(void **state)
{
    static const int64_t huge[2] = {INT64_MAX / 8, INT64_MAX / 8};
    synch_case c;
    clo_synch *made = NULL;

    (void)state;
    synch_case_open(&c, 2, 1, 10);
    want_failure(&c, NULL, CLO_ERR_ARGUMENT, "no jobs; add one");
    synch_case_add(&c, 1, 1, both, 0, 1);
    want_failure(&c, "synchpack-9", CLO_ERR_ARGUMENT, "synchpack-9");
    want_failure(&c, "synchpack-1", CLO_ERR_ARGUMENT, "LP");
    want_failure(&c, "synchpack-3", CLO_ERR_PLATFORM, "machines 0 and 1");
    clo_synch_config config = {.size = sizeof config, .planner = "psrs", .replan_ns = 5};
    assert_int_equal(clo_synch_create(c.workload, c.platform, &config, &made), CLO_ERR_ARGUMENT);
    config = (clo_synch_config){.size = sizeof config, .lp = 3};
    assert_int_equal(clo_synch_create(c.workload, c.platform, &config, &made), CLO_ERR_ARGUMENT);
    config = (clo_synch_config){.size = sizeof config, .grid_percent = 1001};
    assert_int_equal(clo_synch_create(c.workload, c.platform, &config, &made), CLO_ERR_ARGUMENT);
    config = (clo_synch_config){.size = sizeof config, .replan_ns = -1};
    assert_int_equal(clo_synch_create(c.workload, c.platform, &config, &made), CLO_ERR_ARGUMENT);
    assert_int_equal(clo_synch_create(NULL, c.platform, NULL, &made), CLO_ERR_ARGUMENT);
    synch_case_add(&c, 20, 1, huge, 0, 1);
    assert_int_equal(clo_synch_create(c.workload, c.platform, NULL, &made), CLO_ERR_LIMIT);
    assert_null(made);
    synch_case_close(&c);
}

/* A long task, and a short one of more weight that comes later. */
static void test_the_log_of_a_preemptive_plan_says_what_is_stopped(void **state)
{
    synch_case c;
    clo_synch *made = NULL;
    clo_log *log = NULL;
    size_t count, stopped = 0;

    (void)state;
    synch_case_open(&c, 1, 1, 10);
    synch_case_add(&c, 1, 1, both, 0, 1);
    synch_case_add(&c, 1, 1, both, 4, 9);
    assert_int_equal(plan(&c, "synchpack-3", CLO_SYNCH_LP_NEVER, &made), CLO_OK);
    assert_int_equal(clo_synch_log(made, &log), CLO_OK);
    const clo_log_record *records = clo_log_records(log, &count);
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_PREEMPT) {
            stopped++;
            assert_int_equal(records[i].now_ns, 4);
            assert_int_equal(records[i].job, 0);
            assert_int_equal(records[i].value, 0);
        }
    assert_int_equal(stopped, 1);
    clo_log_destroy(log);
    synch_case_judge(&c, made);
    clo_synch_destroy(made);
    synch_case_close(&c);
}

/* min -x - 2y, x + y <= limit, x >= least; x, y <= 1. */
static clo_status solve(double least, double limit, int64_t *value, int64_t *bound)
{
    clo_lp *lp = clo_lp_create();
    uint32_t x = clo_lp_column(lp, 1, 1, -1), y = clo_lp_column(lp, 1, 1, -2);

    clo_lp_row(lp, CLO_LP_AT_MOST, limit);
    clo_lp_entry(lp, x, 1);
    clo_lp_entry(lp, y, 1);
    clo_lp_row(lp, CLO_LP_AT_LEAST, least);
    clo_lp_entry(lp, x, 1);
    clo_status status = clo_lp_solve(lp, "this LP", 5, 1000, 10000, value, bound);
    clo_lp_destroy(lp);
    return status;
}

static void test_an_lp_is_solved_bounded_from_below_or_refused_in_one_line(void **state)
{
    int64_t value[2], bound;

    (void)state;
    if (!clo_synch_has_lp()) {
        assert_int_equal(solve(0, 1, value, &bound), CLO_ERR_UNSUPPORTED);
        return;
    }
    assert_int_equal(solve(0.25, 1, value, &bound), CLO_OK);
    assert_int_equal(value[0], CLO_LP_ONE / 4);
    assert_int_equal(value[1], CLO_LP_ONE / 4 * 3);
    assert_in_range(bound, 8249, 8250); /* 10000 - 1750 */
    assert_int_equal(solve(2, 1, value, &bound), CLO_ERR_INVALID);
    assert_non_null(strstr(clo_last_error(), "this LP is infeasible"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_of_one_task_on_one_executor_go_in_smiths_order),
        cmocka_unit_test(test_a_task_that_may_run_anywhere_leaves_the_machine_that_another_one_needs),
        cmocka_unit_test(test_tasks_that_do_not_fit_together_run_one_after_the_other),
        cmocka_unit_test(test_no_task_starts_before_its_job_arrives),
        cmocka_unit_test(test_tasks_of_half_a_machine_make_the_bound_of_pairs_exact),
        cmocka_unit_test(test_jobs_outside_the_model_are_refused),
        cmocka_unit_test(test_wrong_arguments_are_refused),
        cmocka_unit_test(test_the_log_of_a_preemptive_plan_says_what_is_stopped),
        cmocka_unit_test(test_an_lp_is_solved_bounded_from_below_or_refused_in_one_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
