/* The fit of a link by pieces, from measured times that are made up. */
#include "support.h"

#include "platform/host/pieces.h"

#include <string.h>

/* A link with a cache of 64 KiB: 5 bytes/ns up to it, 2 beyond; 80 ns for the message. */
static int64_t cached_ns(uint64_t bytes)
{
    uint64_t near = bytes < 65536 ? bytes : 65536;

    return 80 + (int64_t)(near / 5 + (bytes - near) / 2);
}

static clo_measured_way measured(int64_t (*ns)(uint64_t bytes), uint32_t fitted)
{
    clo_measured_way way = {.fitted = fitted, .line_ns = ns(0), .alone_ns = 1000, .together_ns = 1000};

    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        way.ns[i] = clo_link_is_used(i, fitted) ? ns(clo_link_size(i)) : 0;
    return way;
}

static void sizes_rise_and_those_held_aside_lie_between(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < CLO_LINK_FITTED; i++)
        assert_true(clo_link_size(i) > clo_link_size(i - 1));
    for (uint32_t h = 0; h < CLO_LINK_HELD; h++) {
        uint64_t bytes = clo_link_size(CLO_LINK_FITTED + h);
        assert_true(bytes > clo_link_size(2 * h) && bytes < clo_link_size(2 * h + 1));
        assert_true(clo_link_is_used(CLO_LINK_FITTED + h, CLO_LINK_FITTED));
    }
    assert_int_equal(clo_link_fitted(INT64_MAX / 2), CLO_LINK_FITTED);
    assert_int_equal(clo_link_size(clo_link_fitted(1)), 512 << 10); /* up to 256 KiB where there is no time */
    assert_true(!clo_link_is_used(CLO_LINK_FITTED + 6, 10));
}

static void a_straight_line_needs_no_cut(void **state)
{
    (void)state;
    clo_measured_way way = {.fitted = CLO_LINK_FITTED, .line_ns = 100};
    const clo_measured_way *ways[] = {&way};
    clo_cuts cuts;
    clo_line line;

    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        way.ns[i] = 100 + (int64_t)(clo_link_size(i) / 8);
    clo_pieces_choose(ways, 1, &cuts);
    assert_int_equal(cuts.count, 0);
    clo_pieces_fit(&way, &cuts, &line);
    assert_int_equal(line.latency_ns, 100);
    assert_int_equal(line.mbps[0], 8000);
    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        assert_int_equal(clo_line_error(&line, &cuts, &way, i), 0);
}

static void a_cache_is_found_and_predicts_sizes_that_were_not_fitted(void **state)
{
    (void)state;
    clo_measured_way way = measured(cached_ns, CLO_LINK_FITTED);
    const clo_measured_way *ways[] = {&way, &way};
    clo_cuts cuts;
    clo_line line;

    clo_pieces_choose(ways, 2, &cuts);
    assert_true(cuts.count >= 1 && cuts.count <= 3);
    clo_pieces_fit(&way, &cuts, &line);
    for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
        assert_true(clo_line_error(&line, &cuts, &way, i) <= CLO_PIECE_PERMILLE);
    cuts = (clo_cuts){.count = 1, .bytes = {65536}};
    clo_pieces_fit(&way, &cuts, &line);
    assert_true(line.mbps[0] >= 4990 && line.mbps[0] <= 5010);
    assert_true(line.mbps[1] >= 1990 && line.mbps[1] <= 2010);
    assert_int_equal(clo_line_ns(&line, &cuts, 0), 80);
}

/* Larger buffers are sometimes quicker: prefetchers, other instructions. */
static int64_t falling_ns(uint64_t bytes)
{
    return bytes < 100000 ? 80 + (int64_t)bytes / 4 : 20000 + (int64_t)bytes / 50;
}

static void a_fit_never_falls_where_the_measured_times_do(void **state)
{
    (void)state;
    clo_measured_way way = measured(falling_ns, CLO_LINK_FITTED);
    const clo_measured_way *ways[] = {&way};
    clo_cuts cuts;
    clo_line line;
    int64_t before = 0;

    clo_pieces_choose(ways, 1, &cuts);
    clo_pieces_fit(&way, &cuts, &line);
    for (uint64_t bytes = 0; bytes < 20000000; bytes += 1 + bytes / 7) {
        int64_t ns = clo_line_ns(&line, &cuts, bytes);
        assert_true(ns >= before);
        before = ns;
    }
}

static void absurd_times_give_lines_that_a_file_can_hold(void **state)
{
    (void)state;
    static const int64_t times[] = {0, 1, 1000000000000000};
    clo_measured_way way = {.fitted = CLO_LINK_FITTED};
    const clo_measured_way *ways[] = {&way};
    clo_cuts cuts;
    clo_line line;

    for (size_t t = 0; t < 9; t++) {
        for (uint32_t i = 0; i < CLO_LINK_SIZES; i++)
            way.ns[i] = times[(t + i) % (t < 3 ? 1 : 3)];
        way.line_ns = t == 0 ? -5 : times[t % 3];
        clo_pieces_choose(ways, 1, &cuts);
        assert_true(cuts.count < CLO_LINK_PIECES_MAX);
        clo_pieces_fit(&way, &cuts, &line);
        for (uint32_t k = 0; k <= cuts.count; k++)
            assert_true(line.mbps[k] <= 1000000000);
        assert_true(clo_line_ns(&line, &cuts, UINT64_MAX) >= 0);
    }
}

/* What calibration predicts is what the planner will see. */
static void the_line_is_what_the_platform_computes(void **state)
{
    (void)state;
    clo_measured_way way = measured(falling_ns, CLO_LINK_FITTED);
    clo_cuts cuts = {.count = 2, .bytes = {4096, 100001}};
    clo_executor executors[2] = {{.speed_q16 = {1, 1, 1, 1}}, {.memory = 1, .speed_q16 = {1, 1, 1, 1}}};
    double bandwidth[4] = {0}, beyond[8] = {0};
    int64_t latency[4] = {0};
    clo_line line;
    clo_platform *p;

    clo_pieces_fit(&way, &cuts, &line);
    latency[1] = (int64_t)line.latency_ns;
    bandwidth[1] = (double)line.mbps[0] / 1000;
    beyond[1] = (double)line.mbps[1] / 1000;
    beyond[5] = (double)line.mbps[2] / 1000;
    ok(clo_platform_create(&(clo_platform_desc){.size = sizeof(clo_platform_desc),
                                                .executors_count = 2,
                                                .executors = executors,
                                                .kinds_count = 1,
                                                .latency_ns = latency,
                                                .bandwidth_bytes_per_ns = bandwidth,
                                                .cuts_count = 2,
                                                .cut_bytes = cuts.bytes,
                                                .bandwidth_beyond = beyond},
                           &p));
    for (uint64_t bytes = 0; bytes < 1ull << 40; bytes = bytes * 5 / 4 + 1)
        assert_int_equal(clo_platform_transfer_ns(p, bytes, 0, 1), clo_line_ns(&line, &cuts, bytes));
    clo_platform_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_rise_and_those_held_aside_lie_between),
        cmocka_unit_test(a_straight_line_needs_no_cut),
        cmocka_unit_test(a_cache_is_found_and_predicts_sizes_that_were_not_fitted),
        cmocka_unit_test(a_fit_never_falls_where_the_measured_times_do),
        cmocka_unit_test(absurd_times_give_lines_that_a_file_can_hold),
        cmocka_unit_test(the_line_is_what_the_platform_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
