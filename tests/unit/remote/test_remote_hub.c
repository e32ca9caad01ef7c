/* The port of a machine from the times of messages to several others: it shows where all at once take longer than the
 * slowest alone, by more than what the way of a byte varies. */
#include "support.h"

#include "remote/links/hub_rate.h"

#define US INT64_C(1000)

static double rate_of(int64_t count, int64_t bytes, int64_t byte_ns, int64_t alone_ns, int64_t all_ns)
{
    const clo_hub hub = {.count = count, .bytes = bytes, .out = {byte_ns, alone_ns, all_ns}};

    return clo_hub_rate(&hub, &hub.out);
}

static void what_is_shared_is_a_port(void **state)
{
    (void)state;
    assert_true(rate_of(2, 1 << 20, 100 * US, 8400 * US, 16800 * US) * 16800e3 == 2 << 20); /* 1 Gbit/s */
    assert_true(rate_of(4, 1 << 20, 20 * US, 200 * US, 800 * US) * 800e3 == 4 << 20);
    assert_true(rate_of(2, 8192, 20000 * US, 65000 * US, 130000 * US) > 0); /* 1 Mbit/s */
}

static void what_is_not_shared_is_none(void **state)
{
    (void)state;
    assert_true(rate_of(4, 1 << 20, 100 * US, 8400 * US, 8500 * US) == 0);
    assert_true(rate_of(1, 1 << 20, 100 * US, 8400 * US, 16800 * US) == 0);
    assert_true(rate_of(0, 0, 0, 0, 0) == 0);
}

/* A way of 30 ms, over which only some bytes were measured: that one time is four times the other one is chance. */
static void chance_over_a_long_way_is_no_port(void **state)
{
    (void)state;
    assert_true(rate_of(2, 1, 60000 * US, 50 * US, 200 * US) == 0);
    assert_true(rate_of(2, 1024, 60000 * US, 1, 300 * US) == 0);
    assert_true(rate_of(2, 1 << 20, 60000 * US, 84000 * US, 168000 * US) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_shared_is_a_port),
                                       cmocka_unit_test(what_is_not_shared_is_none),
                                       cmocka_unit_test(chance_over_a_long_way_is_no_port)};

    return cmocka_run_group_tests_name("remote_hub", tests, NULL, NULL);
}
