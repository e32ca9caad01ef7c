#include "plan/schedule/occupancy.h"
#include "plan/schedule/timeline.h"
#include "support.h"

#include "base/memory.h"
#include "base/numbers/rng.h"
#include "fault.h"

#include <string.h>

static void a_gap_is_taken_if_it_is_just_long_enough(void **state)
{
    (void)state;
    clo_timeline line = {0};

    assert_int_equal(clo_timeline_find(&line, 7, 5), 7);
    assert_int_equal(clo_timeline_reserve(&line, 10, 20), 0);
    assert_int_equal(clo_timeline_reserve(&line, 30, 40), 0);
    assert_int_equal(clo_timeline_find(&line, 0, 10), 0);  /* before everything   */
    assert_int_equal(clo_timeline_find(&line, 0, 11), 40); /* no gap is that long */
    assert_int_equal(clo_timeline_find(&line, 5, 10), 20); /* exactly the gap     */
    assert_int_equal(clo_timeline_find(&line, 21, 10), 40);
    assert_int_equal(clo_timeline_find(&line, 21, 9), 21);
    assert_int_equal(clo_timeline_find(&line, 15, 1), 20); /* ready inside a block */
    assert_int_equal(clo_timeline_find(&line, 50, 9), 50);
    clo_timeline_free(&line);
}

static void touching_reservations_become_one_block(void **state)
{
    (void)state;
    clo_timeline line = {0};

    assert_int_equal(clo_timeline_reserve(&line, 10, 20), 0);
    assert_int_equal(clo_timeline_reserve(&line, 30, 40), 0);
    assert_int_equal(line.count, 2);
    assert_int_equal(clo_timeline_reserve(&line, 40, 45), 0); /* right of one  */
    assert_int_equal(clo_timeline_reserve(&line, 5, 10), 0);  /* left of one   */
    assert_int_equal(line.count, 2);
    assert_int_equal(clo_timeline_reserve(&line, 20, 30), 0); /* between both  */
    assert_int_equal(line.count, 1);
    assert_int_equal(line.blocks[0].start_ns, 5);
    assert_int_equal(line.blocks[0].finish_ns, 45);
    clo_timeline_clear(&line);
    assert_int_equal(clo_timeline_find(&line, 0, 100), 0);
    clo_timeline_free(&line);
}

static void an_execution_of_length_zero_never_lies_inside_another(void **state)
{
    (void)state;
    clo_timeline line = {0};

    assert_int_equal(clo_timeline_reserve(&line, 10, 20), 0);
    assert_int_equal(clo_timeline_find(&line, 10, 0), 10);
    assert_int_equal(clo_timeline_find(&line, 11, 0), 20);
    assert_int_equal(clo_timeline_reserve(&line, 10, 10), 0);
    assert_int_equal(line.count, 1);
    assert_int_equal(clo_timeline_reserve(&line, 5, 5), 0);
    assert_int_equal(line.count, 2);
    assert_int_equal(clo_timeline_find(&line, 3, 4), 5); /* not across the one at 5 */
    assert_int_equal(clo_timeline_reserve(&line, 5, 10), 0);
    assert_int_equal(line.count, 1);
    clo_timeline_free(&line);
}

/* It was found before the block [30, 40) when [20, 30) was still idle. */
static void an_execution_of_length_zero_fits_the_seam_of_two_that_touch(void **state)
{
    (void)state;
    clo_timeline line = {0};

    assert_int_equal(clo_timeline_reserve(&line, 30, 40), 0);
    assert_int_equal(clo_timeline_find(&line, 30, 0), 30);
    assert_int_equal(clo_timeline_reserve(&line, 20, 30), 0);
    assert_int_equal(clo_timeline_reserve(&line, 30, 30), 0);
    assert_int_equal(line.count, 1);
    assert_int_equal(line.blocks[0].start_ns, 20);
    assert_int_equal(line.blocks[0].finish_ns, 40);
    clo_timeline_free(&line);
}

static void the_timeline_agrees_with_a_row_of_bits(void **state)
{
    (void)state;
    enum { SPAN = 400 };

    for (uint64_t seed = 0; seed < 50; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_timeline line = {0};
        char busy[2 * SPAN] = {0};
        for (int i = 0; i < 60; i++) {
            uint32_t ready = clo_rng_below(&rng, SPAN), length = 1 + clo_rng_below(&rng, 12), start = ready;
            for (uint32_t k = 0; k < length; k++)
                if (busy[start + k]) {
                    start = start + k + 1;
                    k = UINT32_MAX; /* from the beginning */
                }
            assert_int_equal(clo_timeline_find(&line, ready, length), start);
            assert_int_equal(clo_timeline_reserve(&line, start, start + length), 0);
            memset(&busy[start], 1, length);
        }
        clo_timeline_free(&line);
    }
}

static bool fits_at(int64_t used[3][5 * 3000], int64_t start, int64_t length, const int64_t *demand, int64_t limit)
{
    for (int64_t t = start; t < start + length; t++)
        if (used[0][t] + demand[0] > limit || used[2][t] + demand[2] > limit / 2)
            return false;
    return true;
}

/* From a few steps in one leaf to some thousand in three levels; long takes that cover whole nodes. */
static void the_profile_agrees_with_a_row_of_sums(void **state)
{
    (void)state;
    enum { LIMIT = 1000 };
    static int64_t used[3][5 * 3000];

    for (uint64_t seed = 0; seed < 24; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        uint32_t span = seed % 3 == 0 ? 200 : 3000, rounds = seed % 3 == 0 ? 80 : 2500;
        clo_occupancy profile = {.limits = {LIMIT, -1, LIMIT / 2, -1, -1, -1, -1, -1}};
        clo_occupancy_open(&profile);
        memset(used, 0, sizeof used);
        for (uint32_t i = 0; i < rounds; i++) {
            int64_t start = clo_rng_below(&rng, span), length = 1 + clo_rng_below(&rng, i % 50 == 0 ? span : 20);
            uint32_t most = i % 4 == 0 ? LIMIT + 1 : LIMIT / 20;
            int64_t demand[CLO_RESOURCES_MAX] = {clo_rng_below(&rng, most), INT64_MAX, clo_rng_below(&rng, most) / 2};
            int64_t found = clo_occupancy_earliest_ns(&profile, start, length, INT64_MAX, demand), want = start;
            while (!fits_at(used, want, length, demand, LIMIT))
                want++;
            assert_int_equal(found, want);
            int64_t latest = start + clo_rng_below(&rng, span);
            int64_t early = clo_occupancy_earliest_ns(&profile, start, length, latest, demand);
            assert_true(want < latest ? early == want : early >= latest);
            if (found + length > (seed % 2 == 0 ? 1 : 4) * (int64_t)span)
                continue; /* keep it crowded */
            assert_int_equal(clo_occupancy_take(&profile, found, found + length, demand), 0);
            for (int64_t t = found; t < found + length; t++) {
                used[0][t] += demand[0];
                used[2][t] += demand[2];
            }
        }
        clo_occupancy_clear(&profile); /* and once more from nothing */
        assert_int_equal(clo_occupancy_earliest_ns(&profile, 7, 1000, INT64_MAX, (int64_t[CLO_RESOURCES_MAX]){LIMIT}),
                         7);
        clo_occupancy_free(&profile);
    }
}

static void a_failed_allocation_leaves_both_unchanged(void **state)
{
    (void)state;
    clo_timeline line = {0};
    clo_occupancy profile = {.limits = {5, -1, -1, -1, -1, -1, -1, -1}};

    clo_occupancy_open(&profile);
    fault_fail_nth(1);
    assert_int_equal(clo_timeline_reserve(&line, 1, 2), -1);
    fault_fail_nth(1);
    assert_int_equal(clo_occupancy_take(&profile, 1, 2, (int64_t[CLO_RESOURCES_MAX]){1}), -1);
    for (uint64_t nth = 2; nth <= 4; nth++) { /* leaves, their counts, inner nodes, theirs */
        fault_fail_nth(nth);
        assert_int_equal(clo_occupancy_take(&profile, 1, 2, (int64_t[CLO_RESOURCES_MAX]){1}), -1);
        clo_occupancy_free(&profile);
    }
    fault_fail_nth(0);
    assert_int_equal(line.count, 0);
    assert_int_equal(clo_occupancy_earliest_ns(&profile, 0, 9, INT64_MAX, (int64_t[CLO_RESOURCES_MAX]){5}), 0);
    assert_int_equal(clo_timeline_find(&line, 1, 1), 1);
    clo_timeline_free(&line);
    clo_occupancy_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_taken_if_it_is_just_long_enough),
        cmocka_unit_test(touching_reservations_become_one_block),
        cmocka_unit_test(an_execution_of_length_zero_never_lies_inside_another),
        cmocka_unit_test(an_execution_of_length_zero_fits_the_seam_of_two_that_touch),
        cmocka_unit_test(the_timeline_agrees_with_a_row_of_bits),
        cmocka_unit_test(the_profile_agrees_with_a_row_of_sums),
        cmocka_unit_test(a_failed_allocation_leaves_both_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
