/* A worker's own items (run/state/deque.h): two ends, and numbers that go round. */
#include "support.h"

#include "run/state/deque.h"

static clo_deque deque;

/* Both ends stand at `at`, with nothing between them. */
static void empty_at(uint32_t at)
{
    deque.old = deque.young = at;
}

static void push(uint64_t first, uint64_t end)
{
    for (uint64_t item = first; item < end; item++)
        clo_deque_push(&deque, item);
}

static void an_empty_deque_gives_nothing_from_either_end_and_stays_empty(void **state)
{
    (void)state;
    empty_at(0);
    assert_int_equal(clo_deque_peek(&deque), CLO_ITEM_NONE);
    assert_int_equal(clo_deque_pop(&deque), CLO_ITEM_NONE);
    assert_int_equal(clo_deque_pop_old(&deque), CLO_ITEM_NONE);
    assert_int_equal(clo_deque_count(&deque), 0);
}

static void the_young_end_gives_the_newest_and_the_old_end_what_has_waited_longest(void **state)
{
    (void)state;
    empty_at(0);
    push(10, 14);
    assert_int_equal(clo_deque_peek(&deque), 13);
    assert_int_equal(clo_deque_count(&deque), 4); /* a look takes nothing */
    assert_int_equal(clo_deque_pop(&deque), 13);
    assert_int_equal(clo_deque_pop_old(&deque), 10);
    assert_int_equal(clo_deque_pop(&deque), 12);
    assert_int_equal(clo_deque_pop_old(&deque), 11);
    assert_int_equal(clo_deque_count(&deque), 0);
}

static void what_is_pushed_below_all_others_is_popped_last(void **state)
{
    (void)state;
    empty_at(0); /* `old` goes below 0 */
    push(10, 12);
    clo_deque_push_old(&deque, 9);
    assert_int_equal(clo_deque_count(&deque), 3);
    assert_int_equal(clo_deque_pop(&deque), 11);
    assert_int_equal(clo_deque_pop(&deque), 10);
    assert_int_equal(clo_deque_pop(&deque), 9);
    assert_int_equal(clo_deque_pop(&deque), CLO_ITEM_NONE);
}

/* The ends only count up, so both pass 2^32 in a long run. */
static void a_full_deque_keeps_every_item_where_the_numbers_go_round(void **state)
{
    (void)state;
    empty_at(UINT32_MAX - 100);
    push(0, CLO_DEQUE_ITEMS);
    assert_int_equal(clo_deque_count(&deque), CLO_DEQUE_ITEMS);
    for (uint64_t item = 0; item < 200; item++)
        assert_int_equal(clo_deque_pop_old(&deque), item);
    for (uint64_t item = CLO_DEQUE_ITEMS; item-- > 200;)
        assert_int_equal(clo_deque_pop(&deque), item);
    assert_int_equal(clo_deque_count(&deque), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_deque_gives_nothing_from_either_end_and_stays_empty),
        cmocka_unit_test(the_young_end_gives_the_newest_and_the_old_end_what_has_waited_longest),
        cmocka_unit_test(what_is_pushed_below_all_others_is_popped_last),
        cmocka_unit_test(a_full_deque_keeps_every_item_where_the_numbers_go_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
