/* cost/bound/window.c - heads and tails by what must run before and after a task: not only the longest chain, but all
 * ancestors, which have to share the executors and the resources.
 *
 * Why it holds, with bound.c's reading of replicas: the first-finishing executions of those ancestors of t whose heads
 * are at least a lie between a and the first start of t, so
 *     head(t) >= a + area(ancestors of t with head >= a),
 * the area being time * use over the capacity, of the executors or of a resource; likewise behind. Heads and tails
 * are rounded up to the grid of times (cost.h). Tasks come in topological order, so the heads of ancestors are final;
 * a list of those seen, largest head first, gives all areas of t in one pass. Cost: tasks^2 for each measure. */
#include "cost/bound/window.h"

#include <string.h>

/* The graph in one direction. */
typedef struct one_way {
    const uint32_t *first;
    clo_ids tasks;
    int64_t *at; /* heads or tails */
} one_way;

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

/* Takes in what leads to `task`: the longest chain, and the set of its ancestors. */
static void take_edges(const clo_bound_work *work, const one_way *way, const clo_bound_sets *sets, uint32_t task)
{
    uint64_t *mine = &sets->before[(size_t)task * sets->words];

    memset(mine, 0, sets->words * sizeof *mine);
    for (uint32_t e = way->first[task]; e < way->first[task + 1]; e++) {
        uint32_t t = clo_ids_at(way->tasks, e);
        for (uint32_t w = 0; w < sets->words; w++)
            mine[w] |= sets->before[(size_t)t * sets->words + w];
        mine[t / 64] |= 1ull << t % 64;
        if (way->at[t] + work->span[t] > way->at[task])
            way->at[task] = way->at[t] + work->span[t];
    }
}

/* The best of all areas of ancestors of `task`. list: [count] those before it in the order, largest `at` first. */
static int64_t best_area(const clo_bound_work *work, const one_way *way, const clo_bound_sets *sets, uint32_t task,
                         uint32_t count)
{
    const uint64_t *mine = &sets->before[(size_t)task * sets->words];
    int64_t best = way->at[task];
    clo_u128 sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = sets->list[i];
        if (!has_bit(mine, t))
            continue;
        sum += (clo_u128)work->use[t] * work->cost->graph->rows[t].instances * (uint64_t)work->fastest[t];
        if (sum > (clo_u128)sets->capacity * (uint64_t)(best - way->at[t]))
            best = way->at[t] + (int64_t)((sum + sets->capacity - 1) / sets->capacity);
    }
    return best;
}

static void tighten(const clo_bound_work *work, const one_way *way, const clo_bound_sets *sets, bool is_forward)
{
    const clo_graph *graph = work->cost->graph;
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[is_forward ? i : graph->tasks - 1 - i];
        take_edges(work, way, sets, task);
        int64_t at = best_area(work, way, sets, task, count);
        at += (sets->grid_ns - at % sets->grid_ns) % sets->grid_ns;
        way->at[task] = at;
        uint32_t place = count++;
        for (; place > 0 && way->at[sets->list[place - 1]] < at; place--)
            sets->list[place] = sets->list[place - 1];
        sets->list[place] = task;
    }
}

void clo_bound_tighten(const clo_bound_work *work, const clo_bound_sets *sets)
{
    const clo_graph *graph = work->cost->graph;
    one_way forward = {graph->in_first, graph->in, work->head};
    one_way backward = {graph->out_first, clo_ids_wide(graph->out), work->tail};

    tighten(work, &forward, sets, true);
    tighten(work, &backward, sets, false);
}
