/* What a worker lets others have of its items (run/sharing/share_rule.h), on values that are made up. */
#include "support.h"

#include "run/sharing/share_rule.h"

static clo_share_choice choose(int64_t task_time_ns, uint32_t count, bool is_asked)
{
    clo_share_view view = {.task_time_ns = task_time_ns, .count = count, .is_asked = is_asked};

    return clo_share_choose(&view);
}

static void unknown_and_long_bodies_share_all_they_have_and_wake_for_it(void **state)
{
    const int64_t times[] = {0, CLO_SHORT_NS + 1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        clo_share_choice choice = choose(times[i], 7, false);
        assert_true(choice.wakes);
        assert_int_equal(choice.publish, 7);
        assert_true(choice.stops_feeding);
        assert_false(choice.answers); /* nobody has asked */
    }
}

static void what_was_declared_for_the_next_body_counts_as_much_as_those_before(void **state)
{
    (void)state;
    assert_true(clo_share_is_slow(10, CLO_SHORT_NS + 1));
    assert_true(clo_share_is_slow(0, 0));
    assert_false(clo_share_is_slow(0, 1));
    assert_false(clo_share_is_slow(CLO_SHORT_NS, CLO_SHORT_NS));
}

static void short_bodies_keep_what_they_have_until_somebody_asks(void **state)
{
    (void)state;
    clo_share_choice kept = choose(100, 20, false), asked = choose(100, 20, true);

    assert_int_equal(kept.publish, 0);
    assert_false(kept.wakes);
    assert_false(kept.answers);
    assert_int_equal(asked.publish, 10);
    assert_true(asked.answers);
    assert_false(asked.wakes);
    assert_int_equal(choose(100, 21, true).publish, 11); /* half, rounded up */
}

static void an_answer_must_be_worth_the_lines_that_move(void **state)
{
    (void)state;
    assert_false(choose(CLO_MAILBOX_OVER_NS / 10 - 1, 10, true).answers);
    assert_true(choose(CLO_MAILBOX_OVER_NS / 10, 10, true).answers);
}

static void so_much_work_that_a_wake_pays_wakes_a_sleeper(void **state)
{
    (void)state;
    assert_false(choose(CLO_WAKE_NS / 100 - 1, 100, false).wakes);
    clo_share_choice choice = choose(CLO_WAKE_NS / 100, 100, false);
    assert_true(choice.wakes);
    assert_int_equal(choice.publish, 50);
    assert_false(choice.stops_feeding); /* the bodies are short all the same */
}

static void in_a_narrow_graph_one_item_at_a_time_goes_to_who_asked(void **state)
{
    (void)state;
    clo_share_choice narrow = choose(CLO_WORTH_NS, CLO_NARROW_ITEMS, true);
    clo_share_choice wide = choose(CLO_WORTH_NS, CLO_NARROW_ITEMS + 1, true);

    assert_true(narrow.holds_out);
    assert_true(narrow.feeds);
    assert_true(narrow.has_affinity);
    assert_int_equal(narrow.publish, 0);
    assert_false(wide.holds_out);
    assert_true(wide.feeds);
    assert_int_equal(wide.publish, 3);
    /* Tiny bodies are not worth a hand-over each. */
    clo_share_choice tiny = choose(CLO_WORTH_NS - 1, CLO_NARROW_ITEMS, true);
    assert_false(tiny.feeds);
    assert_false(tiny.holds_out);
    assert_false(tiny.has_affinity);
    assert_int_equal(tiny.publish, 2);
}

/* Two items of 100 ns wait at any moment, while a body of 100 ns runs. */
static void time_that_items_wait_unasked_adds_up_to_a_wake_and_is_forgotten_with_it(void **state)
{
    clo_share_view view = {.task_time_ns = 100, .count = 2};
    uint32_t turns = 1;

    (void)state;
    while (!clo_share_choose(&view).wakes)
        turns++;
    assert_int_equal(turns, CLO_WAKE_NS / 100);
    assert_int_equal(view.declined_ns, 0);
    view = (clo_share_view){.task_time_ns = CLO_WORTH_NS - 1, .count = 2}; /* not of tiny bodies */
    for (uint32_t i = 0; i < 2 * CLO_WAKE_NS; i++)
        assert_false(clo_share_choose(&view).wakes);
    assert_int_equal(view.declined_ns, 0);
}

static void feeding_ends_with_its_budget_with_tiny_bodies_and_with_sleep(void **state)
{
    (void)state;
    assert_true(clo_share_holds_out(1, CLO_NARROW_ITEMS));
    assert_false(clo_share_holds_out(0, CLO_NARROW_ITEMS));
    assert_false(clo_share_holds_out(1, CLO_NARROW_ITEMS + 1));
    assert_false(clo_share_stops_feeding(CLO_WORTH_NS, false));
    assert_true(clo_share_stops_feeding(CLO_WORTH_NS - 1, false));
    assert_true(clo_share_stops_feeding(CLO_WORTH_NS, true));
}

static void the_successor_at_the_same_distance_is_run_next(void **state)
{
    (void)state;
    /* Executions 10 apart are the same stage; 100 has released 110 and 101. */
    assert_false(clo_share_prefers(10, false, 100, 110, 101));
    assert_false(clo_share_prefers(10, true, 100, 110, 101));
    assert_true(clo_share_prefers(10, false, 100, 101, 110));
    assert_false(clo_share_prefers(10, false, 100, 101, 102)); /* neither: the order that was chosen */
    assert_true(clo_share_prefers(10, true, 100, 101, 102));
}

static void that_items_are_long_is_seen_at_once_and_that_they_are_short_believed_slowly(void **state)
{
    (void)state;
    assert_int_equal(clo_share_pace(100, 900), 900);
    assert_int_equal(clo_share_pace(900, 100), 700);
    assert_int_equal(clo_share_pace(0, 0), 0);
}

static void the_other_order_is_tried_when_more_than_half_the_items_change_hands(void **state)
{
    (void)state;
    assert_false(clo_share_is_restless(64, CLO_JUDGED_ITEMS));
    assert_true(clo_share_is_restless(65, CLO_JUDGED_ITEMS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_and_long_bodies_share_all_they_have_and_wake_for_it),
        cmocka_unit_test(what_was_declared_for_the_next_body_counts_as_much_as_those_before),
        cmocka_unit_test(short_bodies_keep_what_they_have_until_somebody_asks),
        cmocka_unit_test(an_answer_must_be_worth_the_lines_that_move),
        cmocka_unit_test(so_much_work_that_a_wake_pays_wakes_a_sleeper),
        cmocka_unit_test(in_a_narrow_graph_one_item_at_a_time_goes_to_who_asked),
        cmocka_unit_test(time_that_items_wait_unasked_adds_up_to_a_wake_and_is_forgotten_with_it),
        cmocka_unit_test(feeding_ends_with_its_budget_with_tiny_bodies_and_with_sleep),
        cmocka_unit_test(the_successor_at_the_same_distance_is_run_next),
        cmocka_unit_test(that_items_are_long_is_seen_at_once_and_that_they_are_short_believed_slowly),
        cmocka_unit_test(the_other_order_is_tried_when_more_than_half_the_items_change_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
