#include "plan/schedule/timeline.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

/* First block with finish > time. Most searches look behind everything: that is tried first. */
static size_t first_after(const clo_timeline *timeline, int64_t time)
{
    size_t low = 0, high = timeline->count;

    if (high == 0 || timeline->blocks[high - 1].finish_ns <= time)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->blocks[middle].finish_ns > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t clo_timeline_find(const clo_timeline *timeline, int64_t ready_ns, int64_t duration_ns)
{
    int64_t start = ready_ns;

    for (size_t i = first_after(timeline, ready_ns); i < timeline->count; i++) {
        if (start + duration_ns <= timeline->blocks[i].start_ns)
            return start;
        start = timeline->blocks[i].finish_ns;
    }
    return start;
}

static void remove_block(clo_timeline *timeline, size_t at)
{
    timeline->count--;
    memmove(&timeline->blocks[at], &timeline->blocks[at + 1], (timeline->count - at) * sizeof timeline->blocks[0]);
}

static int insert_block(clo_timeline *timeline, size_t at, clo_busy block)
{
    void *blocks = timeline->blocks;

    if (clo_grow(&blocks, &timeline->capacity, timeline->count + 1, sizeof block) != 0)
        return -1;
    timeline->blocks = blocks;
    memmove(&timeline->blocks[at + 1], &timeline->blocks[at], (timeline->count - at) * sizeof block);
    timeline->blocks[at] = block;
    timeline->count++;
    return 0;
}

int clo_timeline_reserve(clo_timeline *timeline, int64_t start_ns, int64_t finish_ns)
{
    assert(start_ns <= finish_ns);
    clo_busy *blocks = timeline->blocks;
    size_t right = first_after(timeline, start_ns); /* the left neighbour ends at or before start */

    if (start_ns == finish_ns && right < timeline->count && blocks[right].start_ns < start_ns)
        return 0; /* at a seam, of which a merged block keeps nothing */
    assert(right == timeline->count || finish_ns <= blocks[right].start_ns);
    int touches_left = right > 0 && blocks[right - 1].finish_ns == start_ns;
    int touches_right = right < timeline->count && blocks[right].start_ns == finish_ns;

    if (touches_left && touches_right) {
        blocks[right - 1].finish_ns = blocks[right].finish_ns;
        remove_block(timeline, right);
    } else if (touches_left) {
        blocks[right - 1].finish_ns = finish_ns;
    } else if (touches_right) {
        blocks[right].start_ns = start_ns;
    } else {
        return insert_block(timeline, right, (clo_busy){start_ns, finish_ns});
    }
    return 0;
}

void clo_timeline_clear(clo_timeline *timeline)
{
    timeline->count = 0;
}

void clo_timeline_free(clo_timeline *timeline)
{
    clo_free(timeline->blocks);
    memset(timeline, 0, sizeof *timeline);
}
