/* plan/schedule/keyed.c - the order of a list scheduler by given keys: see clo_schedule_order_by_keys. */
#include "plan/schedule/schedule.h"

#include "base/memory.h"
#include "base/order/heap.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

typedef struct keyed_task {
    int64_t key;
    uint32_t rank, task;
} keyed_task;

typedef struct keyed {
    keyed_task *rows;
    /* [tasks] the place among all by (key, rank_u); producers that are not in the order yet */
    uint32_t *place, *waiting;
    clo_heap heap;
} keyed;

static int by_falling_key(const void *left, const void *right)
{
    const keyed_task *a = left, *b = right;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* place[] of all tasks; schedule->order is that of clo_schedule_order. */
static void find_places(keyed *k, const clo_schedule *schedule, const int64_t *keys)
{
    const clo_graph *graph = schedule->graph;
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t task = graph->task_of[schedule->order[i]];
        if (graph->first_instance[task] == schedule->order[i])
            k->rows[count] = (keyed_task){keys[task], count, task}, count++;
    }
    assert(count == graph->tasks);
    clo_sort(k->rows, count, sizeof *k->rows, by_falling_key);
    for (uint32_t i = 0; i < count; i++)
        k->place[k->rows[i].task] = i;
}

static void fill_order(keyed *k, clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    uint32_t placed = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        k->waiting[t] = graph->in_first[t + 1] - graph->in_first[t];
        if (k->waiting[t] == 0)
            clo_heap_push(&k->heap, k->place[t], t);
    }
    while (k->heap.count > 0) { /* ends: a task is pushed once */
        uint32_t task = (uint32_t)clo_heap_pop(&k->heap).id;
        for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++)
            schedule->order[placed++] = i;
        for (uint32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++)
            if (--k->waiting[graph->out[e]] == 0)
                clo_heap_push(&k->heap, k->place[graph->out[e]], graph->out[e]);
    }
    assert(placed == graph->instances);
}

clo_status clo_schedule_order_by_keys(clo_schedule *schedule, const int64_t *keys)
{
    uint32_t tasks = schedule->graph->tasks;
    keyed k = {.rows = clo_allocate(tasks, sizeof *k.rows),
               .place = clo_allocate(tasks, sizeof *k.place),
               .waiting = clo_allocate(tasks, sizeof *k.waiting)};

    k.heap.items = clo_allocate(tasks, sizeof *k.heap.items);
    k.heap.capacity = tasks;
    clo_status status = k.rows != NULL && k.place != NULL && k.waiting != NULL && k.heap.items != NULL
                            ? clo_schedule_order(schedule)
                            : clo_fail_memory("the order of a plan");
    if (status == CLO_OK) {
        find_places(&k, schedule, keys);
        fill_order(&k, schedule);
    }
    clo_free(k.rows);
    clo_free(k.place);
    clo_free(k.waiting);
    clo_free(k.heap.items);
    return status;
}
