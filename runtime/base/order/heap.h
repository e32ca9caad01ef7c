/* base/order/heap.h - binary min-heap of (key, id) in fixed memory. Equal keys leave in order of id, so
 * whatever uses it is deterministic. */
#ifndef CLO_BASE_ORDER_HEAP_H
#define CLO_BASE_ORDER_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clo_heap_item {
    int64_t key;
    uint64_t id;
} clo_heap_item;

typedef struct clo_heap {
    clo_heap_item *items; /* of `capacity`, owned by the user */
    size_t count, capacity;
} clo_heap;

static inline bool clo_heap_before(clo_heap_item a, clo_heap_item b)
{
    return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static inline void clo_heap_push(clo_heap *heap, int64_t key, uint64_t id)
{
    assert(heap->count < heap->capacity);
    clo_heap_item item = {key, id};
    size_t i = heap->count++;

    while (i > 0 && clo_heap_before(item, heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = item;
}

static inline clo_heap_item clo_heap_pop(clo_heap *heap)
{
    assert(heap->count > 0);
    clo_heap_item top = heap->items[0], last = heap->items[--heap->count];
    size_t i = 0;

    for (size_t child = 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count && clo_heap_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!clo_heap_before(heap->items[child], last))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = last;
    return top;
}

/* The item moves to another key. O(log count). */
static inline void clo_heap_move(clo_heap *heap, size_t i, int64_t key)
{
    clo_heap_item item = {key, heap->items[i].id};

    for (; i > 0 && clo_heap_before(item, heap->items[(i - 1) / 2]); i = (i - 1) / 2)
        heap->items[i] = heap->items[(i - 1) / 2];
    for (size_t child = 2 * i + 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count && clo_heap_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!clo_heap_before(heap->items[child], item))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = item;
}

#endif
