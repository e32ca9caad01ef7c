/* A runtime has the features that it was given (clo_features), and refuses jobs that need another one. */
#include "support.h"

#include "running.h"

static clo_runtime *with(const fixture *f, clo_clock clock, const clo_features *features)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.unpinned = 1;
    config.clock = clock;
    ok(clo_runtime_create_with(f->platform, &config, features, &runtime));
    return runtime;
}

static clo_job_config of_policy(void)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.policy = clo_policy_find("fifo");
    return config;
}

static clo_job_config of_pipeline(void)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.releases_in_flight = 2;
    config.releases = 4;
    return config;
}

static void runs(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, uint32_t bodies)
{
    clo_job *job;
    size_t bytes;

    atomic_store(&calls, 0);
    ok(clo_job_memory_bytes(runtime, cost, config, &bytes));
    ok(clo_job_create(runtime, cost, config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&calls), bodies);
    clo_job_destroy(job);
}

static void lacks(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, const char *text)
{
    clo_job *job = NULL;
    size_t bytes = 7;

    fails(CLO_ERR_UNSUPPORTED, text, clo_job_create(runtime, cost, config, &job));
    fails(CLO_ERR_UNSUPPORTED, text, clo_job_memory_bytes(runtime, cost, config, &bytes));
    assert_null(job);
    assert_int_equal(bytes, 7);
}

static void without_features_jobs_steal_and_follow_plans(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);
    clo_runtime *runtime = with(&f, CLO_CLOCK_REAL, NULL);
    clo_job_config config = CLO_JOB_CONFIG_INIT, policy = of_policy(), pipeline = of_pipeline();
    clo_log *log;
    clo_plan *plan;

    runs(runtime, f.cost, &config, 9);
    ok(clo_plan_create(f.cost, NULL, &plan));
    config.plan = plan;
    runs(runtime, f.cost, &config, 9);
    lacks(runtime, f.cost, &policy, "the runtime has no policies; name clo_with_policies in its clo_features");
    lacks(runtime, f.cost, &pipeline, "the runtime has no pipelines; name clo_with_pipelines in its clo_features");
    fails(CLO_ERR_UNSUPPORTED, "no policies", clo_runtime_swap_policy(runtime, policy.policy, NULL));
    ok(clo_log_create(NULL, 64, &log));
    fails(CLO_ERR_UNSUPPORTED, "no policies", clo_runtime_log_start(runtime, log));
    ok(clo_runtime_log_stop(runtime));
    clo_log_destroy(log);
    clo_plan_destroy(plan);
    clo_runtime_destroy(runtime);
    stop(&f);
}

static void each_feature_works_alone(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);
    clo_features policies = CLO_FEATURES_INIT, pipelines = CLO_FEATURES_INIT, clocks = CLO_FEATURES_INIT;
    clo_job_config steal = CLO_JOB_CONFIG_INIT, policy = of_policy(), pipeline = of_pipeline(), planned = steal;
    clo_plan *plan;

    policies.policies = &clo_with_policies;
    clo_runtime *runtime = with(&f, CLO_CLOCK_REAL, &policies);
    runs(runtime, f.cost, &policy, 9);
    lacks(runtime, f.cost, &pipeline, "no pipelines");
    clo_runtime_destroy(runtime);

    pipelines.pipelines = &clo_with_pipelines;
    runtime = with(&f, CLO_CLOCK_REAL, &pipelines);
    runs(runtime, f.cost, &pipeline, 36);
    lacks(runtime, f.cost, &policy, "no policies");
    clo_runtime_destroy(runtime);

    clocks.clocks = &clo_with_clocks;
    runtime = with(&f, CLO_CLOCK_PADDED, &clocks);
    runs(runtime, f.cost, &steal, 9);
    clo_runtime_destroy(runtime);
    ok(clo_plan_create(f.cost, NULL, &plan));
    planned.plan = plan;
    runtime = with(&f, CLO_CLOCK_VIRTUAL, &clocks);
    runs(runtime, f.cost, &planned, 9);
    lacks(runtime, f.cost, &policy, "no policies");
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    stop(&f);
}

static void an_emulated_clock_without_clocks_is_refused(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_features features = CLO_FEATURES_INIT;
    clo_runtime *runtime = NULL;

    features.policies = &clo_with_policies;
    config.clock = CLO_CLOCK_VIRTUAL;
    fails(CLO_ERR_UNSUPPORTED, "name clo_with_clocks", clo_runtime_create_with(f.platform, &config, NULL, &runtime));
    config.clock = CLO_CLOCK_PADDED;
    fails(CLO_ERR_UNSUPPORTED, "name clo_with_clocks",
          clo_runtime_create_with(f.platform, &config, &features, &runtime));
    features.size = 0;
    fails(CLO_ERR_ARGUMENT, "clo_features.size is 0", clo_runtime_create_with(f.platform, NULL, &features, &runtime));
    assert_null(runtime);
    stop(&f);
}

/* What clo_runtime_memory_bytes says is enough, and not too much, whatever the features. */
static void its_memory_is_the_same(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    size_t bytes;

    config.unpinned = 1;
    ok(clo_runtime_memory_bytes(f.platform, &config, &bytes));
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(memory);
    config.memory = memory;
    config.memory_bytes = bytes - 1;
    fails(CLO_ERR_MEMORY, "memory_bytes", clo_runtime_create_with(f.platform, &config, NULL, &runtime));
    config.memory_bytes = bytes;
    ok(clo_runtime_create_with(f.platform, &config, NULL, &runtime));
    runs(runtime, f.cost, NULL, 9);
    clo_runtime_destroy(runtime);
    free(memory);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_features_jobs_steal_and_follow_plans),
        cmocka_unit_test(each_feature_works_alone),
        cmocka_unit_test(an_emulated_clock_without_clocks_is_refused),
        cmocka_unit_test(its_memory_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
