/* Ratios and quantiles of the comparisons of `clotho plan` and `clotho simulate`. Values by numpy and by hand; of Student's t
 * by tables. */
#include "support.h"

#include "base/status.h"
#include "clotho/compare/comparison.h"
#include "fault.h"

#include <math.h>

static void near(double is, double want, double within)
{
    if (!(fabs(is - want) <= within))
        fail_msg("%.15g in place of %.15g", is, want);
}

/* exp(mean(log(own / base))), and -+ t(4) * std(ddof=1) / sqrt(5) around the mean of the logarithms. */
static void ratios_are_those_of_numpy(void **state)
{
    const double own[] = {3, 4.5, 10, 7, 8.25}, base[] = {4, 4.5, 9, 8, 10};
    paired_ratio r = ratio_of(own, base, 5);

    (void)state;
    near(r.mean, 0.903350212602557, 1e-14);
    near(r.low, 0.7445228435227111, 1e-14);
    near(r.high, 1.09605986399018, 1e-14);
    assert_int_equal(r.pairs, 5);
    assert_int_equal(r.shorter, 3);
    assert_int_equal(r.longer, 1);
}

/* The even numbers one longer: t(49) = 2.00957524. */
static void intervals_of_many_pairs_are_those_of_students_t(void **state)
{
    double own[50], base[50];

    (void)state;
    for (int k = 0; k < 50; k++) {
        base[k] = k + 1;
        own[k] = base[k] + k % 2;
    }
    paired_ratio r = ratio_of(own, base, 50);
    near(r.mean, 1.0355166306335093, 1e-12);
    near(r.low, 1.0153911796174417, 1e-5);
    near(r.high, 1.0560409759739817, 1e-5);
}

static void what_is_not_there_makes_no_pair(void **state)
{
    const double none = (double)NAN, own[] = {2, none, 8, 3}, base[] = {1, 5, none, 6};
    paired_ratio r = ratio_of(own, base, 4);

    (void)state;
    near(r.mean, 1, 1e-15); /* of 2 and 1/2 */
    assert_int_equal(r.pairs, 2);
    r = ratio_of(own, base, 2);
    near(r.mean, 2, 1e-15);
    assert_true(isnan(r.low) && isnan(r.high)); /* of one pair there is no interval */
    r = ratio_of(&own[1], &base[1], 2);
    assert_true(isnan(r.mean) && isnan(r.low) && r.pairs == 0);
    r = ratio_of(own, base, 0);
    assert_true(isnan(r.mean));
}

static void equal_ratios_have_an_interval_of_no_width(void **state)
{
    const double own[] = {3e18, 3, 3e-6}, base[] = {1e18, 1, 1e-6};
    paired_ratio r = ratio_of(own, base, 3);

    (void)state;
    near(r.mean, 3, 1e-12);
    near(r.low, 3, 1e-12);
    near(r.high, 3, 1e-12);
    r = ratio_of(own, own, 3);
    assert_true(r.mean == 1 && r.low == 1 && r.high == 1 && r.shorter == 0 && r.longer == 0);
}

static void zeros_are_equal_to_zeros_only(void **state)
{
    const double zeros[] = {0, 0}, mixed[] = {0, 5};
    paired_ratio r = ratio_of(zeros, zeros, 2);

    (void)state;
    assert_true(r.mean == 1 && r.low == 1 && r.high == 1);
    r = ratio_of(mixed, zeros, 2);
    assert_true(isnan(r.mean));
    assert_int_equal(r.longer, 1);
}

static void quantiles_are_those_of_numpy(void **state)
{
    const double sorted[] = {1, 2, 4, 7, 11.5, 20};
    const double want[][2] = {{0, 1}, {0.05, 1.25}, {0.25, 2.5}, {0.5, 5.5}, {0.75, 10.375}, {0.95, 17.875}, {1, 20}};

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        near(quantile_of(sorted, 6, want[i][0]), want[i][1], 1e-12);
    near(quantile_of(sorted, 1, 0.95), 1, 0);
}

static void fill(comparison *c, const double *values)
{
    assert_true(comparison_add_case(c));
    for (uint32_t i = 0; i < c->count; i++)
        c->rows[i].values[0][c->cases - 1] = values[i];
}

/* b is shorter than a twice and once has no value; c is equal to a; d has none at all. */
static void contenders_are_counted_and_ranked(void **state)
{
    const option_list names = {.items = {"a", "c", "b", "d"}, .count = 4};
    const double none = (double)NAN;
    comparison c;

    (void)state;
    assert_true(comparison_open(&c, &names, 0, 1));
    fill(&c, (double[]){10, 10, 5, none});
    fill(&c, (double[]){20, 20, 5, none});
    fill(&c, (double[]){1, 1, 1, 1}); /* of a graph that is taken back */
    comparison_drop_case(&c);
    fill(&c, (double[]){30, 30, none, none});
    comparison_summarise(&c);
    comparison_rank(&c);
    assert_string_equal(c.rows[0].name, "b");
    assert_string_equal(c.rows[1].name, "a");
    assert_string_equal(c.rows[2].name, "c");
    assert_string_equal(c.rows[3].name, "d");
    assert_int_equal(c.baseline, 1);
    near(c.rows[0].ratios[0].mean, sqrt(0.5 * 0.25), 1e-15);
    assert_int_equal(c.rows[0].done, 2);
    assert_int_equal(c.rows[0].best, 2);
    assert_int_equal(c.rows[0].ratios[0].shorter, 2);
    assert_int_equal(c.rows[1].done, 3);
    assert_int_equal(c.rows[1].best, 1);
    assert_int_equal(c.rows[2].best, 1);
    assert_int_equal(c.rows[3].done, 0);
    assert_int_equal(c.rows[3].best, 0);
    assert_true(isnan(c.rows[3].ratios[0].mean));
    comparison_close(&c);
}

static void cases_grow_without_end(void **state)
{
    const option_list names = {.items = {"a", "b"}, .count = 2};
    comparison c;

    (void)state;
    assert_true(comparison_open(&c, &names, 1, COMPARISON_FIGURES_MAX));
    for (int k = 0; k < 1000; k++)
        fill(&c, (double[]){2.0 * (k + 1), k + 1});
    comparison_summarise(&c);
    near(c.rows[0].ratios[0].mean, 2, 1e-12);
    assert_int_equal(c.rows[0].ratios[0].pairs, 1000);
    assert_int_equal(c.rows[0].ratios[3].pairs, 0); /* of which nothing is said */
    assert_int_equal(c.rows[1].best, 1000);
    comparison_close(&c);
}

static clo_status open_and_close(void *context)
{
    comparison c;
    bool is_good = comparison_open(&c, context, 0, 2) && comparison_add_case(&c);

    comparison_close(&c);
    return is_good ? CLO_OK : clo_fail_memory("a comparison");
}

static void memory_that_lacks_is_reported(void **state)
{
    option_list names = {.items = {"a", "b"}, .count = 2};

    (void)state;
    assert_int_equal(fault_each(open_and_close, &names), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ratios_are_those_of_numpy),
                                       cmocka_unit_test(intervals_of_many_pairs_are_those_of_students_t),
                                       cmocka_unit_test(what_is_not_there_makes_no_pair),
                                       cmocka_unit_test(equal_ratios_have_an_interval_of_no_width),
                                       cmocka_unit_test(zeros_are_equal_to_zeros_only),
                                       cmocka_unit_test(quantiles_are_those_of_numpy),
                                       cmocka_unit_test(contenders_are_counted_and_ranked),
                                       cmocka_unit_test(cases_grow_without_end),
                                       cmocka_unit_test(memory_that_lacks_is_reported)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
