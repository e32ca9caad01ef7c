/* plan/measure.c - the numbers reported with a plan: LACHESIS eq. 13 (speedup) and 14 (SLR), gap, use, transfers. */
#include "plan/plan.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "platform/model/platform.h"

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

/* How transfers are counted: producer by producer. An instance that was executed once is read from there, so of these
 * only their number in each memory matters. */
typedef struct transfers {
    const clo_plan *plan;
    const clo_graph *graph;
    const clo_platform *platform;
    execution_index index;
    /* Of the producer at hand: instances that were executed once, in all and by memory; the others. */
    uint64_t once, *once_in;
    uint32_t *again, again_count;
} transfers;

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

/* True if what an execution on executor `to` reads of `instance`, `bytes` of it, comes from another memory. It comes
 * from the execution that arrives first; ties as in the engine: one on the same executor, then the original. */
static bool crosses(const transfers *t, uint32_t instance, uint64_t bytes, uint32_t to)
{
    const clo_placement *best = NULL;
    int64_t earliest = INT64_MAX;

    for (size_t c = t->index.first[instance]; c < t->index.first[instance + 1]; c++) {
        const clo_placement *execution = &t->plan->placements[t->index.executions[c]];
        int64_t way = clo_platform_transfer_ns(t->platform, bytes, execution->executor, to);
        int64_t arrival = clo_time_add(execution->finish_ns, way);
        bool wins_tie = best == NULL || execution->executor == to || (!execution->is_replica && best->executor != to);
        if (arrival < earliest || (arrival == earliest && wins_tie)) {
            earliest = arrival;
            best = execution;
        }
    }
    return best != NULL && t->platform->executors[best->executor].memory != t->platform->executors[to].memory;
}

static uint32_t memory_of(const transfers *t, size_t execution)
{
    return t->platform->executors[t->plan->placements[t->index.executions[execution]].executor].memory;
}

/* Counts the instances of `task` that were executed once, by memory; lists those executed more often. */
static void look_at_producers(transfers *t, uint32_t task)
{
    const clo_graph *graph = t->graph;

    t->once = t->again_count = 0;
    for (uint32_t v = graph->first_instance[task]; v < graph->first_instance[task + 1]; v++) {
        size_t executions = t->index.first[v + 1] - t->index.first[v];
        if (executions > 1)
            t->again[t->again_count++] = v;
        if (executions != 1)
            continue;
        t->once_in[memory_of(t, t->index.first[v])]++;
        t->once++;
    }
}

static void forget_producers(transfers *t, uint32_t task)
{
    for (size_t c = t->index.first[t->graph->first_instance[task]];
         c < t->index.first[t->graph->first_instance[task + 1]]; c++)
        t->once_in[memory_of(t, c)] = 0;
}

/* What the executions of a task read over an edge from the producers that were looked at. */
static void count_edge(const transfers *t, uint32_t to, uint64_t bytes, clo_plan_metrics *metrics)
{
    const size_t *first = t->index.first;

    for (size_t c = first[t->graph->first_instance[to]]; c < first[t->graph->first_instance[to + 1]]; c++) {
        uint64_t count = t->once - t->once_in[memory_of(t, c)];
        for (uint32_t i = 0; i < t->again_count; i++)
            count += crosses(t, t->again[i], bytes, t->plan->placements[t->index.executions[c]].executor);
        metrics->transfers += count;
        metrics->transferred_bytes += count * bytes;
    }
}

static clo_status count_transfers(const clo_plan *plan, const clo_cost *cost, clo_plan_metrics *metrics)
{
    const clo_graph *graph = clo_cost_graph(cost);
    transfers t = {.plan = plan, .graph = graph, .platform = clo_cost_platform(cost)};
    clo_status status = index_open(&t.index, plan, graph);

    t.once_in = clo_allocate(t.platform->memories_count, sizeof *t.once_in);
    t.again = clo_allocate(graph->instances, sizeof *t.again);
    if (status == CLO_OK && (t.once_in == NULL || t.again == NULL))
        status = clo_fail_memory("the metrics of a plan");
    for (uint32_t u = 0; status == CLO_OK && u < graph->tasks; u++) {
        if (graph->out_first[u] == graph->out_first[u + 1])
            continue;
        look_at_producers(&t, u);
        for (uint32_t at = graph->out_first[u]; at < graph->out_first[u + 1]; at++)
            count_edge(&t, graph->out[at], clo_graph_out_bytes(graph, at), metrics);
        forget_producers(&t, u);
    }
    clo_free(t.once_in);
    clo_free(t.again);
    index_close(&t.index);
    return status;
}

/* mW x ns = pJ. */
static int64_t energy_nj(const clo_plan *plan, const clo_platform *platform)
{
    clo_u128 sum_pj = 0;

    for (size_t i = 0; i < plan->count; i++) {
        const clo_placement *p = &plan->placements[i];
        uint32_t power_mw = platform->places != NULL ? platform->places[p->executor].power_mw : 0;
        if (power_mw == 0)
            return -1;
        sum_pj += (clo_u128)(uint64_t)(p->finish_ns - p->start_ns) * power_mw;
    }
    sum_pj /= 1000;
    return sum_pj < CLO_TIME_NEVER ? (int64_t)sum_pj : CLO_TIME_NEVER;
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
    metrics.energy_nj = energy_nj(plan, clo_cost_platform(cost));
    clo_result_write(out, &metrics, sizeof metrics);
    return CLO_OK;
}
