/* bench_platforms.c - what does a large machine cost before anything is planned?
 *
 * Machines of up to 65 536 executors: all equal in one memory, or in 1 024 memories with a link of its own between each
 * two. Of each: the time to open it, the cost of the first graph on it, of the next ones (100 tasks each, median), and
 * HEFT. Times are wall-clock times of this thread. */
#include "common/platform.h"

#include <clotho/planner.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 100, MEMORIES = 1024, SIZES = 4, ROUNDS_MAX = 1000 };

static const uint32_t sizes[SIZES] = {1024, 4096, 16384, 65536};

typedef struct row {
    double open_ms, first_ms, next_ms, heft_ms;
} row;

static double ms_since(int64_t begin_ns)
{
    return (double)(bench_now_ns() - begin_ns) / 1e6;
}

static clo_status open_uniform(uint32_t executors, clo_platform **out)
{
    char spec[32];

    snprintf(spec, sizeof spec, "uniform:%u", executors);
    return clo_platform_open(spec, out);
}

/* Executor e is in memory e mod MEMORIES; links differ. */
static clo_status open_memories(uint32_t executors, clo_platform **out)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor *list = calloc(executors, sizeof *list);
    uint32_t *group_of = calloc(executors, sizeof *group_of);
    int64_t *latency_ns = calloc((size_t)MEMORIES * MEMORIES, sizeof *latency_ns);
    clo_status status = CLO_ERR_MEMORY;

    if (list != NULL && group_of != NULL && latency_ns != NULL) {
        for (uint32_t e = 0; e < executors; e++) {
            group_of[e] = e % MEMORIES;
            list[e] = (clo_executor){.memory = group_of[e], .os_index = -1};
            for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
                list[e].speed_q16[c] = CLO_SPEED_ONE;
        }
        for (uint32_t i = 0; i < MEMORIES * MEMORIES; i++)
            latency_ns[i] = 1000 + i % 977;
        desc.executors_count = executors;
        desc.executors = list;
        desc.kinds_count = 1;
        desc.latency_ns = latency_ns;
        desc.groups_count = MEMORIES;
        desc.group_of = group_of;
        status = clo_platform_create(&desc, out);
    }
    free(list);
    free(group_of);
    free(latency_ns);
    return status;
}

/* One graph: its cost, and HEFT if *heft_ms is asked for. */
static bool measure_one(const clo_platform *platform, uint64_t seed, double *cost_ms, double *heft_ms)
{
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;

    config.tasks = TASKS;
    config.seed = seed;
    bool is_good = clo_graph_generate("layered", &config, &graph) == CLO_OK;
    int64_t begin_ns = bench_now_ns();
    is_good = is_good && clo_cost_create(graph, platform, &cost) == CLO_OK;
    *cost_ms = ms_since(begin_ns);
    if (heft_ms != NULL && is_good) {
        begin_ns = bench_now_ns();
        is_good = clo_plan_create(cost, NULL, &plan) == CLO_OK;
        *heft_ms = ms_since(begin_ns);
        is_good = is_good && clo_plan_check(plan, cost, CLO_CHECK_FULL) == CLO_OK;
    }
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return is_good || bench_fail("a graph");
}

static bool measure(const bench_options *options, uint32_t executors, bool is_uniform, row *r)
{
    static double next_ms[ROUNDS_MAX];
    clo_platform *platform = NULL;
    uint32_t rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    int64_t begin_ns = bench_now_ns();
    clo_status status = is_uniform ? open_uniform(executors, &platform) : open_memories(executors, &platform);

    if (status != CLO_OK)
        return bench_fail("a platform");
    r->open_ms = ms_since(begin_ns);
    bool is_good = measure_one(platform, options->seed, &r->first_ms, NULL);
    for (uint32_t i = 0; i < rounds && is_good; i++)
        is_good = measure_one(platform, options->seed + 1 + i, &next_ms[i], i == 0 ? &r->heft_ms : NULL);
    r->next_ms = is_good ? bench_summarise(next_ms, rounds).median : 0;
    clo_platform_destroy(platform);
    return is_good;
}

static void print(const bench_options *options, uint32_t executors, bool is_uniform, const row *r, bool is_first)
{
    uint32_t memories = is_uniform ? 1 : MEMORIES;

    if (!options->json)
        printf("%9u %8u %10.2f %10.3f %10.3f %10.2f\n", executors, memories, r->open_ms, r->first_ms, r->next_ms,
               r->heft_ms);
    else
        printf("%s{\"executors\": %u, \"memories\": %u, \"open_ms\": %.3f, \"first_ms\": %.4f, \"next_ms\": %.4f, "
               "\"heft_ms\": %.3f}",
               is_first ? "" : ", ", executors, memories, r->open_ms, r->first_ms, r->next_ms, r->heft_ms);
    fflush(stdout);
}

static void print_goal(const bench_options *options, const char *goal, double value, double must, bool is_first)
{
    const char *holds = value <= must ? "true" : "false";

    if (options->json)
        printf("%s{\"goal\": \"%s\", \"value\": %.3f, \"must\": %g, \"holds\": %s}", is_first ? "" : ", ", goal, value,
               must, holds);
    else
        printf("must: %s at most %g: %s\n", goal, must, value <= must ? "holds" : "FAILS");
}

int main(int argc, char **argv)
{
    const bench_about about = {.name = "platforms",
                               .question = "what does a large machine cost before anything is planned?",
                               .rounds = 99,
                               .quick_rounds = 5};
    bench_options options;
    int exit_status = bench_options_read(&options, &about, argc, argv);
    double first_ms = 0, next_ms = 0;

    if (exit_status >= 0)
        return exit_status;
    if (options.json)
        printf("{\"bench\": \"platforms\", \"tasks\": %d, \"seed\": %llu, \"rows\": [", TASKS,
               (unsigned long long)options.seed);
    else
        printf("%9s %8s %10s %10s %10s %10s\n", "executors", "memories", "open ms", "first ms", "next ms", "HEFT ms");
    for (int is_uniform = 1; is_uniform >= 0; is_uniform--)
        for (uint32_t s = 0; s < SIZES; s++) {
            row r = {0};
            if (!measure(&options, sizes[s], is_uniform, &r))
                return 1;
            print(&options, sizes[s], is_uniform, &r, is_uniform && s == 0);
            if (is_uniform && sizes[s] == 16384) {
                first_ms = r.first_ms;
                next_ms = r.next_ms;
            }
        }
    if (options.json)
        printf("], \"goals\": [");
    print_goal(&options, "first cost on 16384 executors, ms", first_ms, 200, true);
    print_goal(&options, "next costs on 16384 executors, ms", next_ms, 1, false);
    if (options.json)
        printf("]}\n");
    return 0;
}
