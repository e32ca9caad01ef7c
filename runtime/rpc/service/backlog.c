#include "rpc/service/backlog.h"

#include "base/memory.h"

static int is_less(const clo_rpc_waiting *a, const clo_rpc_waiting *b)
{
    return a->latest_us != b->latest_us ? a->latest_us < b->latest_us : a->number > b->number;
}

static void put(clo_rpc_backlog *b, uint32_t place, clo_rpc_waiting *w)
{
    b->heap[place] = w;
    w->place = place;
}

/* To where it belongs, from `place` on, which is free: up, then down. */
static void settle(clo_rpc_backlog *b, uint32_t place, clo_rpc_waiting *w)
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

int clo_rpc_backlog_add(clo_rpc_backlog *b, clo_rpc_waiting *w)
{
    if (clo_grow((void **)&b->heap, &b->capacity, (size_t)b->count + 1, sizeof(clo_rpc_waiting *)) != 0)
        return -1;
    w->number = b->added++;
    w->next = NULL;
    w->before = b->last;
    *(b->last != NULL ? &b->last->next : &b->first) = w;
    b->last = w;
    b->count++;
    settle(b, b->count - 1, w);
    return 0;
}

void clo_rpc_backlog_remove(clo_rpc_backlog *b, clo_rpc_waiting *w)
{
    *(w->before != NULL ? &w->before->next : &b->first) = w->next;
    *(w->next != NULL ? &w->next->before : &b->last) = w->before;
    clo_rpc_waiting *moved = b->heap[--b->count];
    if (moved != w)
        settle(b, w->place, moved);
}

clo_rpc_waiting *clo_rpc_backlog_least(const clo_rpc_backlog *b)
{
    return b->count > 0 ? b->heap[0] : NULL;
}

void clo_rpc_backlog_free(clo_rpc_backlog *b)
{
    clo_free(b->heap);
    *b = (clo_rpc_backlog){.count = 0};
}
