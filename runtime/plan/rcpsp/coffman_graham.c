/* plan/rcpsp/coffman_graham.c - Coffman and Graham, "Optimal scheduling for two-processor systems", Acta Informatica 1,
 * 1972.
 *
 * Labels 1 .. n are given from the exits upward: next, among the instances whose successors all have labels, comes
 * the one whose falling list of successors' labels is smallest in dictionary order. The schedule is then built by
 * the clock, highest label first: optimal for unit times on two executors.
 *
 * The proof wants a graph without redundant edges: these are left out up to REDUCED_MAX instances, beyond which they
 * are labelled along (tasks^2 bits otherwise). Ties: the higher instance gets the lower label, so the lower one goes
 * first. Times, demands and machines are not looked at by the labels: for these it is a heuristic.
 *
 * The instances of a task have equal lists, and nothing that becomes ready meanwhile: so they get their labels one
 * behind the other, tasks are what is compared, and a task's labels count as one. */
#include "plan/rcpsp/priority.h"
#include "plan/schedule/planner.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { REDUCED_MAX = 8192 };

typedef struct labelling {
    const clo_graph *graph;
    uint64_t *reach;   /* [tasks * row] what follows a task; NULL: edges are not reduced              */
    size_t row;        /* words of a row                                                             */
    uint64_t *covered; /* [row] what follows some successor                                          */
    uint32_t *ranks;   /* [edges] by out_first: of successors, rising because they are given so       */
    uint32_t *count;   /* [tasks] ranks in the list                                                  */
    uint32_t *waiting; /* [tasks] successors without a label                                         */
    uint32_t *heap;    /* [tasks] those that may be labelled                                         */
    uint32_t heap_size;
} labelling;

/* The falling list of a is smaller; ties: the higher task. */
static bool is_before(const labelling *l, uint32_t a, uint32_t b)
{
    const uint32_t *of_a = &l->ranks[l->graph->out_first[a]], *of_b = &l->ranks[l->graph->out_first[b]];
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

/* reach of v from its successors'; then the edges of v that another way makes redundant go out of `kept`. */
static void reduce(labelling *l, uint32_t v, uint64_t *kept)
{
    const clo_graph *graph = l->graph;
    uint64_t *mine = &l->reach[v * l->row];

    memset(l->covered, 0, l->row * sizeof *l->covered);
    for (uint32_t at = graph->out_first[v]; at < graph->out_first[v + 1]; at++)
        for (size_t w = 0; w < l->row; w++)
            l->covered[w] |= l->reach[graph->out[at] * l->row + w];
    memcpy(mine, l->covered, l->row * sizeof *mine);
    for (uint32_t at = graph->out_first[v]; at < graph->out_first[v + 1]; at++) {
        uint32_t u = graph->out[at];
        mine[u / 64] |= 1ull << (u % 64);
        if (has_bit(l->covered, u))
            kept[at / 64] &= ~(1ull << (at % 64));
    }
}

/* Hands the rank of v on to the predecessors. An edge is found again in `out` by search of v's place. */
static void hand_on(labelling *l, uint32_t v, uint32_t rank, const uint64_t *kept)
{
    const clo_graph *graph = l->graph;

    for (uint32_t edge = graph->in_first[v]; edge < graph->in_first[v + 1]; edge++) {
        uint32_t p = clo_graph_source(graph, edge), at = graph->out_first[p];
        while (l->reach != NULL && graph->out[at] != v)
            at++;
        if (l->reach == NULL || has_bit(kept, at))
            l->ranks[graph->out_first[p] + l->count[p]++] = rank;
        if (--l->waiting[p] == 0)
            push(l, p);
    }
}

static void label_all(labelling *l, uint64_t *kept, int64_t *keys)
{
    const clo_graph *graph = l->graph;

    int64_t label = 0;

    for (uint32_t i = graph->tasks; i-- > 0 && l->reach != NULL;)
        reduce(l, graph->task_order[i], kept);
    for (uint32_t t = 0; t < graph->tasks; t++) {
        l->waiting[t] = graph->out_first[t + 1] - graph->out_first[t];
        if (l->waiting[t] == 0)
            push(l, t);
    }
    for (uint32_t rank = 0; rank < graph->tasks; rank++) { /* acyclic: one is always there */
        uint32_t t = pop(l);
        for (uint32_t v = graph->first_instance[t + 1]; v-- > graph->first_instance[t];)
            keys[v] = -++label;
        hand_on(l, t, rank, kept);
    }
}

/* Labels as keys: the highest goes first. */
static clo_status fill_keys(const clo_graph *graph, int64_t *keys)
{
    labelling l = {.graph = graph};
    clo_block block = {0};
    size_t n = graph->tasks, words = graph->edges / 64 + 1;
    uint64_t *kept;

    l.row = (n + 63) / 64;
    bool reduced = graph->instances <= REDUCED_MAX;
    if (reduced) {
        clo_carve(&block, &l.reach, n * l.row);
        clo_carve(&block, &l.covered, l.row);
    }
    clo_carve(&block, &kept, words);
    clo_carve(&block, &l.ranks, graph->edges);
    clo_carve(&block, &l.count, n);
    clo_carve(&block, &l.waiting, n);
    clo_carve(&block, &l.heap, n);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a plan");

    memset(kept, 0xff, words * sizeof *kept);
    label_all(&l, kept, keys);
    clo_free(memory);
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

const clo_planner clo_planner_coffman_graham = {
    .name = "coffman-graham",
    .summary = "packing: by a clock, highest label first (Coffman, Graham 1972)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
