/* What runs by the cost model on machines with ports: one message after the other where a plan is followed, and one
 * line where ports do not count. */
#include "fault.h"
#include "support.h"

#include <clotho/clotho.h>
#include <clotho/planner.h>
#include <string.h>

enum { MACHINES = 3, WORK_NS = 500, BYTES = 100000 };

static const char text[] =
    "{\"format\": \"clotho.cluster/1\", \"name\": \"lab\", \"machines\": [{\"name\": \"a\", \"platform\": "
    "\"uniform:1\"}, "
    "{\"name\": \"b\", \"platform\": \"uniform:1\"}, {\"name\": \"c\", \"platform\": \"uniform:1\"}], "
    "\"port_bytes_per_ns\": 1, \"link\": {\"latency_ns\": 1000, \"bandwidth_bytes_per_ns\": 1}}";

typedef struct scene {
    clo_cluster *cluster;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
} scene;

/* One source on machine 0, a consumer on each other one. */
static scene scene_new(int64_t demand)
{
    scene s;
    clo_task task = {.work_ns = WORK_NS, .demand = {demand}};

    ok(clo_cluster_parse("lab", text, strlen(text), &s.cluster));
    ok(clo_graph_create("star", &s.graph));
    for (uint32_t t = 0; t < MACHINES; t++) {
        ok(clo_graph_add_task(s.graph, &task, NULL));
        ok(clo_graph_set_executors(s.graph, t, &t, 1));
        if (t > 0)
            ok(clo_graph_add_edge(s.graph, 0, t, BYTES));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, clo_cluster_platform(s.cluster), &s.cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    return s;
}

static void drop(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_cluster_destroy(s->cluster);
}

static clo_runtime *runtime_new(const scene *s, clo_clock clock)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.clock = clock;
    ok(clo_runtime_create(clo_cluster_platform(s->cluster), &config, &runtime));
    return runtime;
}

static int64_t run_plan(const scene *s)
{
    clo_runtime *runtime = runtime_new(s, CLO_CLOCK_VIRTUAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job;

    config.plan = s->plan;
    ok(clo_job_create(runtime, s->cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return result.makespan_ns;
}

static void two_messages_out_of_a_machine_take_twice_as_long(void **state)
{
    scene s = scene_new(0);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    config.plan = s.plan;
    ok(clo_simulate(s.cost, &config, &result, NULL, NULL));
    assert_int_equal(result.makespan_ns, WORK_NS + 2 * BYTES + 1000 + WORK_NS);
    assert_int_equal(clo_plan_makespan_ns(s.plan), result.makespan_ns);
    assert_int_equal(run_plan(&s), result.makespan_ns);
    drop(&s);
}

static void what_does_not_count_ports_says_so(void **state)
{
    scene s = scene_new(1);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_workload_job arrival = CLO_WORKLOAD_JOB_INIT;
    clo_workload *workload;

    (void)state;
    fails(CLO_ERR_UNSUPPORTED, "a simulation without a plan does not count",
          clo_simulate(s.cost, NULL, NULL, NULL, NULL));
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_UNSUPPORTED, "without a plan does not", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.policy = NULL;
    config.plan = s.plan;
    config.releases_in_flight = 2;
    fails(CLO_ERR_UNSUPPORTED, "releases in flight do not", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    arrival.graph = s.graph;
    arrival.weight = 1;
    ok(clo_workload_create("one", &workload));
    ok(clo_workload_add(workload, &arrival));
    fails(CLO_ERR_UNSUPPORTED, "a stream of jobs does not",
          clo_stream_simulate(workload, clo_cluster_platform(s.cluster), NULL, NULL));
    clo_workload_destroy(workload);
    drop(&s);
}

static void workers_that_do_not_count_ports_say_so(void **state)
{
    scene s = scene_new(1);
    clo_job_config of_job = CLO_JOB_CONFIG_INIT;
    clo_job *job = NULL;

    (void)state;
    const clo_clock clocks[] = {CLO_CLOCK_VIRTUAL, CLO_CLOCK_PADDED};
    for (int c = 0; c < 2; c++) {
        clo_runtime *runtime = runtime_new(&s, clocks[c]);
        of_job = (clo_job_config)CLO_JOB_CONFIG_INIT;
        of_job.policy = clo_policy_find("fifo");
        fails(CLO_ERR_UNSUPPORTED, "a job without a plan under this clock does not count",
              clo_job_create(runtime, s.cost, &of_job, &job));
        of_job.policy = NULL;
        if (clocks[c] == CLO_CLOCK_PADDED) /* work stealing; in virtual time there is none at all */
            fails(CLO_ERR_UNSUPPORTED, "a job without a plan under this clock does not count",
                  clo_job_create(runtime, s.cost, &of_job, &job));
        of_job.plan = s.plan;
        fails(CLO_ERR_UNSUPPORTED, "tasks with demands", clo_job_create(runtime, s.cost, &of_job, &job));
        assert_null(job);
        clo_runtime_destroy(runtime);
    }
    drop(&s);
}

static clo_status simulate_again(void *context)
{
    const scene *s = context;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.plan = s->plan;
    return clo_simulate(s->cost, &config, NULL, NULL, NULL);
}

static clo_status plan_again(void *context)
{
    const scene *s = context;
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_best;
    config.schedules_max = 3;
    clo_status status = clo_plan_create(s->cost, &config, &plan);
    clo_plan_destroy(plan);
    return status;
}

static void memory_may_fail_anywhere(void **state)
{
    scene s = scene_new(0);

    (void)state;
    assert_true(fault_each(simulate_again, &s) > 10);
    assert_true(fault_each(plan_again, &s) > 40);
    drop(&s);
}

static void an_unknown_way_to_count_is_refused(void **state)
{
    scene s = scene_new(0);
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    (void)state;
    config.contention = CLO_CONTENTION_TIMES + 1;
    fails(CLO_ERR_ARGUMENT, "contention is 2", clo_plan_create(s.cost, &config, &plan));
    assert_null(plan);
    drop(&s);
}

/* One message to a machine with two consumers, whose links take 3 ns each, one by latency alone. It takes the slower
 * rate, whichever consumer comes first in the plan: 4 ns through the port, and 1 ns more. */
static void the_order_of_consumers_does_not_change_a_message(void **state)
{
    const clo_executor executors[3] = {
        {.memory = 0, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
        {.machine = 1, .memory = 1, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
        {.machine = 1, .memory = 2, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    const int64_t latency_ns[9] = {0, 3, 1};
    const double bandwidth[9] = {0, 0, 2}, port[2] = {1, 1};
    (void)state;

    for (uint32_t first = 1; first <= 2; first++) {
        clo_platform_desc desc = {.size = sizeof desc, .executors_count = 3, .executors = executors, .kinds_count = 1};
        clo_placement placements[3] = {{.finish_ns = 10}};
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_platform *platform;
        clo_graph *graph;
        clo_cost *cost;
        clo_plan *plan;
        clo_trace *trace;

        desc.machines_count = 2;
        desc.latency_ns = latency_ns;
        desc.bandwidth_bytes_per_ns = bandwidth;
        desc.port_bytes_per_ns = port;
        ok(clo_platform_create(&desc, &platform));
        ok(clo_graph_create(NULL, &graph));
        for (uint32_t t = 0; t < 3; t++) {
            clo_task task = {.work_ns = t == first || t == 0 ? 10 : 20};
            ok(clo_graph_add_task(graph, &task, NULL));
            if (t > 0) {
                ok(clo_graph_add_edge(graph, 0, t, 4));
                placements[t] =
                    (clo_placement){.task = t, .executor = t, .start_ns = 50, .finish_ns = 50 + task.work_ns};
            }
        }
        ok(clo_graph_seal(graph));
        ok(clo_cost_create(graph, platform, &cost));
        ok(clo_plan_from_placements(cost, NULL, placements, 3, &plan));
        config.plan = plan;
        ok(clo_simulate(cost, &config, NULL, &trace, NULL));
        assert_int_equal(clo_trace_events(trace, NULL)[1].start_ns, 15);
        assert_int_equal(clo_trace_events(trace, NULL)[2].start_ns, 15);
        clo_trace_destroy(trace);
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        clo_platform_destroy(platform);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_consumers_does_not_change_a_message),
        cmocka_unit_test(two_messages_out_of_a_machine_take_twice_as_long),
        cmocka_unit_test(what_does_not_count_ports_says_so),
        cmocka_unit_test(workers_that_do_not_count_ports_say_so),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(an_unknown_way_to_count_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
