/* bench_contention.c - what does a plan gain that knows of the ports of machines when it chooses executors?
 *
 * Layered random graphs on 4 to 64 machines of two executors each, on a network of 1 Gbit/s or 100 Mbit/s: each link,
 * and each port, moves that much. Tasks take 10 ms on average, edges as much at 1 Gbit/s. The same planner plans twice:
 * ports count in the times of its plan alone (CLO_CONTENTION_TIMES), or in the choice, too. SLR: makespan over the
 * critical path of fastest times. Every plan passes the checker. Interval: mean +- 2 standard errors, over graphs, of
 * the makespan with the choice over that without. Nothing here depends on the clock but plan_ms. */
#include "common/platform.h"

#include <clotho/planner.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 4, NETWORKS = 2, PLANNERS_MAX = 8, EXECUTORS_EACH = 2, TASKS = 100, WORK_NS = 10000000 };

static const uint32_t widths[WIDTHS] = {4, 8, 16, 64};
static const double rates[NETWORKS] = {0.125, 0.0125}; /* bytes/ns */
static const char *const names[NETWORKS] = {"1 Gbit/s", "100 Mbit/s"};

typedef struct cell {
    double slr[2], plan_ms[2]; /* means: without the choice, with it */
    double ratio, error;       /* mean of the makespans' ratios, and 2 standard errors */
    uint32_t shorter, longer;
} cell;

static clo_platform *platform_new(uint32_t machines, double rate)
{
    uint32_t n = machines * EXECUTORS_EACH;
    clo_executor *list = calloc(n, sizeof *list);
    int64_t *latency = calloc((size_t)n * n, sizeof *latency);
    double *bandwidth = calloc((size_t)n * n, sizeof *bandwidth), *ports = calloc(machines, sizeof *ports);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;

    if (list != NULL && latency != NULL && bandwidth != NULL && ports != NULL) {
        for (uint32_t e = 0; e < n; e++) {
            list[e] = (clo_executor){.machine = e / EXECUTORS_EACH, .memory = e / EXECUTORS_EACH, .os_index = -1};
            for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
                list[e].speed_q16[c] = CLO_SPEED_ONE;
        }
        for (size_t i = 0; i < (size_t)n * n; i++)
            latency[i] = 50000, bandwidth[i] = rate;
        for (uint32_t m = 0; m < machines; m++)
            ports[m] = rate;
        desc.executors_count = n;
        desc.executors = list;
        desc.kinds_count = 1;
        desc.machines_count = machines;
        desc.latency_ns = latency;
        desc.bandwidth_bytes_per_ns = bandwidth;
        desc.port_bytes_per_ns = ports;
        if (clo_platform_create(&desc, &platform) != CLO_OK)
            bench_fail("a platform");
    }
    free(list);
    free(latency);
    free(bandwidth);
    free(ports);
    return platform;
}

static bool plan(const clo_cost *cost, const char *planner, uint32_t contention, clo_plan_metrics *metrics, double *ms)
{
    const clo_plan_config config = {
        .size = sizeof config, .planner = clo_planner_find(planner), .contention = contention};
    clo_plan *made = NULL;
    int64_t begin_ns = bench_now_ns();
    bool is_good = clo_plan_create(cost, &config, &made) == CLO_OK;

    *ms += (double)(bench_now_ns() - begin_ns) / 1e6;
    is_good = is_good && clo_plan_check(made, cost, CLO_CHECK_FULL) == CLO_OK &&
              clo_plan_measure(made, cost, metrics) == CLO_OK;
    clo_plan_destroy(made);
    return is_good || bench_fail(planner);
}

/* One graph: adds to the sums. */
static bool measure_one(const clo_platform *platform, const char *planner, uint64_t seed, cell *c, double *ratio)
{
    static const uint32_t contention[2] = {CLO_CONTENTION_TIMES, CLO_CONTENTION_CHOOSE};
    const clo_generate_config config = {.size = sizeof config,
                                        .seed = seed,
                                        .tasks = TASKS,
                                        .work_mean_ns = WORK_NS,
                                        .ccr = rates[0],
                                        .work_spread = 0.5,
                                        .duplicable = 1};
    clo_plan_metrics metrics[2] = {CLO_PLAN_METRICS_INIT, CLO_PLAN_METRICS_INIT};
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    bool is_good =
        clo_graph_generate("layered", &config, &graph) == CLO_OK && clo_cost_create(graph, platform, &cost) == CLO_OK;

    for (int k = 0; k < 2 && is_good; k++) {
        is_good = plan(cost, planner, contention[k], &metrics[k], &c->plan_ms[k]);
        c->slr[k] += metrics[k].slr;
    }
    *ratio = is_good ? (double)metrics[1].makespan_ns / (double)metrics[0].makespan_ns : 0;
    c->shorter += metrics[1].makespan_ns < metrics[0].makespan_ns;
    c->longer += metrics[1].makespan_ns > metrics[0].makespan_ns;
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return is_good;
}

static bool measure(const bench_options *options, const char *planner, uint32_t machines, double rate, cell *c)
{
    uint32_t n = options->rounds;
    clo_platform *platform = platform_new(machines, rate);
    double sum = 0, squares = 0;
    bool is_good = platform != NULL;

    *c = (cell){0};
    for (uint32_t i = 0; i < n && is_good; i++) {
        double ratio;
        is_good = measure_one(platform, planner, options->seed + i, c, &ratio);
        sum += ratio;
        squares += ratio * ratio;
    }
    for (int k = 0; k < 2; k++) {
        c->slr[k] /= n;
        c->plan_ms[k] /= n;
    }
    c->ratio = sum / n;
    double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
    c->error = variance > 0 ? 2 * sqrt(variance / n) : 0;
    clo_platform_destroy(platform);
    return is_good;
}

static void print(const bench_options *options, const char *planner, uint32_t machines, int network, const cell *c,
                  bool is_first)
{
    if (!options->json) {
        printf("%-10s %8u  %-10s %7.3f %7.3f  %.3f +- %.3f  %4u %4u  %8.2f %8.2f\n", planner, machines, names[network],
               c->slr[0], c->slr[1], c->ratio, c->error, c->shorter, c->longer, c->plan_ms[0], c->plan_ms[1]);
        return;
    }
    printf("%s{\"planner\": \"%s\", \"machines\": %u, \"bytes_per_ns\": %g, \"slr_without\": %.4f, \"slr_with\": %.4f, "
           "\"ratio\": %.4f, \"error\": %.4f, \"shorter\": %u, \"longer\": %u, \"plan_ms_without\": %.3f, "
           "\"plan_ms_with\": %.3f}",
           is_first ? "" : ", ", planner, machines, rates[network], c->slr[0], c->slr[1], c->ratio, c->error,
           c->shorter, c->longer, c->plan_ms[0], c->plan_ms[1]);
}

static int measure_all(const bench_options *options, const bench_list *planners)
{
    bool is_first = true;

    if (options->json)
        printf("{\"bench\": \"contention\", \"graphs\": %u, \"tasks\": %d, \"seed\": %llu, \"rows\": [",
               options->rounds, TASKS, (unsigned long long)options->seed);
    else
        printf("%u layered graphs of %d tasks; SLR, and makespan with the choice over that without\n"
               "%-10s %8s  %-10s %7s %7s  %-15s  %4s %4s  %8s %8s\n",
               options->rounds, TASKS, "planner", "machines", "network", "without", "with", "ratio", "less", "more",
               "ms", "ms with");
    for (uint32_t p = 0; p < planners->count; p++)
        for (uint32_t w = 0; w < (options->quick ? 2u : WIDTHS); w++)
            for (int network = 0; network < NETWORKS; network++) {
                cell c;
                if (!measure(options, planners->items[p], widths[w], rates[network], &c))
                    return 1;
                print(options, planners->items[p], widths[w], network, &c, is_first);
                fflush(stdout);
                is_first = false;
            }
    if (options->json)
        printf("]}\n");
    return 0;
}

int main(int argc, char **argv)
{
    static const bench_list usual = {.items = {"heft", "deft", "peft", "best"}, .count = 4};
    bench_list asked = {0};
    const bench_flag flags[] = {
        {.name = "planner NAME", .help = "may be given several times; else heft, deft, peft, best", .list = &asked},
        {0}};
    const bench_about about = {.name = "contention",
                               .question = "what does a plan gain that knows of the ports of machines?",
                               .flags = flags,
                               .rounds = 20,
                               .quick_rounds = 3};
    bench_options options;
    int exit_status = bench_options_read(&options, &about, argc, argv);

    return exit_status < 0 ? measure_all(&options, asked.count > 0 ? &asked : &usual) : exit_status;
}
