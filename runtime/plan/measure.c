/* plan/measure.c - the numbers reported with a plan: LACHESIS eq. 13 (speedup) and 14 (SLR), gap, use, transfers. */
#include "plan/plan.h"

#include "base/memory.h"
#include "base/saturate.h"
#include "base/status.h"
#include "platform/platform.h"

/* Ratios of times: what takes no time counts as 1 ns, so that every ratio is a finite number. */
static double ratio(int64_t above, int64_t below)
{
    if (above == below)
        return 1;
    return (double)above / (double)(below > 0 ? below : 1);
}

/* All tasks on the best single executor; where no executor can run everything, each on its fastest. The
 * sums cannot overflow: clo_cost_create checks the sum of the longest times. */
static int64_t serial_ns(const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    int64_t best = CLO_TIME_NEVER, fastest_sum = 0;

    for (uint32_t e = 0; e < executors; e++) {
        int64_t sum = 0;
        for (uint32_t t = 0; t < graph->tasks && sum != CLO_TIME_NEVER; t++) {
            int64_t each = clo_cost_execution_ns(cost, t, e);
            sum = each == CLO_TIME_NEVER ? CLO_TIME_NEVER : sum + each * graph->rows[t].instances;
        }
        if (sum < best)
            best = sum;
    }
    if (best != CLO_TIME_NEVER)
        return best;
    for (uint32_t t = 0; t < graph->tasks; t++) {
        int64_t fastest = CLO_TIME_NEVER;
        for (uint32_t e = 0; e < executors; e++)
            if (clo_cost_execution_ns(cost, t, e) < fastest)
                fastest = clo_cost_execution_ns(cost, t, e);
        fastest_sum += fastest * graph->rows[t].instances;
    }
    return fastest_sum;
}

/* The executions of each instance: placements executions[first[i]] .. executions[first[i + 1] - 1]. */
typedef struct execution_index {
    size_t *first;
    size_t *executions;
} execution_index;

static clo_status index_open(execution_index *index, const clo_plan *plan, const clo_graph *graph)
{
    *index = (execution_index){clo_allocate((size_t)graph->instances + 2, sizeof index->first[0]),
                               clo_allocate(plan->count, sizeof index->executions[0])};
    if (index->first == NULL || index->executions == NULL)
        return clo_fail_memory("the metrics of a plan");
    for (size_t i = 0; i < plan->count; i++)
        index->first[graph->first_instance[plan->placements[i].task] + plan->placements[i].instance + 2]++;
    for (uint32_t i = 1; i <= graph->instances; i++)
        index->first[i + 1] += index->first[i];
    for (size_t i = 0; i < plan->count; i++)
        index->executions[index->first[graph->first_instance[plan->placements[i].task] + plan->placements[i].instance +
                                       1]++] = i;
    return CLO_OK;
}

static void index_close(execution_index *index)
{
    clo_free(index->first);
    clo_free(index->executions);
}

/* True if the input over `arc` of an execution on executor `to` comes from another memory. It comes from the execution that
 * arrives first; ties as in the engine: one on the same executor, then the original. */
static bool crosses(const clo_plan *plan, const clo_cost *cost, const execution_index *index, uint32_t arc, uint32_t to)
{
    const clo_graph *graph = clo_cost_graph(cost);
    const clo_platform *platform = clo_cost_platform(cost);
    const clo_placement *best = NULL;
    int64_t earliest = INT64_MAX;

    for (size_t c = index->first[graph->pred[arc]]; c < index->first[graph->pred[arc] + 1]; c++) {
        const clo_placement *execution = &plan->placements[index->executions[c]];
        int64_t way = clo_platform_transfer_ns(platform, clo_graph_arc_bytes(graph, arc), execution->executor, to);
        int64_t arrival = clo_time_add(execution->finish_ns, way);
        bool wins_tie = best == NULL || execution->executor == to || (!execution->is_replica && best->executor != to);
        if (arrival < earliest || (arrival == earliest && wins_tie)) {
            earliest = arrival;
            best = execution;
        }
    }
    return best != NULL && platform->executors[best->executor].memory != platform->executors[to].memory;
}

static clo_status count_transfers(const clo_plan *plan, const clo_cost *cost, clo_plan_metrics *metrics)
{
    const clo_graph *graph = clo_cost_graph(cost);
    execution_index index;
    clo_status status = index_open(&index, plan, graph);

    for (size_t i = 0; status == CLO_OK && i < plan->count; i++) {
        uint32_t instance = graph->first_instance[plan->placements[i].task] + plan->placements[i].instance;
        for (uint32_t arc = graph->pred_first[instance]; arc < graph->pred_first[instance + 1]; arc++)
            if (crosses(plan, cost, &index, arc, plan->placements[i].executor)) {
                metrics->transfers++;
                metrics->transferred_bytes += clo_graph_arc_bytes(graph, arc);
            }
    }
    index_close(&index);
    return status;
}

clo_status clo_plan_measure(const clo_plan *plan, const clo_cost *cost, clo_plan_metrics *out)
{
    if (plan == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_measure", "plan, cost or out");
    clo_plan_metrics metrics = {.size = sizeof metrics, .makespan_ns = plan->makespan_ns};
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    clo_bound bound = CLO_BOUND_INIT;
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_plan_metrics, duplicates), "clo_plan_metrics");

    if (status == CLO_OK)
        status = clo_plan_matches(plan, cost);

    if (status == CLO_OK)
        status = clo_cost_bound(cost, &bound);
    if (status == CLO_OK)
        status = count_transfers(plan, cost, &metrics);
    if (status != CLO_OK)
        return status;
    for (size_t i = 0; i < plan->count; i++) {
        int64_t length = plan->placements[i].finish_ns - plan->placements[i].start_ns;
        metrics.busy_ns = clo_time_add(metrics.busy_ns, length);
        metrics.duplicates += plan->placements[i].is_replica;
    }
    metrics.lower_bound_ns = bound.best_ns;
    metrics.gap = ratio(plan->makespan_ns, bound.best_ns) - 1;
    metrics.slr = ratio(plan->makespan_ns, bound.critical_path_ns);
    metrics.speedup = ratio(serial_ns(cost), plan->makespan_ns);
    metrics.utilization =
        plan->makespan_ns > 0 ? (double)metrics.busy_ns / ((double)executors * (double)plan->makespan_ns) : 0;
    clo_result_write(out, &metrics, sizeof metrics);
    return CLO_OK;
}
