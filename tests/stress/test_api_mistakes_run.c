/* Mistakes that programs make with plans, runtimes, jobs and simulations of the C API: a row each, with the status and what
 * its one line says. A new kind of mistake is a new row. The lines may be worded anew; what they must hold is what is wrong,
 * with its place and value. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "mistakes.h"
#include "running.h"

#include <stdio.h>
#include <time.h>

/* What the rows speak of. `other` has another platform; `ran` has ended, `fresh` was never submitted. */
static struct scene {
    fixture f, other;
    clo_plan *plan, *others_plan;
    clo_job *ran, *fresh;
    clo_trace *trace;
} s;

/* --- plans ---------------------------------------------------------------------------------------------------------- */

static clo_status plan_with(clo_plan_config config)
{
    clo_plan *none;

    return clo_plan_create(s.f.cost, &config, &none);
}

static clo_status plan_config_not_initialised(void)
{
    return plan_with((clo_plan_config){.planner = &clo_planner_heft});
}

static clo_status plan_config_of_another_size(void)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.size = 3;
    return plan_with(config);
}

static clo_status plan_config_of_a_newer_library(void)
{
    struct {
        clo_plan_config known;
        uint64_t unknown;
    } newer = {.known = CLO_PLAN_CONFIG_INIT, .unknown = 1};
    clo_plan *none;

    newer.known.size = sizeof newer;
    return clo_plan_create(s.f.cost, &newer.known, &none);
}

static clo_status plan_of_no_cost(void)
{
    clo_plan *none;

    return clo_plan_create(NULL, NULL, &none);
}

static clo_status placed(clo_placement placement)
{
    clo_plan *none;

    return clo_plan_from_placements(s.f.cost, NULL, &placement, 1, &none);
}

static clo_status placement_of_an_unknown_task(void)
{
    return placed((clo_placement){.task = 99, .finish_ns = 5});
}

static clo_status placement_on_an_unknown_executor(void)
{
    return placed((clo_placement){.executor = 7, .finish_ns = 5});
}

static clo_status placement_that_ends_before_it_starts(void)
{
    return placed((clo_placement){.start_ns = 9, .finish_ns = 5});
}

static clo_status placement_before_time_0(void)
{
    return placed((clo_placement){.start_ns = -9, .finish_ns = 5});
}

static clo_status plan_of_another_platform_checked(void)
{
    return clo_plan_check(s.others_plan, s.f.cost, CLO_CHECK_FULL);
}

static clo_status check_of_an_unknown_mode(void)
{
    return clo_plan_check(s.plan, s.f.cost, 99);
}

static clo_status half_a_plan_checked(void)
{
    clo_plan *half;

    ok(clo_plan_from_placements(s.f.cost, NULL, &(clo_placement){.finish_ns = 10}, 1, &half));
    clo_status status = clo_plan_check(half, s.f.cost, CLO_CHECK_FULL);
    clo_plan_destroy(half);
    return status;
}

static clo_status metrics_not_initialised(void)
{
    return clo_plan_measure(s.plan, s.f.cost, &(clo_plan_metrics){0});
}

static clo_status pipeline_of(int64_t interval_ns)
{
    clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
    clo_plan *none;

    config.interval_ns = interval_ns;
    return clo_plan_pipeline(s.f.cost, &config, &none);
}

static clo_status interval_that_is_too_short(void)
{
    return pipeline_of(1);
}

static clo_status negative_interval(void)
{
    return pipeline_of(-1);
}

/* --- runtimes ------------------------------------------------------------------------------------------------------- */

static clo_status start_with(clo_runtime_config config)
{
    clo_runtime *none;

    return clo_runtime_create(s.f.platform, &config, &none);
}

static clo_status runtime_without_a_platform(void)
{
    clo_runtime *none;

    return clo_runtime_create(NULL, NULL, &none);
}

static clo_status runtime_config_not_initialised(void)
{
    return start_with((clo_runtime_config){.unpinned = 1});
}

static clo_status unknown_clock(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .clock = (clo_clock)7});
}

static clo_status priority_out_of_range(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .fifo_priority = 100});
}

static clo_status real_time_stretched(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .unpinned = 1, .dilate = 5});
}

static clo_status too_many_jobs(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .unpinned = 1, .jobs_max = 1u << 20});
}

static clo_status memory_that_is_too_small(void)
{
    static _Alignas(64) unsigned char memory[64];

    return start_with((clo_runtime_config){
        .size = sizeof(clo_runtime_config), .unpinned = 1, .memory = memory, .memory_bytes = sizeof memory});
}

static clo_status real_clock_on_another_machine(void)
{
    clo_platform *board;
    clo_runtime *none;

    ok(clo_platform_open("uniform:4096", &board));
    clo_status status = clo_runtime_create(board, NULL, &none);
    clo_platform_destroy(board);
    return status;
}

static clo_status held_real_time(void)
{
    return clo_runtime_hold_time(s.f.runtime, 1);
}

static clo_status no_policy_in_place_of_one(void)
{
    return clo_runtime_swap_policy(s.f.runtime, NULL, NULL);
}

static clo_status visit_by_nobody(void)
{
    return clo_runtime_visit_jobs(s.f.runtime, NULL, NULL);
}

static clo_status statistics_of_an_unknown_worker(void)
{
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;

    return clo_runtime_worker_stats(s.f.runtime, 99, &stats);
}

/* --- jobs ----------------------------------------------------------------------------------------------------------- */

static clo_status job_with(clo_job_config config)
{
    clo_job *none;

    config.size = sizeof config;
    return clo_job_create(s.f.runtime, s.f.cost, &config, &none);
}

static clo_status job_config_not_initialised(void)
{
    clo_job *none;

    return clo_job_create(s.f.runtime, s.f.cost, &(clo_job_config){.plan = s.plan}, &none);
}

static clo_status job_on_another_platform(void)
{
    clo_job *none;

    return clo_job_create(s.f.runtime, s.other.cost, NULL, &none);
}

static clo_status job_without_a_cost(void)
{
    clo_job *none;

    return clo_job_create(s.f.runtime, NULL, NULL, &none);
}

static clo_status plan_and_policy(void)
{
    return job_with((clo_job_config){.plan = s.plan, .policy = clo_policy_find("fair")});
}

static clo_status plan_of_another_graph(void)
{
    return job_with((clo_job_config){.plan = s.others_plan});
}

static clo_status policy_without_decide(void)
{
    static const clo_policy empty = {.size = sizeof(clo_policy), .name = "empty"};

    return job_with((clo_job_config){.policy = &empty});
}

static clo_status negative_deadline(void)
{
    return job_with((clo_job_config){.deadline_ns = -1});
}

static clo_status period_that_is_too_short(void)
{
    return job_with((clo_job_config){.period_ns = 5});
}

static clo_status unknown_band(void)
{
    return job_with((clo_job_config){.band = CLO_BANDS_MAX});
}

static clo_status steal_in_virtual_time(void)
{
    clo_job *none;

    return clo_job_create(s.other.runtime, s.other.cost, NULL, &none);
}

static clo_status wait_for_what_was_never_submitted(void)
{
    return clo_job_wait(s.fresh, NULL);
}

static clo_status wait_for_nothing(void)
{
    return clo_job_wait(NULL, NULL);
}

static clo_status submit_nothing(void)
{
    return clo_job_submit(NULL);
}

static clo_status result_not_initialised(void)
{
    return clo_job_wait(s.ran, &(clo_job_result){0});
}

static clo_status plan_swapped_of_a_job_without_one(void)
{
    return clo_job_swap_plan(s.fresh, s.plan);
}

static clo_status trace_of_what_never_ran(void)
{
    clo_trace *none;

    return clo_job_trace(s.fresh, &none);
}

static _Atomic int may_end;

static int wait_here(const clo_call *call)
{
    while (atomic_load(&may_end) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    (void)call;
    return 0;
}

static clo_status submitted_while_it_runs(void)
{
    clo_task task = {.body = wait_here, .work_ns = 10};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);

    ok(clo_job_submit(job));
    clo_status status = clo_job_submit(job);
    atomic_store(&may_end, 1);
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
    stop(&f);
    return status;
}

static _Atomic int body_status;

/* A body that waits for its own runtime would wait for ever. */
static int wait_inside(const clo_call *call)
{
    atomic_store(&body_status, clo_job_wait(call->argument != NULL ? *(clo_job **)call->argument : NULL, NULL));
    snprintf(line_elsewhere, sizeof line_elsewhere, "%s", clo_last_error());
    return 0;
}

static clo_status waited_for_in_a_body(void)
{
    static clo_job *job;
    clo_task task = {.body = wait_inside, .argument = &job, .work_ns = 10};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);

    job = make_job(&f, NULL, NULL);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
    stop(&f);
    return (clo_status)atomic_load(&body_status);
}

/* --- simulations, times --------------------------------------------------------------------------------------------- */

static clo_status simulation_of_nothing(void)
{
    return clo_simulate(NULL, NULL, NULL, NULL, NULL);
}

static clo_status simulation_with_plan_and_policy(void)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.plan = s.plan;
    config.policy = clo_policy_find("fair");
    return clo_simulate(s.f.cost, &config, NULL, NULL, NULL);
}

static clo_status simulation_config_not_initialised(void)
{
    return clo_simulate(s.f.cost, &(clo_sim_config){.plan = s.plan}, NULL, NULL, NULL);
}

static clo_status trace_of_another_graph(void)
{
    clo_plan *none;

    return clo_trace_to_plan(s.trace, s.other.cost, &none);
}

static clo_status sample_below_0(void)
{
    clo_profile *profile;

    ok(clo_profile_create(0, &profile));
    clo_status status = clo_profile_learn(profile, &(clo_codelet){.name = "gemm"}, 8, "cpu", -1);
    clo_profile_destroy(profile);
    return status;
}

static clo_status file_in_no_folder(void)
{
    return clo_trace_write_chrome(s.trace, s.f.cost, NULL, "no/such/folder.json");
}

/* --- documents, workloads ---------------------------------------------------------------------------------------------- */

static clo_status open_graph_in(bool in_document)
{
    clo_document *document;
    clo_workload *workload;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_graph *graph;

    ok(clo_graph_create("draft", &graph));
    ok(clo_workload_create("w", &workload));
    job.graph = graph;
    clo_status status = in_document ? clo_document_create(graph, NULL, &document) : clo_workload_add(workload, &job);
    clo_workload_destroy(workload);
    clo_graph_destroy(graph);
    return status;
}

static clo_status document_of_open_graph(void)
{
    return open_graph_in(true);
}

static clo_status job_of_open_graph(void)
{
    return open_graph_in(false);
}

static clo_status help_out_of_range(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .unpinned = 1, .help = 5});
}

static clo_status spin_below_minus_1(void)
{
    return start_with((clo_runtime_config){.size = sizeof(clo_runtime_config), .unpinned = 1, .spin_ns = -7});
}

static int pend_without_a_token(const clo_call *call)
{
    (void)call;
    return CLO_PENDING;
}

static clo_status pending_without_a_token(void)
{
    clo_task task = {.name = "slow", .body = pend_without_a_token, .work_ns = 10};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);

    ok(clo_job_submit(job));
    clo_status status = clo_job_wait(job, NULL);
    clo_job_destroy(job);
    stop(&f);
    return status;
}

static const mistake mistakes[] = {
    MISTAKE(help_out_of_range, CLO_ERR_ARGUMENT, "clo_runtime_config.help is 5", "-1, 0 or 1"),
    MISTAKE(spin_below_minus_1, CLO_ERR_ARGUMENT, "clo_runtime_config.spin_ns is -7", "-1"),
    MISTAKE(pending_without_a_token, CLO_ERR_TASK, "returned CLO_PENDING without a token", "clo_token_take"),
    MISTAKE(plan_config_not_initialised, CLO_ERR_ARGUMENT, "clo_plan_config.size is 0", "_INIT"),
    MISTAKE(plan_config_of_another_size, CLO_ERR_ARGUMENT, "clo_plan_config.size is 3", "_INIT"),
    MISTAKE(plan_config_of_a_newer_library, CLO_ERR_ARGUMENT, "clo_plan_config",
            "field that this library does not know"),
    MISTAKE(plan_of_no_cost, CLO_ERR_ARGUMENT, "clo_plan_create: cost"),
    MISTAKE(placement_of_an_unknown_task, CLO_ERR_ARGUMENT, "placement 0", "task 99", "4 tasks"),
    MISTAKE(placement_on_an_unknown_executor, CLO_ERR_ARGUMENT, "placement 0", "executor 7", "2 executors"),
    MISTAKE(placement_that_ends_before_it_starts, CLO_ERR_ARGUMENT, "from 9 to 5 ns", "start <= finish"),
    MISTAKE(placement_before_time_0, CLO_ERR_ARGUMENT, "from -9 to 5 ns", "0 <= start"),
    MISTAKE(plan_of_another_platform_checked, CLO_ERR_INVALID, "another graph", "3 tasks", "this one has 4"),
    MISTAKE(check_of_an_unknown_mode, CLO_ERR_ARGUMENT, "mode is 99", "CLO_CHECK_"),
    MISTAKE(half_a_plan_checked, CLO_ERR_INVALID, "task 't1' instance 0", "every instance needs one"),
    MISTAKE(metrics_not_initialised, CLO_ERR_ARGUMENT, "clo_plan_metrics.size is 0", "_INIT"),
    MISTAKE(interval_that_is_too_short, CLO_ERR_LIMIT, "interval of 1 ns", "less than 2000 ns"),
    MISTAKE(negative_interval, CLO_ERR_ARGUMENT, "interval_ns is negative", "use 0"),
    MISTAKE(runtime_without_a_platform, CLO_ERR_ARGUMENT, "clo_runtime_create", "platform"),
    MISTAKE(runtime_config_not_initialised, CLO_ERR_ARGUMENT, "clo_runtime_config.size is 0", "_INIT"),
    MISTAKE(unknown_clock, CLO_ERR_ARGUMENT, "clock is 7", "CLO_CLOCK_"),
    MISTAKE(priority_out_of_range, CLO_ERR_ARGUMENT, "fifo_priority is 100", "1 to 98"),
    MISTAKE(real_time_stretched, CLO_ERR_ARGUMENT, "dilate is 5", "CLO_CLOCK_PADDED"),
    MISTAKE(too_many_jobs, CLO_ERR_LIMIT, "jobs_max is 1048576", "at most 65536"),
    MISTAKE(memory_that_is_too_small, CLO_ERR_MEMORY, "memory_bytes is 64", "needs "),
    MISTAKE(real_clock_on_another_machine, CLO_ERR_PLATFORM, "'uniform:4096'", "4096 executors", "virtual clock"),
    MISTAKE(held_real_time, CLO_ERR_UNSUPPORTED, "virtual clock only"),
    MISTAKE(no_policy_in_place_of_one, CLO_ERR_ARGUMENT, "clo_runtime_swap_policy", "policy is NULL"),
    MISTAKE(visit_by_nobody, CLO_ERR_ARGUMENT, "clo_runtime_visit_jobs", "visit is NULL"),
    MISTAKE(statistics_of_an_unknown_worker, CLO_ERR_ARGUMENT, "worker 99", "has 2"),
    MISTAKE(job_config_not_initialised, CLO_ERR_ARGUMENT, "clo_job_config.size is 0", "_INIT"),
    MISTAKE(job_on_another_platform, CLO_ERR_ARGUMENT, "another platform than the runtime's"),
    MISTAKE(job_without_a_cost, CLO_ERR_ARGUMENT, "clo_job_create", "cost"),
    MISTAKE(plan_and_policy, CLO_ERR_ARGUMENT, "both a plan and a policy", "give one"),
    MISTAKE(plan_of_another_graph, CLO_ERR_ARGUMENT, "another graph", "3 tasks", "this one has 4"),
    MISTAKE(policy_without_decide, CLO_ERR_ARGUMENT, "no decide function"),
    MISTAKE(negative_deadline, CLO_ERR_ARGUMENT, "deadline_ns is negative", "use 0"),
    MISTAKE(period_that_is_too_short, CLO_ERR_ARGUMENT, "period_ns is 5", "1000 ns"),
    MISTAKE(unknown_band, CLO_ERR_ARGUMENT, "band is 8", "0 to 7"),
    MISTAKE(steal_in_virtual_time, CLO_ERR_UNSUPPORTED, "virtual clock", "clo_simulate"),
    MISTAKE(wait_for_what_was_never_submitted, CLO_ERR_STATE, "never submitted", "clo_job_submit"),
    MISTAKE(wait_for_nothing, CLO_ERR_ARGUMENT, "clo_job_wait: job is NULL"),
    MISTAKE(submit_nothing, CLO_ERR_ARGUMENT, "clo_job_submit: job is NULL"),
    MISTAKE(result_not_initialised, CLO_ERR_ARGUMENT, "clo_job_result.size is 0", "_INIT"),
    MISTAKE(plan_swapped_of_a_job_without_one, CLO_ERR_ARGUMENT, "no plan", "clo_job_config.plan"),
    MISTAKE(trace_of_what_never_ran, CLO_ERR_STATE, "not run to its end", "wait"),
    MISTAKE(submitted_while_it_runs, CLO_ERR_STATE, "is running", "wait for it"),
    MISTAKE(waited_for_in_a_body, CLO_ERR_STATE, "task body may not wait"),
    MISTAKE(simulation_of_nothing, CLO_ERR_ARGUMENT, "clo_simulate: cost is NULL"),
    MISTAKE(simulation_with_plan_and_policy, CLO_ERR_ARGUMENT, "both a plan and a policy", "give one"),
    MISTAKE(simulation_config_not_initialised, CLO_ERR_ARGUMENT, "clo_sim_config.size is 0", "_INIT"),
    MISTAKE(trace_of_another_graph, CLO_ERR_ARGUMENT, "4 tasks", "2 executors", "another graph or platform"),
    MISTAKE(sample_below_0, CLO_ERR_ARGUMENT, "\"gemm\"", "-1 ns", ">= 0"),
    MISTAKE(document_of_open_graph, CLO_ERR_STATE, "\"draft\"", "call clo_graph_seal first"),
    MISTAKE(job_of_open_graph, CLO_ERR_STATE, "\"draft\"", "call clo_graph_seal first"),
    MISTAKE(file_in_no_folder, CLO_ERR_IO, "no/such/folder.json: No such file"),
};

static int set_up(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};

    s.f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    s.other = start(3, scene_layers(3, 1, &task), CLO_CLOCK_VIRTUAL);
    ok(clo_plan_create(s.f.cost, NULL, &s.plan));
    ok(clo_plan_create(s.other.cost, NULL, &s.others_plan));
    s.ran = make_job(&s.f, NULL, NULL);
    s.fresh = make_job(&s.f, NULL, NULL);
    ok(clo_job_submit(s.ran));
    ok(clo_job_wait(s.ran, NULL));
    ok(clo_job_trace(s.ran, &s.trace));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clo_trace_destroy(s.trace);
    clo_plan_destroy(s.plan);
    clo_plan_destroy(s.others_plan);
    stop(&s.f);
    stop(&s.other);
    return 0;
}

static void each_mistake_has_its_status_and_one_line_that_says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        check_mistake(&mistakes[i]);
}

/* A failure leaves no trace: what is used after it is what was there before. */
static void after_all_mistakes_the_objects_work_as_before(void **state)
{
    (void)state;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    ok(clo_plan_check(s.plan, s.f.cost, CLO_CHECK_FULL));
    ok(clo_job_submit(s.fresh));
    ok(clo_job_wait(s.fresh, &result));
    ok(clo_job_wait(s.fresh, &result)); /* twice: it tells the same again */
    assert_int_equal(result.executed, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_status_and_one_line_that_says_what_is_wrong),
        cmocka_unit_test(after_all_mistakes_the_objects_work_as_before),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
