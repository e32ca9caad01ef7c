/* Random plans over up to 16 machines with ports: they pass the checker, no port moves more than it can, and ports that
 * are in nobody's way make no plan longer; and a run takes as long as its plan. */
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "graph/graph.h"
#include "planner_named.h"

#include <clotho/cluster.h>
#include <clotho/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = SANITIZED ? 60 : 600 };
enum { MACHINES_MAX = 16, TEXT_BYTES = 4096 };

static const char *const ports[] = {"0.05", "0.5", "2", "1000000"};

/* port: NULL: none. */
static clo_cluster *cluster_new(uint64_t seed, const char *port)
{
    clo_rng rng = sample_rng(seed);
    char text[TEXT_BYTES];
    uint32_t machines = 1 + clo_rng_below(&rng, MACHINES_MAX);
    clo_cluster *cluster = NULL;
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (uint32_t m = 0; m < machines; m++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"m%u\", \"platform\": \"uniform:%u\"}",
                         m > 0 ? ", " : "", m, 1 + clo_rng_below(&rng, 3));
    snprintf(text + used, sizeof text - (size_t)used,
             "], \"port_bytes_per_ns\": %s, \"link\": {\"latency_ns\": %u, \"bandwidth_bytes_per_ns\": %s}}",
             port != NULL ? port : "null", clo_rng_below(&rng, 3) * 500, clo_rng_below(&rng, 3) == 0 ? "null" : "0.5");
    ok(clo_cluster_parse("drawn", text, strlen(text), &cluster));
    return cluster;
}

typedef struct planned {
    clo_cluster *cluster;
    clo_cost *cost;
    clo_plan *plan; /* NULL: this graph cannot run there */
} planned;

static planned plan_it(uint64_t seed, const clo_graph *graph, const char *port, uint32_t no_duplicates)
{
    static const char *const planners[] = {"heft", "deft", "etf", "dfrn", "peft"};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    planned p = {.cluster = cluster_new(seed, port)};

    config.planner = planner_named(planners[seed % 5]);
    config.no_duplicates = no_duplicates;
    if (clo_cost_create(graph, clo_cluster_platform(p.cluster), &p.cost) == CLO_OK &&
        clo_plan_create(p.cost, &config, &p.plan) == CLO_OK)
        ok(clo_plan_check(p.plan, p.cost, CLO_CHECK_FULL));
    return p;
}

static void drop(planned *p)
{
    clo_plan_destroy(p->plan);
    clo_cost_destroy(p->cost);
    clo_cluster_destroy(p->cluster);
}

/* The bytes of the largest edge from an instance of `task` to a machine, by placements; 0: none leads there. */
static uint64_t largest_to(const clo_graph *graph, const clo_platform *platform, uint32_t task, uint32_t machine,
                           const uint32_t *executor_of)
{
    uint64_t most = 0;

    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            if (clo_platform_executor(platform, executor_of[i])->machine == machine &&
                clo_graph_out_bytes(graph, k) > most)
                most = clo_graph_out_bytes(graph, k);
    return most;
}

/* Each instance is executed once; what leaves and what enters a machine takes its time. */
static uint64_t check_ports(const planned *p, const clo_graph *graph, double port)
{
    const clo_platform *platform = clo_cluster_platform(p->cluster);
    uint64_t leaves[MACHINES_MAX] = {0}, enters[MACHINES_MAX] = {0}, all = 0;
    uint32_t *executor_of = calloc(graph->instances, sizeof *executor_of);
    size_t count;
    const clo_placement *placements = clo_plan_placements(p->plan, &count);

    assert_non_null(executor_of);
    for (size_t i = 0; i < count; i++)
        executor_of[graph->first_instance[placements[i].task] + placements[i].instance] = placements[i].executor;
    for (uint32_t i = 0; i < graph->instances; i++)
        for (uint32_t m = 0; m < clo_platform_machines(platform); m++) {
            uint32_t from = clo_platform_executor(platform, executor_of[i])->machine;
            uint64_t bytes = from == m ? 0 : largest_to(graph, platform, graph->task_of[i], m, executor_of);
            leaves[from] += bytes;
            enters[m] += bytes;
            all += bytes;
        }
    for (uint32_t m = 0; m < clo_platform_machines(platform); m++) {
        assert_true((double)leaves[m] / port <= (double)clo_plan_makespan_ns(p->plan) + 1);
        assert_true((double)enters[m] / port <= (double)clo_plan_makespan_ns(p->plan) + 1);
    }
    free(executor_of);
    return all;
}

static void no_port_moves_more_than_it_can(void **state)
{
    uint64_t bytes = 0, longer = 0, plans = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const char *port = ports[seed % 4];
        clo_graph *graph = random_graph(seed, (unsigned)(seed * 37 % 512) & ~(unsigned)RANDOM_DEMANDS);
        planned alone = plan_it(seed, graph, NULL, 1), shared = plan_it(seed, graph, port, 1);
        assert_true((alone.plan == NULL) == (shared.plan == NULL));
        if (alone.plan != NULL) {
            bytes += check_ports(&shared, graph, strtod(port, NULL));
            longer += clo_plan_makespan_ns(shared.plan) > clo_plan_makespan_ns(alone.plan);
            plans++;
        }
        drop(&alone);
        drop(&shared);
        clo_graph_destroy(graph);
    }
    print_message("%llu plans, %llu bytes, %llu plans got longer\n", (unsigned long long)plans,
                  (unsigned long long)bytes, (unsigned long long)longer);
    assert_true(plans > SEEDS / 2 && bytes > 0 && longer > SEEDS / 100);
}

/* With replicas and demands, the checker alone judges. */
static void plans_with_replicas_and_demands_are_valid(void **state)
{
    uint64_t replicas = 0, plans = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph = random_graph(seed, (unsigned)(seed * 53 % 1024) | RANDOM_DUPLICABLE);
        planned p = plan_it(seed, graph, ports[seed % 4], 0);
        size_t count = 0;
        (void)clo_plan_placements(p.plan, &count);
        plans += p.plan != NULL;
        replicas += p.plan != NULL ? count - clo_graph_instances(graph) : 0;
        drop(&p);
        clo_graph_destroy(graph);
    }
    assert_true(plans > SEEDS / 2 && replicas > 0);
}

/* A chain has one message at a time: ports as wide as the link change nothing. */
static void messages_one_at_a_time_take_what_they_take_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
        clo_rng rng = sample_rng(seed + 5000);
        clo_graph *graph = NULL;
        uint32_t length = 2 + clo_rng_below(&rng, 20);
        ok(clo_graph_create("chain", &graph));
        for (uint32_t t = 0; t < length; t++) {
            clo_task task = {.work_ns = 1 + clo_rng_below(&rng, 1000)};
            uint32_t executor = clo_rng_below(&rng, 2); /* of two machines, if there are */
            ok(clo_graph_add_task(graph, &task, NULL));
            ok(clo_graph_set_executors(graph, t, &executor, 1));
            if (t > 0)
                ok(clo_graph_add_edge(graph, t - 1, t, clo_rng_below(&rng, 3) * 99991));
        }
        ok(clo_graph_seal(graph));
        planned alone = plan_it(seed, graph, NULL, 1), shared = plan_it(seed, graph, "0.5", 1);
        planned wide = plan_it(seed, graph, "1000000", 1);
        if (alone.plan != NULL && clo_platform_transfer_ns(clo_cluster_platform(alone.cluster), 1000000, 0, 1) > 10000)
            assert_int_equal(clo_plan_makespan_ns(shared.plan), clo_plan_makespan_ns(alone.plan));
        if (alone.plan != NULL) /* of a link without limit a wide port is one: a ns for a message at most */
            assert_in_range(clo_plan_makespan_ns(wide.plan), clo_plan_makespan_ns(alone.plan),
                            clo_plan_makespan_ns(alone.plan) + length);
        drop(&alone);
        drop(&shared);
        drop(&wide);
        clo_graph_destroy(graph);
    }
}

/* Tasks of 0 ns but for a few, edges with up to 5000 bytes; ids in no order. */
static clo_graph *short_tasks(clo_rng *rng)
{
    enum { TASKS_MAX = 34 };
    uint32_t id[TASKS_MAX], tasks = TASKS_MAX - clo_rng_below(rng, 15);
    clo_graph *graph;

    ok(clo_graph_create(NULL, &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t other = clo_rng_below(rng, t + 1);
        clo_task task = {.work_ns = clo_rng_below(rng, 10) == 0};
        id[t] = id[other];
        id[other] = t;
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    for (uint32_t to = 0; to < tasks; to++)
        for (uint32_t from = 0; from < to; from++)
            if (clo_rng_below(rng, 10) < 3)
                ok(clo_graph_add_edge(graph, id[from], id[to],
                                      clo_rng_below(rng, 5) * clo_rng_below(rng, 2) * clo_rng_below(rng, 1250)));
    ok(clo_graph_seal(graph));
    return graph;
}

/* What takes no time and waits for the same message may have been planned in another order than that of its ids. */
static void a_run_takes_as_long_as_its_plan(void **state)
{
    static const char text[] = "{\"format\": \"clotho.cluster/1\", \"link\": {\"latency_ns\": 0, "
                               "\"bandwidth_bytes_per_ns\": null}, \"port_bytes_per_ns\": 0.1, \"machines\": ["
                               "{\"name\": \"a\", \"platform\": \"uniform:2\"}, {\"name\": \"b\", \"platform\": "
                               "\"uniform:3\"}, {\"name\": \"c\", \"platform\": \"uniform:2\"}]}";
    static const char *const planners[] = {"fcp", "fcp", "etf", "flb"};
    (void)state;

    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        clo_rng rng = sample_rng(seed + 9000);
        clo_graph *graph = short_tasks(&rng);
        clo_plan_config config = {
            .size = sizeof config, .planner = planner_named(planners[seed % 4]), .contention = CLO_CONTENTION_TIMES};
        clo_sim_config run = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_cluster *cluster;
        clo_cost *cost;
        clo_plan *plan;

        ok(clo_cluster_parse("three", text, sizeof text - 1, &cluster));
        ok(clo_cost_create(graph, clo_cluster_platform(cluster), &cost));
        ok(clo_plan_create(cost, &config, &plan));
        ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
        run.plan = plan;
        ok(clo_simulate(cost, &run, &result, NULL, NULL));
        assert_int_equal(result.makespan_ns, clo_plan_makespan_ns(plan));
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_cluster_destroy(cluster);
        clo_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_takes_as_long_as_its_plan),
        cmocka_unit_test(no_port_moves_more_than_it_can),
        cmocka_unit_test(plans_with_replicas_and_demands_are_valid),
        cmocka_unit_test(messages_one_at_a_time_take_what_they_take_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
