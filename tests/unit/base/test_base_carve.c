/* The carver: several arrays in one block of memory. */
#include "support.h"

#include "base/carve.h"
#include "base/memory.h"
#include "fault.h"

#include <stdalign.h>
#include <string.h>

enum { LINE = CLO_CACHE_LINE_BYTES };

/* Arrays of one block. */
typedef struct tables {
    uint8_t *bytes;
    const uint64_t *words;
    uint32_t *numbers, *none;
    struct {
        double x, y;
    } * points;
} tables;

enum { BYTES = 3, WORDS = 2, NUMBERS = 16, POINTS = 5 };

static void carve(clo_block *block, tables *t)
{
    clo_carve(block, &t->bytes, BYTES);
    clo_carve(block, &t->words, WORDS);
    clo_carve(block, &t->numbers, NUMBERS);
    clo_carve(block, &t->none, 0);
    clo_carve(block, &t->points, POINTS);
}

static void check(const tables *t)
{
    const char *first = (const char *)t->bytes;

    assert_int_equal((uintptr_t)first % LINE, 0);
    assert_ptr_equal(t->words, first + 16);     /* small ones on multiples of 16 */
    assert_ptr_equal(t->numbers, first + LINE); /* a cache line and more starts on one */
    assert_ptr_equal(t->none, first + 2 * LINE);
    assert_ptr_equal(t->points, first + 2 * LINE);
    for (size_t i = 0; i < 2 * LINE + POINTS * sizeof *t->points; i++)
        assert_int_equal(first[i], 0);
    memset(t->bytes, 1, BYTES); /* the sanitizer sees what lies beyond the block */
    memset(t->numbers, 2, NUMBERS * sizeof *t->numbers);
    memset(t->points, 3, POINTS * sizeof *t->points);
    assert_int_equal(t->words[0] + t->words[WORDS - 1], 0);
    assert_int_equal(t->numbers[NUMBERS - 1], 0x02020202);
}

static void arrays_of_an_arena_stand_in_order_aligned_and_zeroed(void **state)
{
    (void)state;
    clo_arena arena;
    clo_block block = {0};
    tables t = {0};

    clo_arena_open(&arena, NULL, 0);
    carve(&block, &t);
    assert_null(t.bytes); /* pointers are set when the memory is there */
    assert_true(clo_block_take(&block, &arena));
    check(&t);
    assert_int_equal(arena.used, 4 * LINE);
    clo_arena_close(&arena);
}

static void arrays_of_the_heap_are_freed_at_once(void **state)
{
    (void)state;
    clo_block block = {0};
    tables t = {0};

    carve(&block, &t);
    void *memory = clo_block_allocate(&block);
    assert_non_null(memory);
    check(&t);
    clo_free(memory);
}

static void a_block_is_as_large_as_its_parts_need(void **state)
{
    (void)state;
    clo_block block = {0};
    clo_layout layout = {0};
    tables t = {0};

    assert_int_equal(block.bytes, 0);
    carve(&block, &t);
    clo_layout_add(&layout, BYTES, sizeof *t.bytes);
    clo_layout_add(&layout, WORDS, sizeof *t.words);
    clo_layout_add(&layout, NUMBERS, sizeof *t.numbers);
    clo_layout_add(&layout, 0, sizeof *t.none);
    clo_layout_add(&layout, POINTS, sizeof *t.points);
    assert_int_equal(block.bytes, layout.bytes);
    assert_int_equal(block.bytes, 2 * LINE + POINTS * sizeof *t.points);
}

static void a_block_of_nothing_can_be_taken(void **state)
{
    (void)state;
    clo_arena arena;
    clo_block block = {0}, other = {0};
    uint32_t *none = NULL;

    clo_carve(&block, &none, 0);
    clo_arena_open(&arena, NULL, 0);
    assert_true(clo_block_take(&block, &arena));
    assert_non_null(none);
    clo_arena_close(&arena);
    void *memory = clo_block_allocate(&other);
    assert_non_null(memory);
    clo_free(memory);
}

/* No memory, of neither kind, and the pointer stays. */
static void refuses(clo_block *block, uint32_t *const *pointer)
{
    clo_arena arena;

    clo_arena_open(&arena, NULL, 0);
    assert_false(clo_block_take(block, &arena));
    assert_int_equal(arena.used, 0);
    assert_null(clo_block_allocate(block));
    assert_null(*pointer);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8, SIZE_MAX / 16 + 1};
    uint32_t *pointer = NULL;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        clo_block block = {0};
        clo_carve(&block, &pointer, counts[i]);
        assert_true(block.is_refused);
        clo_carve(&block, &pointer, 1); /* what comes after does not mend it */
        refuses(&block, &pointer);
    }
}

static void a_sum_that_overflows_is_refused(void **state)
{
    (void)state;
    clo_block block = {0};
    uint32_t *pointer = NULL;

    for (int i = 0; i < 5; i++)
        clo_carve(&block, &pointer, SIZE_MAX / 16);
    assert_true(block.is_refused);
    refuses(&block, &pointer);
}

static void too_many_parts_are_refused(void **state)
{
    (void)state;
    clo_block block = {0};
    uint32_t *pointer = NULL;

    for (int i = 0; i < CLO_CARVE_PARTS_MAX; i++)
        clo_carve(&block, &pointer, 1);
    assert_false(block.is_refused);
    clo_carve(&block, &pointer, 1);
    refuses(&block, &pointer);
}

static void given_memory_must_hold_the_whole_block(void **state)
{
    (void)state;
    static alignas(CLO_CACHE_LINE_BYTES) char given[4 * LINE];
    clo_arena arena;
    clo_block block = {0};
    tables t = {0};

    carve(&block, &t);
    clo_arena_open(&arena, given, sizeof given - LINE);
    assert_false(clo_block_take(&block, &arena));
    assert_null(t.bytes);
    assert_null(t.points);
    clo_arena_open(&arena, given, sizeof given);
    assert_true(clo_block_take(&block, &arena));
    assert_ptr_equal(t.bytes, given);
    check(&t);
}

static void a_failed_allocation_leaves_the_pointers(void **state)
{
    (void)state;
    clo_block block = {0};
    tables t = {0};

    carve(&block, &t);
    fault_fail_nth(1);
    assert_null(clo_block_allocate(&block));
    assert_true(fault_happened());
    fault_fail_nth(0);
    assert_null(t.bytes);
    assert_null(t.points);
}

static void a_layout_takes_half_of_all_addresses_and_no_byte_more(void **state)
{
    (void)state;
    const size_t most = SIZE_MAX / 2;
    clo_layout whole = {0}, above = {0}, parts = {0}, parts_above = {0};

    assert_int_equal(clo_layout_add(&whole, most, 1), 0);
    assert_false(whole.overflow);
    (void)clo_layout_add(&above, most + 1, 1);
    assert_true(above.overflow);
    (void)clo_layout_add(&parts, LINE, 1);
    (void)clo_layout_add(&parts_above, LINE, 1);
    assert_int_equal(clo_layout_add(&parts, most - LINE, 1), LINE);
    assert_false(parts.overflow);
    (void)clo_layout_add(&parts_above, most - LINE + 1, 1);
    assert_true(parts_above.overflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_an_arena_stand_in_order_aligned_and_zeroed),
        cmocka_unit_test(arrays_of_the_heap_are_freed_at_once),
        cmocka_unit_test(a_block_is_as_large_as_its_parts_need),
        cmocka_unit_test(a_block_of_nothing_can_be_taken),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_sum_that_overflows_is_refused),
        cmocka_unit_test(too_many_parts_are_refused),
        cmocka_unit_test(given_memory_must_hold_the_whole_block),
        cmocka_unit_test(a_failed_allocation_leaves_the_pointers),
        cmocka_unit_test(a_layout_takes_half_of_all_addresses_and_no_byte_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
