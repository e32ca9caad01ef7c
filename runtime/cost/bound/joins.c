/* cost/bound/joins.c - heads and tails that know transfers: several inputs cannot all be local and all be early.
 *
 * Why it holds, with bound.c's reading of replicas. Let an execution of t run on executor e, and sort its inputs by
 * arrival from afar, a = head + fastest + the least transfer, latest first. Those produced in e's own memory are some
 * set S; any other starts t no earlier than its a. If number j is the first that is not in S, then t starts at a_j or
 * later, and numbers 1 .. j - 1 ran on the w executors of e's memory, which take serial(1 .. j - 1) for that: at
 * least the end of each, and the least head plus all their time over w. So
 *     head(t) >= min over j of max(a_j, serial(1 .. j - 1)), where for the last j, all local, there is no a_j.
 * Replicas are no way out: a copy in e's memory is counted as local, at its fastest time.
 *
 * The same holds backwards where a task runs once only (it is not duplicable): its successors wait for this one
 * execution, in its memory or from afar. */
#include "cost/bound/joins.h"

#include "base/order/sort.h"

static int by_falling_arrival(const void *left, const void *right)
{
    const clo_bound_input *a = left, *b = right;

    if (a->arrival_ns != b->arrival_ns)
        return a->arrival_ns > b->arrival_ns ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The formula above. inputs: [count], at least one; sorted here. Instances of a task stand side by side: the first of
 * them has the least time before it, the last one the most behind it. */
static int64_t earliest(clo_bound_input *inputs, uint32_t count, uint32_t width)
{
    int64_t best = INT64_MAX, least_at = INT64_MAX, sum = 0, local = 0;

    clo_sort(inputs, count, sizeof *inputs, by_falling_arrival);
    for (uint32_t j = 0; j < count; j++) {
        int64_t begin = inputs[j].arrival_ns > local ? inputs[j].arrival_ns : local;
        int64_t end = inputs[j].at_ns + inputs[j].time_ns;
        best = begin < best ? begin : best;
        least_at = inputs[j].at_ns < least_at ? inputs[j].at_ns : least_at;
        sum += inputs[j].time_ns * inputs[j].count;
        local = end > local ? end : local;
        local = least_at + (sum + width - 1) / width > local ? least_at + (sum + width - 1) / width : local;
    }
    return local < best ? local : best;
}

static int64_t least_transfer(const clo_cost *cost, uint64_t bytes)
{
    uint32_t piece = clo_platform_piece(cost->platform, bytes);
    const clo_link_span *span = &cost->platform->spans[piece];

    return clo_link_ns(span->latency_least_ns, span->ns_per_byte_least_q32, bytes - cost->platform->cut_bytes[piece]);
}

static void raise_heads(const clo_bound_work *work, clo_bound_input *inputs)
{
    const clo_graph *graph = work->cost->graph;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i], count = 0;
        uint64_t instances = 0;
        int64_t *head = &work->head[u];
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++, count++) {
            uint32_t t = clo_graph_source(graph, e);
            int64_t end = work->head[t] + work->fastest[t];
            inputs[count] = (clo_bound_input){end + least_transfer(work->cost, clo_graph_in_bytes(graph, e)),
                                              work->head[t], work->fastest[t], clo_graph_instances_of(graph, t), count};
            instances += clo_graph_instances_of(graph, t);
            clo_bound_raise(head, work->head[t] + work->span[t]);
        }
        if (instances > 1)
            clo_bound_raise(head, earliest(inputs, count, work->cost->platform->memory_width));
    }
}

static void raise_tails(const clo_bound_work *work, clo_bound_input *inputs)
{
    const clo_graph *graph = work->cost->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t u = graph->task_order[i], count = 0;
        uint64_t instances = 0;
        int64_t *tail = &work->tail[u];
        for (uint32_t at = graph->out_first[u]; at < graph->out_first[u + 1]; at++, count++) {
            uint32_t t = graph->out[at];
            int64_t end = work->tail[t] + work->fastest[t];
            inputs[count] = (clo_bound_input){end + least_transfer(work->cost, clo_graph_out_bytes(graph, at)),
                                              work->tail[t], work->fastest[t], clo_graph_instances_of(graph, t), count};
            instances += clo_graph_instances_of(graph, t);
            clo_bound_raise(tail, work->tail[t] + work->span[t]);
        }
        if (instances > 1 && !graph->rows[u].duplicable)
            clo_bound_raise(tail, earliest(inputs, count, work->cost->platform->memory_width));
    }
}

size_t clo_bound_inputs_max(const clo_graph *graph)
{
    size_t most = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        size_t before = graph->in_first[t + 1] - graph->in_first[t];
        size_t behind = graph->out_first[t + 1] - graph->out_first[t];
        most = before > most ? before : most;
        most = behind > most ? behind : most;
    }
    return most;
}

void clo_bound_join(const clo_bound_work *work, clo_bound_input *inputs)
{
    raise_heads(work, inputs);
    raise_tails(work, inputs);
}
