/* bench_plan.c - what does planning cost? HEFT and DEFT over tasks x executors, and how the cost grows.
 *
 * Layered random graphs with transfers (CCR 1), duplicable tasks, on platforms of executors with different speeds, each
 * with a memory of its own. Every plan is checked before it is timed. HEFT looks at every (edge, executor) pair once,
 * so "ns a pair" should stay level. */
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES_MAX = 3 };

typedef struct row {
    const char *planner;
    uint32_t tasks, edges, executors;
    bench_stats plan_ms;
    int64_t makespan_ns;
    uint32_t duplicates;
} row;

static clo_platform *make_platform(uint32_t executors, uint64_t seed)
{
    clo_executor *list = calloc(executors, sizeof *list);
    int64_t *latency = calloc((size_t)executors * executors, sizeof *latency);
    double *bandwidth = calloc((size_t)executors * executors, sizeof *bandwidth);
    clo_platform *platform = NULL;

    if (list != NULL && latency != NULL && bandwidth != NULL) {
        for (uint32_t e = 0; e < executors; e++) {
            uint32_t speed = CLO_SPEED_ONE / 2 + bench_random_below(&seed, CLO_SPEED_ONE);

            list[e] = (clo_executor){.memory = e, .os_index = -1};
            for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
                list[e].speed_q16[c] = speed;
        }
        for (size_t i = 0; i < (size_t)executors * executors; i++) {
            latency[i] = 1000;
            bandwidth[i] = 1.0;
        }
        clo_platform_desc desc = {.size = sizeof desc,
                                  .executors_count = executors,
                                  .executors = list,
                                  .kinds_count = 1,
                                  .latency_ns = latency,
                                  .bandwidth_bytes_per_ns = bandwidth};
        if (clo_platform_create(&desc, &platform) != CLO_OK)
            bench_fail("cannot make a platform");
    }
    free(list);
    free(latency);
    free(bandwidth);
    return platform;
}

static bool check(const clo_cost *cost, const clo_plan_config *config, row *r)
{
    clo_plan *plan = NULL;
    clo_plan_metrics metrics;
    bool is_good = clo_plan_create(cost, config, &plan) == CLO_OK &&
                   clo_plan_check(plan, cost, CLO_CHECK_FULL) == CLO_OK &&
                   clo_plan_measure(plan, cost, &metrics) == CLO_OK;

    if (is_good) {
        r->makespan_ns = metrics.makespan_ns;
        r->duplicates = metrics.duplicates;
    }
    clo_plan_destroy(plan);
    return is_good || bench_fail(config->planner);
}

static bool time_planner(const clo_cost *cost, const bench_options *o, row *r)
{
    const clo_plan_config config = {.size = sizeof config, .planner = r->planner, .seed = o->seed};
    double *ms = calloc(o->rounds, sizeof *ms);
    bool is_good = ms != NULL && check(cost, &config, r);

    for (uint32_t i = 0; i < o->rounds && is_good; i++) {
        clo_plan *plan = NULL;
        int64_t start_ns = bench_now_ns();

        is_good = clo_plan_create(cost, &config, &plan) == CLO_OK || bench_fail(r->planner);
        ms[i] = (double)(bench_now_ns() - start_ns) / 1e6;
        clo_plan_destroy(plan);
    }
    if (is_good)
        r->plan_ms = bench_summarise(ms, o->rounds);
    free(ms);
    return is_good;
}

/* Fills two rows: HEFT and DEFT. */
static bool measure(uint32_t tasks, uint32_t executors, const bench_options *o, row rows[2])
{
    const clo_generate_config generate = {
        .size = sizeof generate, .seed = o->seed, .tasks = tasks, .ccr = 1.0, .work_spread = 0.5, .duplicable = 1};
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_platform *platform = make_platform(executors, o->seed);
    bool is_good = platform != NULL && ((clo_graph_generate("layered", &generate, &graph) == CLO_OK &&
                                         clo_cost_create(graph, platform, &cost) == CLO_OK) ||
                                        bench_fail("cannot make a graph"));

    for (int i = 0; i < 2 && is_good; i++) {
        rows[i] = (row){.planner = i == 0 ? "heft" : "deft",
                        .tasks = clo_graph_tasks(graph),
                        .edges = clo_graph_edges(graph),
                        .executors = executors};
        is_good = time_planner(cost, o, &rows[i]);
    }
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_good;
}

static double ns_per_task(const row *r)
{
    return r->plan_ms.median * 1e6 / r->tasks;
}

static double ns_per_pair(const row *r)
{
    return r->plan_ms.median * 1e6 / ((double)(r->edges + r->tasks) * r->executors);
}

static void print_row(const row *r, bool is_json, const char *comma)
{
    if (is_json)
        printf("%s{\"planner\": \"%s\", \"tasks\": %u, \"edges\": %u, \"executors\": %u, \"plan_ms\": %.4f, "
               "\"plan_ms_p10\": %.4f, \"plan_ms_p90\": %.4f, \"ns_per_task\": %.1f, \"ns_per_pair\": %.2f, "
               "\"makespan_ns\": %lld, \"duplicates\": %u}",
               comma, r->planner, r->tasks, r->edges, r->executors, r->plan_ms.median, r->plan_ms.p10, r->plan_ms.p90,
               ns_per_task(r), ns_per_pair(r), (long long)r->makespan_ns, r->duplicates);
    else
        printf("%-6s %7u %7u %5u %10.3f [%.3f .. %.3f] %10.0f %8.2f %8u\n", r->planner, r->tasks, r->edges,
               r->executors, r->plan_ms.median, r->plan_ms.p10, r->plan_ms.p90, ns_per_task(r), ns_per_pair(r),
               r->duplicates);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[SIZES_MAX] = {100, 1000, 10000}, machines[SIZES_MAX] = {2, 8, 50};
    const bench_about about = {.name = "plan", .question = "what does planning cost?", .rounds = 7, .quick_rounds = 3};
    bench_options o;
    const char *comma = "";
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    if (o.json)
        printf("{\"bench\": \"plan\", \"rounds\": %u, \"seed\": %llu, \"rows\": [", o.rounds,
               (unsigned long long)o.seed);
    else
        printf("medians of %u plans [10th .. 90th percentile]\n%-6s %7s %7s %5s %10s %18s %8s %8s\n", o.rounds, "",
               "tasks", "edges", "execs", "ms", "ns a task", "a pair", "replicas");
    for (uint32_t s = 0; s < (o.quick ? 2u : SIZES_MAX); s++)
        for (uint32_t m = 0; m < SIZES_MAX; m++) {
            row rows[2];

            if (!measure(sizes[s], machines[m], &o, rows))
                return 1;
            for (int i = 0; i < 2; i++, comma = ", ")
                print_row(&rows[i], o.json, comma);
        }
    if (o.json)
        printf("]}\n");
    return 0;
}
