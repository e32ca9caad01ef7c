/* least.c - see least.h. */
#include "engine/state/least.h"

static bool is_demanded(const clo_cost *cost, uint32_t resource)
{
    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (cost->resource_of[r] == resource && clo_graph_demand(cost->graph, t)[r] > 0)
                return true;
    return false;
}

void clo_least_carve(clo_least *least, const clo_cost *cost, clo_block *block)
{
    least->columns = 0;
    least->leaves = 1;
    while (least->leaves < cost->graph->tasks)
        least->leaves *= 2;
    for (uint8_t r = 0; r < CLO_RESOURCES_MAX && cost->graph->has_demands; r++)
        if (is_demanded(cost, r))
            least->resource[least->columns++] = r;
    if (least->columns > 0)
        clo_carve(block, &least->nodes, 2 * (size_t)least->leaves * least->columns);
}

void clo_least_clear(clo_least *least)
{
    for (size_t i = 0; i < 2 * (size_t)least->leaves * least->columns; i++)
        least->nodes[i] = INT64_MAX;
}

void clo_least_set(clo_least *least, uint32_t stage, const int64_t *demand)
{
    uint32_t columns = least->columns;

    for (uint32_t c = 0; c < columns; c++) {
        int64_t *nodes = &least->nodes[c], value = demand != NULL ? demand[least->resource[c]] : INT64_MAX;
        size_t node = (size_t)least->leaves + stage;
        nodes[node * columns] = value;
        for (; node > 1; node /= 2) {
            int64_t other = nodes[(node ^ 1) * columns], lower = value < other ? value : other;
            if (nodes[node / 2 * columns] == lower)
                break;
            nodes[node / 2 * columns] = value = lower;
        }
    }
}
