/* features.c - the figures of a job's stages for a network (learn/infer/lachesis_features.h), from its costs. Edges
 * count with their share for one pair of instances, as in ranks. */
#include "cost/features.h"

#include "base/numbers/saturate.h"
#include "cost/cost.h"

#include <string.h>

/* Sums of transfer times. */
static void add_edges(const clo_cost *cost, uint32_t task, int64_t *input_ns, int64_t *output_ns)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++) {
        int64_t transfer_ns = clo_cost_mean_transfer_ns(cost, clo_graph_in_bytes(graph, e));
        uint32_t source = clo_graph_source(graph, e);
        input_ns[task] = clo_time_add(input_ns[task], transfer_ns);
        output_ns[source] = clo_time_add(output_ns[source], transfer_ns);
    }
}

void clo_cost_figures(const clo_cost *cost, int64_t *times, uint32_t *counts)
{
    const clo_graph *graph = cost->graph;
    size_t tasks = graph->tasks;
    int64_t *input_ns = times + tasks, *output_ns = times + 2 * tasks;
    uint32_t *children = counts, *instances = counts + tasks;

    memcpy(times, cost->mean_ns, tasks * sizeof *times);
    memset(input_ns, 0, 2 * tasks * sizeof *times);
    clo_cost_rank_u(cost, times + 3 * tasks);
    clo_cost_rank_d(cost, times + 4 * tasks);
    for (uint32_t t = 0; t < graph->tasks; t++)
        add_edges(cost, t, input_ns, output_ns);
    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t parents = graph->in_first[t + 1] - graph->in_first[t];
        children[t] = graph->out_first[t + 1] - graph->out_first[t];
        instances[t] = clo_graph_instances_of(graph, t);
        input_ns[t] = parents > 0 ? input_ns[t] / parents : 0;
        output_ns[t] = children[t] > 0 ? output_ns[t] / children[t] : 0;
    }
}
