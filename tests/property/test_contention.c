/* Ports in the choice of a plan, and in what runs it by the cost model: the plan that is chosen is never longer than
 * the one without the choice, a justified one never longer than without justification, on a fixed set the choice is
 * much shorter, and simulator and workers in virtual time do what it says. */
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "graph/graph.h"
#include "plan/ports/ports.h"
#include "planner_named.h"

#include <clotho/clotho.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = SANITIZED ? 30 : 300 };
enum { MACHINES_MAX = 16, TEXT_BYTES = 4096, EXECUTORS_EACH = 2, JUSTIFIED_SCHEDULES = 5 };

static const char *const planners[] = {"heft", "deft", "etf", "dfrn", "peft", "cpop", "best"};

typedef struct scene {
    clo_graph *graph;
    clo_cluster *cluster;
    clo_cost *cost; /* NULL: this graph cannot run there */
} scene;

static scene scene_new(uint64_t seed, unsigned features)
{
    static const char *const ports[] = {"0.01", "0.1", "0.5", "null"};
    clo_rng rng = sample_rng(seed);
    char text[TEXT_BYTES];
    uint32_t machines = 2 + clo_rng_below(&rng, MACHINES_MAX - 1);
    scene s = {.graph = random_graph(seed, features)};
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (uint32_t m = 0; m < machines; m++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"name\": \"m%u\", \"platform\": \"uniform:%u\", \"port_bytes_per_ns\": %s}",
                         m > 0 ? ", " : "", m, 1 + clo_rng_below(&rng, 3), ports[m == 0 ? 0 : clo_rng_below(&rng, 4)]);
    snprintf(text + used, sizeof text - (size_t)used,
             "], \"link\": {\"latency_ns\": %u, \"bandwidth_bytes_per_ns\": %s}}", clo_rng_below(&rng, 3) * 500,
             clo_rng_below(&rng, 3) == 0 ? "null" : "0.5");
    ok(clo_cluster_parse("drawn", text, strlen(text), &s.cluster));
    if (clo_cost_create(s.graph, clo_cluster_platform(s.cluster), &s.cost) != CLO_OK)
        s.cost = NULL;
    return s;
}

static void drop(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_cluster_destroy(s->cluster);
    clo_graph_destroy(s->graph);
}

static clo_plan *plan_it(const clo_cost *cost, const char *planner, uint32_t contention)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.contention = contention;
    config.schedules_max = 40;
    config.seed = 7;
    ok(clo_plan_create(cost, &config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    return plan;
}

static void assert_same(const clo_plan *a, const clo_plan *b)
{
    size_t count, other;
    const clo_placement *x = clo_plan_placements(a, &count), *y = clo_plan_placements(b, &other);

    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(x[i].task, y[i].task);
        assert_int_equal(x[i].executor, y[i].executor);
        assert_int_equal(x[i].start_ns, y[i].start_ns);
        assert_int_equal(x[i].finish_ns, y[i].finish_ns);
    }
}

static void the_choice_is_never_longer_and_is_the_same_each_time(void **state)
{
    uint32_t plans = 0, shorter = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = scene_new(seed, (unsigned)(seed * 53 % 1024));
        const char *planner = planners[seed % (sizeof planners / sizeof planners[0])];
        if (s.cost != NULL) {
            clo_plan *times = plan_it(s.cost, planner, CLO_CONTENTION_TIMES);
            clo_plan *chosen = plan_it(s.cost, planner, CLO_CONTENTION_CHOOSE);
            clo_plan *again = plan_it(s.cost, planner, CLO_CONTENTION_CHOOSE);
            assert_true(clo_plan_makespan_ns(chosen) <= clo_plan_makespan_ns(times));
            assert_string_equal(clo_plan_planner(chosen), planner);
            assert_same(chosen, again);
            shorter += clo_plan_makespan_ns(chosen) < clo_plan_makespan_ns(times);
            plans++;
            clo_plan_destroy(times);
            clo_plan_destroy(chosen);
            clo_plan_destroy(again);
        }
        drop(&s);
    }
    print_message("%u of %u plans got shorter\n", shorter, plans);
    assert_true(plans > SEEDS / 2 && shorter > plans / 20);
}

static int64_t makespan_of(const clo_cost *cost, const char *planner, uint32_t contention, uint32_t justify)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.contention = contention;
    config.schedules_max = JUSTIFIED_SCHEDULES;
    config.seed = 7;
    config.justify = justify;
    ok(clo_plan_create(cost, &config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    int64_t makespan_ns = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return makespan_ns;
}

/* Of every planner: justification makes a plan shorter for messages that move alone, and can make it longer with ports. */
static void a_justified_plan_is_never_longer_over_ports(void **state)
{
    uint32_t shorter = 0;
    const char *name;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 3; seed++) {
        scene s = scene_new(seed, (unsigned)(seed * 53 % 1024));
        for (uint32_t i = 0; s.cost != NULL && (name = name_at("planners", i)) != NULL; i++) {
            uint32_t contention = (uint32_t)(seed + i) % 4 == 0 ? CLO_CONTENTION_CHOOSE : CLO_CONTENTION_TIMES;
            int64_t before_ns = makespan_of(s.cost, name, contention, 0);
            int64_t after_ns = makespan_of(s.cost, name, contention, 1);
            if (after_ns > before_ns)
                fail_msg("seed %llu, %s, contention %u: %lld ns, justified %lld ns", (unsigned long long)seed, name,
                         contention, (long long)before_ns, (long long)after_ns);
            shorter += after_ns < before_ns;
        }
        drop(&s);
    }
    print_message("%u justified plans are shorter\n", shorter);
    assert_true(shorter > SEEDS);
}

static void without_ports_it_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 6; seed++) {
        clo_graph *graph = random_graph(seed, (unsigned)(seed * 53 % 1024));
        clo_platform *platform = random_platform(seed, 0);
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        clo_plan *times = plan_it(cost, planners[seed % 7], CLO_CONTENTION_TIMES);
        clo_plan *chosen = plan_it(cost, planners[seed % 7], CLO_CONTENTION_CHOOSE);
        assert_same(times, chosen);
        clo_plan_destroy(times);
        clo_plan_destroy(chosen);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
}

/* The longest time there is: as if there were no limit. */
static void a_budget_that_never_ends_is_none(void **state)
{
    uint32_t plans = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        scene s = scene_new(seed, 0);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan[2] = {NULL, NULL};
        config.planner = &clo_planner_best;
        config.schedules_max = 40;
        for (int limited = 0; limited < 2 && s.cost != NULL; limited++) {
            config.budget_ns = limited ? INT64_MAX : 0;
            ok(clo_plan_create(s.cost, &config, &plan[limited]));
        }
        if (s.cost != NULL)
            assert_same(plan[0], plan[1]);
        plans += s.cost != NULL;
        clo_plan_destroy(plan[0]);
        clo_plan_destroy(plan[1]);
        drop(&s);
    }
    assert_true(plans > 0);
}

static clo_cluster *network(uint32_t machines, double rate)
{
    char text[TEXT_BYTES];
    clo_cluster *cluster;
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (uint32_t m = 0; m < machines; m++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"m%u\", \"platform\": \"uniform:%d\"}",
                         m > 0 ? ", " : "", m, EXECUTORS_EACH);
    snprintf(text + used, sizeof text - (size_t)used,
             "], \"port_bytes_per_ns\": %g, \"link\": {\"latency_ns\": 50000, \"bandwidth_bytes_per_ns\": %g}}", rate,
             rate);
    ok(clo_cluster_parse("network", text, strlen(text), &cluster));
    return cluster;
}

/* Tasks of 10 ms, edges of 10 ms at 1 Gbit/s: bench-contention has more of it. */
static void on_a_fixed_set_plans_get_shorter(void **state)
{
    static const struct {
        uint32_t machines;
        double rate, most; /* mean of the makespan over that without the choice */
    } cases[] = {{4, 0.125, 0.92}, {16, 0.125, 0.85}, {4, 0.0125, 0.3}, {16, 0.0125, 0.3}};
    enum { GRAPHS = 8 };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clo_cluster *cluster = network(cases[i].machines, cases[i].rate);
        double sum = 0;
        for (uint64_t seed = 0; seed < GRAPHS; seed++) {
            const clo_generate_config config = {.size = sizeof config,
                                                .seed = seed,
                                                .tasks = 80,
                                                .work_mean_ns = 10000000,
                                                .ccr = 0.125,
                                                .work_spread = 0.5};
            clo_graph *graph;
            clo_cost *cost;
            ok(clo_graph_generate("layered", &config, &graph));
            ok(clo_cost_create(graph, clo_cluster_platform(cluster), &cost));
            clo_plan *times = plan_it(cost, "heft", CLO_CONTENTION_TIMES);
            clo_plan *chosen = plan_it(cost, "heft", CLO_CONTENTION_CHOOSE);
            sum += (double)clo_plan_makespan_ns(chosen) / (double)clo_plan_makespan_ns(times);
            clo_plan_destroy(times);
            clo_plan_destroy(chosen);
            clo_cost_destroy(cost);
            clo_graph_destroy(graph);
        }
        print_message("%u machines, %g bytes/ns: %.3f\n", cases[i].machines, cases[i].rate, sum / (double)GRAPHS);
        assert_true(sum / (double)GRAPHS <= cases[i].most);
        clo_cluster_destroy(cluster);
    }
}

/* ---- what follows a plan by the cost model ---- */

static clo_trace *simulate(const clo_cost *cost, const clo_plan *plan, clo_job_result *result)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    config.plan = plan;
    ok(clo_simulate(cost, &config, result, &trace, NULL));
    return trace;
}

static clo_trace *run_virtual(const clo_cost *cost, const clo_plan *plan)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = 1;
    job_config.plan = plan;
    ok(clo_runtime_create(clo_cost_platform(cost), &runtime_config, &runtime));
    ok(clo_job_create(runtime, cost, &job_config, &job));
    for (int round = 0; round < 2; round++) { /* the second uses what the first has left */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    ok(clo_job_trace(job, &trace));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return trace;
}

static void assert_as_planned(const clo_trace *trace, const clo_cost *cost, const clo_plan *plan)
{
    clo_plan *happened;

    ok(clo_trace_to_plan(trace, cost, &happened));
    ok(clo_plan_check(happened, cost, CLO_CHECK_FULL));
    assert_same(happened, plan);
    clo_plan_destroy(happened);
}

/* Without replicas (an input may then come from another one of them) and demands (who waited longest goes first). */
static void what_follows_a_plan_keeps_its_times(void **state)
{
    uint32_t plans = 0, longer = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned without = RANDOM_DEMANDS | RANDOM_DUPLICABLE | RANDOM_BRANCHES;
        scene s = scene_new(seed, (unsigned)(seed * 37 % 1024) & ~without);
        if (s.cost != NULL) {
            clo_plan *plan = plan_it(s.cost, planners[seed % 7], (uint32_t)seed / 7 % 2);
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_trace *simulated = simulate(s.cost, plan, &result);
            assert_int_equal(result.makespan_ns, clo_plan_makespan_ns(plan));
            assert_as_planned(simulated, s.cost, plan);
            if (seed % 4 == 0) {
                clo_trace *ran = run_virtual(s.cost, plan);
                assert_as_planned(ran, s.cost, plan);
                clo_trace_destroy(ran);
            }
            longer += result.transfers > 0;
            plans++;
            clo_trace_destroy(simulated);
            clo_plan_destroy(plan);
        }
        drop(&s);
    }
    print_message("%u plans, %u with transfers\n", plans, longer);
    assert_true(plans > SEEDS / 2 && longer > plans / 4);
}

/* Tasks of equal length end in the same moment, and send large messages of equal urgency: who goes first does not
 * depend on who looks. */
static void what_ends_in_one_moment_keeps_its_times(void **state)
{
    static const char *const families[] = {"cholesky", "forkjoin", "fft", "layered"};
    static const char *const more[] = {"cpop", "olb", "tds", "flb", "lookahead", "tetris", "heft"};
    uint32_t plans = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 3; seed++) {
        const clo_generate_config config = {
            .size = sizeof config, .seed = seed, .tasks = 60, .work_mean_ns = 10000000, .ccr = 0.125};
        clo_cluster *cluster = network(2 + (uint32_t)seed % 6, 0.125);
        clo_graph *graph;
        clo_cost *cost;
        ok(clo_graph_generate(families[seed % 4], &config, &graph));
        ok(clo_cost_create(graph, clo_cluster_platform(cluster), &cost));
        for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
            clo_plan *plan = plan_it(cost, more[i], (uint32_t)seed % 2);
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_trace *simulated = simulate(cost, plan, &result);
            assert_as_planned(simulated, cost, plan);
            if ((seed + i) % 16 == 0) {
                clo_trace *ran = run_virtual(cost, plan);
                assert_as_planned(ran, cost, plan);
                clo_trace_destroy(ran);
            }
            plans++;
            clo_trace_destroy(simulated);
            clo_plan_destroy(plan);
        }
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        clo_cluster_destroy(cluster);
    }
    print_message("%u plans\n", plans);
}

/* With them the run is valid, and ends. */
static void replicas_and_demands_are_simulated_over_ports(void **state)
{
    uint64_t replicas = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = scene_new(seed, ((unsigned)(seed * 37 % 1024) | RANDOM_DUPLICABLE) & ~(unsigned)RANDOM_BRANCHES);
        if (s.cost != NULL) {
            clo_plan *plan = plan_it(s.cost, seed % 2 ? "deft" : "dfrn", CLO_CONTENTION_TIMES), *happened;
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_trace *simulated = simulate(s.cost, plan, &result);
            ok(clo_trace_to_plan(simulated, s.cost, &happened));
            ok(clo_plan_check(happened, s.cost, CLO_CHECK_FULL));
            replicas += result.duplicates_run;
            clo_plan_destroy(happened);
            clo_trace_destroy(simulated);
            clo_plan_destroy(plan);
        }
        drop(&s);
    }
    assert_true(replicas > 0);
}

/* Up to six machines with ports, a link of latency 0 and capacities. */
static clo_platform *narrow_platform(clo_rng *rng)
{
    enum { MACHINES = 6, EXECUTORS = MACHINES * EXECUTORS_EACH };
    uint32_t machines = 2 + clo_rng_below(rng, MACHINES - 1);
    clo_executor executors[EXECUTORS] = {0};
    int64_t capacities[MACHINES * CLO_RESOURCES_MAX];
    double ports[MACHINES];
    clo_platform *platform;

    for (uint32_t m = 0; m < machines; m++)
        ports[m] = 0.1;
    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = 10;
    for (uint32_t e = 0; e < machines * EXECUTORS_EACH; e++) {
        executors[e] = (clo_executor){.os_index = -1, .machine = e / EXECUTORS_EACH, .memory = e};
        for (uint32_t k = 0; k < CLO_CLASSES_BUILTIN; k++)
            executors[e].speed_q16[k] = CLO_SPEED_ONE;
    }
    ok(clo_platform_create(&(clo_platform_desc){.size = sizeof(clo_platform_desc),
                                                .name = "narrow",
                                                .executors_count = machines * EXECUTORS_EACH,
                                                .executors = executors,
                                                .kinds_count = 1,
                                                .machines_count = machines,
                                                .capacities = capacities,
                                                .port_bytes_per_ns = ports},
                           &platform));
    return platform;
}

/* All tasks take equally long, on every other graph some no time: much begins and ends at one moment. */
static clo_graph *even_graph(clo_rng *rng)
{
    uint32_t tasks = 10 + clo_rng_below(rng, 50), least = clo_rng_below(rng, 2);
    clo_graph *graph;

    ok(clo_graph_create("even", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.work_ns = (clo_rng_below(rng, 3) > 0 || least > 0) * INT64_C(1000)};
        task.demand[0] = clo_rng_below(rng, 8);
        ok(clo_graph_add_task(graph, &task, NULL));
        uint32_t half = t / 2, bytes = clo_rng_below(rng, 3) * 100;
        if (half > 0 && clo_rng_below(rng, 2) == 0)
            ok(clo_graph_add_edge(graph, clo_rng_below(rng, half), t, bytes));
        if (t > 0 && clo_rng_below(rng, 2) == 0)
            ok(clo_graph_add_edge(graph, half + clo_rng_below(rng, t - half), t, bytes));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* With demands, too, and from "best"'s search. */
static void the_times_of_a_plan_without_replicas_are_those_of_its_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_rng rng = sample_rng(seed);
        clo_platform *platform = narrow_platform(&rng);
        clo_graph *graph = even_graph(&rng);
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        clo_plan *plan = plan_it(cost, planners[seed % 7], (uint32_t)seed / 7 % 2), *again;
        size_t count;
        const clo_placement *placements = clo_plan_placements(plan, &count);
        clo_placement *times = malloc(count * sizeof *times);
        assert_non_null(times);
        memcpy(times, placements, count * sizeof *times);
        ok(clo_ports_count(cost, times, count));
        ok(clo_plan_from_placements(cost, "again", times, count, &again));
        assert_same(again, plan);
        free(times);
        clo_plan_destroy(again);
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        clo_platform_destroy(platform);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_never_longer_and_is_the_same_each_time),
        cmocka_unit_test(a_justified_plan_is_never_longer_over_ports),
        cmocka_unit_test(without_ports_it_changes_nothing),
        cmocka_unit_test(a_budget_that_never_ends_is_none),
        cmocka_unit_test(on_a_fixed_set_plans_get_shorter),
        cmocka_unit_test(what_follows_a_plan_keeps_its_times),
        cmocka_unit_test(what_ends_in_one_moment_keeps_its_times),
        cmocka_unit_test(replicas_and_demands_are_simulated_over_ports),
        cmocka_unit_test(the_times_of_a_plan_without_replicas_are_those_of_its_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
