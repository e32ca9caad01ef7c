/* What runtime.h and job.h refuse, each with its status and its line; and every allocation failing in turn. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "running.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool decide_nothing(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    (void)view;
    (void)choice;
    return false;
}

/* The first task of the first job, whether it is ready or not. */
static bool choose_first(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    choice->job = clo_view_first_job(view);
    choice->stage = 0;
    return true;
}

/* Sets the limit of the first job, to and fro, and starts nothing. */
static bool only_set_limits(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    choice->job = clo_view_first_job(view);
    choice->count = 0;
    choice->limit = clo_view_job(view, choice->job)->limit == 7 ? 8 : 7;
    return true;
}

static void is_refused(const clo_job_result *result, const char *text)
{
    assert_int_equal(result->status, CLO_OK);
    assert_int_equal(result->executed, 9);
    assert_int_equal(result->decisions, 9);
    assert_true(result->refused > 0);
    assert_true(result->fallbacks > 0);
    if (strstr(result->refusal, text) == NULL)
        fail_msg("'%s' lacks '%s'", result->refusal, text);
}

/* The mistake is refused and counted, its first is told with the policy's name, and the scheduler's own rule
 * decides. */
static void a_policy_that_never_decides_or_decides_wrongly_is_refused_and_its_job_ends_all_the_same(void **state)
{
    (void)state;
    const struct {
        clo_policy policy;
        const char *text;
    } bad[] = {
        {{.size = sizeof(clo_policy), .name = "idle", .decide = decide_nothing},
         "policy 'idle' chose nothing: every executor would be idle with work to do"},
        {{.size = sizeof(clo_policy), .name = "wrong", .decide = choose_first},
         "policy 'wrong' chose stage 0 of job slot 0: it is not ready, or of another band"},
        {{.size = sizeof(clo_policy), .name = "restless", .decide = only_set_limits},
         "policy 'restless' chose no stage of job slot 0: limits are set again and again, and nothing "
         "is "
         "started"},
    };
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start(3, scene_layers(3, 3, &task), CLO_CLOCK_REAL);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clo_sim_config sim = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_job *job = make_job(&f, &bad[i].policy, NULL);

        for (int run = 0; run < 2; run++) {
            atomic_store(&calls, 0);
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            assert_int_equal(atomic_load(&calls), 9);
            is_refused(&result, bad[i].text);
        }
        clo_job_destroy(job);
        sim.policy = &bad[i].policy;
        ok(clo_simulate(f.cost, &sim, &result, NULL, NULL));
        is_refused(&result, bad[i].text);
    }
    stop(&f);
}

static void wrong_arguments_are_refused_with_one_line(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL),
            v = start(2, scene_layers(3, 3, &task), CLO_CLOCK_VIRTUAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_policy empty = {.name = "empty"};
    clo_placement half = {0};
    clo_plan *plan;
    clo_job *job;

    fails(CLO_ERR_ARGUMENT, "runtime, cost or out is NULL", clo_job_create(NULL, f.cost, NULL, &job));
    fails(CLO_ERR_ARGUMENT, "another platform", clo_job_create(f.runtime, v.cost, NULL, &job));
    fails(CLO_ERR_UNSUPPORTED, "use clo_simulate", clo_job_create(v.runtime, v.cost, NULL, &job));
    config.policy = &empty;
    fails(CLO_ERR_ARGUMENT, "no decide function", clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_plan_create(f.cost, NULL, &plan));
    config.plan = plan;
    fails(CLO_ERR_ARGUMENT, "both a plan and a policy", clo_job_create(f.runtime, f.cost, &config, &job));
    config.plan = NULL;
    config.band = CLO_BANDS_MAX;
    fails(CLO_ERR_ARGUMENT, "clo_job_config.band is 8; use 0 to 7", clo_job_create(f.runtime, f.cost, &config, &job));
    config.band = 0;
    clo_plan_destroy(plan);
    config.policy = NULL;
    ok(clo_plan_from_placements(f.cost, NULL, &half, 1, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "1 placements for 9 instances", clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    config.plan = NULL;
    config.deadline_ns = -1;
    fails(CLO_ERR_ARGUMENT, "deadline", clo_job_create(f.runtime, f.cost, &config, &job));
    config.deadline_ns = 1;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    clo_job_result result = CLO_JOB_RESULT_INIT;
    fails(CLO_ERR_STATE, "never submitted", clo_job_wait(job, &result));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.missed_deadline, 1);
    clo_job_destroy(job);
    clo_job_destroy(NULL);
    clo_runtime_destroy(NULL);
    stop(&f);
    stop(&v);
}

static void a_plan_whose_order_is_impossible_is_refused(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 10};
    fixture f = start(1, scene_layers(2, 1, &task), CLO_CLOCK_REAL);
    const clo_placement swapped[2] = {{.task = 1, .start_ns = 0, .finish_ns = 10},
                                      {.task = 0, .start_ns = 10, .finish_ns = 20}};
    const clo_placement twice[2] = {{.task = 0, .finish_ns = 10}, {.task = 0, .start_ns = 10, .finish_ns = 20}};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan;
    clo_job *job;

    ok(clo_plan_from_placements(f.cost, NULL, swapped, 2, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "starts task 't1' before its predecessor 't0'",
          clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    ok(clo_plan_from_placements(f.cost, NULL, twice, 2, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "twice", clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    stop(&f);
}

static void a_runtime_says_why_it_cannot_start(void **state)
{
    (void)state;
    clo_platform *many = scene_platform(64, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    fails(CLO_ERR_PLATFORM, "has 64 executors", clo_runtime_create(many, NULL, &runtime));
    fails(CLO_ERR_ARGUMENT, "needs a platform", clo_runtime_create(NULL, NULL, &runtime));
    config.clock = (clo_clock)7;
    fails(CLO_ERR_ARGUMENT, "clock is 7", clo_runtime_create(many, &config, &runtime));
    config.clock = CLO_CLOCK_VIRTUAL;
    config.jobs_max = 1u << 20;
    fails(CLO_ERR_LIMIT, "jobs_max", clo_runtime_create(many, &config, &runtime));
    config.jobs_max = 0;
    config.recorder_every = (1u << 16) + 1;
    fails(CLO_ERR_LIMIT, "recorder_every is 65537", clo_runtime_create(many, &config, &runtime));
    config.recorder_every = 0;
    config.fifo_priority = 100;
    fails(CLO_ERR_ARGUMENT, "fifo_priority is 100", clo_runtime_create(many, &config, &runtime));
    clo_platform_destroy(many);

    const clo_executor far = {0, 0, 0, 1000, {65536, 65536, 65536, 65536}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;
    desc.executors_count = desc.kinds_count = 1;
    desc.executors = &far;
    ok(clo_platform_create(&desc, &platform));
    fails(CLO_ERR_SYSTEM, "cannot pin worker 0 to CPU 1000", clo_runtime_create(platform, NULL, &runtime));
    clo_platform_destroy(platform);
}

/* Credentials belong to threads: this one, and the workers it creates, go without rights; the test keeps its own. */
static void *create_without_rights(void *platform)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.fifo_priority = 10;
    if (geteuid() == 0 && syscall(SYS_setresuid, -1, 65534, -1) != 0)
        return (void *)2;
    clo_status status = clo_runtime_create(platform, &config, &runtime);
    return (void *)(size_t)(status == CLO_ERR_SYSTEM && strstr(clo_last_error(), "RLIMIT_RTPRIO") != NULL ? 0 : 1);
}

static void without_the_right_real_time_priority_is_one_clear_error(void **state)
{
    (void)state;
    clo_platform *platform = scene_platform(1, 0);
    struct rlimit none = {0, 0};
    pthread_t thread;
    void *result;

    assert_int_equal(setrlimit(RLIMIT_RTPRIO, &none), 0);
    assert_int_equal(pthread_create(&thread, NULL, create_without_rights, platform), 0);
    pthread_join(thread, &result);
    assert_null(result);
    clo_platform_destroy(platform);
}

static void jobs_beyond_jobs_max_are_refused_and_slots_are_reused(void **state)
{
    (void)state;
    clo_task task = {.body = count_call};
    clo_graph *graph = scene_layers(2, 2, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *jobs[3];

    config.jobs_max = 2;
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_job_create(runtime, cost, NULL, &jobs[0]));
    ok(clo_job_create(runtime, cost, NULL, &jobs[1]));
    fails(CLO_ERR_LIMIT, "2 jobs exist already", clo_job_create(runtime, cost, NULL, &jobs[2]));
    clo_job_destroy(jobs[0]);
    ok(clo_job_create(runtime, cost, NULL, &jobs[2]));
    ok(clo_job_submit(jobs[2]));
    ok(clo_job_wait(jobs[2], NULL));
    clo_trace *trace;
    fails(CLO_ERR_STATE, "keeps no trace", clo_job_trace(jobs[2], &trace));
    ok(clo_job_submit(jobs[1]));
    clo_runtime_destroy(runtime); /* ends and frees the jobs that are left */
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static clo_status whole_life(void *context)
{
    const fixture *f = context;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_trace *trace = NULL;
    clo_plan *plan = NULL;
    clo_job *job = NULL, *decided = NULL;

    config.trace = config.unpinned = config.copy_always = 1;
    clo_status status = clo_runtime_create(f->platform, &config, &runtime);
    if (status == CLO_OK)
        status = clo_plan_create(f->cost, NULL, &plan);
    job_config.plan = plan;
    if (status == CLO_OK)
        status = clo_job_create(runtime, f->cost, &job_config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, NULL);
    if (status == CLO_OK)
        status = clo_job_trace(job, &trace);
    if (status == CLO_OK)
        status = clo_trace_write_chrome(trace, f->cost, NULL, "/dev/null");
    job_config.plan = NULL;
    job_config.policy = clo_policy_find("eft");
    if (status == CLO_OK)
        status = clo_job_create(runtime, f->cost, &job_config, &decided);
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    sim.recorded = trace;
    sim.plan = plan;
    if (status == CLO_OK)
        status = clo_simulate(f->cost, &sim, NULL, NULL, NULL);
    sim.recorded = NULL;
    sim.plan = NULL;
    if (status == CLO_OK)
        status = clo_simulate(f->cost, &sim, NULL, NULL, NULL);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_job_destroy(decided);
    clo_plan_destroy(plan);
    clo_runtime_destroy(runtime);
    return status;
}

static void every_allocation_of_a_run_may_fail(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 1000, .output_bytes = 64, .duplicable = 1};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);

    assert_true(fault_each(whole_life, &f) > 20);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_never_decides_or_decides_wrongly_is_refused_and_its_job_ends_all_the_same),
        cmocka_unit_test(wrong_arguments_are_refused_with_one_line),
        cmocka_unit_test(a_plan_whose_order_is_impossible_is_refused),
        cmocka_unit_test(a_runtime_says_why_it_cannot_start),
        cmocka_unit_test(without_the_right_real_time_priority_is_one_clear_error),
        cmocka_unit_test(jobs_beyond_jobs_max_are_refused_and_slots_are_reused),
        cmocka_unit_test(every_allocation_of_a_run_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
