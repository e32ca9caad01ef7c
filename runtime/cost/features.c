/* features.c - the figures of a job's stages for a network (clotho/features.h), from its costs. Edges count with their
 * share for one pair of instances, as in ranks. */
#include <clotho/features.h>

#include "cost/cost.h"

#include "base/numbers/saturate.h"
#include "base/status.h"

/* Sums of transfer times in output_ns and input_ns. */
static void add_edges(const clo_cost *cost, uint32_t task, const clo_stage_figures *out)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++) {
        int64_t transfer_ns = clo_cost_mean_transfer_ns(cost, clo_graph_in_bytes(graph, e));
        out->input_ns[task] = clo_time_add(out->input_ns[task], transfer_ns);
        out->output_ns[clo_graph_source(graph, e)] =
            clo_time_add(out->output_ns[clo_graph_source(graph, e)], transfer_ns);
    }
}

clo_status clo_features_of_cost(const clo_cost *cost, const clo_stage_figures *out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_features_of_cost", cost == NULL ? "cost" : "out");
    if (out->time_ns == NULL || out->input_ns == NULL || out->output_ns == NULL || out->rank_u_ns == NULL ||
        out->rank_d_ns == NULL || out->children == NULL || out->instances == NULL)
        return clo_fail_null("clo_features_of_cost", "an array of out");
    const clo_graph *graph = cost->graph;

    clo_cost_rank_u(cost, out->rank_u_ns);
    clo_cost_rank_d(cost, out->rank_d_ns);
    for (uint32_t t = 0; t < graph->tasks; t++)
        out->input_ns[t] = out->output_ns[t] = 0;
    for (uint32_t t = 0; t < graph->tasks; t++)
        add_edges(cost, t, out);
    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t parents = graph->in_first[t + 1] - graph->in_first[t];
        out->time_ns[t] = cost->mean_ns[t];
        out->children[t] = graph->out_first[t + 1] - graph->out_first[t];
        out->instances[t] = clo_graph_instances_of(graph, t);
        out->input_ns[t] = parents > 0 ? out->input_ns[t] / parents : 0;
        out->output_ns[t] = out->children[t] > 0 ? out->output_ns[t] / out->children[t] : 0;
    }
    return CLO_OK;
}
