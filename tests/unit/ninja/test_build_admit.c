/* What fits into a budget of memory together: sums of peaks that are known, or guessed from a class; and how guesses
 * reach the policy. */
#include "support.h"

#include "tools/clotho/build_plan/admit.h"
#include "tools/clotho/build_plan/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 8, UNMEASURED = 5000 };

/* A class whose last peaks are these. */
static void make(step_history *h, history_class *c, const int64_t *peaks, uint32_t count)
{
    *h = (step_history){.classes = c, .classes_count = 1};
    *c = (history_class){.count = count};
    for (uint32_t i = 0; i < count; i++) {
        c->peaks_kib[i % HISTORY_CLASS_PEAKS] = peaks[i];
        c->walls_ms[i % HISTORY_CLASS_PEAKS] = 200;
        c->cpus_ms[i % HISTORY_CLASS_PEAKS] = 100;
    }
}

static void a_guess_has_mean_and_variance_of_the_last_peaks(void **state)
{
    const int64_t peaks[] = {900, 1100, 900, 1100, 900, 1100, 900, 1100};
    step_history h;
    history_class c;

    (void)state;
    make(&h, &c, peaks, 8);
    history_guess guess = history_guess_of(&h, 0);
    assert_int_equal(guess.count, 8);
    assert_true(fabs(guess.mean_kib - 1000) < 1e-6 && fabs(guess.mean_ms - 200) < 1e-6 &&
                fabs(guess.cpus - 0.5) < 1e-6);
    assert_true(guess.square_kib > 100 * 100 &&
                guess.square_kib < 200 * 200); /* few steps: still wider than what was seen */
    make(&h, &c, peaks, 0);
    guess = history_guess_of(&h, 0);
    assert_int_equal(guess.count, 0);
}

static void many_steps_of_a_class_need_less_than_so_often_one(void **state)
{
    const int64_t peaks[] = {800, 1000, 1200, 900, 1100, 1000};
    step_history h;
    history_class c;

    (void)state;
    make(&h, &c, peaks, 6);
    const history_guess guess = history_guess_of(&h, 0);
    for (uint32_t k = 2; k <= JOBS; k++) {
        assert_true(history_sum_kib(&guess, k) < k * history_sum_kib(&guess, 1));
        assert_true(history_sum_kib(&guess, k) > k * guess.mean_kib);
        assert_true(history_sum_kib(&guess, k) > history_sum_kib(&guess, k - 1));
    }
    make(&h, &c, peaks, 1); /* of one step little is known: further ones are judged with care */
    const history_guess one = history_guess_of(&h, 0);
    assert_true(history_sum_kib(&one, 1) > 1.5 * one.mean_kib);
}

static void what_runs_is_judged_together(void **state)
{
    const int64_t peaks[] = {1000, 1000, 1000, 1000};
    admit_step steps[JOBS] = {{.runs = true, .class_ = ADMIT_KNOWN, .need_kib = 3000, .margin_kib = 30, .cpus = 2},
                              {.runs = true, .class_ = ADMIT_KNOWN, .need_kib = 4000, .margin_kib = 40},
                              {.class_ = ADMIT_KNOWN, .need_kib = 9999, .margin_kib = 9999, .cpus = 9}};
    step_history h;
    history_class c;

    (void)state;
    make(&h, &c, peaks, 4);
    assert_true(fabs(admit_sum_kib(&h, steps, JOBS, UNMEASURED) - 7050) < 1e-6); /* 3-4-5, and the third does not run */
    assert_true(fabs(admit_sum_cpus(&h, steps, JOBS) - 2) < 1e-6);
    steps[1].now_kib = 4500; /* it has outgrown what was learned */
    assert_true(fabs(admit_sum_kib(&h, steps, JOBS, UNMEASURED) - 7550) < 1e-6);
    double before = admit_sum_kib(&h, steps, JOBS, UNMEASURED);
    steps[3] = (admit_step){.runs = true};
    double one = admit_sum_kib(&h, steps, JOBS, UNMEASURED) - before;
    steps[4] = (admit_step){.runs = true};
    double two = admit_sum_kib(&h, steps, JOBS, UNMEASURED) - before;
    assert_true(one > 1000 && two > 2000 && two < 2.2 * one);
    assert_true(fabs(admit_sum_cpus(&h, steps, JOBS) - 3) < 1e-6);
    c.count = 0; /* nothing is known of the class */
    assert_true(admit_sum_kib(&h, steps, JOBS, UNMEASURED) - before >= 2 * UNMEASURED);
}

static void a_share_is_the_part_of_a_full_budget(void **state)
{
    const int64_t peaks[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    step_history h;
    history_class c;

    (void)state;
    make(&h, &c, peaks, 8);
    const history_guess guess = history_guess_of(&h, 0), none = {0};
    int64_t share = admit_share_kib(&guess, 4000, JOBS, UNMEASURED);
    assert_true(share > 1000 && share < 2000 && 3 * share <= 4000 + 3);
    assert_int_equal(admit_share_kib(&guess, 900, JOBS, UNMEASURED), 900); /* not even one: all of it */
    assert_int_equal(admit_share_kib(&none, 4000, JOBS, UNMEASURED), UNMEASURED);
}

static void margins_are_kept_out_of_the_capacity(void **state)
{
    admit_step steps[] = {
        {.need_kib = 10, .margin_kib = 4}, {.need_kib = 10, .margin_kib = 3}, {.need_kib = 10, .margin_kib = 1}};

    (void)state;
    assert_int_equal(admit_capacity_kib(steps, 3, 1000, 2), 995); /* the two widest */
    assert_int_equal(admit_capacity_kib(steps, 0, 1000, 2), 1000);
    steps[0].margin_kib = INT32_MAX;
    assert_int_equal(admit_capacity_kib(steps, 3, 1000, 2), 875); /* never more than an eighth */
}

typedef struct taken {
    uint32_t count, last;
    int64_t need_kib;
} taken;

static void take(void *of, uint32_t task, const live_guess *guess)
{
    taken *t = of;

    t->count++;
    t->last = task;
    t->need_kib = guess->need_kib;
}

static void guesses_are_read_once_and_of_unknown_tasks_alone(void **state)
{
    const live_guess first[] = {{5, 6}, {7, 8}}, second[] = {{5, 6}, {7, 9}};
    build_live live;
    taken t = {0};
    uint32_t version = 0;

    (void)state;
    assert_true(live_open(&live, 2, 4));
    live.classes[2] = 1;
    assert_false(live_read(&live, &version, take, &t));
    live_write(&live, first);
    assert_true(live_read(&live, &version, take, &t));
    assert_true(t.count == 1 && t.last == 2 && t.need_kib == 8);
    live_write(&live, first);
    assert_false(live_read(&live, &version, take, &t));
    live_write(&live, second);
    assert_true(live_read(&live, &version, take, &t) && t.need_kib == 9);
    live_write_cpus(&live, 1.5);
    assert_true(fabs(live_cpus(&live) - 1.5) < 1e-9);
    live_close(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guess_has_mean_and_variance_of_the_last_peaks),
        cmocka_unit_test(many_steps_of_a_class_need_less_than_so_often_one),
        cmocka_unit_test(what_runs_is_judged_together),
        cmocka_unit_test(a_share_is_the_part_of_a_full_budget),
        cmocka_unit_test(margins_are_kept_out_of_the_capacity),
        cmocka_unit_test(guesses_are_read_once_and_of_unknown_tasks_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
