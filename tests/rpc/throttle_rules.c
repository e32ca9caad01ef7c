/* The rules that say when a service may be sent more than one attempt. */
#include "support.h"

#include "rpc/engine/throttle.h"

static void answers_in_time(clo_rpc_throttle *t, uint32_t count, int64_t first_us, int64_t last_us)
{
    for (uint32_t i = 0; i < count; i++) {
        clo_rpc_throttle_request(t);
        clo_rpc_throttle_success(t);
        clo_rpc_throttle_learn(t, first_us + (last_us - first_us) * i / count, 0);
    }
}

static void a_hedge_is_due_after_the_95th_percentile(void **state)
{
    clo_rpc_throttle t;

    (void)state;
    clo_rpc_throttle_init(&t);
    answers_in_time(&t, CLO_RPC_DELAY_SAMPLES_MIN - 1, 1000, 1000);
    assert_int_equal(clo_rpc_throttle_delay_us(&t), 0);
    answers_in_time(&t, 10000, 1000, 101000);
    assert_in_range(clo_rpc_throttle_delay_us(&t), 95000, 101000); /* 96 000, and a bucket is 3 % wide */
}

static void there_is_a_hedge_for_every_20_requests_and_a_retry_for_every_10(void **state)
{
    clo_rpc_throttle t;
    uint32_t hedges = 0, retries = 0;

    (void)state;
    clo_rpc_throttle_init(&t);
    for (uint32_t i = 0; i < 10000; i++) {
        clo_rpc_throttle_request(&t);
        clo_rpc_throttle_success(&t);
        hedges += clo_rpc_throttle_take_hedge(&t);
        retries += clo_rpc_throttle_take_retry(&t);
    }
    assert_in_range(hedges, 490, 500);
    assert_in_range(retries, 1000, 1010);
}

static void a_service_says_when_the_next_copy_goes(void **state)
{
    (void)state;
    assert_int_equal(clo_rpc_throttle_next_copy_us(5000, 0), 5000);
    assert_int_equal(clo_rpc_throttle_next_copy_us(5000, 20), 25000);
    assert_int_equal(clo_rpc_throttle_next_copy_us(5000, -1), 0);
}

static void five_failures_close_it_and_answers_in_time_open_it(void **state)
{
    clo_rpc_throttle t;

    (void)state;
    clo_rpc_throttle_init(&t);
    answers_in_time(&t, 1000, 1000, 1000);
    for (int i = 0; i < 4; i++)
        clo_rpc_throttle_failure(&t, 1);
    assert_true(clo_rpc_throttle_take_retry(&t));
    clo_rpc_throttle_failure(&t, 1);
    assert_false(clo_rpc_throttle_take_retry(&t));
    assert_false(clo_rpc_throttle_take_hedge(&t));
    clo_rpc_throttle_success(&t);
    assert_true(clo_rpc_throttle_take_hedge(&t));
}

static void slow_answers_are_not_learned_while_it_is_closed(void **state)
{
    clo_rpc_throttle t;

    (void)state;
    clo_rpc_throttle_init(&t);
    answers_in_time(&t, 1000, 1000, 1000);
    int64_t before = clo_rpc_throttle_delay_us(&t);
    for (int64_t i = 0; i < 5000; i++) {
        clo_rpc_throttle_failure(&t, 1 + i);
        clo_rpc_throttle_learn(&t, 1000000, 1 + i);
    }
    assert_int_equal(clo_rpc_throttle_delay_us(&t), before);
    for (int64_t i = 0; i < 100; i++) /* 31 s later: that is what it is */
        clo_rpc_throttle_learn(&t, 1000000, 31000000 + i);
    assert_in_range(clo_rpc_throttle_delay_us(&t), 1000000, 1040000);
    assert_true(clo_rpc_throttle_take_retry(&t));
}

static void times_of_any_size_have_a_bucket(void **state)
{
    clo_rpc_throttle t;

    (void)state;
    clo_rpc_throttle_init(&t);
    for (int i = 0; i < 100; i++)
        clo_rpc_throttle_learn(&t, INT64_MAX, 0);
    assert_true(clo_rpc_throttle_delay_us(&t) > 0);
    clo_rpc_throttle_init(&t);
    for (int i = 0; i < 100000; i++)
        clo_rpc_throttle_learn(&t, i % 2 ? -1 : 0, 0);
    assert_in_range(clo_rpc_throttle_delay_us(&t), 1, 2);
}

static void backoff_doubles_up_to_its_most(void **state)
{
    (void)state;
    assert_int_equal(clo_rpc_throttle_backoff_us(2, 1000, 5000, 0.5), 500);
    assert_int_equal(clo_rpc_throttle_backoff_us(3, 1000, 5000, 0.5), 1000);
    assert_int_equal(clo_rpc_throttle_backoff_us(5, 1000, 5000, 0.5), 2500);
    assert_int_equal(clo_rpc_throttle_backoff_us(UINT32_MAX, 1000, 5000, 0), 0);
}

static void a_delay_that_is_expected_stands_until_it_is_known(void **state)
{
    (void)state;
    clo_rpc_throttle t;

    clo_rpc_throttle_init(&t);
    clo_rpc_throttle_expect(&t, 0);
    assert_int_equal(clo_rpc_throttle_delay_us(&t), 0);
    assert_false(clo_rpc_throttle_take_hedge(&t));
    clo_rpc_throttle_expect(&t, 5000);
    assert_int_equal(clo_rpc_throttle_delay_us(&t), 5000);
    for (int i = 0; i < 3; i++)
        assert_true(clo_rpc_throttle_take_hedge(&t));
    assert_false(clo_rpc_throttle_take_hedge(&t));
    answers_in_time(&t, CLO_RPC_DELAY_SAMPLES_MIN + 20, 100, 100);
    assert_in_range(clo_rpc_throttle_delay_us(&t), 100, 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hedge_is_due_after_the_95th_percentile),
        cmocka_unit_test(there_is_a_hedge_for_every_20_requests_and_a_retry_for_every_10),
        cmocka_unit_test(a_service_says_when_the_next_copy_goes),
        cmocka_unit_test(five_failures_close_it_and_answers_in_time_open_it),
        cmocka_unit_test(slow_answers_are_not_learned_while_it_is_closed),
        cmocka_unit_test(times_of_any_size_have_a_bucket),
        cmocka_unit_test(backoff_doubles_up_to_its_most),
        cmocka_unit_test(a_delay_that_is_expected_stands_until_it_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
