/* Replicas that policies ask for: on workers and in the simulator they run, their data are right, and the same choices
 * are refused. */
#include "support.h"

#include "graph/graph.h"
#include "random_scene.h"

#include <string.h>

#define SEEDS 60
#define NO_DEMANDS (RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS)

/* Puts each stage on the executor that its number names, and duplicates a predecessor there whenever it may. */
static bool copy_all(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    clo_ready_stage at = clo_view_first_ready(view);
    if (at.job == CLO_NONE)
        return false;
    const clo_graph *graph = clo_cost_graph(clo_view_job(view, at.job)->cost);
    uint32_t executors = clo_view_limits(view)->executors, e = (at.stage * 7 + 3) % executors;
    while (clo_view_execution_ns(view, at.job, at.stage, e) == CLO_TIME_NEVER)
        e = (e + 1) % executors;
    *choice = (clo_choice){at.job, at.stage, 1, e, CLO_NONE, 0, 0};
    for (uint32_t k = graph->in_first[at.stage]; k < graph->in_first[at.stage + 1]; k++)
        if (clo_view_may_duplicate(view, at.job, clo_graph_source(graph, k), e))
            choice->duplicate = clo_graph_source(graph, k);
    return true;
}

static const clo_policy copier = {
    .size = sizeof(clo_policy), .name = "copier", .readiness = CLO_READY_ASSIGNED, .commits = 1, .decide = copy_all};

/* Duplicates the first predecessor to where it has run itself. */
static bool copy_twice(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    clo_ready_stage at = clo_view_first_ready(view);
    if (at.job == CLO_NONE)
        return false;
    bool is_last = at.stage == 1;
    *choice = (clo_choice){at.job, at.stage, 1, 0, is_last ? 0 : CLO_NONE, 0, 0};
    return true;
}

static const clo_policy repeater = {.size = sizeof(clo_policy),
                                    .name = "repeater",
                                    .readiness = CLO_READY_ASSIGNED,
                                    .commits = 1,
                                    .decide = copy_twice};

static void check_trace(const scene *s, const clo_trace *trace, int mode)
{
    clo_plan *happened;

    ok(clo_trace_to_plan(trace, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, mode));
    clo_plan_destroy(happened);
}

static uint64_t hash_without_replicas(const scene *s)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    uint64_t hash;

    config.policy = clo_policy_find("fifo");
    config.execute = 1;
    ok(clo_simulate(s->cost, &config, NULL, NULL, &hash));
    return hash;
}

static uint64_t simulate(const scene *s, const clo_policy *policy, uint64_t want)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace;
    uint64_t hash;

    config.policy = policy;
    config.execute = 1;
    ok(clo_simulate(s->cost, &config, &result, &trace, &hash));
    assert_int_equal(result.refused, 0);
    assert_int_equal(result.executed, clo_graph_instances(s->graph) + result.duplicates_run);
    assert_true(hash == want);
    check_trace(s, trace, CLO_CHECK_FULL);
    clo_trace_destroy(trace);
    return result.duplicates_run;
}

static uint64_t run(const scene *s, const clo_policy *policy, clo_clock clock, uint64_t want)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_sim_config sim_config = CLO_SIM_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *recorded;
    clo_job *job;

    runtime_config.clock = clock;
    runtime_config.trace = runtime_config.unpinned = runtime_config.copy_always = 1;
    job_config.policy = sim_config.policy = policy;
    ok(clo_runtime_create(s->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s->cost, &job_config, &job));
    for (int round = 0; round < 3; round++) { /* the second is cut short */
        ok(clo_job_submit(job));
        if (round == 1)
            clo_job_cancel(job);
        clo_status status = clo_job_wait(job, &result);
        assert_true(status == CLO_OK || (round == 1 && status == CLO_ERR_CANCELLED));
        assert_true(status != CLO_OK || clo_job_output_hash(job) == want);
    }
    assert_int_equal(result.executed, clo_graph_instances(s->graph) + result.duplicates_run);
    ok(clo_job_trace(job, &recorded));
    check_trace(s, recorded, CLO_CHECK_MEASURED);
    sim_config.recorded = recorded;
    if (!s->graph->has_demands) /* else semaphores that are shared report when a record does not know */
        ok(clo_simulate(s->cost, &sim_config, NULL, NULL, NULL)); /* every decision equal */
    clo_trace_destroy(recorded);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return result.duplicates_run;
}

static void replicas_run_and_their_data_are_right(void **state)
{
    (void)state;
    const clo_policy *const policies[] = {clo_policy_find("deft"), &copier};
    uint64_t simulated[2] = {0, 0}, ran[2] = {0, 0};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = make_scene(seed, seed % 2 ? RANDOM_ALL : seed % 4 ? NO_DEMANDS | RANDOM_STAGES : NO_DEMANDS);
        uint64_t want = hash_without_replicas(&s);
        for (int p = 0; p < 2; p++) {
            simulated[p] += simulate(&s, policies[p], want);
            ran[p] += run(&s, policies[p], CLO_CLOCK_REAL, want);
        }
        drop_scene(&s);
    }
    print_message("replicas: deft %llu simulated, %llu run; copier %llu, %llu\n", (unsigned long long)simulated[0],
                  (unsigned long long)ran[0], (unsigned long long)simulated[1], (unsigned long long)ran[1]);
    assert_true(simulated[0] > 0 && simulated[1] > SEEDS && ran[1] > SEEDS);
}

static int fails_as_replica(const clo_call *call)
{
    return call->is_replica ? 7 : 0;
}

static clo_graph *chain(clo_task_fn body)
{
    clo_task task = {.body = body, .work_ns = 1000, .duplicable = 1, .output_bytes = 8};
    clo_graph *graph;

    ok(clo_graph_create("chain", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 8));
    ok(clo_graph_seal(graph));
    return graph;
}

static void a_task_is_not_repeated_where_it_has_run(void **state)
{
    (void)state;
    scene s = {.graph = chain(NULL)};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    config.policy = &repeater;
    ok(clo_simulate(s.cost, &config, &result, NULL, NULL));
    assert_true(result.refused > 0);
    assert_non_null(strstr(result.refusal, "runs there already"));
    assert_int_equal(result.duplicates_run, 0);
    drop_scene(&s);
}

static void a_replica_that_fails_ends_its_job(void **state)
{
    (void)state;
    scene s = {.graph = chain(fails_as_replica)};
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime *runtime;
    clo_job *job;

    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    runtime_config.unpinned = 1;
    job_config.policy = &copier;
    ok(clo_runtime_create(s.platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s.cost, &job_config, &job));
    ok(clo_job_submit(job));
    fails(CLO_ERR_TASK, "failed with 7", clo_job_wait(job, &result));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    drop_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_run_and_their_data_are_right),
        cmocka_unit_test(a_task_is_not_repeated_where_it_has_run),
        cmocka_unit_test(a_replica_that_fails_ends_its_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
