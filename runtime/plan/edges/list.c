/* list.c - see list.h. */
#include "plan/edges/list.h"

#include "base/carve.h"
#include "base/status.h"

#include <string.h>

clo_status clo_list_builder_open(clo_list_builder *builder, const clo_rcpsp *problem, clo_edges_rule rule)
{
    size_t n = problem->tasks;
    uint32_t leaves = 1;
    clo_block block = {0};

    while (leaves < n)
        leaves *= 2;
    *builder = (clo_list_builder){.problem = problem, .rule = rule, .leaves = leaves, .heap = {.capacity = n}};
    clo_carve(&block, &builder->free, (size_t)problem->machines * problem->words);
    clo_carve(&block, &builder->waits_for, n);
    clo_carve(&block, &builder->rank, n);
    clo_carve(&block, &builder->added_first, n);
    clo_carve(&block, &builder->added_next, CLO_EDGES_MAX);
    clo_carve(&block, &builder->least, 2 * (size_t)leaves);
    clo_carve(&block, &builder->count, 2 * (size_t)leaves);
    clo_carve(&block, &builder->heap.items, n);
    clo_carve(&block, &builder->keys, n);
    clo_carve(&block, &builder->other_keys, n);
    builder->block = clo_block_allocate(&block);
    return builder->block == NULL ? clo_fail_memory("a plan") : CLO_OK;
}

void clo_list_builder_close(clo_list_builder *builder)
{
    clo_free(builder->block);
    builder->block = NULL;
}

static int64_t key_of(const clo_list_builder *b, const clo_list_plan *plan, uint32_t v)
{
    if (b->rule == CLO_EDGES_SJF)
        return clo_rcpsp_fastest_ns(b->problem, v);
    return b->rule == CLO_EDGES_TETRIS ? -(int64_t)b->problem->weight[v] : -plan->tail_ns[v];
}

/* Insertion: the order was nearly right before. */
static void sort(const clo_list_builder *b, clo_list_plan *plan)
{
    uint32_t *order = plan->by_key;

    for (uint32_t i = 1; i < b->problem->tasks; i++) {
        uint32_t v = order[i], at = i;
        int64_t key = key_of(b, plan, v);
        for (; at > 0; at--) {
            int64_t before = key_of(b, plan, order[at - 1]);
            if (before < key || (before == key && order[at - 1] < v))
                break;
            order[at] = order[at - 1];
        }
        order[at] = v;
    }
}

void clo_list_begin(clo_list_builder *builder, clo_list_plan *plan)
{
    memcpy(plan->tail_ns, builder->problem->tail_ns, builder->problem->tasks * sizeof *plan->tail_ns);
    for (uint32_t v = 0; v < builder->problem->tasks; v++)
        builder->keys[v] = (clo_sort_key){clo_sort_key_of(key_of(builder, plan, v)), v};
    const clo_sort_key *sorted = clo_sort_keys(builder->keys, builder->other_keys, builder->problem->tasks);
    for (uint32_t i = 0; i < builder->problem->tasks; i++)
        plan->by_key[i] = sorted[i].index;
}

/* Puts `v` among those whose own parents are still to hear of it, once. */
static void raise(clo_list_builder *b, clo_list_plan *plan, uint32_t v, int64_t behind_ns)
{
    int64_t tail = clo_rcpsp_fastest_ns(b->problem, v) + behind_ns;

    if (tail <= plan->tail_ns[v])
        return;
    plan->tail_ns[v] = tail;
    if (b->waits_for[v] == 0)
        b->heap.items[b->heap.count++].id = v;
    b->waits_for[v] = 1;
}

void clo_list_extend(clo_list_builder *builder, const clo_added_edges *added, clo_list_plan *plan)
{
    const clo_graph *graph = builder->problem->graph;
    uint32_t last = added->count - 1;

    builder->heap.count = 0;
    memset(builder->waits_for, 0, builder->problem->tasks * sizeof *builder->waits_for);
    raise(builder, plan, added->from[last], plan->tail_ns[added->to[last]]);
    while (builder->heap.count > 0) { /* ends: tails only grow, and no further than the longest path */
        uint32_t v = (uint32_t)builder->heap.items[--builder->heap.count].id;
        builder->waits_for[v] = 0;
        for (uint32_t edge = graph->in_first[v]; edge < graph->in_first[v + 1]; edge++)
            raise(builder, plan, clo_graph_source(graph, edge), plan->tail_ns[v]);
        for (uint32_t i = 0; i < added->count; i++)
            if (added->to[i] == v)
                raise(builder, plan, added->from[i], plan->tail_ns[v]);
    }
    if (builder->rule == CLO_EDGES_CP)
        sort(builder, plan);
}

/* The least of two demands, lane by lane: no lane has its top bit. */
static uint64_t least_of(uint64_t a, uint64_t b, uint64_t guards, uint32_t lane_bits)
{
    uint64_t is_b = ((a | guards) - b) & guards, mask = is_b - (is_b >> (lane_bits - 1));

    return (b & mask) | (a & ~mask & ~guards);
}

/* The lanes of a node that has nothing below it do not matter. */
static void lift(clo_list_builder *b, uint32_t node)
{
    uint64_t guards = b->problem->guards;
    uint32_t bits = (guards & 0x8000) != 0 ? 16 : 32;

    for (node /= 2; node > 0; node /= 2) {
        uint32_t left = 2 * node, right = left + 1;
        b->count[node] = b->count[left] + b->count[right];
        if (b->count[left] == 0 || b->count[right] == 0)
            b->least[node] = b->least[b->count[left] == 0 ? right : left];
        else
            b->least[node] = least_of(b->least[left], b->least[right], guards, bits);
    }
}

static void put_ready(clo_list_builder *b, uint32_t v)
{
    uint32_t node = b->leaves + b->rank[v];

    b->count[node] = 1;
    b->least[node] = clo_rcpsp_fastest_ns(b->problem, v) > 0 ? b->problem->demand[(size_t)v * b->problem->words] : 0;
    lift(b, node);
}

static bool may_fit(const clo_list_builder *b, uint32_t node)
{
    const clo_rcpsp *problem = b->problem;

    if (b->count[node] == 0)
        return false;
    for (uint32_t m = 0; m < problem->machines; m++)
        if (clo_rcpsp_fits(&b->free[(size_t)m * problem->words], &b->least[node], 1, problem->guards))
            return true;
    return false;
}

/* The next ready task of rank `from` or more whose first word may fit; CLO_NONE: there is none. */
static uint32_t next_rank(const clo_list_builder *b, uint32_t from)
{
    uint32_t node = from + b->leaves;

    if (from >= b->leaves)
        return CLO_NONE;
    for (;;) { /* ends: goes right or up, and down only where something may fit */
        if (may_fit(b, node)) {
            if (node >= b->leaves)
                return node - b->leaves;
            node *= 2;
            continue;
        }
        while ((node & 1) != 0) /* a right child: all of its parent is done */
            node /= 2;
        if (node == 0)
            return CLO_NONE;
        node++;
    }
}

/* On the machine where it is shortest, of those where it fits. */
static bool start(clo_list_builder *b, uint32_t v, int64_t now_ns, clo_list_plan *plan)
{
    const clo_rcpsp *problem = b->problem;
    const uint64_t *demand = &problem->demand[(size_t)v * problem->words];
    int64_t shortest = CLO_TIME_NEVER;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t time = problem->time_ns[(size_t)m * problem->tasks + v];
        if (time < shortest && (time == 0 || clo_rcpsp_fits(&b->free[(size_t)m * problem->words], demand,
                                                            problem->words, problem->guards))) {
            shortest = time;
            plan->machine[v] = m;
        }
    }
    if (shortest == CLO_TIME_NEVER)
        return false;
    for (uint32_t w = 0; w < problem->words && shortest > 0; w++)
        b->free[(size_t)plan->machine[v] * problem->words + w] -= demand[w];
    plan->start_ns[v] = now_ns;
    clo_heap_push(&b->heap, now_ns + shortest, v);
    b->count[b->leaves + b->rank[v]] = 0;
    lift(b, b->leaves + b->rank[v]);
    return true;
}

static void hear(clo_list_builder *b, clo_list_plan *plan, uint32_t v, int64_t now_ns)
{
    if (--b->waits_for[v] > 0)
        return;
    plan->ready_ns[v] = now_ns;
    put_ready(b, v);
}

static void end(clo_list_builder *b, const clo_added_edges *added, clo_list_plan *plan, uint32_t v, int64_t now_ns)
{
    const clo_rcpsp *problem = b->problem;
    uint32_t m = plan->machine[v];

    for (uint32_t w = 0; w < problem->words && now_ns > plan->start_ns[v]; w++)
        b->free[(size_t)m * problem->words + w] += problem->demand[(size_t)v * problem->words + w];
    for (uint32_t edge = problem->graph->out_first[v]; edge < problem->graph->out_first[v + 1]; edge++)
        hear(b, plan, problem->graph->out[edge], now_ns);
    for (uint32_t i = b->added_first[v]; i != CLO_NONE; i = b->added_next[i])
        hear(b, plan, added->to[i], now_ns);
}

static void begin(clo_list_builder *b, const clo_added_edges *added, clo_list_plan *plan)
{
    const clo_rcpsp *problem = b->problem;

    memcpy(b->free, problem->capacity, (size_t)problem->machines * problem->words * sizeof *b->free);
    memset(b->count, 0, 2 * (size_t)b->leaves * sizeof *b->count);
    b->heap.count = 0;
    for (uint32_t i = 0; i < problem->tasks; i++) {
        b->rank[plan->by_key[i]] = i;
        b->waits_for[i] = problem->graph->in_first[i + 1] - problem->graph->in_first[i];
        b->added_first[i] = CLO_NONE;
    }
    for (uint32_t i = 0; i < added->count; i++) {
        b->waits_for[added->to[i]]++;
        b->added_next[i] = b->added_first[added->from[i]];
        b->added_first[added->from[i]] = i;
    }
    for (uint32_t v = 0; v < problem->tasks; v++)
        if (b->waits_for[v] == 0) {
            plan->ready_ns[v] = 0;
            put_ready(b, v);
        }
}

void clo_list_build(clo_list_builder *builder, const clo_added_edges *added, clo_list_plan *plan)
{
    uint32_t started = 0;
    int64_t now = 0;

    begin(builder, added, plan);
    builder->schedules++;
    do { /* ends: each round ends a task, as empty machines fit each one */
        for (uint32_t rank = next_rank(builder, 0); rank != CLO_NONE; rank = next_rank(builder, rank + 1))
            if (start(builder, plan->by_key[rank], now, plan))
                plan->order[started++] = plan->by_key[rank];
        now = builder->heap.items[0].key;
        while (builder->heap.count > 0 && builder->heap.items[0].key == now)
            end(builder, added, plan, (uint32_t)clo_heap_pop(&builder->heap).id, now);
    } while (started < builder->problem->tasks || builder->heap.count > 0);
    plan->makespan_ns = now;
}
