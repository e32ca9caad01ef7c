/* Every built-in policy stays within the state that it asks for, and within that of each job. A policy of our own hands
 * each call on to it and looks at the bytes behind. */
#include "random.h"
#include "scene.h"

#include <string.h>

enum { GUARD = 256 };

static const clo_policy *inner;
static size_t inner_bytes, inner_job_bytes;

static size_t guarded_bytes(const clo_limits *limits, const void *argument)
{
    inner_bytes = inner->state_bytes != NULL ? inner->state_bytes(limits, argument) : 0;
    return inner_bytes + GUARD;
}

static size_t guarded_job_bytes(const clo_cost *cost, const void *argument)
{
    inner_job_bytes = inner->job_bytes != NULL ? inner->job_bytes(cost, argument) : 0;
    return inner_job_bytes + GUARD;
}

static void look_behind(const void *state, size_t own)
{
    const unsigned char *bytes = state;

    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(bytes[own + i], 0xa5);
}

static clo_status guarded_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    memset((char *)job_state + inner_job_bytes, 0xa5, GUARD);
    clo_status status = inner->prepare != NULL ? inner->prepare(job_state, cost, argument) : CLO_OK;
    look_behind(job_state, inner_job_bytes);
    return status;
}

static clo_status guarded_init(void *state, const clo_view *view)
{
    memset((char *)state + inner_bytes, 0xa5, GUARD);
    clo_status status = inner->init != NULL ? inner->init(state, view) : CLO_OK;
    look_behind(state, inner_bytes);
    return status;
}

static void look_behind_all(const void *state, const clo_view *view)
{
    look_behind(state, inner_bytes);
    for (uint32_t j = clo_view_first_job(view); j != CLO_NONE; j = clo_view_job(view, j)->next)
        look_behind(clo_view_job(view, j)->state, inner_job_bytes);
}

static void guarded_event(void *state, const clo_view *view, const clo_event *event)
{
    if (inner->event != NULL)
        inner->event(state, view, event);
    look_behind_all(state, view);
}

static bool guarded_decide(void *state, const clo_view *view, clo_choice *choice)
{
    bool has_choice = inner->decide(state, view, choice);

    look_behind_all(state, view);
    return has_choice;
}

static void simulate(clo_graph *graph, clo_platform *platform)
{
    clo_policy guarded = {.size = sizeof guarded,
                          .name = "guarded",
                          .summary = "",
                          .state_bytes = guarded_bytes,
                          .job_bytes = guarded_job_bytes,
                          .prepare = guarded_prepare,
                          .init = guarded_init,
                          .event = guarded_event,
                          .decide = guarded_decide};
    clo_sim_config config = {.size = sizeof config, .policy = &guarded, .steps_max = 2};
    clo_cost *cost;

    ok(clo_cost_create(graph, platform, &cost));
    for (uint32_t p = 0; (inner = policy_at(p)) != NULL; p++) {
        guarded.readiness = inner->readiness;
        guarded.commits = inner->commits;
        ok(clo_simulate(cost, &config, NULL, NULL, NULL));
    }
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
