/* split.c - see split.h. */
#include "remote/split/split.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/source.h"
#include "graph/shape/branch.h"
#include "io/cluster/cluster.h"
#include "plan/facts.h"

#include <stdlib.h>
#include <string.h>

#define ARCS_MAX ((uint64_t)1 << 28) /* pairs of instances; each is looked at */

static uint32_t instance_of(const clo_graph *graph, const clo_placement *p)
{
    return graph->first_instance[p->task] + p->instance;
}

/* Those of an instance in the order of cost/source.h: the original, then its replicas from the last on. */
static clo_status index_executions(clo_split *split, const clo_graph *graph)
{
    split->executions = clo_allocate(split->placements_count, sizeof *split->executions);
    split->first_execution = clo_allocate((size_t)graph->instances + 1, sizeof *split->first_execution);
    if (split->executions == NULL || split->first_execution == NULL)
        return clo_fail_memory("the split of a plan");
    uint32_t *first = split->first_execution;
    for (uint32_t p = 0; p < split->placements_count; p++)
        first[instance_of(graph, &split->placements[p])]++;
    for (uint32_t i = 0, sum = 0; i <= graph->instances; i++) {
        uint32_t count = i < graph->instances ? first[i] : 0;
        first[i] = sum += count; /* the end; filled from there downwards */
    }
    for (uint32_t p = 0; p < split->placements_count; p++)
        if (split->placements[p].is_replica)
            split->executions[--first[instance_of(graph, &split->placements[p])]] = p;
    for (uint32_t p = 0; p < split->placements_count; p++)
        if (!split->placements[p].is_replica)
            split->executions[--first[instance_of(graph, &split->placements[p])]] = p;
    return CLO_OK;
}

/* To sort by. */
typedef struct moment {
    int64_t start_ns, finish_ns;
    uint32_t order, placement; /* order: the instance's in the graph */
} moment;

static int compare_moments(const void *a, const void *b)
{
    const moment *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->placement < y->placement ? -1 : x->placement > y->placement;
}

static clo_status find_places(clo_split *split, const clo_graph *graph)
{
    uint32_t count = split->placements_count;
    uint32_t *order = clo_allocate(graph->instances, sizeof *order);
    moment *list = clo_allocate(count, sizeof *list);

    split->place = clo_allocate(count, sizeof *split->place);
    if (order == NULL || list == NULL || split->place == NULL)
        return clo_free(order), clo_free(list), clo_fail_memory("the split of a plan");
    for (uint32_t i = 0; i < graph->instances; i++)
        order[graph->order[i]] = i;
    for (uint32_t p = 0; p < count; p++) {
        const clo_placement *at = &split->placements[p];
        list[p] = (moment){at->start_ns, at->finish_ns, order[instance_of(graph, at)], p};
    }
    qsort(list, count, sizeof *list, compare_moments);
    for (uint32_t i = 0; i < count; i++)
        split->place[list[i].placement] = i;
    clo_free(order);
    clo_free(list);
    return CLO_OK;
}

static int64_t arrival_of(const clo_split *split, uint32_t source, uint32_t executor, uint64_t bytes)
{
    const clo_placement *p = &split->placements[source];
    const clo_platform *platform = clo_cluster_platform(split->cluster);

    return clo_time_add(p->finish_ns, clo_platform_transfer_ns(platform, bytes, p->executor, executor));
}

uint32_t clo_split_source(const clo_split *split, uint32_t placement, uint32_t instance, uint64_t bytes)
{
    uint32_t executor = split->placements[placement].executor, best = CLO_NONE;
    uint32_t first = split->first_execution[instance];
    clo_source nearest = {0};

    for (uint32_t at = first; at < split->first_execution[instance + 1]; at++) {
        uint32_t source = split->executions[at];
        clo_source mine = {arrival_of(split, source, executor, bytes), split->placements[source].executor};
        if (!clo_source_stands_before(&split->placements[source], &split->placements[placement]))
            continue;
        if (best == CLO_NONE || clo_source_is_nearer(clo_cluster_platform(split->cluster), mine, nearest, executor)) {
            best = source;
            nearest = mine;
        }
    }
    return best != CLO_NONE ? best : split->executions[first];
}

/* One consumer's need, before equal ones are put together. */
typedef struct needs {
    clo_transfer *list;
    size_t count, capacity;
    int64_t *rank_u;
} needs;

static clo_status add_need(clo_split *split, needs *found, const clo_graph *graph, uint32_t placement, uint32_t task,
                           uint32_t instance, uint64_t bytes)
{
    uint32_t source = clo_split_source(split, placement, instance, bytes);
    uint32_t to = clo_split_machine(split, placement);

    if (clo_split_machine(split, source) == to)
        return CLO_OK;
    if (clo_grow((void **)&found->list, &found->capacity, found->count + 1, sizeof *found->list) != 0)
        return clo_fail_memory("the transfers of a plan");
    found->list[found->count++] =
        (clo_transfer){.instance = instance,
                       .from = clo_split_machine(split, source),
                       .to = to,
                       .source = source,
                       .bytes = clo_graph_output(graph, task),
                       .arrival_ns = arrival_of(split, source, split->placements[placement].executor, bytes),
                       .rank_u = found->rank_u[split->placements[placement].task],
                       .first_use = split->place[placement]};
    return CLO_OK;
}

static clo_status find_needs(clo_split *split, needs *found, const clo_graph *graph)
{
    uint64_t arcs = 0;
    clo_status status = CLO_OK;

    for (uint32_t p = 0; p < split->placements_count; p++) {
        uint32_t consumer = split->placements[p].task;
        for (uint32_t k = graph->in_first[consumer]; k < graph->in_first[consumer + 1]; k++) {
            uint32_t task = clo_graph_source(graph, k);
            if ((arcs += clo_graph_instances_of(graph, task)) > ARCS_MAX)
                return clo_fail(CLO_ERR_LIMIT,
                                "the graph has more than 2^28 pairs of instances; several machines take fewer");
            for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++) {
                status = add_need(split, found, graph, p, task, i, clo_graph_in_bytes(graph, k));
                if (status != CLO_OK)
                    return status;
            }
        }
    }
    return status;
}

static int compare_needs(const void *a, const void *b)
{
    const clo_transfer *x = a, *y = b;

    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->arrival_ns != y->arrival_ns)
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    return x->source < y->source ? -1 : x->source > y->source;
}

/* Of equal (instance, to) the first stays: the source that arrives first. */
static clo_status join_needs(clo_split *split, needs *found)
{
    size_t kept = 0;

    if (found->count > 0)
        qsort(found->list, found->count, sizeof *found->list, compare_needs);
    for (size_t i = 0; i < found->count; i++) {
        clo_transfer *last = kept > 0 ? &found->list[kept - 1] : NULL;
        if (last == NULL || last->instance != found->list[i].instance || last->to != found->list[i].to) {
            found->list[kept++] = found->list[i];
            split->bytes = clo_amount_add(split->bytes, found->list[i].bytes);
            continue;
        }
        if (found->list[i].rank_u > last->rank_u)
            last->rank_u = found->list[i].rank_u;
        if (found->list[i].first_use < last->first_use)
            last->first_use = found->list[i].first_use;
    }
    if (kept >= INT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the plan has 2^31 transfers or more");
    split->transfers = found->list;
    split->transfers_count = (uint32_t)kept;
    found->list = NULL;
    return CLO_OK;
}

static clo_status find_transfers(clo_split *split, const clo_graph *graph)
{
    needs found = {.rank_u = clo_allocate(graph->tasks, sizeof(int64_t))};

    if (found.rank_u == NULL)
        return clo_fail_memory("the transfers of a plan");
    clo_cost_rank_u(split->cost, found.rank_u);
    clo_status status = find_needs(split, &found, graph);
    if (status == CLO_OK)
        status = join_needs(split, &found);
    clo_free(found.rank_u);
    clo_free(found.list);
    return status;
}

uint32_t clo_split_transfer(const clo_split *split, uint32_t instance, uint32_t machine)
{
    uint32_t from = 0, to = split->transfers_count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const clo_transfer *t = &split->transfers[middle];
        if (t->instance < instance || (t->instance == instance && t->to < machine))
            from = middle + 1;
        else
            to = middle;
    }
    const clo_transfer *t = &split->transfers[from];
    return from < split->transfers_count && t->instance == instance && t->to == machine ? from : CLO_NONE;
}

clo_status clo_split_open(const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan, clo_split *split)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cluster_platform(cluster));
    size_t count;

    *split = (clo_split){.cluster = cluster, .cost = cost};
    if (clo_cost_platform(cost) != clo_cluster_platform(cluster))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the cost is of another platform than the cluster's; use clo_cluster_platform");
    clo_status status = clo_plan_matches(plan, cost);
    if (status == CLO_OK)
        status = clo_graph_refuse_control_flow(graph, "a run on several machines");
    if (status != CLO_OK)
        return status;
    split->placements = clo_plan_placements(plan, &count);
    split->placements_count = (uint32_t)count;
    split->machine_of = clo_allocate(executors, sizeof *split->machine_of);
    if (split->machine_of == NULL)
        return clo_fail_memory("the split of a plan");
    for (uint32_t m = 0, e = 0; m < clo_cluster_machines(cluster); m++)
        for (; e < cluster->first_executor[m + 1]; e++)
            split->machine_of[e] = m;
    status = index_executions(split, graph);
    if (status == CLO_OK)
        status = find_places(split, graph);
    if (status == CLO_OK)
        status = find_transfers(split, graph);
    if (status != CLO_OK)
        clo_split_close(split);
    return status;
}

void clo_split_close(clo_split *split)
{
    clo_free(split->machine_of);
    clo_free(split->place);
    clo_free(split->executions);
    clo_free(split->first_execution);
    clo_free(split->transfers);
    *split = (clo_split){0};
}
