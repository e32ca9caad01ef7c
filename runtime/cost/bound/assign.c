/* assign.c - R||Cmax: the longest first, each to where it ends first; then moves and exchanges that take from the
 * fullest executor; then, for few instances, branch and bound to the end or up to a number of nodes.
 *
 * Loads fit: the sum of the longest times does (clo_cost_create). */
#include "cost/bound/assign.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <string.h>

enum {
    EXACT_INSTANCES_MAX = 64,
    EXACT_NODES_MAX = 200000,
    ROUNDS_MAX = 4096,
    EXCHANGE_INSTANCES_MAX = 4096, /* above: moves only */
    IMPROVE_VISITS_MAX = 1 << 26
};

typedef struct item {
    int64_t fastest_ns;
    uint32_t instance, task;
} item;

typedef struct assigner {
    const clo_cost *cost;
    uint32_t count, executors;
    item *items;        /* [count] the longest first */
    int64_t *load_ns;   /* [executors] */
    uint32_t *executor; /* [count] of each item */
    uint32_t *best;     /* [count] */
    int64_t *rest_ns;   /* [count + 1] sum of fastest times from item i on */
    uint32_t *cursor;   /* [count] branch and bound: the next executor to try */
    int64_t bound_ns, best_ns;
} assigner;

static int longest_first(const void *left, const void *right)
{
    const item *a = left, *b = right;

    if (a->fastest_ns != b->fastest_ns)
        return a->fastest_ns > b->fastest_ns ? -1 : 1;
    return a->instance < b->instance ? -1 : a->instance > b->instance;
}

static void fill_items(assigner *a)
{
    const clo_graph *graph = a->cost->graph;

    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t task = graph->task_of[i];
        bool is_first = i == graph->first_instance[task];
        a->items[i] = (item){is_first ? clo_cost_fastest(a->cost, task) : a->items[i - 1].fastest_ns, i, task};
    }
    clo_sort(a->items, a->count, sizeof *a->items, longest_first);
    for (uint32_t i = a->count; i-- > 0;)
        a->rest_ns[i] = a->rest_ns[i + 1] + a->items[i].fastest_ns;
}

static int64_t fullest_ns(const assigner *a, uint32_t *executor)
{
    *executor = 0;
    for (uint32_t e = 1; e < a->executors; e++)
        if (a->load_ns[e] > a->load_ns[*executor])
            *executor = e;
    return a->load_ns[*executor];
}

static void keep(assigner *a)
{
    uint32_t fullest;
    int64_t load_ns = fullest_ns(a, &fullest);

    if (load_ns >= a->best_ns)
        return;
    a->best_ns = load_ns;
    memcpy(a->best, a->executor, a->count * sizeof *a->best);
}

static void deal(assigner *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t soonest_ns = INT64_MAX;
        for (uint32_t e = 0; e < a->executors; e++) {
            int64_t time_ns = clo_cost_time(a->cost, a->items[i].task, e);
            if (time_ns != CLO_TIME_NEVER && a->load_ns[e] + time_ns < soonest_ns) {
                soonest_ns = a->load_ns[e] + time_ns;
                a->executor[i] = e;
            }
        }
        a->load_ns[a->executor[i]] = soonest_ns;
    }
}

/* Moves item i from the fullest executor to where both stay below its load. */
static bool move(assigner *a, uint32_t i, int64_t most_ns)
{
    uint32_t from = a->executor[i], to = CLO_NONE;
    int64_t least_ns = most_ns;

    for (uint32_t e = 0; e < a->executors; e++) {
        int64_t time_ns = clo_cost_time(a->cost, a->items[i].task, e);
        if (e != from && time_ns < most_ns && a->load_ns[e] + time_ns < least_ns) {
            least_ns = a->load_ns[e] + time_ns;
            to = e;
        }
    }
    if (to == CLO_NONE || clo_cost_time(a->cost, a->items[i].task, from) == 0)
        return false;
    a->load_ns[from] -= clo_cost_time(a->cost, a->items[i].task, from);
    a->load_ns[to] = least_ns;
    a->executor[i] = to;
    return true;
}

/* Exchanges item i of the fullest executor for an item of another, so that both stay below its load. */
static bool exchange(assigner *a, uint32_t i, int64_t most_ns)
{
    uint32_t from = a->executor[i];
    int64_t mine_ns = clo_cost_time(a->cost, a->items[i].task, from);

    for (uint32_t j = 0; j < a->count; j++) {
        uint32_t to = a->executor[j];
        if (to == from)
            continue;
        int64_t there_ns = clo_cost_time(a->cost, a->items[i].task, to);
        int64_t back_ns = clo_cost_time(a->cost, a->items[j].task, from);
        if (there_ns >= most_ns || back_ns >= mine_ns)
            continue;
        int64_t other_ns = a->load_ns[to] - clo_cost_time(a->cost, a->items[j].task, to) + there_ns;
        if (other_ns >= most_ns)
            continue;
        a->load_ns[from] += back_ns - mine_ns;
        a->load_ns[to] = other_ns;
        a->executor[i] = to;
        a->executor[j] = from;
        return true;
    }
    return false;
}

static bool relieve(assigner *a, uint64_t *visits)
{
    uint32_t fullest;
    int64_t most_ns = fullest_ns(a, &fullest);

    if (most_ns <= a->bound_ns)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->executor[i] == fullest && move(a, i, most_ns))
            return true;
    for (uint32_t i = 0; i < a->count && a->count <= EXCHANGE_INSTANCES_MAX; i++) {
        if (a->executor[i] != fullest)
            continue;
        *visits += a->count;
        if (exchange(a, i, most_ns))
            return true;
    }
    return false;
}

static void improve(assigner *a)
{
    uint64_t visits = 0;

    for (uint32_t round = 0; round < ROUNDS_MAX && visits < IMPROVE_VISITS_MAX && relieve(a, &visits); round++)
        visits += (uint64_t)a->count * a->executors;
}

/* True if an executor before e is its like: as full, and no task can tell them apart. */
static bool is_repeated(const assigner *a, uint32_t e)
{
    for (uint32_t other = 0; other < e && !a->cost->is_restricted; other++)
        if (a->cost->column_of[other] == a->cost->column_of[e] && a->load_ns[other] == a->load_ns[e])
            return true;
    return false;
}

static int64_t total_ns(const assigner *a)
{
    int64_t sum = 0;

    for (uint32_t e = 0; e < a->executors; e++)
        sum += a->load_ns[e];
    return sum;
}

/* The next executor for item i that may lead to less than the best; CLO_NONE: there is none. */
static uint32_t next_executor(assigner *a, uint32_t i)
{
    int64_t before_ns = total_ns(a);

    for (uint32_t e = a->cursor[i]; e < a->executors; e++) {
        int64_t time_ns = clo_cost_time(a->cost, a->items[i].task, e);
        if (time_ns == CLO_TIME_NEVER || a->load_ns[e] + time_ns >= a->best_ns || is_repeated(a, e))
            continue;
        /* All that is left at its fastest, spread evenly, is at least as much as the best. */
        int64_t all_ns = before_ns + time_ns + a->rest_ns[i + 1];
        if ((all_ns - 1) / (int64_t)a->executors + 1 >= a->best_ns && all_ns > 0)
            continue;
        a->cursor[i] = e + 1;
        return e;
    }
    return CLO_NONE;
}

/* Depth first, without recursion; the items in hand are 0 .. i - 1. True: it went to the end. */
static bool branch(assigner *a)
{
    uint32_t i = 0, nodes = 0;

    memset(a->load_ns, 0, a->executors * sizeof *a->load_ns);
    a->cursor[0] = 0;
    for (;;) { /* ends: each node is visited once, and they are counted */
        uint32_t e = i < a->count ? next_executor(a, i) : CLO_NONE;
        if (e != CLO_NONE) {
            if (++nodes > EXACT_NODES_MAX)
                return false;
            a->executor[i] = e;
            a->load_ns[e] += clo_cost_time(a->cost, a->items[i].task, e);
            if (++i < a->count)
                a->cursor[i] = 0;
            continue;
        }
        if (i == a->count)
            keep(a);
        if (i == 0 || a->best_ns <= a->bound_ns)
            return true;
        i--;
        a->load_ns[a->executor[i]] -= clo_cost_time(a->cost, a->items[i].task, a->executor[i]);
    }
}

clo_status clo_assign(const clo_cost *cost, int64_t bound_ns, clo_assignment *assignment)
{
    assigner a = {.cost = cost,
                  .count = cost->graph->instances,
                  .executors = cost->platform->executors_count,
                  .bound_ns = bound_ns,
                  .best_ns = INT64_MAX};
    clo_block block = {0};

    clo_carve(&block, &a.items, a.count);
    clo_carve(&block, &a.load_ns, a.executors);
    clo_carve(&block, &a.executor, a.count);
    clo_carve(&block, &a.best, a.count);
    clo_carve(&block, &a.rest_ns, (size_t)a.count + 1);
    clo_carve(&block, &a.cursor, a.count);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("an assignment");
    fill_items(&a);
    deal(&a);
    keep(&a);
    improve(&a);
    keep(&a);
    assignment->is_exact = a.best_ns <= bound_ns || (a.count <= EXACT_INSTANCES_MAX && branch(&a));
    assignment->load_ns = a.best_ns;
    for (uint32_t i = 0; i < a.count; i++)
        assignment->executor[a.items[i].instance] = a.best[i];
    clo_free(memory);
    return CLO_OK;
}
