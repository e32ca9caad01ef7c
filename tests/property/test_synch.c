/* test_synch.c - every planner of weighted completion time gives valid plans of random workloads, not below its bounds
 * and within the proven ratios; one planner's bound is not above another one's plan. */
#include "sample.h"
#include "synch_case.h"

#include <string.h>

#define SEEDS sample_size(SANITIZED ? 20 : 100, 2)

static int64_t plan_and_judge(const synch_case *c, const char *planner, uint32_t lp, int64_t replan_ns,
                              clo_synch_figures *figures)
{
    const clo_synch_config config = {.size = sizeof config, .planner = planner, .lp = lp, .replan_ns = replan_ns};
    clo_synch *plan = NULL;

    if (clo_synch_create(c->workload, c->platform, &config, &plan) != CLO_OK)
        fail_msg("%s: %s", planner, clo_last_error());
    synch_case_judge(c, plan);
    assert_int_equal(clo_synch_measure(plan, figures), CLO_OK);
    clo_synch_destroy(plan);
    return figures->weighted_completion;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All planners of one workload; those with `preempt` bound all plans. */
static void play(uint64_t seed, bool is_bound, int64_t arrival_max)
{
    synch_case c;
    clo_synch_figures f = CLO_SYNCH_FIGURES_INIT;
    bool has_lp = clo_synch_has_lp();
    uint32_t forms = has_lp ? 3 : 1;
    int64_t preemptive = 0, all = 0, least = INT64_MAX, least_whole = INT64_MAX;

    synch_case_random(&c, seed, is_bound, arrival_max);
    for (uint32_t i = 0; synch_planners[i] != NULL; i++) {
        const char *name = synch_planners[i];
        if (strcmp(name, "synchpack-3") == 0 && !is_bound)
            continue;
        int64_t of_form[3] = {0};
        for (uint32_t form = 0; form < forms; form++) {
            uint32_t lp = has_lp ? form : CLO_SYNCH_LP_NEVER;
            if (strcmp(name, "synchpack-1") == 0 && lp == CLO_SYNCH_LP_NEVER)
                continue;
            int64_t sum = of_form[lp] = plan_and_judge(&c, name, lp, 0, &f);
            least = sum < least ? sum : least;
            if (f.is_preemptive)
                preemptive = larger(preemptive, larger(f.lp_bound, f.free_bound));
            else
                least_whole = sum < least_whole ? sum : least_whole;
            all = larger(all, larger(f.lp_bound, f.free_bound));
            if (f.lp_bound > 0 && strcmp(name, "synchpack-2") == 0)
                assert_true(sum <= 24 * f.lp_bound);
            if (f.lp_bound > 0 && strcmp(name, "synchpack-1") == 0)
                assert_true(sum <= 7 * f.lp_bound);
            if (strcmp(name, "synchpack-3") == 0 && f.lp_bound > 0)
                assert_true(sum <= 4 * f.lp_bound);
        }
        if (forms == 3 && of_form[CLO_SYNCH_LP_NEVER] > 0) /* the better form is kept */
            assert_int_equal(of_form[CLO_SYNCH_LP_AUTO], of_form[CLO_SYNCH_LP_ALWAYS] < of_form[CLO_SYNCH_LP_NEVER]
                                                             ? of_form[CLO_SYNCH_LP_ALWAYS]
                                                             : of_form[CLO_SYNCH_LP_NEVER]);
    }
    (void)plan_and_judge(&c, "synchpack-2", CLO_SYNCH_LP_NEVER, 100, &f);
    assert_true(least >= preemptive);
    assert_true(least_whole >= all);
    synch_case_close(&c);
}

static void test_plans_of_random_workloads_are_valid_and_not_below_any_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        play(seed, seed % 2 == 0, seed % 3 == 0 ? 500 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_of_random_workloads_are_valid_and_not_below_any_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
