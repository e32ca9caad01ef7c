/* What was learned reaches the plan of a job by a swap: not when it is published, and not in the middle of a run. */
#define _DEFAULT_SOURCE /* usleep */
#include "support.h"

#include <clotho/clotho.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TASKS = 6, KINDS = 2 };

static const char *const kinds[KINDS] = {"big", "little"};
static uint32_t ran_on[TASKS];
static _Atomic uint32_t is_shut, has_come;

static int note(const clo_call *call)
{
    ran_on[call->task] = call->executor;
    atomic_fetch_add(&has_come, 1);
    while (atomic_load(&is_shut) != 0)
        usleep(50);
    return 0;
}

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_profile *profile;
    clo_cost *costs[2];
    clo_plan *plans[2];
} scene;

/* An executor of each kind, and a chain. */
static void open_scene(scene *s)
{
    const clo_executor list[KINDS] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                      {1, 0, 0, -1, {65536, 65536, 65536, 65536}}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = desc.kinds_count = KINDS;
    desc.executors = list;
    desc.kind_names = kinds;
    ok(clo_platform_create(&desc, &s->platform));
    ok(clo_graph_create("chain", &s->graph));
    for (uint32_t t = 0; t < TASKS; t++) {
        ok(clo_graph_add_task(s->graph, &(clo_task){.body = note, .work_ns = 1000}, NULL));
        ok(clo_graph_set_codelet(s->graph, t, &(clo_codelet){"note", 1, 1}));
        if (t > 0)
            ok(clo_graph_add_edge(s->graph, t - 1, t, 0));
    }
    ok(clo_graph_seal(s->graph));
    ok(clo_profile_create(0, &s->profile));
}

/* From now on the kind takes 1 us and the other one 9; a plan of that. */
static void learn(scene *s, int version, int fast)
{
    for (int sample = 0; sample < 40; sample++)
        for (int k = 0; k < KINDS; k++)
            ok(clo_profile_learn(s->profile, &(clo_codelet){"note", 1, 1}, 0, kinds[k], k == fast ? 1000 : 9000));
    ok(clo_profile_publish(s->profile));
    ok(clo_cost_create_measured(s->graph, s->platform, s->profile, NULL, &s->costs[version]));
    ok(clo_plan_create(s->costs[version], NULL, &s->plans[version]));
}

static void close_scene(scene *s)
{
    for (int v = 0; v < 2; v++) {
        clo_plan_destroy(s->plans[v]);
        clo_cost_destroy(s->costs[v]);
    }
    clo_profile_destroy(s->profile);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static void runs_on(clo_job *job, uint32_t executor)
{
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(ran_on[t], executor);
}

static void a_new_snapshot_reaches_the_plan_of_a_job_by_a_swap(void **state)
{
    clo_runtime_config of_runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_job *job;
    scene s = {0};

    (void)state;
    open_scene(&s);
    learn(&s, 0, 0);
    of_runtime.unpinned = 1;
    of_runtime.help = -1;
    config.plan = s.plans[0];
    ok(clo_runtime_create(s.platform, &of_runtime, &runtime));
    ok(clo_job_create(runtime, s.costs[0], &config, &job));
    runs_on(job, 0);
    uint64_t before = clo_profile_snapshot(s.profile);
    learn(&s, 1, 1);
    assert_true(clo_profile_snapshot(s.profile) != before);
    runs_on(job, 0);

    atomic_store(&is_shut, 1);
    atomic_store(&has_come, 0);
    ok(clo_job_submit(job));
    while (atomic_load(&has_come) == 0)
        usleep(50);
    ok(clo_job_swap_plan(job, s.plans[1])); /* the first task of a run is in progress */
    atomic_store(&is_shut, 0);
    ok(clo_job_wait(job, NULL));
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(ran_on[t], 0);
    runs_on(job, 1);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_new_snapshot_reaches_the_plan_of_a_job_by_a_swap)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
