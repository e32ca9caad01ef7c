/* The sorts: against qsort with the index as the second key, which is what stable means. */
#include "support.h"

#include "base/numbers/rng.h"
#include "base/order/sort.h"
#include "base/order/sort_keys.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };

static int by_key_and_index(const void *left, const void *right)
{
    const clo_sort_key *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* mask: the bits in which keys differ; base: what they have in common. */
static void check(size_t count, uint64_t base, uint64_t mask, uint64_t seed)
{
    clo_sort_key *items = calloc(count + 1, sizeof *items), *other = calloc(count + 1, sizeof *other);
    clo_sort_key *want = calloc(count + 1, sizeof *want);
    clo_rng rng = clo_rng_seed(seed);

    assert_non_null(items);
    assert_non_null(other);
    assert_non_null(want);
    for (size_t i = 0; i < count; i++)
        want[i] = items[i] = (clo_sort_key){base + (clo_rng_next(&rng) & mask), (uint32_t)i};
    qsort(want, count, sizeof *want, by_key_and_index);
    const clo_sort_key *got = clo_sort_keys(items, other, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got[i].key, want[i].key);
        assert_int_equal(got[i].index, want[i].index);
    }
    free(items);
    free(other);
    free(want);
}

static void all_sizes_and_spans_are_sorted_stably(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 39, 40, 41, 100, 4095, 4096, MOST};
    static const uint64_t masks[] = {0, 1, 0xff, 0x7ff, 0xfffff, 0xff00ff00ff, UINT64_MAX};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
            check(counts[c], 0, masks[m], c * 10 + m);
            check(counts[c], UINT64_MAX - masks[m], masks[m], c * 10 + m); /* up to the largest key */
        }
}

static void signed_numbers_sort_as_numbers(void **state)
{
    (void)state;
    assert_true(clo_sort_key_of(INT64_MIN) < clo_sort_key_of(-1));
    assert_true(clo_sort_key_of(-1) < clo_sort_key_of(0));
    assert_true(clo_sort_key_of(0) < clo_sort_key_of(1));
    assert_true(clo_sort_key_of(1) < clo_sort_key_of(INT64_MAX));
}

static void what_is_in_order_stays_where_it_is(void **state)
{
    (void)state;
    clo_sort_key items[100], other[100];

    for (uint32_t i = 0; i < 100; i++)
        items[i] = (clo_sort_key){i / 3, i};
    assert_ptr_equal(clo_sort_keys(items, other, 100), items);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(items[i].index, i);
}

static void rows_of_all_counts_are_sorted(void **state)
{
    (void)state;
    clo_rng rng = clo_rng_seed(5);
    static clo_sort_key items[1000], wanted[1000];

    for (uint32_t count = 0; count <= 1000; count += count < 70 ? 1 : 93) {
        for (uint32_t i = 0; i < count; i++)
            items[i] = wanted[i] = (clo_sort_key){(uint64_t)clo_rng_below(&rng, 1 + count / 3), i};
        clo_sort(items, count, sizeof *items, by_key_and_index);
        qsort(wanted, count, sizeof *wanted, by_key_and_index);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(items[i].index, wanted[i].index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_and_spans_are_sorted_stably),
        cmocka_unit_test(signed_numbers_sort_as_numbers),
        cmocka_unit_test(what_is_in_order_stays_where_it_is),
        cmocka_unit_test(rows_of_all_counts_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
