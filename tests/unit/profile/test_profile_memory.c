/* Memory parts in profiles: kept, merged, published, written, and found again for tasks and predictions. */
#include "fault.h"
#include "support.h"

#include "profile/times.h"

#include <clotho/memory.h>
#include <clotho/sim.h>

#include <string.h>
#include <unistd.h>

static clo_profile_entry entry_of(uint64_t footprint, uint64_t bytes, int64_t newest_s)
{
    return (clo_profile_entry){.codelet = "copy",
                               .kind = "k0",
                               .footprint = footprint,
                               .bytes = bytes,
                               .samples = 20,
                               .location_ns = 10000,
                               .high_ns = 10000,
                               .most_ns = 10000,
                               .newest_s = newest_s};
}

static clo_profile *with(uint64_t footprint, int64_t newest_s, clo_memory_part part)
{
    clo_profile_entry entry = entry_of(footprint, footprint, newest_s);
    clo_profile *profile;

    ok(clo_profile_create(0, &profile));
    ok(clo_profile_add(profile, &entry));
    ok(clo_profile_add_memory_part(profile, &entry, &part));
    ok(clo_profile_publish(profile));
    return profile;
}

static void add_again(clo_profile *profile, int64_t newest_s, clo_memory_part part)
{
    clo_profile_entry entry = entry_of(1, 1, newest_s);

    ok(clo_profile_add_memory_part(profile, &entry, &part));
    ok(clo_profile_publish(profile));
}

static void the_younger_part_counts_in_either_order(void **state)
{
    const clo_memory_part small = {100, 5}, large = {200, 5}, fast = {200, 6};
    const struct {
        clo_memory_part first, second, kept;
        int64_t first_s, second_s;
    } cases[] = {{small, large, large, 10, 20},
                 {large, small, small, 10, 20},
                 {small, large, large, 10, 10},
                 {large, fast, fast, 10, 10}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int turn = 0; turn < 2; turn++) {
            clo_profile *profile =
                turn == 0 ? with(1, cases[i].first_s, cases[i].first) : with(1, cases[i].second_s, cases[i].second);
            if (turn == 0)
                add_again(profile, cases[i].second_s, cases[i].second);
            else
                add_again(profile, cases[i].first_s, cases[i].first);
            clo_memory_part found = clo_profile_memory_part(profile, 0);
            assert_memory_equal(&found, &cases[i].kept, sizeof found);
            clo_profile_destroy(profile);
        }
}

/* The times are those that were measured here; a part of another machine is none of them. */
static void a_part_of_another_machine_goes_with_the_times_of_one(void **state)
{
    const clo_memory_part here = {100, 5}, there = {200, 9};

    (void)state;
    for (int turn = 0; turn < 8; turn++) { /* bit 0: the order, bit 1: here without a part, bit 2: only there */
        clo_profile_entry entries[2] = {entry_of(1, 1, 10), entry_of(1, 1, 20)};
        clo_profile *profile;
        ok(clo_profile_create(0, &profile));
        entries[1].is_assumed = 1;
        for (int k = 0; k < 2; k++) {
            int which = k ^ (turn & 1);
            if (which == 0 && turn >= 4)
                continue;
            ok(clo_profile_add(profile, &entries[which]));
            if (which == 1 || (turn & 2) == 0)
                ok(clo_profile_add_memory_part(profile, &entries[which], which == 0 ? &here : &there));
        }
        ok(clo_profile_publish(profile));
        assert_int_equal(clo_profile_memory_part(profile, 0).mbps, turn >= 4 ? 9 : (turn & 2) == 0 ? 5 : 0);
        clo_profile_destroy(profile);
    }
}

static void a_part_is_published_and_changes_no_snapshot(void **state)
{
    clo_profile *profile = with(1, 10, (clo_memory_part){0, 0});
    uint64_t snapshot = clo_profile_snapshot(profile);
    clo_profile_entry entry = entry_of(1, 1, 20);

    (void)state;
    assert_int_equal(clo_profile_memory_part(profile, 0).share_q16, 0);
    ok(clo_profile_add_memory_part(profile, &entry, &(clo_memory_part){7, 8}));
    assert_int_equal(clo_profile_memory_part(profile, 0).share_q16, 0);
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_memory_part(profile, 0).share_q16, 7);
    assert_int_equal(clo_profile_memory_part(profile, 0).mbps, 8);
    assert_int_equal(clo_profile_snapshot(profile), snapshot); /* plans do not use it */
    clo_profile_destroy(profile);
}

static void each_entry_keeps_its_own(void **state)
{
    clo_profile *profile;

    (void)state;
    ok(clo_profile_create(0, &profile));
    for (uint32_t i = 9; i-- > 0;) {
        clo_profile_entry entry = entry_of(i + 1, i + 1, 10);
        ok(clo_profile_add(profile, &entry));
        if (i % 2 == 1)
            ok(clo_profile_add_memory_part(profile, &entry, &(clo_memory_part){i, 100 + i}));
    }
    ok(clo_profile_publish(profile));
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(clo_profile_memory_part(profile, i).share_q16, i % 2 == 1 ? i : 0);
    assert_int_equal(clo_profile_memory_part(profile, 9).share_q16, 0);
    clo_profile_destroy(profile);
}

static void a_file_keeps_parts(void **state)
{
    const char *path = CLO_BINARY "/test_profile_memory.json";
    clo_profile *profile = with(1, 10, (clo_memory_part){12345, 678}), *again;

    (void)state;
    ok(clo_profile_save(profile, path));
    ok(clo_profile_create(0, &again));
    ok(clo_profile_load(again, path, 0));
    assert_int_equal(clo_profile_memory_part(again, 0).share_q16, 12345);
    assert_int_equal(clo_profile_memory_part(again, 0).mbps, 678);
    unlink(path);
    clo_profile_destroy(again);
    clo_profile_destroy(profile);
}

/* Two tasks of that many bytes, of one codelet, on two executors of a memory. */
static clo_cost *make_cost(uint64_t footprint, int64_t capacity_mbps, clo_graph **graph, clo_platform **platform)
{
    static const char *const names[CLO_RESOURCES_MAX] = {CLO_MEMORY_RESOURCE};
    const int64_t capacities[CLO_RESOURCES_MAX] = {capacity_mbps, -1, -1, -1, -1, -1, -1, -1};
    const clo_executor list[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                  {0, 0, 0, -1, {65536, 65536, 65536, 65536}}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_cost *cost;

    desc.executors_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    desc.resource_names = names;
    ok(clo_platform_create(&desc, platform));
    ok(clo_graph_create("two", graph));
    for (uint32_t t = 0; t < 2; t++) {
        ok(clo_graph_add_task(*graph, &(clo_task){.work_ns = 1, .output_bytes = footprint}, NULL));
        ok(clo_graph_set_codelet(*graph, t, &(clo_codelet){"copy", 0, 0}));
    }
    ok(clo_graph_seal(*graph));
    ok(clo_cost_create(*graph, *platform, &cost));
    return cost;
}

static clo_prediction predict(const clo_profile *profile, uint64_t footprint, int64_t capacity_mbps,
                              const clo_memory_part *parts)
{
    clo_prediction prediction = CLO_PREDICTION_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost = make_cost(footprint, capacity_mbps, &graph, &platform);

    prediction.samples = 3;
    config.memory_parts = parts;
    ok(clo_profile_predict(profile, cost, &config, &prediction));
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    return prediction;
}

static void a_prediction_slows_tasks_down_where_the_memory_has_a_capacity(void **state)
{
    clo_profile *profile = with(64, 10, (clo_memory_part){CLO_MEMORY_SHARE_ONE, 900});
    const clo_memory_part none[2] = {{0, 0}, {0, 0}}, other[2] = {{CLO_MEMORY_SHARE_ONE, 1800}, {0, 0}};

    (void)state;
    clo_prediction p = predict(profile, 64, 900, NULL);
    assert_int_equal(p.median_ns, 20000);
    assert_int_equal(p.memory_tasks, 2);
    p = predict(profile, 64, -1, NULL);
    assert_int_equal(p.median_ns, 10000);
    assert_int_equal(p.memory_tasks, 0);
    p = predict(profile, 64, 1800, NULL); /* exactly enough */
    assert_int_equal(p.median_ns, 10000);
    p = predict(profile, 64, 900, none); /* the caller's count */
    assert_int_equal(p.median_ns, 10000);
    assert_int_equal(p.memory_tasks, 0);
    p = predict(profile, 64, 900, other);
    assert_int_equal(p.median_ns, 20000);
    assert_int_equal(p.memory_tasks, 1);
    clo_profile_destroy(profile);
}

/* Of the size that is the nearest to the one asked for. */
static void a_size_between_others_has_a_part_too(void **state)
{
    clo_profile *profile;

    (void)state;
    ok(clo_profile_create(0, &profile));
    for (uint32_t i = 1; i <= 3; i++) {
        clo_profile_entry entry = entry_of(1000 * i * i, 1000 * i * i, 10);
        ok(clo_profile_add(profile, &entry));
        ok(clo_profile_add_memory_part(profile, &entry, &(clo_memory_part){CLO_MEMORY_SHARE_ONE, i == 2 ? 900 : 1}));
    }
    ok(clo_profile_publish(profile));
    assert_int_equal(predict(profile, 4100, 900, NULL).median_ns, 20000);
    assert_int_equal(predict(profile, 8000, 900, NULL).median_ns, 10000);
    clo_profile_destroy(profile);
}

typedef struct prediction_case {
    const clo_profile *profile;
    const clo_cost *cost;
} prediction_case;

static clo_status predict_once(void *context)
{
    const prediction_case *c = context;
    clo_prediction prediction = CLO_PREDICTION_INIT;

    prediction.samples = 1;
    return clo_profile_predict(c->profile, c->cost, NULL, &prediction);
}

static void every_allocation_of_a_prediction_may_fail(void **state)
{
    clo_profile *profile = with(64, 10, (clo_memory_part){CLO_MEMORY_SHARE_ONE, 900});
    clo_graph *graph;
    clo_platform *platform;
    prediction_case c = {profile, make_cost(64, 900, &graph, &platform)};

    (void)state;
    assert_true(fault_each(predict_once, &c) > 8);
    clo_cost_destroy((clo_cost *)(uintptr_t)c.cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    clo_profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_younger_part_counts_in_either_order),
        cmocka_unit_test(a_part_of_another_machine_goes_with_the_times_of_one),
        cmocka_unit_test(a_part_is_published_and_changes_no_snapshot),
        cmocka_unit_test(each_entry_keeps_its_own),
        cmocka_unit_test(a_file_keeps_parts),
        cmocka_unit_test(a_prediction_slows_tasks_down_where_the_memory_has_a_capacity),
        cmocka_unit_test(a_size_between_others_has_a_part_too),
        cmocka_unit_test(every_allocation_of_a_prediction_may_fail),
    };

    return cmocka_run_group_tests_name("profile_memory", tests, NULL, NULL);
}
