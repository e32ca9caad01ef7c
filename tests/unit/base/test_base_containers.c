/* base: heap, tournament, histogram, memory layout, growth, random numbers. */
#include "support.h"

#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/order/heap.h"
#include "base/order/tournament.h"
#include "fault.h"
#include "sync/structure/histogram.h"

#include <string.h>

static void a_heap_gives_the_smallest_key_and_of_equals_the_smallest_id(void **state)
{
    (void)state;
    clo_heap_item items[300];
    clo_heap heap = {.items = items, .capacity = 300};
    clo_rng rng = clo_rng_seed(1);

    for (uint64_t i = 0; i < 300; i++)
        clo_heap_push(&heap, (int64_t)clo_rng_below(&rng, 40) - 20, (i * 7) % 300);
    clo_heap_item last = {INT64_MIN, 0};
    for (size_t left = 300; left > 0; left--) {
        assert_int_equal(heap.count, left);
        clo_heap_item item = clo_heap_pop(&heap);
        assert_true(clo_heap_before(last, item));
        last = item;
    }
    assert_int_equal(heap.count, 0);
}

static void a_heap_takes_pushes_between_pops(void **state)
{
    (void)state;
    clo_heap_item items[4];
    clo_heap heap = {.items = items, .capacity = 4};

    clo_heap_push(&heap, 5, 1);
    clo_heap_push(&heap, 3, 2);
    assert_int_equal(clo_heap_pop(&heap).id, 2);
    clo_heap_push(&heap, 9, 3);
    clo_heap_push(&heap, 1, 4);
    assert_int_equal(clo_heap_pop(&heap).id, 4);
    assert_int_equal(clo_heap_pop(&heap).id, 1);
    assert_int_equal(clo_heap_pop(&heap).id, 3);
}

/* Puts and clears in random order, few keys; the last places of the tree are never used. */
static void a_tournament_has_the_same_first_as_a_search_through_all_places(void **state)
{
    (void)state;
    enum { PLACES = 37, LEAVES = 64 };
    int64_t keys[LEAVES];
    uint64_t ids[LEAVES];
    uint32_t winners[2 * LEAVES];
    clo_tournament t;
    clo_rng rng = clo_rng_seed(3);

    assert_int_equal(clo_tournament_leaves(PLACES), LEAVES);
    clo_tournament_open(&t, keys, ids, winners, LEAVES);
    for (uint64_t step = 0, events = 0; step < 20000; step++) {
        uint32_t place = (uint32_t)clo_rng_below(&rng, PLACES), first = CLO_TOURNAMENT_NONE;
        if (ids[place] != CLO_TOURNAMENT_EMPTY) {
            clo_tournament_clear(&t, place);
            events--;
        } else {
            int64_t key = clo_rng_below(&rng, 10) == 0 ? INT64_MAX : (int64_t)clo_rng_below(&rng, 20);
            clo_tournament_put(&t, place, key, (step * 7919) % 20011);
            events++;
        }
        assert_int_equal(t.count, events);
        if (step % 3 == 0) /* the others leave cleared places behind */
            continue;
        for (uint32_t p = 0; p < PLACES; p++)
            if (ids[p] != CLO_TOURNAMENT_EMPTY && (first == CLO_TOURNAMENT_NONE || keys[p] < keys[first] ||
                                                   (keys[p] == keys[first] && ids[p] < ids[first])))
                first = p;
        if (events > 0)
            assert_int_equal(clo_tournament_first(&t), first);
    }
}

static void a_tournament_of_one_place_needs_no_tree(void **state)
{
    (void)state;
    int64_t key;
    uint64_t id;
    uint32_t winners[2];
    clo_tournament t;

    assert_int_equal(clo_tournament_leaves(1), 1);
    clo_tournament_open(&t, &key, &id, winners, 1);
    clo_tournament_put(&t, 0, 5, 0);
    assert_int_equal(clo_tournament_first(&t), 0);
    clo_tournament_clear(&t, 0);
    assert_int_equal(t.count, 0);
    clo_tournament_put(&t, 0, 3, 0);
    assert_int_equal(clo_tournament_first(&t), 0);
    assert_int_equal(key, 3);
}

static void every_value_falls_into_a_bucket_within_its_error(void **state)
{
    (void)state;
    clo_rng rng = clo_rng_seed(2);

    for (int i = 0; i < 20000; i++) {
        int64_t value = (int64_t)(clo_rng_next(&rng) >> (1 + clo_rng_below(&rng, 63)));
        clo_histogram h = {0};
        assert_true(clo_histogram_bucket((uint64_t)value) < CLO_HISTOGRAM_BUCKETS);
        clo_histogram_record(&h, value);
        atomic_store(&h.max_ns, INT64_MAX); /* so that the bucket's edge shows */
        int64_t edge = clo_histogram_quantile(&h, 0.5);
        assert_true(edge >= value && edge - value <= value / 32);
    }
}

static void quantiles_count_records(void **state)
{
    (void)state;
    clo_histogram h = {0};

    assert_int_equal(clo_histogram_quantile(&h, 0.5), 0);
    for (int64_t v = 1; v <= 10; v++)
        clo_histogram_record(&h, v);
    assert_int_equal(clo_histogram_quantile(&h, 0), 1);
    assert_int_equal(clo_histogram_quantile(&h, 0.5), 5);
    assert_int_equal(clo_histogram_quantile(&h, 0.51), 6);
    assert_int_equal(clo_histogram_quantile(&h, 1), 10);

    clo_histogram_record(&h, -5); /* counts as 0 */
    clo_histogram_record(&h, 1000000);
    assert_int_equal(atomic_load(&h.count), 12);
    assert_int_equal(atomic_load(&h.max_ns), 1000000);
    assert_int_equal(clo_histogram_quantile(&h, 0.01), 0);
    assert_int_equal(clo_histogram_quantile(&h, 1), 1000000); /* not above the largest record */
}

/* The first value above `value` whose bucket is another. */
static int64_t next_bucket(int64_t value)
{
    uint32_t bucket = clo_histogram_bucket((uint64_t)value);
    int64_t inside = value, outside = 2 * value + 1;

    while (outside - inside > 1) {
        int64_t middle = inside + (outside - inside) / 2;
        *(clo_histogram_bucket((uint64_t)middle) == bucket ? &inside : &outside) = middle;
    }
    return outside;
}

static void a_quantile_is_the_last_value_of_its_bucket(void **state)
{
    (void)state;

    for (int64_t v = 0; v < INT64_MAX / 8; v = next_bucket(v)) {
        clo_histogram h = {0};
        clo_histogram_record(&h, v);
        clo_histogram_record(&h, INT64_MAX);
        assert_int_equal(clo_histogram_quantile(&h, 0.5), next_bucket(v) - 1);
    }
}

static void memory_is_zeroed_aligned_and_guarded_against_overflow(void **state)
{
    (void)state;
    unsigned char *a = clo_allocate(100, 3), *b = clo_allocate_aligned(7, 13), *none = clo_allocate(0, 8);
    static const unsigned char zero[300];

    assert_memory_equal(a, zero, 300);
    assert_memory_equal(b, zero, 91);
    assert_int_equal((uintptr_t)b % CLO_CACHE_LINE_BYTES, 0);
    assert_non_null(none);
    assert_null(clo_allocate(SIZE_MAX / 2, 3));
    assert_null(clo_allocate_aligned(SIZE_MAX / 4, 8));
    clo_free(a);
    clo_free(b);
    clo_free(none);
    clo_free(NULL);
}

static void growing_keeps_the_content_and_fails_without_a_change(void **state)
{
    (void)state;
    void *array = NULL;
    size_t capacity = 0;

    assert_int_equal(clo_grow(&array, &capacity, 3, 4), 0);
    assert_true(capacity >= 3);
    memcpy(array, "abcdefghijkl", 12);
    size_t before = capacity;
    assert_int_equal(clo_grow(&array, &capacity, before, 4), 0);
    assert_int_equal(capacity, before);
    assert_int_equal(clo_grow(&array, &capacity, before + 1, 4), 0);
    assert_true(capacity >= 2 * before);
    assert_memory_equal(array, "abcdefghijkl", 12);

    before = capacity;
    void *old = array;
    fault_fail_nth(1);
    assert_int_equal(clo_grow(&array, &capacity, 100000, 4), -1);
    fault_fail_nth(0);
    assert_int_equal(clo_grow(&array, &capacity, SIZE_MAX / 2, 4), -1);
    assert_int_equal(capacity, before);
    assert_ptr_equal(array, old);
    clo_free(array);
}

static void a_layout_aligns_its_parts_and_latches_overflow(void **state)
{
    (void)state;
    clo_layout layout = {0};

    assert_int_equal(clo_layout_add(&layout, 3, 1), 0);
    assert_int_equal(clo_layout_add(&layout, 2, 8), 16);
    assert_int_equal(clo_layout_add(&layout, 16, 4), 64); /* a cache line and more starts on one */
    assert_int_equal(layout.bytes, 128);
    assert_int_equal(layout.overflow, 0);
    clo_layout_add(&layout, SIZE_MAX / 2, 4);
    assert_int_equal(layout.overflow, 1);
    clo_layout_add(&layout, 1, 1);
    assert_int_equal(layout.overflow, 1);
    clo_layout full = {.bytes = SIZE_MAX / 2 - 10};
    clo_layout_add(&full, 64, 1);
    assert_int_equal(full.overflow, 1);
}

/* The reference values: the generators are part of the file format of "the same seed". */
static void random_numbers_are_the_same_everywhere(void **state)
{
    (void)state;
    clo_rng rng = clo_rng_seed(0);
    clo_rng reference = {{1, 2, 3, 4}};

    /* xoshiro256** from state {1, 2, 3, 4}: the published test values */
    assert_true(clo_rng_next(&reference) == 11520);
    assert_true(clo_rng_next(&reference) == 0);
    assert_true(clo_rng_next(&reference) == 1509978240);
    assert_true(clo_rng_next(&reference) == 1215971899390074240);
    assert_true(clo_mix64(0) == 0xe220a8397b1dcdafu); /* splitmix64's first number from seed 0 */

    uint32_t seen[10] = {0};
    for (int i = 0; i < 10000; i++) {
        seen[clo_rng_below(&rng, 10)]++;
        double unit = clo_rng_unit(&rng);
        assert_true(unit >= 0 && unit < 1);
    }
    for (int k = 0; k < 10; k++)
        assert_in_range(seen[k], 850, 1150);
    assert_int_equal(clo_rng_below(&rng, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heap_gives_the_smallest_key_and_of_equals_the_smallest_id),
        cmocka_unit_test(a_heap_takes_pushes_between_pops),
        cmocka_unit_test(a_tournament_has_the_same_first_as_a_search_through_all_places),
        cmocka_unit_test(a_tournament_of_one_place_needs_no_tree),
        cmocka_unit_test(every_value_falls_into_a_bucket_within_its_error),
        cmocka_unit_test(quantiles_count_records),
        cmocka_unit_test(a_quantile_is_the_last_value_of_its_bucket),
        cmocka_unit_test(memory_is_zeroed_aligned_and_guarded_against_overflow),
        cmocka_unit_test(growing_keeps_the_content_and_fails_without_a_change),
        cmocka_unit_test(a_layout_aligns_its_parts_and_latches_overflow),
        cmocka_unit_test(random_numbers_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
