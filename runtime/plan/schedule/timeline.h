/* plan/schedule/timeline.h - when one executor is busy, for planners that fill gaps.
 *
 * Invariant: blocks are sorted, disjoint and never touch (touching ones are merged), so a densely
 * packed executor is one block however many tasks it holds and a search passes it in one step. The
 * price: a search puts an execution of length 0 before or behind a block, never to a seam inside it. */
#ifndef CLO_PLAN_SCHEDULE_TIMELINE_H
#define CLO_PLAN_SCHEDULE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

typedef struct clo_busy {
    int64_t start_ns, finish_ns;
} clo_busy;

typedef struct clo_timeline {
    clo_busy *blocks;
    size_t count, capacity;
} clo_timeline;

/* Earliest start >= ready_ns of an idle span of duration_ns: the gap test of HEFT, finish of the left block <= start
 * and start + duration <= start of the right block. O(log blocks + blocks passed). */
int64_t clo_timeline_find(const clo_timeline *timeline, int64_t ready_ns, int64_t duration_ns);

/* The same: most searches look behind everything, and need no call. */
static inline int64_t clo_timeline_earliest(const clo_timeline *timeline, int64_t ready_ns, int64_t duration_ns)
{
    if (timeline->count == 0 || timeline->blocks[timeline->count - 1].finish_ns <= ready_ns)
        return ready_ns;
    return clo_timeline_find(timeline, ready_ns, duration_ns);
}

/* Makes [start_ns, finish_ns) busy; it must be idle. Of length 0 it may also stand at a seam, between two that touch:
 * one of them may have been reserved since the search. Returns 0, or -1 if there is no memory. */
int clo_timeline_reserve(clo_timeline *timeline, int64_t start_ns, int64_t finish_ns);

void clo_timeline_clear(clo_timeline *timeline); /* forgets the blocks, keeps the memory */
void clo_timeline_free(clo_timeline *timeline);

#endif
