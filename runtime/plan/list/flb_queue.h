/* plan/list/flb_queue.h - a queue that may lose its order, as SAGA's do: plan/list/flb_saga.c.
 *
 * Python's heapq keeps a list of (priority, name) in heap order as long as elements leave at the front. SAGA also takes
 * elements out of the middle and lets the rest close up, after which the first element need not be the least. To choose
 * what SAGA chooses, the list must then look as in Python after every step. That asks for its own rule to take the
 * first: the hole sinks to a leaf along the lesser children and the last element rises from there, which in a list
 * without order gives another list than base/order/heap.h, where it sinks from the top.
 *
 * push and pop O(log count), remove O(count). */
#ifndef CLO_PLAN_LIST_FLB_QUEUE_H
#define CLO_PLAN_LIST_FLB_QUEUE_H

#include "base/memory.h"
#include "base/order/heap.h"

typedef struct clo_flb_queue {
    clo_heap_item *items; /* [count]; items[0] is what pop takes */
    size_t count, capacity;
} clo_flb_queue;

/* Moves `item`, for which items[at] is free, towards the front until its parent is not greater. */
static inline void clo_flb_queue_rise(clo_flb_queue *queue, size_t at, clo_heap_item item)
{
    while (at > 0 && clo_heap_before(item, queue->items[(at - 1) / 2])) {
        queue->items[at] = queue->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->items[at] = item;
}

/* Returns 0, or -1 without memory. */
static inline int clo_flb_queue_push(clo_flb_queue *queue, int64_t key, uint64_t id)
{
    void *items = queue->items;

    if (clo_grow(&items, &queue->capacity, queue->count + 1, sizeof queue->items[0]) != 0)
        return -1;
    queue->items = items;
    queue->count++;
    clo_flb_queue_rise(queue, queue->count - 1, (clo_heap_item){key, id});
    return 0;
}

static inline clo_heap_item clo_flb_queue_pop(clo_flb_queue *queue)
{
    assert(queue->count > 0);
    clo_heap_item first = queue->items[0], last = queue->items[--queue->count];
    size_t hole = 0;

    if (queue->count == 0)
        return first;
    for (size_t child = 1; child < queue->count; child = 2 * hole + 1) {
        if (child + 1 < queue->count && !clo_heap_before(queue->items[child], queue->items[child + 1]))
            child++;
        queue->items[hole] = queue->items[child];
        hole = child;
    }
    clo_flb_queue_rise(queue, hole, last);
    return first;
}

/* Takes out `id`, if it is there; what stands behind it moves up by one. */
static inline void clo_flb_queue_remove(clo_flb_queue *queue, uint64_t id)
{
    size_t kept = 0;

    for (size_t i = 0; i < queue->count; i++)
        if (queue->items[i].id != id)
            queue->items[kept++] = queue->items[i];
    queue->count = kept;
}

static inline void clo_flb_queue_free(clo_flb_queue *queue)
{
    clo_free(queue->items);
    *queue = (clo_flb_queue){0};
}

#endif
