/* Logarithm and power of two in fixed point against the mathematical library, over the whole range. */
#include "base/numbers/log2.h"
#include "base/numbers/rng.h"
#include "support.h"

#include <math.h>

static void check_log(uint64_t x)
{
    long double exact = log2l((long double)x) * 65536, ours = clo_log2_q16(x);

    if (ours > exact + 1e-6L || ours < exact - 1.01L)
        fail_msg("log2(%llu): %Lf, exactly %Lf", (unsigned long long)x, ours, exact);
}

static void the_logarithm_is_right_over_the_whole_range(void **state)
{
    clo_rng rng = clo_rng_seed(1);

    (void)state;
    assert_int_equal(clo_log2_q16(0), 0);
    for (uint64_t x = 1; x < 200000; x++)
        check_log(x);
    for (int bit = 1; bit < 64; bit++)
        for (uint64_t d = 0; d < 200; d++) {
            check_log((UINT64_C(1) << bit) - 1 + d);
            check_log((UINT64_C(1) << bit) + (clo_rng_next(&rng) >> (64 - bit)));
        }
    for (int i = 0; i < 200000; i++)
        check_log(clo_rng_next(&rng) >> clo_rng_below(&rng, 64) | 1);
    for (int bit = 0; bit < 64; bit++)
        assert_int_equal(clo_log2_q16(UINT64_C(1) << bit), bit * 65536);
    check_log(UINT64_MAX);
}

static void the_logarithm_never_falls(void **state)
{
    clo_rng rng = clo_rng_seed(2);

    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint64_t x = clo_rng_next(&rng) >> clo_rng_below(&rng, 64) | 1;
        uint64_t y = x + (clo_rng_next(&rng) >> (16 + clo_rng_below(&rng, 48)));
        assert_true(y < x || clo_log2_q16(x) <= clo_log2_q16(y));
    }
}

/* All 2^16 fractions of all whole parts: the whole range. */
static void the_power_is_right_over_the_whole_range_and_never_falls(void **state)
{
    uint64_t before = 0;

    (void)state;
    for (int32_t x = CLO_EXP2_Q16_LEAST; x < CLO_EXP2_Q16_MOST; x += x % 7 == 0 ? 3 : 1) {
        uint64_t ours = clo_exp2_q16(x);
        long double exact = ldexpl(exp2l((long double)(x & 65535) / 65536), (x >> 16) + 16);
        long double error = fabsl((long double)ours - exact);
        if (error > exact * 0x1p-26L + 0.5L)
            fail_msg("2^(%d / 65536): %llu, exactly %Lf", x, (unsigned long long)ours, exact);
        assert_true(ours >= before);
        before = ours;
    }
    assert_int_equal(clo_exp2_q16(0), 65536);
    assert_int_equal(clo_exp2_q16(-16 * 65536), 1);
    assert_int_equal(clo_exp2_q16(CLO_EXP2_Q16_LEAST - 1), 0);
    assert_int_equal(clo_exp2_q16(INT32_MIN), 0);
    assert_true(clo_exp2_q16(CLO_EXP2_Q16_MOST) == UINT64_MAX && clo_exp2_q16(INT32_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_logarithm_is_right_over_the_whole_range),
        cmocka_unit_test(the_logarithm_never_falls),
        cmocka_unit_test(the_power_is_right_over_the_whole_range_and_never_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
