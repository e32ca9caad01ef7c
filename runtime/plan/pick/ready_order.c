/* plan/pick/ready_order.c - the order of the tasks in the tree of ready ones: see ready_order.h. */
#include "plan/pick/ready_order.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

enum { SAMPLES = 64, STACK_MAX = 64, TIMES_WEIGHT = 8 };

typedef struct task_key {
    uint64_t first; /* level, then placement mask; in a range: a time */
    uint64_t second;
    uint32_t task;
} task_key;

/* Tasks [begin, end) of the order, sorted by the times on a column; CLO_NONE: by none. */
typedef struct range {
    uint32_t begin, end, column;
} range;

static int by_key(const void *left, const void *right)
{
    const task_key *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

/* One more than the largest level of what the task waits for; 0 without inputs. */
static void fill_levels(const clo_graph *graph, uint32_t *levels)
{
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[i], level = 0;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
            uint32_t above = levels[clo_graph_source(graph, k)] + 1;
            level = above > level ? above : level;
        }
        levels[task] = level;
    }
}

/* The time on a column; behind the columns stand the resources, with what the task demands. */
static int64_t column_value(const clo_cost *cost, uint32_t task, uint32_t column)
{
    if (column < cost->columns)
        return cost->time_ns[(size_t)task * cost->columns + column];
    return clo_graph_demand(cost->graph, task)[column - cost->columns];
}

/* How much of the largest value the values of a range differ by, in 1/65536. */
static int64_t relative_range(int64_t least, int64_t largest)
{
    if (largest <= 0)
        return 0;
    return (int64_t)(((clo_u128)(uint64_t)(largest - least) << 16) / (uint64_t)largest);
}

/* The column on which a sample of the range differs most; CLO_NONE: they are alike. */
static uint32_t widest_column(const clo_cost *cost, const task_key *keys, range r)
{
    uint32_t step = (r.end - r.begin - 1) / SAMPLES + 1, widest = CLO_NONE;
    uint32_t columns = cost->columns + (cost->graph->has_demands ? CLO_RESOURCES_MAX : 0);
    int64_t most = 0;

    for (uint32_t column = 0; column < columns; column++) {
        int64_t least = INT64_MAX, largest = 0;
        for (uint32_t i = r.begin; i < r.end; i += step) {
            int64_t time = column_value(cost, keys[i].task, column);
            least = time < least ? time : least;
            largest = time > largest ? time : largest;
        }
        int64_t spread = largest > least ? largest - least : 0;
        if (spread > 0 && cost->graph->has_demands)
            spread = relative_range(least, largest) * (column < cost->columns ? TIMES_WEIGHT : 1);
        if (spread > most) {
            most = spread;
            widest = column;
        }
    }
    return widest;
}

static void sort_range(const clo_cost *cost, task_key *keys, range r)
{
    for (uint32_t i = r.begin; i < r.end; i++) {
        keys[i].first = (uint64_t)column_value(cost, keys[i].task, r.column);
        keys[i].second = 0;
    }
    clo_sort(keys + r.begin, r.end - r.begin, sizeof *keys, by_key);
}

/* Halves a range, whose halves begin at leaves, until its parts are leaves or alike. */
static void split(const clo_cost *cost, uint32_t leaf, task_key *keys, range all)
{
    range stack[STACK_MAX];
    uint32_t depth = 0;

    stack[depth++] = all;
    while (depth > 0) { /* ends: the halves of a range are shorter; so the stack holds one range a halving */
        range r = stack[--depth];
        if (leaf == 0 || r.end - r.begin <= leaf)
            continue;
        uint32_t column = widest_column(cost, keys, r);
        if (column == CLO_NONE)
            continue;
        if (column != r.column) {
            r.column = column;
            sort_range(cost, keys, r);
        }
        uint32_t middle = (r.begin + (r.end - r.begin) / 2 + leaf - 1) / leaf * leaf;
        if (middle >= r.end)
            continue;
        stack[depth++] = (range){middle, r.end, column};
        stack[depth++] = (range){r.begin, middle, column};
    }
}

clo_status clo_ready_order(const clo_cost *cost, uint32_t leaf, uint32_t *task_at)
{
    const clo_graph *graph = cost->graph;
    uint32_t tasks = graph->tasks, begin = 0;
    task_key *keys = clo_allocate(tasks, sizeof *keys);
    uint32_t *levels = clo_allocate(tasks, sizeof *levels);

    if (keys == NULL || levels == NULL) {
        clo_free(keys);
        clo_free(levels);
        return clo_fail_memory("a plan");
    }
    fill_levels(graph, levels);
    for (uint32_t t = 0; t < tasks; t++)
        keys[t] = (task_key){levels[t], clo_graph_placement(graph, t), t};
    clo_sort(keys, tasks, sizeof *keys, by_key);
    for (uint32_t i = 1; i <= tasks; i++)
        if (i == tasks || keys[i].first != keys[begin].first || keys[i].second != keys[begin].second) {
            split(cost, leaf, keys, (range){begin, i, CLO_NONE});
            begin = i;
        }
    for (uint32_t i = 0; i < tasks; i++)
        task_at[i] = keys[i].task;
    clo_free(keys);
    clo_free(levels);
    return CLO_OK;
}
