/* The least that any listed stage demands (engine/state/least.c), beside a look at all of them. */
#include "support.h"

#include "base/numbers/rng.h"
#include "engine/state/least.h"

enum { STAGES = 13, RESOURCES = 3, ROUNDS = 2000 };

typedef struct setting {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
    clo_least least;
} setting;

static clo_platform *make_platform(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executor = {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    int64_t capacities[CLO_RESOURCES_MAX] = {100, 100, 100, -1, -1, -1, -1, -1};
    clo_platform *platform;

    desc.executors_count = desc.kinds_count = desc.machines_count = 1;
    desc.executors = &executor;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* `stages` tasks; the first one demands some of resource 0 and of resource 2, if `demands`. */
static setting open_setting(uint32_t stages, bool demands)
{
    setting s = {.platform = make_platform()};
    clo_block block = {0};

    ok(clo_graph_create("least", &s.graph));
    for (uint32_t t = 0; t < stages; t++) {
        clo_task task = {.work_ns = 10};
        task.demand[0] = task.demand[2] = demands && t == 0;
        ok(clo_graph_add_task(s.graph, &task, NULL));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    clo_least_carve(&s.least, s.cost, &block);
    assert_true(clo_block_take(&block, &s.arena));
    clo_least_clear(&s.least);
    return s;
}

static void close_setting(setting *s)
{
    clo_arena_close(&s->arena);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static void only_resources_that_are_demanded_have_a_column(void **state)
{
    setting s = open_setting(STAGES, true), none = open_setting(STAGES, false);

    (void)state;
    assert_int_equal(s.least.columns, 2);
    assert_int_equal(s.least.resource[0], 0);
    assert_int_equal(s.least.resource[1], 2);
    assert_int_equal(none.least.columns, 0);
    close_setting(&none);
    close_setting(&s);
}

static void where_nothing_is_listed_nothing_fits_the_least(void **state)
{
    setting s = open_setting(STAGES, true);

    (void)state;
    assert_int_equal(clo_least_of(&s.least, 0), INT64_MAX);
    assert_int_equal(clo_least_of(&s.least, 1), INT64_MAX);
    clo_least_set(&s.least, 4, (int64_t[CLO_RESOURCES_MAX]){7, 99, 0});
    assert_int_equal(clo_least_of(&s.least, 0), 7);
    assert_int_equal(clo_least_of(&s.least, 1), 0);
    clo_least_set(&s.least, 4, NULL);
    assert_int_equal(clo_least_of(&s.least, 0), INT64_MAX);
    assert_int_equal(clo_least_of(&s.least, 1), INT64_MAX);
    close_setting(&s);
}

/* Of all stages but those that are not listed (demand[s][0] < 0). */
static int64_t least_of(int64_t demand[][CLO_RESOURCES_MAX], uint32_t stages, uint32_t resource)
{
    int64_t least = INT64_MAX;

    for (uint32_t s = 0; s < stages; s++)
        if (demand[s][0] >= 0 && demand[s][resource] < least)
            least = demand[s][resource];
    return least;
}

static void through_any_listing_and_leaving_it_is_what_a_look_at_all_finds(void **state)
{
    (void)state;
    for (uint32_t stages = 1; stages <= STAGES; stages++) { /* also those that are no power of two, and one */
        int64_t demand[STAGES][CLO_RESOURCES_MAX];
        setting s = open_setting(stages, true);
        clo_rng rng = clo_rng_seed(stages);
        for (uint32_t t = 0; t < STAGES; t++)
            demand[t][0] = -1;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t stage = clo_rng_below(&rng, stages);
            bool is_in = clo_rng_below(&rng, 2) == 0;
            for (uint32_t r = 0; r < RESOURCES; r++)
                demand[stage][r] = is_in ? (int64_t)clo_rng_below(&rng, 20) : -1;
            clo_least_set(&s.least, stage, is_in ? demand[stage] : NULL);
            assert_int_equal(clo_least_of(&s.least, 0), least_of(demand, stages, 0));
            assert_int_equal(clo_least_of(&s.least, 1), least_of(demand, stages, 2));
        }
        close_setting(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_resources_that_are_demanded_have_a_column),
        cmocka_unit_test(where_nothing_is_listed_nothing_fits_the_least),
        cmocka_unit_test(through_any_listing_and_leaving_it_is_what_a_look_at_all_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
