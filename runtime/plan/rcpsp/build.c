/* plan/rcpsp/build.c - serial and parallel schedule generation over packed shares, forward and backward. */
#include "plan/rcpsp/problem.h"

#include "base/carve.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* Of the ready instances that do not fit, parallel generation looks at so many: with more, time would grow with the
 * square of the tasks. */
enum { LOOK_AHEAD = 2048, STOP_EVERY = 64 };

/* The graph as seen in one direction. */
typedef struct one_way {
    const uint32_t *before_first, *after_first; /* by task */
    clo_ids after;
} one_way;

static one_way way_of(const clo_rcpsp *problem, int direction)
{
    const clo_graph *graph = problem->graph;

    if (direction == CLO_RCPSP_FORWARD)
        return (one_way){graph->in_first, graph->out_first, clo_ids_wide(graph->out)};
    return (one_way){graph->out_first, graph->in_first, graph->in};
}

/* The lower value in each lane. */
static uint64_t lower(uint64_t a, uint64_t b, uint64_t guards)
{
    uint64_t above = ((a | guards) - b) & guards; /* guards of the lanes where a >= b */
    uint64_t mask = above - (above >> __builtin_ctzll(guards));

    return (a & ~mask) | (b & mask);
}

/* The least that any instance demands of each resource; nothing where one takes no time, which fits anywhere. */
static void find_least(const clo_rcpsp *problem, uint64_t *least)
{
    memcpy(least, problem->demand, problem->words * sizeof *least);
    for (size_t i = problem->words; i < (size_t)problem->tasks * problem->words; i++)
        least[i % problem->words] = lower(least[i % problem->words], problem->demand[i], problem->guards);
    for (size_t i = 0; i < (size_t)problem->machines * problem->tasks; i++)
        if (problem->time_ns[i] == 0)
            memset(least, 0, problem->words * sizeof *least);
}

clo_status clo_rcpsp_builder_open(clo_rcpsp_builder *builder, const clo_rcpsp *problem)
{
    size_t n = problem->tasks, tasks = problem->graph->tasks, steps_max = 2 * n + 2;
    clo_rcpsp_steps all = {.look_back = CLO_STEPS_LOOK_BACK, .windows_ns = problem->windows_ns};
    clo_block block = {0};

    *builder = (clo_rcpsp_builder){
        .problem = problem, .stop_ns = INT64_MAX, .heap = {.capacity = n}, .fresh = {.capacity = n}};
    clo_carve(&block, &builder->steps, problem->machines);
    clo_rcpsp_steps_carve(&block, &all, problem->machines, steps_max, problem->words);
    clo_carve(&block, &builder->waits_for, 2 * tasks);
    clo_carve(&block, &builder->ready_ns, 2 * tasks);
    clo_carve(&block, &builder->heap.items, n);
    clo_carve(&block, &builder->fresh.items, n);
    clo_carve(&block, &builder->list, n);
    builder->block = clo_block_allocate(&block);
    if (builder->block == NULL)
        return clo_fail_memory("a plan");
    builder->left = n == tasks ? NULL : builder->waits_for + tasks;
    builder->end_ns = n == tasks ? NULL : builder->ready_ns + tasks;
    for (uint32_t m = 0; m < problem->machines; m++)
        builder->steps[m] = clo_rcpsp_steps_part(&all, m, steps_max, problem->words);
    find_least(problem, builder->least);
    return CLO_OK;
}

void clo_rcpsp_builder_close(clo_rcpsp_builder *builder)
{
    clo_free(builder->block);
    builder->block = NULL;
}

static void begin(clo_rcpsp_builder *builder, const one_way *way)
{
    const clo_rcpsp *problem = builder->problem;

    for (uint32_t m = 0; m < problem->machines; m++)
        clo_rcpsp_steps_clear(&builder->steps[m], 0, &problem->capacity[(size_t)m * problem->words], problem->words);
    for (uint32_t t = 0; t < problem->graph->tasks; t++) {
        builder->waits_for[t] = way->before_first[t + 1] - way->before_first[t];
        builder->ready_ns[t] = 0;
    }
    for (uint32_t t = 0; builder->left != NULL && t < problem->graph->tasks; t++) {
        builder->left[t] = clo_graph_instances_of(problem->graph, t);
        builder->end_ns[t] = 0;
    }
    builder->heap.count = builder->fresh.count = 0;
    builder->passed = 0;
    builder->looks = 0;
}

/* Without a look where every task has one instance. */
static inline uint32_t task_of(const clo_rcpsp_builder *builder, uint32_t v)
{
    return builder->left == NULL ? v : builder->problem->graph->task_of[v];
}

/* Places `v` where it ends first. Ties: the lower machine. Returns its finish. Always inline, because `words` is mostly
 * the constant 1. */
static inline __attribute__((always_inline)) int64_t place(clo_rcpsp_builder *builder, uint32_t v, uint32_t words,
                                                           clo_packing *out)
{
    const clo_rcpsp *problem = builder->problem;
    const uint64_t *demand = &problem->demand[(size_t)v * words];
    int64_t best_start = 0, best_finish = INT64_MAX, ready = builder->ready_ns[task_of(builder, v)];
    clo_rcpsp_step step = {0, 0}, best_step = {0, 0};
    uint32_t best = 0;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t duration = problem->time_ns[(size_t)m * problem->tasks + v];
        if (duration == CLO_TIME_NEVER || ready + duration >= best_finish)
            continue;
        int64_t start = duration == 0 ? ready
                                      : clo_rcpsp_steps_find(&builder->steps[m], ready, duration, demand, words,
                                                             problem->guards, &step);
        if (start + duration < best_finish) {
            best_finish = start + duration;
            best_start = start;
            best_step = step;
            best = m;
        }
    }
    if (best_finish > best_start)
        clo_rcpsp_steps_take(&builder->steps[best], best_step, best_start, best_finish, demand, words, problem->guards);
    out->start_ns[v] = best_start;
    out->machine[v] = best;
    return best_finish;
}

/* An instance of `task` ended at *finish_ns. True if it was the last one without a place: *finish_ns is then the end of
 * all. */
static inline bool is_complete(clo_rcpsp_builder *builder, uint32_t task, int64_t *finish_ns)
{
    if (builder->left == NULL)
        return true;
    if (*finish_ns > builder->end_ns[task])
        builder->end_ns[task] = *finish_ns;
    *finish_ns = builder->end_ns[task];
    return --builder->left[task] == 0;
}

/* True past the builder's limit of time, which is looked at in every STOP_EVERY-th step. */
static inline bool is_over(const clo_rcpsp_builder *builder, uint32_t step)
{
    return builder->stop_ns != INT64_MAX && step % STOP_EVERY == STOP_EVERY - 1 && clo_clock_ns() >= builder->stop_ns;
}

/* All instances of `task` have a place, the last of them until finish_ns: queues what waited for them only. */
static void hand_on(clo_rcpsp_builder *builder, const one_way *way, uint32_t task, int64_t finish_ns,
                    const int64_t *keys)
{
    const clo_graph *graph = builder->problem->graph;

    for (uint32_t edge = way->after_first[task]; edge < way->after_first[task + 1]; edge++) {
        uint32_t u = clo_ids_at(way->after, edge);
        if (finish_ns > builder->ready_ns[u])
            builder->ready_ns[u] = finish_ns;
        if (--builder->waits_for[u] > 0)
            continue;
        for (uint32_t v = graph->first_instance[u]; v < graph->first_instance[u + 1]; v++)
            clo_heap_push(&builder->heap, keys[v], v);
    }
}

static inline __attribute__((always_inline)) void serial(clo_rcpsp_builder *builder, const one_way *way,
                                                         const int64_t *keys, uint32_t words, clo_packing *out)
{
    clo_heap *heap = &builder->heap;
    uint32_t step = 0;

    out->makespan_ns = 0;
    for (uint32_t v = 0; v < builder->problem->tasks; v++)
        if (builder->waits_for[task_of(builder, v)] == 0)
            clo_heap_push(heap, keys[v], v);
    while (heap->count > 0) { /* each task enters once */
        if (is_over(builder, step++)) {
            out->makespan_ns = INT64_MAX;
            return;
        }
        uint32_t v = (uint32_t)clo_heap_pop(heap).id, task = task_of(builder, v);
        int64_t finish = place(builder, v, words, out);
        if (finish > out->makespan_ns)
            out->makespan_ns = finish;
        if (is_complete(builder, task, &finish))
            hand_on(builder, way, task, finish, keys);
    }
}

void clo_rcpsp_serial(clo_rcpsp_builder *builder, int direction, const int64_t *keys, clo_packing *out)
{
    one_way way = way_of(builder->problem, direction);

    begin(builder, &way);
    if (builder->problem->words == 1) /* the usual case, without a loop over words */
        serial(builder, &way, keys, 1, out);
    else
        serial(builder, &way, keys, builder->problem->words, out);
}

/* Starts `v` at `now_ns` where it fits; the machine with the shortest time first. */
static bool start_now(clo_rcpsp_builder *builder, uint32_t v, int64_t now_ns, clo_packing *out)
{
    const clo_rcpsp *problem = builder->problem;
    const uint64_t *demand = &problem->demand[(size_t)v * problem->words];
    int64_t shortest = CLO_TIME_NEVER;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t duration = problem->time_ns[(size_t)m * problem->tasks + v];
        if (duration < shortest &&
            (duration == 0 || clo_rcpsp_fits(builder->steps[m].free, demand, problem->words, problem->guards))) {
            shortest = duration;
            out->machine[v] = m;
        }
    }
    if (shortest == CLO_TIME_NEVER)
        return false;
    out->start_ns[v] = now_ns;
    for (uint32_t w = 0; w < problem->words && shortest > 0; w++)
        builder->steps[out->machine[v]].free[w] -= demand[w];
    clo_heap_push(&builder->heap, now_ns + shortest, v);
    return true;
}

static void give_back(clo_rcpsp_builder *builder, uint32_t v, const clo_packing *out)
{
    const clo_rcpsp *problem = builder->problem;
    uint32_t m = out->machine[v];

    if (problem->time_ns[(size_t)m * problem->tasks + v] == 0)
        return;
    for (uint32_t w = 0; w < problem->words; w++)
        builder->steps[m].free[w] += problem->demand[(size_t)v * problem->words + w];
}

/* The first ready instance by (key, id), taken out of what is ready. */
static uint32_t take_first(clo_rcpsp_builder *builder, const int64_t *keys)
{
    const clo_heap *fresh = &builder->fresh;

    if (builder->passed > 0) {
        uint32_t v = builder->list[builder->passed - 1];
        if (fresh->count == 0 || clo_heap_before((clo_heap_item){keys[v], v}, fresh->items[0])) {
            builder->passed--;
            return v;
        }
    }
    return (uint32_t)clo_heap_pop(&builder->fresh).id;
}

/* Some machine has room for the least that any instance demands. */
static bool has_room(const clo_rcpsp_builder *builder)
{
    const clo_rcpsp *problem = builder->problem;

    for (uint32_t m = 0; m < problem->machines; m++)
        if (clo_rcpsp_fits(builder->steps[m].free, builder->least, problem->words, problem->guards))
            return true;
    return false;
}

/* Starts at `now_ns`, by rising key, what is ready and fits. What does not is kept at the end of the list, the first
 * last, until it goes back on top of those that were passed before and come later. */
static void start_ready(clo_rcpsp_builder *builder, int64_t now_ns, const int64_t *keys, clo_packing *out)
{
    uint32_t *list = builder->list, n = builder->problem->tasks, kept = 0;
    bool has_place = has_room(builder);

    while (has_place && kept < LOOK_AHEAD && builder->passed + builder->fresh.count > 0) {
        uint32_t v = take_first(builder, keys);
        builder->looks++;
        if (start_now(builder, v, now_ns, out))
            has_place = has_room(builder);
        else
            list[n - ++kept] = v;
    }
    memmove(&list[builder->passed], &list[n - kept], kept * sizeof *list);
    builder->passed += kept;
}

/* All instances of `task` have ended: makes ready what waited for them only. */
static void release(clo_rcpsp_builder *builder, const one_way *way, uint32_t task, const int64_t *keys)
{
    const clo_graph *graph = builder->problem->graph;

    for (uint32_t edge = way->after_first[task]; edge < way->after_first[task + 1]; edge++) {
        uint32_t u = clo_ids_at(way->after, edge);
        if (--builder->waits_for[u] > 0)
            continue;
        for (uint32_t v = graph->first_instance[u]; v < graph->first_instance[u + 1]; v++)
            clo_heap_push(&builder->fresh, keys[v], v);
    }
}

void clo_rcpsp_parallel(clo_rcpsp_builder *builder, int direction, const int64_t *keys, clo_packing *out)
{
    const clo_rcpsp *problem = builder->problem;
    one_way way = way_of(problem, direction);
    const clo_graph *graph = problem->graph;
    uint32_t step = 0;
    int64_t now = 0, end = 0; /* ends need not be told: by the clock nothing starts before them */

    begin(builder, &way); /* only the first step of each machine is used: what is free now */
    for (uint32_t v = 0; v < problem->tasks; v++)
        if (builder->waits_for[graph->task_of[v]] == 0)
            clo_heap_push(&builder->fresh, keys[v], v);
    /* each round starts or ends a task: empty machines fit the first */
    while (builder->passed + builder->fresh.count + builder->heap.count > 0) {
        if (is_over(builder, step++)) {
            out->makespan_ns = INT64_MAX;
            return;
        }
        start_ready(builder, now, keys, out);
        now = builder->heap.items[0].key;
        while (builder->heap.count > 0 && builder->heap.items[0].key == now) {
            uint32_t v = (uint32_t)clo_heap_pop(&builder->heap).id;
            give_back(builder, v, out);
            if (is_complete(builder, graph->task_of[v], &end))
                release(builder, &way, graph->task_of[v], keys);
        }
    }
    out->makespan_ns = now;
}
