/* closure.c - see closure.h. */
#include "plan/edges/closure.h"

#include <string.h>

static uint64_t *row(uint64_t *sets, const clo_closure *closure, uint32_t task)
{
    return sets + (size_t)task * closure->words;
}

static void put(uint64_t *set, uint32_t task)
{
    set[task / 64] |= UINT64_C(1) << (task % 64);
}

static void unite(uint64_t *set, const uint64_t *other, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] |= other[w];
}

void clo_closure_fill(clo_closure *closure, const clo_graph *graph)
{
    size_t bytes = (size_t)closure->tasks * closure->words * sizeof *closure->reach;

    memset(closure->reach, 0, bytes);
    memset(closure->above, 0, bytes);
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t t = graph->task_order[i];
        for (uint32_t edge = graph->out_first[t]; edge < graph->out_first[t + 1]; edge++) {
            put(row(closure->reach, closure, t), graph->out[edge]);
            unite(row(closure->reach, closure, t), row(closure->reach, closure, graph->out[edge]), closure->words);
        }
    }
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i];
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++) {
            put(row(closure->above, closure, t), clo_graph_source(graph, edge));
            unite(row(closure->above, closure, t), row(closure->above, closure, clo_graph_source(graph, edge)),
                  closure->words);
        }
    }
}

void clo_closure_copy(clo_closure *to, const clo_closure *from)
{
    size_t bytes = (size_t)from->tasks * from->words * sizeof *from->reach;

    memcpy(to->reach, from->reach, bytes);
    memcpy(to->above, from->above, bytes);
}

bool clo_closure_has_end(const clo_closure *closure, uint32_t from)
{
    const uint64_t *reach = closure->reach + (size_t)from * closure->words;
    const uint64_t *above = closure->above + (size_t)from * closure->words;
    uint32_t related = 1;

    for (uint32_t w = 0; w < closure->words; w++)
        related += (uint32_t)__builtin_popcountll(reach[w] | above[w]);
    return related < closure->tasks;
}

/* For each task of `members` and `one` more that does not have `far` in its set: what `far` has, and far itself. */
static void hand_on(clo_closure *closure, uint64_t *sets, const uint64_t *members, uint32_t one, uint32_t far)
{
    const uint64_t *more = row(sets, closure, far);

    for (uint32_t w = 0; w < closure->words; w++) {
        uint64_t left = members[w] | (one / 64 == w ? UINT64_C(1) << (one % 64) : 0);
        for (; left != 0; left &= left - 1) {
            uint64_t *set = row(sets, closure, w * 64 + (uint32_t)__builtin_ctzll(left));
            if ((set[far / 64] >> (far % 64) & 1) != 0)
                continue;
            unite(set, more, closure->words);
            put(set, far);
        }
    }
}

void clo_closure_add(clo_closure *closure, uint32_t from, uint32_t to)
{
    hand_on(closure, closure->reach, row(closure->above, closure, from), from, to);
    hand_on(closure, closure->above, row(closure->reach, closure, to), to, from);
}
