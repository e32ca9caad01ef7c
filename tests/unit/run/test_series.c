/* Whether a release was late is decided once, and when it is due (run/state/series.h). */
#include "support.h"

#include "run/state/series.h"

#include <string.h>

static clo_series series;

static void make(int64_t base_ns, int64_t period_ns)
{
    memset(&series, 0, sizeof series);
    series.base_ns = base_ns;
    series.period_ns = period_ns;
}

static uint64_t missed(void)
{
    return atomic_load(&series.missed);
}

static void who_judges_first_decides_and_a_miss_is_counted_once(void **state)
{
    (void)state;
    make(0, 1000);
    assert_true(clo_series_judge(&series, 0, true));
    assert_true(clo_series_judge(&series, 0, false)); /* the run ends, and learns that it was late */
    assert_true(clo_series_judge(&series, 0, true));
    assert_int_equal(missed(), 1);
    assert_false(clo_series_judge(&series, 1, false));
    assert_false(clo_series_judge(&series, 1, true)); /* the watchdog comes after the end */
    assert_int_equal(missed(), 1);
}

static void releases_are_judged_in_any_order(void **state)
{
    (void)state;
    make(0, 1000);
    assert_true(clo_series_judge(&series, 5, true));
    assert_false(clo_series_judge(&series, 3, false));
    for (uint64_t release = 6; release < 4 + CLO_SERIES_LATE; release++) /* the next one would take 4's place */
        assert_false(clo_series_judge(&series, release, false));
    assert_true(clo_series_judge(&series, 4, true));
    assert_int_equal(missed(), 2);
}

/* CLO_SERIES_LATE releases share a place: the newest of them has it. */
static void a_later_release_takes_the_place_and_an_earlier_one_finds_it_taken(void **state)
{
    (void)state;
    make(0, 1000);
    for (uint64_t release = 7; release < 5 * CLO_SERIES_LATE; release += CLO_SERIES_LATE)
        assert_int_equal(clo_series_judge(&series, release, release % 2 == 1), release % 2 == 1);
    assert_int_equal(missed(), 5);
    assert_true(clo_series_judge(&series, 7, false)); /* it was counted when it was the newest */
    assert_true(clo_series_judge(&series, 7, true));
    assert_int_equal(missed(), 5);
}

static void the_first_release_of_a_place_is_judged_though_nothing_was_before(void **state)
{
    (void)state;
    make(0, 1000);
    for (uint64_t release = 0; release < CLO_SERIES_LATE; release++)
        assert_false(clo_series_judge(&series, release, false));
    assert_int_equal(missed(), 0);
    for (uint64_t release = 0; release < CLO_SERIES_LATE; release++)
        assert_true(clo_series_judge(&series, release + CLO_SERIES_LATE, true));
    assert_int_equal(missed(), CLO_SERIES_LATE);
}

static void a_release_is_due_a_period_after_the_one_before_it(void **state)
{
    (void)state;
    make(500, 1000);
    assert_int_equal(clo_series_due_ns(&series, 0), 500);
    assert_int_equal(clo_series_due_ns(&series, 1), 1500);
    assert_int_equal(clo_series_due_ns(&series, 1000000), 1000000500);
}

static void a_release_beyond_the_clock_is_never_due(void **state)
{
    (void)state;
    make(500, 1000);
    assert_int_equal(clo_series_due_ns(&series, INT64_MAX / 1000 + 1), INT64_MAX);
    assert_int_equal(clo_series_due_ns(&series, INT64_MAX), INT64_MAX);
    assert_int_equal(clo_series_due_ns(&series, (uint64_t)INT64_MAX + 1), INT64_MAX);
    assert_int_equal(clo_series_due_ns(&series, UINT64_MAX), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_judges_first_decides_and_a_miss_is_counted_once),
        cmocka_unit_test(releases_are_judged_in_any_order),
        cmocka_unit_test(a_later_release_takes_the_place_and_an_earlier_one_finds_it_taken),
        cmocka_unit_test(the_first_release_of_a_place_is_judged_though_nothing_was_before),
        cmocka_unit_test(a_release_is_due_a_period_after_the_one_before_it),
        cmocka_unit_test(a_release_beyond_the_clock_is_never_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
