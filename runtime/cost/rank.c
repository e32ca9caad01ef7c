/* rank.c - ranks, levels and the critical path: longest paths over mean costs, in integers.
 *
 * Instances of a task have equal ranks, because an edge makes every instance wait for every instance. An edge counts
 * with its share for one pair of instances. Sums fit: see create.c. */
#include "cost/cost.h"

#include "base/memory.h"
#include "base/status.h"

void clo_cost_rank_u(const clo_cost *cost, int64_t *out)
{
    if (cost == NULL || out == NULL)
        return;
    const clo_graph *graph = cost->graph;

    int64_t empty_ns = clo_cost_mean_transfer_ns(cost, 0); /* of most edges, and dear to compute for each */

    for (uint32_t t = 0; t < graph->tasks; t++)
        out[t] = 0;
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t u = graph->task_order[i];
        out[u] += cost->mean_ns[u]; /* all successors have been seen: out[u] was the longest path after it */
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            uint64_t bytes = clo_graph_in_bytes(graph, e);
            int64_t way = (bytes == 0 ? empty_ns : clo_cost_mean_transfer_ns(cost, bytes)) + out[u];
            out[t] = way > out[t] ? way : out[t];
        }
    }
}

void clo_cost_rank_d(const clo_cost *cost, int64_t *out)
{
    if (cost == NULL || out == NULL)
        return;
    const clo_graph *graph = cost->graph;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i];
        out[u] = 0;
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            int64_t way = out[t] + cost->mean_ns[t] + clo_cost_mean_transfer_ns(cost, clo_graph_in_bytes(graph, e));
            if (way > out[u])
                out[u] = way;
        }
    }
}

void clo_graph_levels(const clo_graph *graph, uint32_t *out)
{
    if (graph == NULL || out == NULL)
        return;
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i];
        out[u] = 0;
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            if (out[t] + 1 > out[u])
                out[u] = out[t] + 1;
        }
    }
}

/* The successor of `task` on its longest path to an exit (lowest id of several); CLO_NONE at an exit. */
static uint32_t follow(const clo_cost *cost, const int64_t *rank_u, uint32_t task)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1]; at++) {
        uint32_t u = graph->out[at];
        int64_t transfer_ns = clo_cost_mean_transfer_ns(cost, clo_graph_out_bytes(graph, at));
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
        bool is_entry = graph->in_first[t] == graph->in_first[t + 1];
        if (is_entry && (at == CLO_NONE || rank_u[t] > rank_u[at]))
            at = t;
    }
    for (; at != CLO_NONE; at = follow(cost, rank_u, at)) /* ends: each step goes down one edge */
        out[length++] = at;
    clo_free(rank_u);
    return length;
}
