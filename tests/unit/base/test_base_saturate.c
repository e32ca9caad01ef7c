/* base/numbers/saturate.h: exact where the result fits, else the nearest end. */
#include "support.h"

#include "base/numbers/rng.h"
#include "base/numbers/saturate.h"

static const int64_t edges[] = {INT64_MIN,         INT64_MIN + 1, -3,       -1, 0, 1, 2, INT64_MAX / 2,
                                INT64_MAX / 2 + 1, INT64_MAX - 1, INT64_MAX};
enum { EDGES = sizeof edges / sizeof edges[0] };

__extension__ typedef __int128 wide;

static int64_t clamp(wide value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static void hold(int64_t a, int64_t b)
{
    assert_true(clo_time_add(a, b) == clamp((wide)a + b));
    assert_true(clo_time_sub(a, b) == clamp((wide)a - b));
    assert_true(clo_time_mul(a, b) == clamp((wide)a * b));
}

static void times_stop_at_the_ends(void **state)
{
    (void)state;
    clo_rng rng = clo_rng_seed(1);

    for (int i = 0; i < EDGES; i++)
        for (int k = 0; k < EDGES; k++)
            hold(edges[i], edges[k]);
    for (int i = 0; i < 10000; i++) {
        unsigned shift = (unsigned)clo_rng_below(&rng, 64);
        hold((int64_t)clo_rng_next(&rng) >> shift, (int64_t)clo_rng_next(&rng) >> (63 - shift));
    }
}

static void amounts_stop_at_the_end(void **state)
{
    (void)state;
    assert_true(clo_amount_add(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(clo_amount_add(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(clo_amount_add(2, 3) == 5);
    assert_true(clo_amount_mul(UINT64_MAX / 2, 2) == UINT64_MAX - 1);
    assert_true(clo_amount_mul(UINT64_MAX / 2 + 1, 2) == UINT64_MAX);
    assert_true(clo_amount_mul(0, UINT64_MAX) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_stop_at_the_ends),
        cmocka_unit_test(amounts_stop_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
