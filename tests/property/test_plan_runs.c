/* What a plan says is what happens: on small random problems with everything in them (support/small_case.h) the plan of
 * every planner passes the checker, the simulator takes no longer (and as long to the ns where messages share ports),
 * workers under the virtual clock do the same, and what they did passes the checker again. CLOTHO_PROPERTY_SEEDS=N: so
 * many problems. */
#include "small_case.h"
#include "support.h"

#include "graph/graph.h"
#include "plan/ports/ports.h"
#include "planner_named.h"
#include "recorded.h"

#include <string.h>

enum { PROBLEMS = SANITIZED ? 60 : 400, SCHEDULES = 30 };

static uint64_t problems(void)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");

    return asked != NULL ? strtoull(asked, NULL, 10) : PROBLEMS;
}

static clo_plan *plan_by(const small_case *c, const char *planner, uint64_t seed)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.schedules_max = SCHEDULES;
    config.no_duplicates = c->no_duplicates;
    config.contention = seed % 3 == 0 ? CLO_CONTENTION_TIMES : CLO_CONTENTION_CHOOSE;
    config.justify = seed / 3 % 2;
    ok(clo_plan_create(c->cost, &config, &plan));
    ok(clo_plan_measure(plan, c->cost, &metrics));
    if (c->no_duplicates && metrics.duplicates != 0)
        fail_msg("problem %u: %s has replicas where none are allowed", (unsigned)seed, planner);
    return plan;
}

static clo_trace *simulate(const small_case *c, const clo_plan *plan, clo_job_result *result)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace = NULL;

    config.plan = plan;
    ok(clo_simulate(c->cost, &config, result, &trace, NULL));
    return trace;
}

static clo_trace *run_virtual(const small_case *c, const clo_plan *plan, clo_job_result *result)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = 1;
    job_config.plan = plan;
    ok(clo_runtime_create(c->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, c->cost, &job_config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, result));
    ok(clo_job_trace(job, &trace));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return trace;
}

static void check_trace(const small_case *c, const clo_trace *trace)
{
    clo_plan *happened;

    ok(clo_trace_to_plan(trace, c->cost, &happened));
    ok(clo_plan_check(happened, c->cost, CLO_CHECK_FULL));
    clo_plan_destroy(happened);
}

static void check_plan(const small_case *c, const char *planner, uint64_t seed, bool runs)
{
    clo_plan *plan = plan_by(c, planner, seed);
    clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
    int64_t planned_ns = clo_plan_makespan_ns(plan);

    if (clo_plan_check(plan, c->cost, CLO_CHECK_FULL) != CLO_OK)
        fail_msg("problem %u: %s: %s", (unsigned)seed, planner, clo_last_error());
    clo_trace *trace = simulate(c, plan, &simulated);
    if (simulated.makespan_ns > planned_ns ||
        (clo_ports_are_finite(c->platform) && simulated.makespan_ns != planned_ns))
        fail_msg("problem %u: %s says %lld ns, the simulator %lld", (unsigned)seed, planner, (long long)planned_ns,
                 (long long)simulated.makespan_ns);
    check_trace(c, trace);
    if (runs) {
        clo_trace *of_run = run_virtual(c, plan, &ran);
        if (ran.makespan_ns != simulated.makespan_ns)
            fail_msg("problem %u: %s: the simulator takes %lld ns, the workers %lld", (unsigned)seed, planner,
                     (long long)simulated.makespan_ns, (long long)ran.makespan_ns);
        same_events(trace, of_run);
        clo_trace_destroy(of_run);
    }
    clo_trace_destroy(trace);
    clo_plan_destroy(plan);
}

static void check_problems(unsigned features)
{
    uint32_t planners = 0, tried = 0;

    while (name_at("planners", planners) != NULL)
        planners++;
    for (uint64_t seed = 0; seed < problems(); seed++) {
        small_case c = small_case_new(seed, features);
        bool is_refused =
            clo_ports_are_finite(c.platform) && c.graph->has_demands; /* by workers, not by the simulator */
        for (uint32_t i = 0; i < planners && c.cost != NULL; i++)
            check_plan(&c, name_at("planners", i), seed, i == seed % planners && !is_refused);
        tried += c.cost != NULL;
        small_case_drop(&c);
    }
    assert_true(tried > problems() / 2);
}

static void a_plan_takes_as_long_as_it_says(void **state)
{
    (void)state;
    check_problems(0);
}

static void a_plan_over_ports_takes_as_long_as_it_says(void **state)
{
    (void)state;
    check_problems(SMALL_PORTS);
}

/* 60 of 100 are taken from 0 to 100 ns on one executor; on the other a task of 0 ns that demands 60 is ready at 10. */
static void a_task_of_no_time_waits_for_its_demand_in_the_plan_too(void **state)
{
    static const struct {
        int64_t work_ns, demand;
        uint64_t executors_mask;
    } rows[] = {{100, 60, 1}, {10, 0, 2}, {0, 60, 2}, {100, 0, 2}};
    clo_executor executors[2] = {{.os_index = -1}, {.os_index = -1}};
    int64_t capacities[CLO_RESOURCES_MAX] = {100, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    small_case c = {.no_duplicates = true};

    (void)state;
    for (uint32_t i = 0; i < 2 * CLO_CLASSES_BUILTIN; i++)
        executors[i / CLO_CLASSES_BUILTIN].speed_q16[i % CLO_CLASSES_BUILTIN] = CLO_SPEED_ONE;
    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &c.platform));
    ok(clo_graph_create("zero", &c.graph));
    for (uint32_t t = 0; t < 4; t++) {
        clo_task task = {.work_ns = rows[t].work_ns, .executors_mask = rows[t].executors_mask};
        task.demand[0] = rows[t].demand;
        ok(clo_graph_add_task(c.graph, &task, NULL));
        if (t > 1)
            ok(clo_graph_add_edge(c.graph, t - 1, t, 0));
    }
    ok(clo_graph_seal(c.graph));
    ok(clo_cost_create(c.graph, c.platform, &c.cost));
    assert_int_equal(clo_cost_execution_ns(c.cost, 2, 1), 1);
    for (uint32_t i = 0; name_at("planners", i) != NULL; i++)
        check_plan(&c, name_at("planners", i), 1, true);
    const clo_placement too_early[] = {{.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 100},
                                       {.task = 1, .executor = 1, .start_ns = 0, .finish_ns = 10},
                                       {.task = 2, .executor = 1, .start_ns = 10, .finish_ns = 11},
                                       {.task = 3, .executor = 1, .start_ns = 11, .finish_ns = 111}};
    clo_plan *plan;
    ok(clo_plan_from_placements(c.cost, "hand", too_early, 4, &plan));
    fails(CLO_ERR_INVALID, "60 of 100 are in use", clo_plan_check(plan, c.cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    small_case_drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_of_no_time_waits_for_its_demand_in_the_plan_too),
        cmocka_unit_test(a_plan_takes_as_long_as_it_says),
        cmocka_unit_test(a_plan_over_ports_takes_as_long_as_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
