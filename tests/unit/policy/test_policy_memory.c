/* Every built-in policy stays within the state that it asks for. A policy of our own hands each call on to it and
 * looks at the bytes behind. */
#include "random.h"
#include "scene.h"

#include <string.h>

enum { GUARD = 256 };

static const clo_policy *inner;
static size_t inner_bytes;

static size_t guarded_bytes(const clo_graph *graph, const clo_platform *platform)
{
    inner_bytes = inner->state_bytes != NULL ? inner->state_bytes(graph, platform) : 0;
    return inner_bytes + GUARD;
}

static void look_behind(const void *state)
{
    const unsigned char *bytes = state;

    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(bytes[inner_bytes + i], 0xa5);
}

static clo_status guarded_init(void *state, const clo_view *view)
{
    memset((char *)state + inner_bytes, 0xa5, GUARD);
    clo_status status = inner->init != NULL ? inner->init(state, view) : CLO_OK;
    look_behind(state);
    return status;
}

static void guarded_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    inner->ready(state, view, instance, by);
    look_behind(state);
}

static uint32_t guarded_pick(void *state, const clo_view *view, uint32_t executor)
{
    uint32_t instance = inner->pick(state, view, executor);

    look_behind(state);
    return instance;
}

static void guarded_taken(void *state, const clo_view *view, uint32_t instance)
{
    if (inner->taken != NULL)
        inner->taken(state, view, instance);
    look_behind(state);
}

static void simulate(clo_graph *graph, clo_platform *platform)
{
    static const clo_policy guarded = {.name = "guarded",
                                       .summary = "",
                                       .state_bytes = guarded_bytes,
                                       .init = guarded_init,
                                       .ready = guarded_ready,
                                       .pick = guarded_pick,
                                       .taken = guarded_taken};
    clo_sim_config config = {.size = sizeof config, .policy = &guarded, .steps_max = 2};
    clo_cost *cost;

    ok(clo_cost_create(graph, platform, &cost));
    for (uint32_t p = 0; (inner = policy_at(p)) != NULL; p++)
        ok(clo_simulate(cost, &config, NULL, NULL, NULL));
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void a_policy_stays_within_its_state(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 10};

    for (uint32_t executors = 1; executors <= 5; executors++)
        for (uint32_t width = 1; width <= 5; width++)
            simulate(scene_layers(1 + width % 2, width, &task), scene_platform(executors, 1));
    for (uint64_t seed = 1; seed < 20; seed++)
        simulate(random_graph(seed, RANDOM_ALL), random_platform(seed, RANDOM_DEMANDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_policy_stays_within_its_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
