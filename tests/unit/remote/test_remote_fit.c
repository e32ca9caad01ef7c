/* The two lines of a link: what was put in is found again, with an eager limit and without, with sizes that were
 * disturbed, and with few sizes. */
#include "support.h"

#include "base/numbers/rng.h"
#include "remote/links/fit.h"

#include <string.h>

/* Times of a link with these figures, `noise` permille above them at most; every `bad`-th size takes five times as
 * long. */
static clo_fit_times link_of(const clo_fit_line *line, uint64_t limit, uint32_t noise, uint32_t bad, uint64_t seed)
{
    clo_fit_times times = {.count = CLO_FIT_SIZES};
    clo_rng rng = clo_rng_seed(seed);

    for (uint32_t i = 0; i < CLO_FIT_SIZES; i++) {
        double ns = clo_fit_ns(line, limit, clo_fit_size(i));
        times.ns[i] = (int64_t)(ns * (1 + (noise > 0 ? clo_rng_below(&rng, noise) : 0) / 1e3));
        if (bad > 0 && i % bad == bad - 1)
            times.ns[i] *= 5;
    }
    return times;
}

#define near(got, want, permille) \
    assert_true((got) > (want) * (1 - (permille) / 1e3) && (got) < (want) * (1 + (permille) / 1e3))

static void what_was_put_in_is_found(void **state)
{
    static const clo_fit_line links[] = {
        {8000, 0.2, 40000, 0.9}, {1500, 0.05, 3000, 0.08}, {50000, 8.5, 200000, 8.6}, {25000, 8, 0, 9}};
    clo_fit_line found;

    (void)state;
    for (size_t l = 0; l < sizeof links / sizeof links[0]; l++)
        for (uint32_t bad = 0; bad <= 10; bad += 10) {
            uint64_t limit = l < 3 ? 65000 : 0;
            clo_fit_line put = links[l];
            put.slope_beyond = limit > 0 ? put.slope_beyond : put.slope;
            clo_fit_times times = link_of(&put, limit, 0, bad, 1);
            if (l < 2) /* the step of the others is lost among their bytes */
                assert_int_equal(clo_fit_limit(&times, 1), limit);
            clo_fit(&times, limit, &found);
            near(found.latency_ns, put.latency_ns, 30);
            near(found.slope, put.slope, 60);
            near(found.slope_beyond, put.slope_beyond, 30);
            if (put.step_ns > 0)
                near(found.step_ns, put.step_ns, 120);
            if (bad == 0)
                assert_in_range(clo_fit_error(&found, limit, &times, 0) + clo_fit_error(&found, limit, &times, 1), 0,
                                20);
        }
}

static void one_line_has_no_limit(void **state)
{
    const clo_fit_line put = {20000, 1, 0, 1};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        clo_fit_times times = link_of(&put, 0, 2, 0, seed);
        clo_fit_line found;
        clo_fit(&times, 0, &found);
        near(found.latency_ns, put.latency_ns, 5);
        near(found.slope, put.slope, 5);
        assert_in_range(clo_fit_error(&found, clo_fit_limit(&times, 1), &times, 1), 0, 3);
    }
}

static void the_limit_is_that_of_most_links(void **state)
{
    const clo_fit_line put = {8000, 0.2, 40000, 0.9};
    clo_fit_times times[6];

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (uint32_t d = 0; d < 6; d++)
            times[d] = link_of(&put, 16384, 200, d == 0 ? 4 : 0, seed * 6 + d);
        assert_int_equal(clo_fit_limit(times, 6), 16384);
    }
}

/* 100 Mbit/s, too slow for more than two sizes above the limit of the other links, one of which is held aside. */
static void one_size_above_the_limit_has_the_slope_below_it(void **state)
{
    const clo_fit_line put = {100000, 83, 0, 83};
    const uint64_t limit = 262144;
    clo_fit_times times = link_of(&put, 0, 0, 0, 1);
    clo_fit_line found;

    (void)state;
    while (clo_fit_size(times.count - 1) > 786432)
        times.count--;
    clo_fit(&times, limit, &found);
    near(found.slope_beyond, put.slope, 10);
    assert_in_range((uint64_t)found.step_ns, 0, 100000);
    times.ns[times.count - 2] += 5000000; /* what the one shows is the step */
    clo_fit(&times, limit, &found);
    near(found.slope_beyond, put.slope, 10);
    near(found.step_ns, 5000000, 50);
}

/* A machine that was busy while short messages above the limit moved: longer ones seem to take no longer. That is no
 * link without limit. */
static void times_that_fall_above_the_limit_keep_the_slope_below_it(void **state)
{
    const clo_fit_line put = {1000000, 4, 0, 4};
    clo_fit_times times = link_of(&put, 0, 0, 0, 1);
    clo_fit_line found;

    (void)state;
    while (clo_fit_size(times.count - 1) > 131072)
        times.count--;
    for (uint32_t i = 0; i < times.count; i++)
        if (clo_fit_size(i) > 16384)
            times.ns[i] = 6000000 - (int64_t)clo_fit_size(i);
    clo_fit(&times, 16384, &found);
    near(found.slope_beyond, put.slope, 10);
    assert_true(found.step_ns > 4000000);
}

/* A fit never falls: a longer message takes as long or longer, whatever was measured. */
static void no_line_falls(void **state)
{
    clo_rng rng = clo_rng_seed(7);

    (void)state;
    for (int run = 0; run < 500; run++) {
        clo_fit_times times = {.count = 3 + clo_rng_below(&rng, CLO_FIT_SIZES - 2)};
        for (uint32_t i = 0; i < times.count; i++)
            times.ns[i] =
                clo_rng_below(&rng, 4) == 0 ? 1 : 1 + (int64_t)(clo_rng_next(&rng) >> clo_rng_below(&rng, 60) >> 3);
        uint64_t limit = clo_fit_limit(&times, 1);
        clo_fit_line line;
        clo_fit(&times, limit, &line);
        assert_true(line.latency_ns >= 0 && line.slope >= 0 && line.step_ns >= -1e-3 * (line.latency_ns + 1) &&
                    line.slope_beyond >= 0);
        assert_true(line.slope_beyond > 0 || !(line.slope > 0)); /* 0 reads as no limit */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_put_in_is_found),
                                       cmocka_unit_test(one_line_has_no_limit),
                                       cmocka_unit_test(the_limit_is_that_of_most_links),
                                       cmocka_unit_test(one_size_above_the_limit_has_the_slope_below_it),
                                       cmocka_unit_test(times_that_fall_above_the_limit_keep_the_slope_below_it),
                                       cmocka_unit_test(no_line_falls)};

    return cmocka_run_group_tests_name("remote_fit", tests, NULL, NULL);
}
