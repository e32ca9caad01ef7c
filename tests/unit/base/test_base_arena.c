/* Arenas: parts of one object, from the heap or from given memory, counted alike. */
#include "support.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdalign.h>
#include <string.h>

enum { LINE = CLO_CACHE_LINE_BYTES };

static alignas(CLO_CACHE_LINE_BYTES) char given[8 * CLO_CACHE_LINE_BYTES];

/* Takes a part, checks that it is zeroed and stands on a line, and fills it. */
static void take(clo_arena *arena, size_t count, size_t size)
{
    unsigned char *part = clo_arena_take(arena, count, size);

    assert_non_null(part);
    assert_int_equal((uintptr_t)part % LINE, 0);
    for (size_t i = 0; i < count * size; i++)
        assert_int_equal(part[i], 0);
    memset(part, 0xa5, count * size);
}

static void use(clo_arena *arena)
{
    take(arena, 3, 5);
    assert_int_equal(arena->used, LINE);
    take(arena, 1, LINE);
    take(arena, 0, 8); /* a line as well */
    assert_int_equal(arena->used, 3 * LINE);
    size_t mark = clo_arena_mark(arena);
    take(arena, 1, LINE + 1);
    take(arena, 1, 1);
    assert_int_equal(arena->used, 6 * LINE);
    clo_arena_back_to(arena, mark);
    assert_int_equal(arena->used, 3 * LINE);
    take(arena, 4, LINE); /* zeroed again */
    assert_int_equal(arena->used, 7 * LINE);
    clo_arena_back_to(arena, arena->used); /* nothing since */
    assert_int_equal(arena->used, 7 * LINE);
    clo_arena_back_to(arena, mark);
    assert_int_equal(arena->used, 3 * LINE);
    assert_int_equal(arena->peak, 7 * LINE);
}

static void heap_and_given_memory_count_alike(void **state)
{
    (void)state;
    clo_arena arena;

    memset(given, 0x77, sizeof given);
    clo_arena_open(&arena, given, sizeof given);
    use(&arena);
    clo_arena_open(&arena, NULL, 0);
    use(&arena);
    assert_non_null(arena.chunks);
    clo_arena_back_to(&arena, 0);
    assert_null(arena.chunks);
    assert_int_equal(arena.used, 0);
    clo_arena_close(&arena);
}

static void given_memory_is_used_to_its_last_byte_and_not_further(void **state)
{
    (void)state;
    clo_arena arena;

    clo_arena_open(&arena, given, sizeof given);
    assert_null(clo_arena_take(&arena, 1, sizeof given + 1));
    assert_int_equal(arena.used, 0);
    take(&arena, 1, sizeof given);
    assert_int_equal(arena.used, sizeof given);
    assert_null(clo_arena_take(&arena, 1, 1));
    assert_int_equal(arena.peak, sizeof given);
    clo_arena_close(&arena);
}

static void a_product_that_overflows_is_refused(void **state)
{
    (void)state;
    clo_arena arena;

    clo_arena_open(&arena, given, sizeof given);
    assert_null(clo_arena_take(&arena, SIZE_MAX / 2, 4));
    assert_null(clo_arena_take(&arena, SIZE_MAX, 2));
    assert_non_null(clo_arena_take(&arena, SIZE_MAX, 0));
    clo_arena_close(&arena);
}

static void an_arena_may_lie_in_its_own_memory(void **state)
{
    (void)state;
    clo_arena arena;

    clo_arena_open(&arena, NULL, 0);
    clo_arena *inside = clo_arena_take(&arena, 1, sizeof arena);
    assert_non_null(inside);
    *inside = arena;
    clo_arena_close(inside);
}

/* Small parts share blocks, large ones have their own; back to a mark they go in any mixture. */
static void small_and_large_parts_mix(void **state)
{
    (void)state;
    enum { PARTS = 60 };
    size_t marks[PARTS];
    clo_arena arena;

    clo_arena_open(&arena, NULL, 0);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < PARTS; i++) {
            marks[i] = clo_arena_mark(&arena);
            take(&arena, 1,
                 i % 7 == 3 ? 10000 : 1 + i * 11); /* several blocks of small ones, with large ones between */
        }
        size_t used = clo_arena_mark(&arena);
        for (uint32_t i = PARTS; i > 0; i -= 5) {
            clo_arena_back_to(&arena, marks[i - 5]);
            assert_int_equal(arena.used, marks[i - 5]);
            take(&arena, 1, 100 * i); /* and on from there */
            clo_arena_back_to(&arena, marks[i - 5]);
        }
        assert_int_equal(arena.used, 0);
        assert_true(arena.peak >= used);
    }
    clo_arena_close(&arena);
}

/* Freed in another order than taken, and one that grows. */
static void use_scratch(clo_arena *arena)
{
    clo_scratch scratch;
    size_t capacity = 0;
    void *grown = NULL;

    clo_arena_offer(arena);
    clo_arena_scratch_open(&scratch);
    char *first = clo_allocate(100, 1), *second = clo_allocate_raw(3);
    for (size_t items = 1; items < 100; items *= 3)
        assert_int_equal(clo_grow(&grown, &capacity, items, sizeof(int)), 0);
    assert_non_null(first);
    assert_non_null(second);
    memset(first, 1, 100);
    clo_free(first);
    clo_free(grown);
    clo_free(second);
    assert_int_equal(scratch.used, 0);
    first = clo_allocate_aligned(2, 50);
    assert_non_null(first);
    for (int i = 0; i < 100; i++)
        assert_int_equal(first[i], 0);
    clo_free(first);
    clo_arena_scratch_close(&scratch);
    clo_arena_offer(NULL);
}

static void scratch_needs_as_much_given_memory_as_it_counts_of_the_heap(void **state)
{
    (void)state;
    static alignas(CLO_CACHE_LINE_BYTES) char memory[64 * CLO_CACHE_LINE_BYTES];
    clo_arena counted, exact;
    clo_scratch scratch;

    clo_arena_open(&counted, NULL, 0);
    take(&counted, 1, LINE);
    use_scratch(&counted);
    assert_in_range(counted.peak, 2 * LINE, sizeof memory);
    assert_int_equal(counted.used, LINE);
    clo_arena_open(&exact, memory, counted.peak);
    take(&exact, 1, LINE);
    use_scratch(&exact);
    assert_int_equal(exact.peak, counted.peak);
    clo_arena_offer(&exact);
    clo_arena_scratch_open(&scratch);
    assert_null(clo_allocate(1, counted.peak)); /* no more than there is */
    clo_arena_scratch_close(&scratch);
    clo_arena_offer(NULL);
    clo_arena_close(&counted);
}

static void an_offer_within_an_offer_ends_with_the_outer_one(void **state)
{
    (void)state;
    clo_arena outer, inner;
    clo_scratch scratch;

    clo_arena_open(&outer, NULL, 0);
    clo_arena_open(&inner, NULL, 0);
    assert_null(clo_arena_offer(&outer));
    assert_ptr_equal(clo_arena_offer(&inner), &outer);
    assert_ptr_equal(clo_arena_offer(&outer), &inner);
    clo_arena_scratch_open(&scratch);
    clo_free(clo_allocate(1, 100));
    clo_arena_scratch_close(&scratch);
    assert_true(outer.peak > 0);
    assert_int_equal(inner.peak, 0);
    assert_ptr_equal(clo_arena_offer(NULL), &outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_and_given_memory_count_alike),
        cmocka_unit_test(given_memory_is_used_to_its_last_byte_and_not_further),
        cmocka_unit_test(a_product_that_overflows_is_refused),
        cmocka_unit_test(an_arena_may_lie_in_its_own_memory),
        cmocka_unit_test(small_and_large_parts_mix),
        cmocka_unit_test(scratch_needs_as_much_given_memory_as_it_counts_of_the_heap),
        cmocka_unit_test(an_offer_within_an_offer_ends_with_the_outer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
