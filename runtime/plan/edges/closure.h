/* plan/edges/closure.h - who reaches whom in a graph that gets edges: bit sets, kept up to date with each edge.
 *
 * An edge from a to b costs one word operation for each ancestor of a and each descendant of b: n^2 / 64 at most. */
#ifndef CLO_PLAN_EDGES_CLOSURE_H
#define CLO_PLAN_EDGES_CLOSURE_H

#include "graph/graph.h"

typedef struct clo_closure {
    uint32_t tasks, words;
    /* [tasks][words] each: what a task leads to, what leads to it; without itself */
    uint64_t *reach, *above;
} clo_closure;

/* Words that hold one bit for each task. */
static inline uint32_t clo_closure_words(uint32_t tasks)
{
    return (tasks + 63) / 64;
}

/* Fills both sets from the graph's edges. O(edges * words). */
void clo_closure_fill(clo_closure *closure, const clo_graph *graph);

/* To another one of as many tasks. */
void clo_closure_copy(clo_closure *to, const clo_closure *from);

static inline bool clo_closure_reaches(const clo_closure *closure, uint32_t from, uint32_t to)
{
    return (closure->reach[(size_t)from * closure->words + to / 64] >> (to % 64) & 1) != 0;
}

/* Whether an edge would change anything, and close no circle. */
static inline bool clo_closure_may_add(const clo_closure *closure, uint32_t from, uint32_t to)
{
    return from != to && !clo_closure_reaches(closure, from, to) && !clo_closure_reaches(closure, to, from);
}

/* Whether there is a `to` that may be added behind `from`. */
bool clo_closure_has_end(const clo_closure *closure, uint32_t from);

/* Adds an edge that may be added. */
void clo_closure_add(clo_closure *closure, uint32_t from, uint32_t to);

#endif
