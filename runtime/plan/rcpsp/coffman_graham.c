/* plan/rcpsp/coffman_graham.c - Coffman and Graham, "Optimal scheduling for two-processor systems", Acta Informatica 1, 1972.
 *
 * Labels 1 .. n are given from the exits upward: next, among the instances whose successors all have labels, comes
 * the one whose falling list of successors' labels is smallest in dictionary order. The schedule is then built by
 * the clock, highest label first: optimal for unit times on two executors.
 *
 * The proof wants a graph without redundant arcs: these are left out up to REDUCED_MAX instances, beyond which they are
 * labelled along (n^2 bits otherwise). Ties: the higher instance gets the lower label, so the lower one goes first.
 * Times, demands and machines are not looked at by the labels: for these it is a heuristic. */
#include "plan/rcpsp/planners.h"
#include "plan/rcpsp/priority.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { REDUCED_MAX = 8192 };

typedef struct labelling {
    const clo_graph *graph;
    uint64_t *reach;   /* [instances * row] what follows an instance; NULL: arcs are not reduced      */
    size_t row;        /* words of a row                                                             */
    uint64_t *covered; /* [row] what follows some successor                                          */
    int64_t *labels;   /* [arcs] by succ_first: of successors, rising because labels are given so     */
    uint32_t *count;   /* [instances] labels in the list                                             */
    uint32_t *waiting; /* [instances] successors without a label                                     */
    uint32_t *heap;    /* [instances] those that may be labelled                                     */
    uint32_t heap_size;
} labelling;

/* The falling list of a is smaller; ties: the higher instance. */
static bool is_before(const labelling *l, uint32_t a, uint32_t b)
{
    const int64_t *of_a = &l->labels[l->graph->succ_first[a]], *of_b = &l->labels[l->graph->succ_first[b]];
    uint32_t i = l->count[a], j = l->count[b];

    while (i > 0 && j > 0 && of_a[i - 1] == of_b[j - 1]) {
        i--;
        j--;
    }
    if (i == 0 || j == 0)
        return i == j ? a > b : i == 0;
    return of_a[i - 1] < of_b[j - 1];
}

static void push(labelling *l, uint32_t v)
{
    uint32_t i = l->heap_size++;

    for (; i > 0 && is_before(l, v, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
        l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = v;
}

static uint32_t pop(labelling *l)
{
    assert(l->heap_size > 0);
    uint32_t top = l->heap[0], last = l->heap[--l->heap_size], i = 0;

    for (uint32_t child = 1; child < l->heap_size; child = 2 * i + 1) {
        if (child + 1 < l->heap_size && is_before(l, l->heap[child + 1], l->heap[child]))
            child++;
        if (!is_before(l, l->heap[child], last))
            break;
        l->heap[i] = l->heap[child];
        i = child;
    }
    l->heap[i] = last;
    return top;
}

static bool has_bit(const uint64_t *row, uint32_t v)
{
    return (row[v / 64] >> (v % 64) & 1) != 0;
}

/* reach of v from its successors'; then the arcs of v that another way makes redundant go out of `kept`. */
static void reduce(labelling *l, uint32_t v, uint64_t *kept)
{
    const clo_graph *graph = l->graph;
    uint64_t *mine = &l->reach[v * l->row];

    memset(l->covered, 0, l->row * sizeof *l->covered);
    for (uint32_t arc = graph->succ_first[v]; arc < graph->succ_first[v + 1]; arc++)
        for (size_t w = 0; w < l->row; w++)
            l->covered[w] |= l->reach[graph->succ[arc] * l->row + w];
    memcpy(mine, l->covered, l->row * sizeof *mine);
    for (uint32_t arc = graph->succ_first[v]; arc < graph->succ_first[v + 1]; arc++) {
        uint32_t u = graph->succ[arc];
        mine[u / 64] |= 1ull << (u % 64);
        if (has_bit(l->covered, u))
            kept[arc / 64] &= ~(1ull << (arc % 64));
    }
}

/* Gives v its label, and hands it on to the predecessors. An arc is found again in succ by search of v's place. */
static void hand_on(labelling *l, uint32_t v, int64_t label, const uint64_t *kept)
{
    const clo_graph *graph = l->graph;

    for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
        uint32_t p = graph->pred[arc], at = graph->succ_first[p];
        while (l->reach != NULL && graph->succ[at] != v)
            at++;
        if (l->reach == NULL || has_bit(kept, at))
            l->labels[graph->succ_first[p] + l->count[p]++] = label;
        if (--l->waiting[p] == 0)
            push(l, p);
    }
}

static void label_all(labelling *l, uint64_t *kept, int64_t *keys)
{
    const clo_graph *graph = l->graph;

    for (uint32_t i = graph->instances; i-- > 0 && l->reach != NULL;)
        reduce(l, graph->order[i], kept);
    for (uint32_t v = 0; v < graph->instances; v++) {
        l->waiting[v] = graph->succ_first[v + 1] - graph->succ_first[v];
        if (l->waiting[v] == 0)
            push(l, v);
    }
    for (int64_t label = 1; label <= (int64_t)graph->instances; label++) { /* acyclic: one is always there */
        uint32_t v = pop(l);
        keys[v] = -label;
        hand_on(l, v, label, kept);
    }
}

/* Labels as keys: the highest goes first. */
static clo_status fill_keys(const clo_graph *graph, int64_t *keys)
{
    labelling l = {.graph = graph};
    clo_layout layout = {0};
    size_t n = graph->instances;

    l.row = (n + 63) / 64;
    bool reduced = n <= REDUCED_MAX;
    size_t reach = clo_layout_add(&layout, reduced ? (n + 1) * l.row : 0, sizeof(uint64_t));
    size_t kept = clo_layout_add(&layout, graph->arcs / 64 + 1, sizeof(uint64_t));
    size_t labels = clo_layout_add(&layout, graph->arcs, sizeof(int64_t));
    size_t counts = clo_layout_add(&layout, 3 * n, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return clo_fail_memory("a plan");

    l.reach = reduced ? (uint64_t *)(void *)(block + reach) : NULL;
    l.covered = reduced ? l.reach + n * l.row : NULL;
    l.labels = (void *)(block + labels);
    l.count = (void *)(block + counts);
    l.waiting = l.count + n;
    l.heap = l.waiting + n;
    memset(block + kept, 0xff, (graph->arcs / 64 + 1) * sizeof(uint64_t));
    label_all(&l, (uint64_t *)(void *)(block + kept), keys);
    clo_free(block);
    return CLO_OK;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    int64_t *keys = clo_allocate(schedule->graph->instances, sizeof *keys);

    (void)config;
    if (keys == NULL)
        return clo_fail_memory("a plan");
    clo_status status = fill_keys(schedule->graph, keys);
    if (status == CLO_OK)
        status = clo_priority_fill(schedule, keys, CLO_PRIORITY_PARALLEL);
    clo_free(keys);
    return status;
}

const clo_planner_desc clo_planner_coffman_graham = {
    .name = "coffman-graham",
    .summary = "packing: by a clock, highest label first (Coffman, Graham 1972)",
    .executions_each = 1,
    .fill = fill,
};
