/* rank.c - ranks, levels and the critical path: longest ways over mean costs, in integers.
 *
 * Instances of a task have equal ranks, because an edge makes every instance wait for every instance; so
 * only the first instance of each task is looked at, in the topological order found by seal. An edge counts with
 * the bytes of one arc (its share for one pair of instances). Sums fit: see cost.c. */
#include "cost/cost.h"

#include "base/memory.h"
#include "base/status.h"

static bool is_first(const clo_graph *graph, uint32_t instance)
{
    return graph->first_instance[graph->task_of[instance]] == instance;
}

void clo_cost_rank_u(const clo_cost *cost, int64_t *out)
{
    if (cost == NULL || out == NULL)
        return;
    const clo_graph *graph = cost->graph;

    for (uint32_t t = 0; t < graph->tasks; t++)
        out[t] = 0;
    for (uint32_t i = graph->instances; i-- > 0;) {
        uint32_t v = graph->order[i], u = graph->task_of[v];
        if (!is_first(graph, v))
            continue;
        out[u] += cost->mean_ns[u]; /* all successors have been seen: out[u] was the longest way after it */
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
            uint32_t t = graph->task_of[graph->pred[arc]];
            int64_t way = clo_cost_mean_transfer_ns(cost, clo_graph_arc_bytes(graph, arc)) + out[u];
            if (way > out[t])
                out[t] = way;
        }
    }
}

void clo_cost_rank_d(const clo_cost *cost, int64_t *out)
{
    if (cost == NULL || out == NULL)
        return;
    const clo_graph *graph = cost->graph;

    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t v = graph->order[i], u = graph->task_of[v];
        if (!is_first(graph, v))
            continue;
        out[u] = 0;
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
            uint32_t t = graph->task_of[graph->pred[arc]];
            int64_t way = out[t] + cost->mean_ns[t] + clo_cost_mean_transfer_ns(cost, clo_graph_arc_bytes(graph, arc));
            if (way > out[u])
                out[u] = way;
        }
    }
}

void clo_graph_levels(const clo_graph *graph, uint32_t *out)
{
    if (graph == NULL || out == NULL)
        return;
    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t v = graph->order[i], u = graph->task_of[v];
        if (!is_first(graph, v))
            continue;
        out[u] = 0;
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
            uint32_t t = graph->task_of[graph->pred[arc]];
            if (out[t] + 1 > out[u])
                out[u] = out[t] + 1;
        }
    }
}

/* The successor of `task` on its longest way to an exit (lowest id of several); CLO_NONE at an exit. */
static uint32_t follow(const clo_cost *cost, const int64_t *rank_u, uint32_t task)
{
    const clo_graph *graph = cost->graph;
    uint32_t v = graph->first_instance[task];

    for (uint32_t arc = graph->succ_first[v]; arc < graph->succ_first[v + 1]; arc++) {
        uint32_t u = graph->task_of[graph->succ[arc]];
        int64_t transfer_ns = clo_cost_mean_transfer_ns(cost, clo_graph_succ_bytes(graph, arc));
        if (cost->mean_ns[task] + transfer_ns + rank_u[u] == rank_u[task])
            return u;
    }
    return CLO_NONE;
}

uint32_t clo_cost_critical_path(const clo_cost *cost, uint32_t *out)
{
    if (cost == NULL || out == NULL)
        return 0;
    const clo_graph *graph = cost->graph;
    uint32_t tasks = graph->tasks, length = 0, at = CLO_NONE;
    int64_t *rank_u = clo_allocate(tasks, sizeof *rank_u);

    if (rank_u == NULL) {
        (void)clo_fail_memory("a critical path");
        return 0;
    }
    clo_cost_rank_u(cost, rank_u);
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t v = graph->first_instance[t];
        bool is_entry = graph->pred_first[v] == graph->pred_first[v + 1];
        if (is_entry && (at == CLO_NONE || rank_u[t] > rank_u[at]))
            at = t;
    }
    for (; at != CLO_NONE; at = follow(cost, rank_u, at)) /* ends: each step goes down one edge */
        out[length++] = at;
    clo_free(rank_u);
    return length;
}
