/* figures.c - see figures.h. */
#include "admission/figures.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

/* The longest transfer of an input of `task` to `executor`, from wherever its predecessor may have run. */
static int64_t longest_input(const clo_cost *cost, uint32_t task, uint32_t executor)
{
    const clo_graph *graph = cost->graph;
    uint32_t executors = clo_platform_executors(cost->platform);
    int64_t longest = 0;

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++) {
        uint64_t bytes = clo_graph_in_bytes(graph, e);
        for (uint32_t from = 0; from < executors; from++) {
            if (clo_cost_time(cost, clo_graph_source(graph, e), from) == CLO_TIME_NEVER)
                continue;
            int64_t took = clo_platform_transfer_ns(cost->platform, bytes, from, executor);
            longest = took > longest ? took : longest;
        }
    }
    return longest;
}

/* One task on all executors. */
static void measure_task(clo_admission_figures *f, uint32_t task, int64_t overhead_ns)
{
    uint32_t executors = clo_platform_executors(f->cost->platform), width = 0;
    int64_t instances = clo_graph_instances_of(f->graph, task), longest = 0;

    for (uint32_t e = 0; e < executors; e++) {
        int64_t body = clo_cost_time(f->cost, task, e);
        if (body == CLO_TIME_NEVER)
            continue;
        int64_t held = clo_time_add(clo_time_add(body, longest_input(f->cost, task, e)), overhead_ns);
        width++;
        longest = held > longest ? held : longest;
        f->by_executor[e] = held > f->by_executor[e] ? held : f->by_executor[e];
    }
    f->longest_ns[task] = longest;
    f->width = width < f->width ? width : f->width;
    f->work_ns = clo_time_add(f->work_ns, clo_time_mul(longest, instances));
    f->work_least_ns = clo_time_add(f->work_least_ns, clo_time_mul(clo_cost_fastest(f->cost, task), instances));
}

static bool has_limited_demands(const clo_cost *cost)
{
    for (uint32_t t = 0; t < cost->graph->tasks && cost->graph->has_demands; t++) {
        const int64_t *demand = clo_graph_demand(cost->graph, t);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            for (uint32_t m = 0; demand[r] > 0 && m < clo_platform_machines(cost->platform); m++)
                if (clo_cost_capacity(cost, m, r) >= 0)
                    return true;
    }
    return false;
}

int64_t clo_admission_longest_chain(const clo_admission_figures *f, const int64_t *weights)
{
    const clo_graph *graph = f->graph;
    int64_t longest = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i];
        int64_t before = 0;
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++)
            before = f->path_ns[clo_graph_source(graph, e)] > before ? f->path_ns[clo_graph_source(graph, e)] : before;
        f->path_ns[u] = clo_time_add(before, weights[u]);
        longest = f->path_ns[u] > longest ? f->path_ns[u] : longest;
    }
    return longest;
}

clo_status clo_admission_figures_open(clo_admission_figures *out, const clo_graph *graph, const clo_platform *platform,
                                      int64_t overhead_ns)
{
    uint32_t tasks = clo_graph_tasks(graph), executors = clo_platform_executors(platform);

    *out = (clo_admission_figures){.graph = graph, .width = executors};
    clo_status status = clo_cost_create(graph, platform, &out->cost);
    if (status != CLO_OK)
        return status;
    out->longest_ns = clo_allocate(tasks, sizeof *out->longest_ns);
    out->path_ns = clo_allocate(tasks, sizeof *out->path_ns);
    out->by_executor = clo_allocate(executors, sizeof *out->by_executor);
    if (out->longest_ns == NULL || out->path_ns == NULL || out->by_executor == NULL)
        return clo_fail_memory("an admission test");
    for (uint32_t t = 0; t < tasks; t++)
        out->longest_ns[t] = clo_cost_fastest(out->cost, t);
    out->fastest_ns = clo_admission_longest_chain(out, out->longest_ns);
    for (uint32_t t = 0; t < tasks; t++)
        measure_task(out, t, overhead_ns);
    out->has_demands = has_limited_demands(out->cost);
    return CLO_OK;
}

void clo_admission_figures_close(clo_admission_figures *figures)
{
    clo_cost_destroy(figures->cost);
    clo_free(figures->longest_ns);
    clo_free(figures->path_ns);
    clo_free(figures->by_executor);
    *figures = (clo_admission_figures){0};
}
