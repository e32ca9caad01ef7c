/* Messages in pieces: a piece takes a short while by the link's figures, and the number under way follows the time that
 * pieces take: more while nothing queues, fewer when something does, and always at least one. */
#include "support.h"

#include "remote/messages/pieces.h"

#include <math.h>

#define MS INT64_C(1000000)

static uint64_t piece_on(int64_t latency_ns, double bandwidth)
{
    const clo_executor executors[2] = {{.memory = 0, .speed_q16 = {65536, 65536, 65536, 65536}},
                                       {.memory = 1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    const int64_t latencies[4] = {0, latency_ns, latency_ns, 0};
    const double bandwidths[4] = {0, bandwidth, bandwidth, 0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latencies;
    desc.bandwidth_bytes_per_ns = bandwidths;
    assert_int_equal(clo_platform_create(&desc, &platform), CLO_OK);
    uint64_t bytes = clo_piece_bytes(platform, 0, 1);
    clo_platform_destroy(platform);
    return bytes;
}

static void a_piece_takes_a_millisecond_at_most(void **state)
{
    (void)state;
    assert_int_equal(piece_on(1000, 12.5), CLO_PIECE_MAX_BYTES);
    assert_int_equal(piece_on(30000, 0.125), 65536); /* 1 Gbit/s; 125 000 bytes in 1 ms */
    assert_int_equal(piece_on(1000 * MS, 0.125), 65536);
    assert_int_equal(piece_on(30000, 0.0000125), CLO_PIECE_MIN_BYTES);
    for (int step = 0; step < 40; step++) {
        double bandwidth = 1e-6 * pow(1.7, step);
        uint64_t bytes = piece_on(1000, bandwidth);
        assert_true((bytes & (bytes - 1)) == 0 && bytes >= CLO_PIECE_MIN_BYTES && bytes <= CLO_PIECE_MAX_BYTES);
        assert_true(bytes == CLO_PIECE_MIN_BYTES || (double)bytes / bandwidth <= 1.01e6);
        assert_true(bytes == CLO_PIECE_MAX_BYTES || (double)bytes * 2 / bandwidth >= 0.99e6);
    }
}

/* `count` pieces, each handed over when the one before has gone. Returns the time. */
static int64_t go(clo_lane *lane, int64_t now_ns, int64_t each_ns, int count)
{
    for (int i = 0; i < count; i++, now_ns += each_ns)
        clo_lane_went(lane, now_ns, now_ns + each_ns);
    return now_ns;
}

static void the_window_grows_while_nothing_queues(void **state)
{
    const int64_t times_ns[] = {1, 20 * MS, 300 * MS}; /* a long way is no queue */

    (void)state;
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        clo_lane lane;
        clo_lane_open(&lane);
        assert_int_equal(lane.window, 1);
        int64_t now_ns = go(&lane, 1000, times_ns[i], 1);
        assert_int_equal(lane.window, 2);
        now_ns = go(&lane, now_ns, times_ns[i], 2);
        assert_int_equal(lane.window, 3);
        (void)go(&lane, now_ns, times_ns[i], 10000);
        assert_int_equal(lane.window, CLO_WINDOW_MAX);
    }
}

static void the_window_shrinks_when_pieces_queue(void **state)
{
    clo_lane lane;

    (void)state;
    clo_lane_open(&lane);
    int64_t now_ns = go(&lane, 1000, MS, 10000);
    for (int i = 0; i < 64; i++) /* all that were under way: one queue, which halves it once */
        clo_lane_went(&lane, now_ns, now_ns + (100 + i) * MS);
    assert_int_equal(lane.window, CLO_WINDOW_MAX / 2);
    now_ns = go(&lane, now_ns + 200 * MS, 100 * MS, 100);
    assert_int_equal(lane.window, 1);
    (void)go(&lane, now_ns, MS, 10000);
    assert_int_equal(lane.window, CLO_WINDOW_MAX);
}

static void clocks_that_go_back_do_no_harm(void **state)
{
    clo_lane lane;

    (void)state;
    clo_lane_open(&lane);
    clo_lane_went(&lane, 1000, 10);
    clo_lane_went(&lane, INT64_MAX - 1, INT64_MAX);
    clo_lane_went(&lane, 0, INT64_MAX);
    assert_in_range(lane.window, 1, CLO_WINDOW_MAX);
    assert_int_equal(lane.best_ns, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_takes_a_millisecond_at_most), cmocka_unit_test(the_window_grows_while_nothing_queues),
        cmocka_unit_test(the_window_shrinks_when_pieces_queue), cmocka_unit_test(clocks_that_go_back_do_no_harm)};

    return cmocka_run_group_tests_name("remote_pieces", tests, NULL, NULL);
}
