#include "backlog.h"

#include <stdlib.h>

static int is_less(const waiting *a, const waiting *b)
{
    return a->latest_us != b->latest_us ? a->latest_us < b->latest_us : a->number > b->number;
}

static void put(backlog *b, uint32_t place, waiting *w)
{
    b->heap[place] = w;
    w->place = place;
}

/* To where it belongs, from `place` on, which is free: up, then down. */
static void settle(backlog *b, uint32_t place, waiting *w)
{
    while (place > 0 && is_less(w, b->heap[(place - 1) / 2])) {
        put(b, place, b->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (uint32_t child; (child = 2 * place + 1) < b->count; place = child) {
        if (child + 1 < b->count && is_less(b->heap[child + 1], b->heap[child]))
            child++;
        if (!is_less(b->heap[child], w))
            break;
        put(b, place, b->heap[child]);
    }
    put(b, place, w);
}

int backlog_add(backlog *b, waiting *w)
{
    if (b->count == b->capacity) {
        uint32_t capacity = b->capacity > 0 ? b->capacity * 2 : 64;
        waiting **heap = realloc(b->heap, capacity * sizeof *heap);
        if (heap == NULL)
            return -1;
        b->heap = heap;
        b->capacity = capacity;
    }
    w->number = b->added++;
    w->next = NULL;
    w->before = b->last;
    *(b->last != NULL ? &b->last->next : &b->first) = w;
    b->last = w;
    b->count++;
    settle(b, b->count - 1, w);
    return 0;
}

void backlog_remove(backlog *b, waiting *w)
{
    *(w->before != NULL ? &w->before->next : &b->first) = w->next;
    *(w->next != NULL ? &w->next->before : &b->last) = w->before;
    waiting *moved = b->heap[--b->count];
    if (moved != w)
        settle(b, w->place, moved);
}

waiting *backlog_least(const backlog *b)
{
    return b->count > 0 ? b->heap[0] : NULL;
}

void backlog_free(backlog *b)
{
    free(b->heap);
    *b = (backlog){.count = 0};
}
