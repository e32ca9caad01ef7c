/* Jobs enter the scheduler in pieces (engine/scheduler/enter.c): what happens between two pieces.
 * Mutation: let enter_piece of engine/scheduler/enter.c list all stages at once, or take clo_enter_drop out of
 * clo_scheduler_cancel (engine/scheduler/scheduler.c). */
#include "by_hand.h"

static void an_arrival_lists_a_piece_and_each_entry_another(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(3 * PIECE + 7), 0, CLO_NONE);
    for (uint32_t piece = 1; piece <= 3; piece++) {
        assert_int_equal(told_arrived, 1);
        assert_int_equal(told_ready, piece * PIECE);
        assert_true(clo_scheduler_has_more(s.scheduler));
        assert_true(clo_scheduler_go_on(s.scheduler) == (piece == 3));
    }
    assert_false(clo_scheduler_has_more(s.scheduler));
    assert_int_equal(told_ready, 3 * PIECE + 7);
    assert_true(clo_scheduler_counts_of(s.scheduler)->most_turn_steps < 3 * PIECE);
    close_setting(&s); /* it is the last job */
    assert_int_equal(s.orders, 3 * PIECE + 7);

    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(PIECE), 0, CLO_NONE); /* just one piece */
    assert_false(clo_scheduler_has_more(s.scheduler));
    close_setting(&s);
}

static void others_go_on_between_two_pieces(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    arrive(&s, free_graph(EXECUTORS + 1), 0, CLO_NONE);
    take_orders(&s);
    assert_int_equal(s.orders, EXECUTORS);
    arrive(&s, free_graph(2 * PIECE), 1, CLO_NONE);
    finish(&s, 2); /* the last task of the first job goes there */
    take_orders(&s);
    assert_int_equal(s.orders, EXECUTORS + 1);
    for (uint32_t e = 0; e < EXECUTORS; e++)
        finish(&s, e);
    take_ended(&s);
    assert_int_equal(s.ended, 1);
    take_orders(&s); /* of what has entered */
    assert_int_equal(s.orders, 2 * EXECUTORS + 1);
    assert_true(clo_scheduler_has_more(s.scheduler));
    close_setting(&s);
}

static void what_has_not_entered_of_a_cancelled_job_never_does(void **state)
{
    setting s;

    (void)state;
    for (uint32_t cancelled = 0; cancelled < 3; cancelled++) { /* the first, the middle and the last of the list */
        open_setting(&s, &oldest, &oldest);
        for (uint32_t j = 0; j < 3; j++)
            arrive(&s, free_graph(2 * PIECE), 0, CLO_NONE);
        assert_int_equal(told_ready, 3 * PIECE);
        clo_scheduler_cancel(s.scheduler, s.jobs[cancelled].job, false, s.now_ns);
        take_ended(&s);
        assert_true(s.jobs[cancelled].has_ended);
        clo_scheduler_go_on_to_end(s.scheduler);
        assert_int_equal(told_ready, 5 * PIECE);
        close_setting(&s);
        assert_int_equal(s.orders, 4 * PIECE);
    }
    open_setting(&s, &oldest, &oldest); /* alone, with bodies that run */
    arrive(&s, free_graph(2 * PIECE), 0, CLO_NONE);
    take_orders(&s);
    clo_scheduler_cancel(s.scheduler, s.jobs[0].job, true, s.now_ns);
    assert_false(clo_scheduler_has_more(s.scheduler));
    take_ended(&s);
    assert_int_equal(s.ended, 0); /* not before they end */
    close_setting(&s);
    assert_int_equal(s.orders, EXECUTORS);
}

static void a_new_policy_sees_what_has_entered_and_then_the_rest(void **state)
{
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest_assigned);
    arrive(&s, free_graph(2 * PIECE + 1), 0, CLO_NONE);
    take_orders(&s);
    told_ready = told_arrived = 0;
    swap(&s);
    while (clo_scheduler_is_showing(s.scheduler))
        (void)clo_scheduler_go_on(s.scheduler);
    assert_int_equal(told_arrived, 1);
    assert_int_equal(told_ready, PIECE - EXECUTORS);
    (void)clo_scheduler_go_on(s.scheduler);
    assert_int_equal(told_ready, 2 * PIECE - EXECUTORS);
    told_ready = 0;
    swap(&s);
    while (clo_scheduler_is_showing(s.scheduler))
        (void)clo_scheduler_go_on(s.scheduler);
    assert_int_equal(told_ready, 2 * PIECE - EXECUTORS);
    close_setting(&s);
    assert_int_equal(s.orders, 2 * PIECE + 1);
}

static void of_jobs_that_arrive_together_the_oldest_of_the_highest_band_enters_first(void **state)
{
    static const uint32_t bands[] = {1, 1, 0}, order[] = {2, 0, 1};
    setting s;

    (void)state;
    open_setting(&s, &oldest, &oldest);
    for (uint32_t j = 0; j < 3; j++)
        arrive(&s, free_graph(2 * PIECE), bands[j], CLO_NONE);
    for (uint32_t j = 0; j < 3; j++) {
        assert_int_equal(s.jobs[order[j]].job->live.startable, PIECE);
        assert_true(clo_scheduler_go_on(s.scheduler));
        assert_int_equal(s.jobs[order[j]].job->live.startable, 2 * PIECE);
    }
    assert_false(clo_scheduler_has_more(s.scheduler));
    close_setting(&s);
}

/* An executor's own job is what ended on it under this policy, though another one had started that: it goes on with
 * that job, and not with the shorter one. */
static void a_new_policy_learns_at_the_end_of_a_body_whose_its_executor_is(void **state)
{
    const clo_policy *parametric = clo_policy_find("parametric");
    _Alignas(16) unsigned char argument[256];
    setting s;

    (void)state;
    assert_true(parametric->argument_bytes <= sizeof argument);
    ok(parametric->parse("1,50,0,0,0,9,0,0,-1,100ns", argument));
    open_setting(&s, &oldest, parametric);
    s.arguments[1] = argument;
    uint32_t own = arrive(&s, free_graph(2 * EXECUTORS), 0, CLO_NONE);
    take_orders(&s);
    swap(&s);
    while (clo_scheduler_is_showing(s.scheduler))
        (void)clo_scheduler_go_on(s.scheduler);
    uint32_t shorter = arrive(&s, free_graph(1), 0, CLO_NONE);
    finish(&s, 0);
    take_orders(&s);
    assert_int_equal(s.jobs[own].job->live.running, EXECUTORS);
    assert_int_equal(s.jobs[shorter].job->live.running, 0);
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_lists_a_piece_and_each_entry_another),
        cmocka_unit_test(others_go_on_between_two_pieces),
        cmocka_unit_test(what_has_not_entered_of_a_cancelled_job_never_does),
        cmocka_unit_test(a_new_policy_sees_what_has_entered_and_then_the_rest),
        cmocka_unit_test(of_jobs_that_arrive_together_the_oldest_of_the_highest_band_enters_first),
        cmocka_unit_test(a_new_policy_learns_at_the_end_of_a_body_whose_its_executor_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
