/* Platforms from arrays: what is checked, what is copied, what a transfer costs. */
#include "fault.h"
#include "support.h"

#include "platform/model/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static clo_executor executor(uint32_t kind, uint32_t machine, uint32_t memory, uint32_t speed)
{
    return (clo_executor){kind, machine, memory, -1, {speed, speed, speed, speed}};
}

static clo_platform_desc two(clo_executor executors[2])
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    executors[0] = executor(0, 0, 0, CLO_SPEED_ONE);
    executors[1] = executor(1, 0, 1, 2 * CLO_SPEED_ONE);
    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 2;
    return desc;
}

static void names_are_given_where_the_caller_gives_none(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    clo_platform *p;

    ok(clo_platform_create(&desc, &p));
    assert_string_equal(clo_platform_name(p), "platform");
    assert_int_equal(clo_platform_executors(p), 2);
    assert_int_equal(clo_platform_kinds(p), 2);
    assert_int_equal(clo_platform_machines(p), 1);
    assert_int_equal(clo_platform_memories(p), 2);
    assert_string_equal(clo_platform_executor_name(p, 0), "e0");
    assert_string_equal(clo_platform_executor_name(p, 1), "e1");
    assert_string_equal(clo_platform_kind_name(p, 1), "k1");
    assert_false(clo_platform_is_native(p));
    assert_false(clo_platform_is_coherent(p));
    assert_int_equal(clo_platform_capacity(p, 0, 0), -1);
    clo_platform_destroy(p);
    clo_platform_destroy(NULL);
}

static void everything_is_copied(void **state)
{
    (void)state;
    char name[] = "mine", first[] = "alpha", second[] = "beta", kind[] = "big", resource[] = "memory";
    const char *names[] = {first, second}, *kinds[] = {kind, NULL}, *resources[CLO_RESOURCES_MAX] = {NULL, resource};
    int64_t capacities[2 * CLO_RESOURCES_MAX], latency[4] = {7, 100, 200, 7};
    double bandwidth[4] = {1, 2, 4, 1};
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    clo_platform *p;

    for (int i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % 2 ? 10 + i : -5;
    desc.name = name;
    desc.executor_names = names;
    desc.kind_names = kinds;
    desc.machines_count = 2;
    desc.capacities = capacities;
    desc.resource_names = resources;
    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.coherent = 1;
    executors[1].machine = 1;
    ok(clo_platform_create(&desc, &p));
    memset(name, 'x', 4), memset(first, 'x', 5), memset(second, 'x', 4), memset(kind, 'x', 3);
    memset(resource, 'x', 6), memset(executors, 0, sizeof executors), memset(latency, 0, sizeof latency);

    assert_string_equal(clo_platform_name(p), "mine");
    assert_string_equal(clo_platform_executor_name(p, 0), "alpha");
    assert_string_equal(clo_platform_executor_name(p, 1), "beta");
    assert_string_equal(clo_platform_kind_name(p, 0), "big");
    assert_string_equal(clo_platform_kind_name(p, 1), "k1");
    assert_null(clo_platform_resource_name(p, 0));
    assert_string_equal(clo_platform_resource_name(p, 1), "memory");
    assert_int_equal(clo_platform_capacity(p, 0, 1), 11);
    assert_int_equal(clo_platform_capacity(p, 1, 1), 19);
    assert_int_equal(clo_platform_capacity(p, 1, 2), -1);
    assert_int_equal(clo_platform_executor(p, 1)->speed_q16[CLO_CLASS_FLOAT], 2 * CLO_SPEED_ONE);
    assert_int_equal(clo_platform_executor(p, 1)->machine, 1);
    assert_true(clo_platform_is_coherent(p));
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 1), 100 + 500);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 1, 0), 200 + 250);
    clo_platform_destroy(p);
}

/* Schedulers and checkers take the same for unlimited. */
static void the_largest_capacity_is_unlimited(void **state)
{
    (void)state;
    const int64_t capacities[CLO_RESOURCES_MAX] = {INT64_MAX, INT64_MAX - 1, 0};
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    clo_platform *p;

    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(clo_platform_capacity(p, 0, 0), -1);
    assert_int_equal(clo_platform_capacity(p, 0, 1), INT64_MAX - 1);
    assert_int_equal(clo_platform_capacity(p, 0, 2), 0);
    clo_platform_destroy(p);
}

static void unknown_indexes_have_no_value(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    clo_platform *p;

    ok(clo_platform_create(&desc, &p));
    assert_null(clo_platform_executor(p, 2));
    assert_null(clo_platform_executor_name(p, 2));
    assert_null(clo_platform_kind_name(p, 2));
    assert_null(clo_platform_resource_name(p, CLO_RESOURCES_MAX));
    assert_int_equal(clo_platform_capacity(p, 1, 0), -1);
    assert_int_equal(clo_platform_capacity(p, 0, CLO_RESOURCES_MAX), -1);
    assert_true(clo_platform_transfer_ns(p, 1, 0, 2) == CLO_TIME_NEVER);
    clo_platform_destroy(p);
}

static void a_transfer_within_a_memory_or_to_oneself_is_free(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    int64_t latency[4] = {50, 50, 50, 50};
    clo_platform *p;

    desc.latency_ns = latency;
    executors[1].memory = 0;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(clo_platform_transfer_ns(p, 1 << 20, 0, 1), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 1 << 20, 1, 1), 0);
    assert_int_equal(clo_platform_memories(p), 1);
    clo_platform_destroy(p);
}

static void a_transfer_rounds_to_the_nearest_ns_and_never_overflows(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    double bandwidth[4] = {0, 3, 1e-6, 0};
    int64_t latency[4] = {0, 0, INT64_MAX / 4, 0};
    clo_platform *p;

    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(clo_platform_transfer_ns(p, 1, 0, 1), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 2, 0, 1), 1);
    assert_int_equal(clo_platform_transfer_ns(p, 3000000, 0, 1), 1000000);
    assert_true(clo_platform_transfer_ns(p, UINT64_MAX, 1, 0) > 0);
    assert_true(clo_platform_transfer_ns(p, UINT64_MAX, 1, 0) <= INT64_MAX / 2);
    clo_platform_destroy(p);
}

static void a_link_in_pieces_adds_them_up_and_never_falls(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    double bandwidth[4] = {0, 3, 1, 0}, beyond[8] = {0, 0.7, 1e-6, 0, 0, 0, 2, 0};
    int64_t latency[4] = {0, 10, 20, 0};
    uint64_t cuts[2] = {100, 1001};
    clo_platform *p;

    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.latency_ns = latency;
    desc.cuts_count = 2;
    desc.cut_bytes = cuts;
    desc.bandwidth_beyond = beyond;
    ok(clo_platform_create(&desc, &p));
    cuts[0] = 7; /* was copied */
    assert_int_equal(clo_platform_link_pieces(p), 3);
    assert_int_equal(clo_platform_cut_bytes(p, 0), 0);
    assert_int_equal(clo_platform_cut_bytes(p, 2), 1001);
    assert_true(clo_platform_cut_bytes(p, 3) == UINT64_MAX);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 1), 10);
    assert_int_equal(clo_platform_transfer_ns(p, 99, 0, 1), 10 + 33);
    assert_int_equal(clo_platform_transfer_ns(p, 100, 0, 1), 10 + 33);
    assert_int_equal(clo_platform_transfer_ns(p, 107, 0, 1), 10 + 33 + 10);
    assert_int_equal(clo_platform_transfer_ns(p, 1001, 0, 1), 10 + 33 + 1287);
    assert_int_equal(clo_platform_transfer_ns(p, UINT64_MAX, 0, 1), 10 + 33 + 1287); /* unlimited from there on */
    assert_int_equal(clo_platform_transfer_ns(p, 2001, 1, 0), 20 + 100 + 901000000 + 500);
    for (uint32_t way = 0; way < 2; way++)
        for (uint64_t bytes = 0, before = 0; bytes < UINT64_MAX / 2; bytes += 1 + bytes / 50) {
            uint64_t ns = (uint64_t)clo_platform_transfer_ns(p, bytes, way, 1 - way);
            assert_true(ns >= before && ns <= INT64_MAX / 2);
            before = ns;
        }
    clo_platform_destroy(p);
}

static void a_huge_latency_saturates_without_falling(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    int64_t latency[4] = {0, INT64_MAX / 4, 0, 0};
    double bandwidth[4] = {0, 1, 1, 0};
    clo_platform *p;

    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &p));
    assert_true(clo_platform_transfer_ns(p, UINT64_MAX, 0, 1) >= clo_platform_transfer_ns(p, 1ull << 60, 0, 1));
    assert_true(clo_platform_transfer_ns(p, UINT64_MAX, 0, 1) <= INT64_MAX / 2);
    clo_platform_destroy(p);
}

static void wrong_pieces_are_refused_with_their_place(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    double beyond[4 * CLO_LINK_PIECES_MAX] = {0}, slow[4] = {0, 1e-6, 0, 0};
    uint64_t rising[CLO_LINK_PIECES_MAX] = {1, 2, 3, 4, 5, 6, 7, 8}, equal[2] = {5, 5}, zero[1] = {0},
             far[1] = {UINT64_MAX};
    clo_platform *p = NULL;

    desc.bandwidth_beyond = beyond;
    desc.cuts_count = 1;
    fails(CLO_ERR_ARGUMENT, "1 cuts of the links, but cut_bytes", clo_platform_create(&desc, &p));
    desc.cut_bytes = zero;
    fails(CLO_ERR_ARGUMENT, "cut 0 of the links is at 0 bytes", clo_platform_create(&desc, &p));
    desc.cut_bytes = far;
    fails(CLO_ERR_ARGUMENT, "use rising numbers", clo_platform_create(&desc, &p));
    desc.cut_bytes = rising;
    desc.cuts_count = CLO_LINK_PIECES_MAX;
    fails(CLO_ERR_LIMIT, "8 cuts of the links; at most 7", clo_platform_create(&desc, &p));
    desc.cuts_count = 2;
    desc.cut_bytes = equal;
    fails(CLO_ERR_ARGUMENT, "cut 1 of the links is at 5 bytes", clo_platform_create(&desc, &p));
    desc.cut_bytes = rising;
    beyond[4 + 2] = 1e-12;
    fails(CLO_ERR_ARGUMENT, "link 1 -> 0 from 2 bytes on: bandwidth", clo_platform_create(&desc, &p));
    beyond[4 + 2] = 0;
    far[0] = UINT64_MAX / 2;
    desc.cut_bytes = far;
    desc.cuts_count = 1;
    desc.bandwidth_bytes_per_ns = slow;
    fails(CLO_ERR_ARGUMENT, "link 0 -> 1: 9223372036854775807 bytes, where a piece begins",
          clo_platform_create(&desc, &p));
    desc.bandwidth_beyond = NULL;
    fails(CLO_ERR_ARGUMENT, "bandwidth_beyond is NULL", clo_platform_create(&desc, &p));
    assert_null(p);
}

static void zero_negative_and_absent_bandwidth_are_infinite(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    double bandwidth[4] = {0, 0, -1, 0};
    clo_platform *p;

    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &p));
    assert_int_equal(clo_platform_transfer_ns(p, UINT64_MAX, 0, 1), 0);
    assert_int_equal(clo_platform_transfer_ns(p, UINT64_MAX, 1, 0), 0);
    clo_platform_destroy(p);
}

static void the_platform_is_native_if_every_executor_is_a_cpu(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    clo_platform *p;

    executors[0].os_index = 0;
    ok(clo_platform_create(&desc, &p));
    assert_false(clo_platform_is_native(p));
    clo_platform_destroy(p);
    executors[1].os_index = 1;
    ok(clo_platform_create(&desc, &p));
    assert_true(clo_platform_is_native(p));
    clo_platform_destroy(p);
}

static void bad_descriptions_are_refused_and_leave_out_alone(void **state)
{
    (void)state;
    clo_executor executors[2];
    clo_platform_desc good = two(executors), desc = good;
    clo_platform *const mark = (clo_platform *)&good;
    clo_platform *p = mark;
    int64_t negative[4] = {0, 0, -1, 0}, huge[4] = {0, INT64_MAX, 0, 0};
    double nan_matrix[4] = {0, (double)NAN, 0, 0}, tiny[4] = {0, 1e-12, 0, 0};

    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_create(NULL, &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_create(&desc, NULL));
    desc.executors_count = 0;
    fails(CLO_ERR_ARGUMENT, "at least one", clo_platform_create(&desc, &p));
    desc = good, desc.executors = NULL;
    fails(CLO_ERR_ARGUMENT, "at least one", clo_platform_create(&desc, &p));
    desc = good, desc.executors_count = 65537;
    fails(CLO_ERR_LIMIT, "65536", clo_platform_create(&desc, &p));
    desc = good, desc.kinds_count = 0;
    fails(CLO_ERR_ARGUMENT, "kinds_count", clo_platform_create(&desc, &p));
    desc = good, desc.size = 1;
    fails(CLO_ERR_ARGUMENT, "size", clo_platform_create(&desc, &p));
    desc = good, desc.latency_ns = negative;
    fails(CLO_ERR_ARGUMENT, "link 1 -> 0: latency -1", clo_platform_create(&desc, &p));
    desc = good, desc.latency_ns = huge;
    fails(CLO_ERR_ARGUMENT, "link 0 -> 1", clo_platform_create(&desc, &p));
    desc = good, desc.bandwidth_bytes_per_ns = nan_matrix;
    fails(CLO_ERR_ARGUMENT, "link 0 -> 1: bandwidth", clo_platform_create(&desc, &p));
    desc = good, desc.bandwidth_bytes_per_ns = tiny;
    fails(CLO_ERR_ARGUMENT, "link 0 -> 1: bandwidth", clo_platform_create(&desc, &p));
    executors[1].kind = 2;
    fails(CLO_ERR_ARGUMENT, "executor 1: kind 2", clo_platform_create(&good, &p));
    executors[1].kind = 0, executors[1].machine = 1;
    fails(CLO_ERR_ARGUMENT, "executor 1: machine 1", clo_platform_create(&good, &p));
    executors[1].machine = 0, executors[1].memory = 65536;
    fails(CLO_ERR_ARGUMENT, "executor 1: memory", clo_platform_create(&good, &p));
    executors[1].memory = 0, executors[1].os_index = CLO_OS_SLOT_DEEP(CLO_SLOT_DEPTH_MAX + 1);
    fails(CLO_ERR_ARGUMENT, "executor 1: os_index", clo_platform_create(&good, &p));
    executors[1].os_index = -1, executors[1].speed_q16[CLO_CLASS_MEMORY] = 0;
    fails(CLO_ERR_ARGUMENT, "executor 1: speed 0 for task class 3", clo_platform_create(&good, &p));
    assert_ptr_equal(p, mark);
}

static clo_status create_and_describe(void *context)
{
    clo_executor executors[2];
    clo_platform_desc desc = two(executors);
    int64_t latency[4] = {0, 5, 5, 0};
    const char *resources[CLO_RESOURCES_MAX] = {"power"};
    clo_platform *p;
    char *text = NULL;

    (void)context;
    desc.latency_ns = latency;
    desc.resource_names = resources;
    clo_status status = clo_platform_create(&desc, &p);
    if (status != CLO_OK)
        return status;
    status = clo_platform_describe(p, 0, &text);
    free(text);
    if (status == CLO_OK) {
        status = clo_platform_describe_json(p, &text);
        if (status == CLO_OK)
            free(text);
    }
    clo_platform_destroy(p);
    return status;
}

static void each_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fault_each(create_and_describe, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_given_where_the_caller_gives_none),
        cmocka_unit_test(everything_is_copied),
        cmocka_unit_test(the_largest_capacity_is_unlimited),
        cmocka_unit_test(unknown_indexes_have_no_value),
        cmocka_unit_test(a_transfer_within_a_memory_or_to_oneself_is_free),
        cmocka_unit_test(a_transfer_rounds_to_the_nearest_ns_and_never_overflows),
        cmocka_unit_test(a_link_in_pieces_adds_them_up_and_never_falls),
        cmocka_unit_test(a_huge_latency_saturates_without_falling),
        cmocka_unit_test(wrong_pieces_are_refused_with_their_place),
        cmocka_unit_test(zero_negative_and_absent_bandwidth_are_infinite),
        cmocka_unit_test(the_platform_is_native_if_every_executor_is_a_cpu),
        cmocka_unit_test(bad_descriptions_are_refused_and_leave_out_alone),
        cmocka_unit_test(each_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
