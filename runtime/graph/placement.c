/* placement.c - where a task may run: the public calls over the interned sets (sets.h). */
#include "graph/graph.h"

#include "base/status.h"

clo_status clo_graph_restrict(clo_graph *graph, uint32_t task, const clo_executor_bits *bits)
{
    uint32_t placement;
    clo_status status = clo_placement_intern(&graph->sets, bits, &placement);

    if (status == CLO_OK && clo_columns_reserve(&graph->columns, 1u << CLO_COLUMN_PLACEMENT, graph->tasks, 0) != 0)
        status = clo_fail_memory("where a task may run");
    if (status == CLO_OK)
        clo_columns_set(&graph->columns, CLO_COLUMN_PLACEMENT, task, placement);
    return status;
}

clo_status clo_graph_set_executors(clo_graph *graph, uint32_t task, const uint32_t *executors, size_t count)
{
    if (graph == NULL || (executors == NULL && count > 0))
        return clo_fail_null("clo_graph_set_executors", "graph or executors");
    clo_executor_bits bits = {{0}};
    clo_status status = clo_graph_check_task(graph, task, "set executors");

    if (status != CLO_OK)
        return status;
    if (count == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: no executors; give at least one, or leave the call out", task);
    for (size_t i = 0; i < count; i++) {
        if (executors[i] >= CLO_EXECUTORS_MAX)
            return clo_fail(CLO_ERR_ARGUMENT, "task %u: executors[%zu] is %u; ids go from 0 to %u", task, i,
                            executors[i], CLO_EXECUTORS_MAX - 1);
        bits.words[executors[i] / 64] |= 1ull << executors[i] % 64;
    }
    return clo_graph_restrict(graph, task, &bits);
}

uint32_t clo_graph_executors(const clo_graph *graph, uint32_t task, uint32_t *executors, size_t capacity)
{
    if (graph == NULL || task >= graph->tasks || clo_graph_placement(graph, task) == CLO_NONE)
        return 0;
    const clo_placement_sets *sets = &graph->sets;
    uint32_t placement = clo_graph_placement(graph, task), e = clo_placement_next(sets, placement, 0);

    for (size_t i = 0; executors != NULL && i < capacity && e != CLO_NONE; i++) {
        executors[i] = e;
        e = clo_placement_next(sets, placement, e + 1);
    }
    return sets->list[placement].executors;
}
