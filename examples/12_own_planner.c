/* 12_own_planner.c - a planner of your own, in a shared object:
 *
 *     cc -shared -fPIC 12_own_planner.c -o mine.so
 *     clotho plan GRAPH --planner all --planner ./mine.so
 *
 * Tasks in topological order, each where it ends first: HEFT without ranks and gaps. For graphs without demands. */
#include <clotho/planner.h>
#include <stdlib.h>

/* Every edge leads from a task with a lower level to one with a higher level (clo_graph_levels). */
static uint32_t task_at_level(const uint32_t *levels, uint32_t tasks, uint32_t *level, uint32_t *next)
{
    for (;; ++*level, *next = 0) /* ends: the caller asks `tasks` times */
        for (uint32_t t = *next; t < tasks; t++)
            if (levels[t] == *level)
                return *next = t + 1, t;
}

static int64_t inputs_ns(const clo_cost *cost, uint32_t task, uint32_t executor, const clo_placement *placed)
{
    const clo_graph *graph = clo_cost_graph(cost);
    int64_t there_ns = 0;
    clo_edge edge;

    for (uint32_t e = 0; clo_graph_edge(graph, e, &edge) == CLO_OK; e++) {
        if (edge.to != task)
            continue;
        int64_t arrival_ns =
            placed[edge.from].finish_ns +
            clo_platform_transfer_ns(clo_cost_platform(cost), edge.bytes, placed[edge.from].executor, executor);
        there_ns = arrival_ns > there_ns ? arrival_ns : there_ns;
    }
    return there_ns;
}

static clo_status place(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
                        clo_placement *placed, size_t *count)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost)), level = 0, next = 0;
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    int64_t *free_ns = calloc(executors, sizeof *free_ns);
    uint32_t *levels = calloc(tasks, sizeof *levels);

    (void)planner, (void)config;
    if (free_ns == NULL || levels == NULL || *count != tasks) /* one instance each */
        return free(free_ns), free(levels), CLO_ERR_UNSUPPORTED;
    clo_graph_levels(clo_cost_graph(cost), levels);
    for (uint32_t i = 0; i < tasks; i++) {
        uint32_t t = task_at_level(levels, tasks, &level, &next);
        placed[t] = (clo_placement){.task = t, .finish_ns = INT64_MAX};
        for (uint32_t e = 0; e < executors; e++) {
            int64_t time_ns = clo_cost_execution_ns(cost, t, e), start_ns = inputs_ns(cost, t, e, placed);
            if (time_ns == CLO_TIME_NEVER) /* it cannot run there */
                continue;
            start_ns = free_ns[e] > start_ns ? free_ns[e] : start_ns;
            if (start_ns + time_ns < placed[t].finish_ns)
                placed[t] = (clo_placement){t, 0, e, 0, start_ns, start_ns + time_ns};
        }
        free_ns[placed[t].executor] = placed[t].finish_ns;
    }
    free(free_ns);
    free(levels);
    *count = tasks;
    return CLO_OK;
}

const clo_planner clotho_planner = {"own-greedy", "topological order, each task where it ends first",
                                    sizeof(clo_planner), .plan = place};
