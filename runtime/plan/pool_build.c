/* plan/pool_build.c - serial and parallel schedule generation over packed shares, forward and backward. */
#include "plan/pool.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* The graph as seen in one direction. */
typedef struct one_way {
    const uint32_t *before_first, *after_first, *after;
} one_way;

static one_way way_of(const clo_pool *pool, int direction)
{
    const clo_graph *graph = pool->graph;

    if (direction == CLO_POOL_FORWARD)
        return (one_way){graph->pred_first, graph->succ_first, graph->succ};
    return (one_way){graph->succ_first, graph->pred_first, graph->pred};
}

clo_status clo_pool_builder_open(clo_pool_builder *builder, const clo_pool *pool)
{
    size_t n = pool->tasks, steps_max = 2 * n + 2;
    clo_layout layout = {0};

    *builder = (clo_pool_builder){.pool = pool};
    size_t steps = clo_layout_add(&layout, pool->machines, sizeof(clo_pool_steps));
    size_t times = clo_layout_add(&layout, pool->machines * steps_max, sizeof(int64_t));
    size_t frees = clo_layout_add(&layout, pool->machines * steps_max * pool->words, sizeof(uint64_t));
    size_t waits = clo_layout_add(&layout, n, sizeof(uint32_t));
    size_t ready = clo_layout_add(&layout, n, sizeof(int64_t));
    size_t items = clo_layout_add(&layout, n, sizeof(clo_heap_item));
    size_t list = clo_layout_add(&layout, n, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);

    if (block == NULL)
        return clo_fail_memory("a plan");
    builder->block = block;
    builder->steps = (void *)(block + steps);
    builder->waits_for = (void *)(block + waits);
    builder->ready_ns = (void *)(block + ready);
    builder->heap = (clo_heap){.items = (void *)(block + items), .capacity = n};
    builder->list = (void *)(block + list);
    for (uint32_t m = 0; m < pool->machines; m++) {
        builder->steps[m].time_ns = (int64_t *)(void *)(block + times) + m * steps_max;
        builder->steps[m].free = (uint64_t *)(void *)(block + frees) + m * steps_max * pool->words;
    }
    return CLO_OK;
}

void clo_pool_builder_close(clo_pool_builder *builder)
{
    clo_free(builder->block);
    builder->block = NULL;
}

static inline bool fits(const uint64_t *free, const uint64_t *demand, uint32_t words, uint64_t guards)
{
    uint64_t left = guards;

    for (uint32_t w = 0; w < words; w++)
        left &= free[w] - demand[w];
    return left == guards;
}

/* The last step with time <= time_ns; the first stands at 0. Most searches look near the end. */
static uint32_t step_at(const clo_pool_steps *steps, int64_t time_ns)
{
    uint32_t low = 0, high = steps->count;

    if (steps->time_ns[high - 1] <= time_ns)
        return high - 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (steps->time_ns[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Earliest start >= ready_ns of `duration_ns` with `demand`; *at receives its step. Ends: in the last step everything
 * is free, and the demand fits an empty machine. */
static inline int64_t find(const clo_pool_steps *steps, int64_t ready_ns, int64_t duration_ns, const uint64_t *demand,
                           uint32_t words, uint64_t guards, uint32_t *at)
{
    uint32_t first = step_at(steps, ready_ns), last = steps->count - 1;
    int64_t start = ready_ns;

    for (uint32_t i = first;; i++) {
        if (!fits(&steps->free[(size_t)i * words], demand, words, guards)) {
            assert(i < last);
            first = i + 1;
            start = steps->time_ns[first];
        } else if (i == last || steps->time_ns[i + 1] >= start + duration_ns) {
            *at = first;
            return start;
        }
    }
}

/* Makes a step begin at time_ns, which lies in step `at`; gives its index. */
static inline uint32_t split(clo_pool_steps *steps, uint32_t at, int64_t time_ns, uint32_t words)
{
    if (steps->time_ns[at] == time_ns)
        return at;
    size_t behind = steps->count - at - 1;
    memmove(&steps->time_ns[at + 2], &steps->time_ns[at + 1], behind * sizeof(int64_t));
    memmove(&steps->free[(size_t)(at + 2) * words], &steps->free[(size_t)(at + 1) * words],
            behind * words * sizeof(uint64_t));
    steps->time_ns[at + 1] = time_ns;
    for (uint32_t w = 0; w < words; w++)
        steps->free[(size_t)(at + 1) * words + w] = steps->free[(size_t)at * words + w];
    steps->count++;
    return at + 1;
}

static inline void take(clo_pool_steps *steps, uint32_t at, int64_t start_ns, int64_t finish_ns, const uint64_t *demand,
                        uint32_t words)
{
    uint32_t i = split(steps, at, start_ns, words);

    for (; i < steps->count && steps->time_ns[i] < finish_ns; i++) {
        if (i + 1 == steps->count || steps->time_ns[i + 1] > finish_ns)
            split(steps, i, finish_ns, words);
        for (uint32_t w = 0; w < words; w++)
            steps->free[(size_t)i * words + w] -= demand[w];
    }
}

static void begin(clo_pool_builder *builder, const one_way *way)
{
    const clo_pool *pool = builder->pool;

    for (uint32_t m = 0; m < pool->machines; m++) {
        clo_pool_steps *steps = &builder->steps[m];
        steps->count = 1;
        steps->time_ns[0] = 0;
        memcpy(steps->free, &pool->capacity[(size_t)m * pool->words], pool->words * sizeof(uint64_t));
    }
    for (uint32_t v = 0; v < pool->tasks; v++) {
        builder->waits_for[v] = way->before_first[v + 1] - way->before_first[v];
        builder->ready_ns[v] = 0;
    }
    builder->heap.count = 0;
}

/* Places `v` where it ends first. Ties: the lower machine. Returns its finish. */
static inline int64_t place(clo_pool_builder *builder, uint32_t v, uint32_t words, clo_pool_schedule *out)
{
    const clo_pool *pool = builder->pool;
    const uint64_t *demand = &pool->demand[(size_t)v * words];
    int64_t best_start = 0, best_finish = INT64_MAX, ready = builder->ready_ns[v];
    uint32_t best = 0, best_at = 0, at = 0;

    for (uint32_t m = 0; m < pool->machines; m++) {
        int64_t duration = pool->time_ns[(size_t)m * pool->tasks + v];
        if (duration == CLO_TIME_NEVER || ready + duration >= best_finish)
            continue;
        int64_t start =
            duration == 0 ? ready : find(&builder->steps[m], ready, duration, demand, words, pool->guards, &at);
        if (start + duration < best_finish) {
            best_finish = start + duration;
            best_start = start;
            best_at = at;
            best = m;
        }
    }
    if (best_finish > best_start)
        take(&builder->steps[best], best_at, best_start, best_finish, demand, words);
    out->start_ns[v] = best_start;
    out->machine[v] = best;
    return best_finish;
}

static inline void serial(clo_pool_builder *builder, const one_way *way, const int64_t *keys, uint32_t words,
                          clo_pool_schedule *out)
{
    clo_heap *heap = &builder->heap;

    out->makespan_ns = 0;
    for (uint32_t v = 0; v < builder->pool->tasks; v++)
        if (builder->waits_for[v] == 0)
            clo_heap_push(heap, keys[v], v);
    while (heap->count > 0) { /* each task enters once */
        uint32_t v = (uint32_t)clo_heap_pop(heap).id;
        int64_t finish = place(builder, v, words, out);
        if (finish > out->makespan_ns)
            out->makespan_ns = finish;
        for (uint32_t arc = way->after_first[v]; arc < way->after_first[v + 1]; arc++) {
            uint32_t u = way->after[arc];
            if (finish > builder->ready_ns[u])
                builder->ready_ns[u] = finish;
            if (--builder->waits_for[u] == 0)
                clo_heap_push(heap, keys[u], u);
        }
    }
}

void clo_pool_serial(clo_pool_builder *builder, int direction, const int64_t *keys, clo_pool_schedule *out)
{
    one_way way = way_of(builder->pool, direction);

    begin(builder, &way);
    if (builder->pool->words == 1) /* the usual case, without a loop over words */
        serial(builder, &way, keys, 1, out);
    else
        serial(builder, &way, keys, builder->pool->words, out);
}

/* Starts `v` at `now_ns` where it fits; the machine with the shortest time first. */
static bool start_now(clo_pool_builder *builder, uint32_t v, int64_t now_ns, clo_pool_schedule *out)
{
    const clo_pool *pool = builder->pool;
    const uint64_t *demand = &pool->demand[(size_t)v * pool->words];
    int64_t shortest = CLO_TIME_NEVER;

    for (uint32_t m = 0; m < pool->machines; m++) {
        int64_t duration = pool->time_ns[(size_t)m * pool->tasks + v];
        if (duration < shortest && (duration == 0 || fits(builder->steps[m].free, demand, pool->words, pool->guards))) {
            shortest = duration;
            out->machine[v] = m;
        }
    }
    if (shortest == CLO_TIME_NEVER)
        return false;
    out->start_ns[v] = now_ns;
    for (uint32_t w = 0; w < pool->words && shortest > 0; w++)
        builder->steps[out->machine[v]].free[w] -= demand[w];
    clo_heap_push(&builder->heap, now_ns + shortest, v);
    return true;
}

static void give_back(clo_pool_builder *builder, uint32_t v, const clo_pool_schedule *out)
{
    const clo_pool *pool = builder->pool;
    uint32_t m = out->machine[v];

    if (pool->time_ns[(size_t)m * pool->tasks + v] == 0)
        return;
    for (uint32_t w = 0; w < pool->words; w++)
        builder->steps[m].free[w] += pool->demand[(size_t)v * pool->words + w];
}

/* Into the ready list, sorted by (key, id) from the end, where insertion is cheap for late keys. */
static void make_ready(uint32_t *list, uint32_t count, const int64_t *keys, uint32_t v)
{
    while (count > 0 &&
           (keys[list[count - 1]] > keys[v] || (keys[list[count - 1]] == keys[v] && list[count - 1] > v))) {
        list[count] = list[count - 1];
        count--;
    }
    list[count] = v;
}

void clo_pool_parallel(clo_pool_builder *builder, int direction, const int64_t *keys, clo_pool_schedule *out)
{
    const clo_pool *pool = builder->pool;
    one_way way = way_of(pool, direction);
    uint32_t *list = builder->list, ready = 0;
    int64_t now = 0;

    begin(builder, &way); /* only the first step of each machine is used: what is free now */
    for (uint32_t v = 0; v < pool->tasks; v++)
        if (builder->waits_for[v] == 0)
            make_ready(list, ready++, keys, v);
    while (ready > 0 || builder->heap.count > 0) { /* each round starts or ends a task: an empty machine fits any */
        uint32_t kept = 0;
        for (uint32_t i = 0; i < ready; i++)
            if (!start_now(builder, list[i], now, out))
                list[kept++] = list[i];
        ready = kept;
        now = builder->heap.items[0].key;
        while (builder->heap.count > 0 && builder->heap.items[0].key == now) {
            uint32_t v = (uint32_t)clo_heap_pop(&builder->heap).id;
            give_back(builder, v, out);
            for (uint32_t arc = way.after_first[v]; arc < way.after_first[v + 1]; arc++)
                if (--builder->waits_for[way.after[arc]] == 0)
                    make_ready(list, ready++, keys, way.after[arc]);
        }
    }
    out->makespan_ns = now;
}
