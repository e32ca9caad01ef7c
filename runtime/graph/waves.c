/* waves.c - see waves.h. While the graph is open, times stand in the order in which they were added, in pieces of one
 * (task, level, wave); sealing puts them into the order of task, level and wave, so that a draw is one look-up. */
#include "graph/waves.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WAVES 3u
#define TIMES_MAX UINT32_MAX

/* Times that were added in one call. */
typedef struct piece {
    uint32_t task, level, wave;
    uint32_t first, count; /* in `times` */
} piece;

typedef struct span {
    uint32_t first, count;
} span;

/* A level of a task. */
typedef struct level_row {
    uint32_t level;
    span wave[WAVES];
} level_row;

struct clo_graph_waves {
    int64_t *times;
    size_t times_count, times_capacity;
    piece *pieces;
    size_t pieces_count, pieces_capacity;
    uint32_t *level_first; /* [tasks + 1] */
    level_row *levels;     /* by task and level */
};

void clo_graph_waves_free(clo_graph_waves *waves)
{
    if (waves == NULL)
        return;
    clo_free(waves->times);
    clo_free(waves->pieces);
    clo_free(waves->level_first);
    clo_free(waves->levels);
    clo_free(waves);
}

clo_graph_waves *clo_graph_waves_create(void)
{
    return clo_allocate(1, sizeof(clo_graph_waves));
}

clo_status clo_graph_waves_add(clo_graph_waves *waves, uint32_t task, clo_wave wave, uint32_t level,
                               const int64_t *times_ns, size_t count)
{
    if (count > TIMES_MAX - waves->times_count || waves->pieces_count >= TIMES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "task %u: more than %u measured times in the graph; use fewer", task, TIMES_MAX);
    void *times = waves->times, *pieces = waves->pieces;
    int failed = clo_grow(&pieces, &waves->pieces_capacity, waves->pieces_count + 1, sizeof *waves->pieces);
    waves->pieces = pieces;
    if (!failed && count > 0)
        failed = clo_grow(&times, &waves->times_capacity, waves->times_count + count, sizeof *waves->times);
    waves->times = times;
    if (failed)
        return clo_fail_memory("measured times");
    waves->pieces[waves->pieces_count++] =
        (piece){task, level, (uint32_t)wave, (uint32_t)waves->times_count, (uint32_t)count};
    if (count > 0)
        memcpy(waves->times + waves->times_count, times_ns, count * sizeof *times_ns);
    waves->times_count += count;
    return CLO_OK;
}

/* By task, level and wave; pieces of one place in order of addition. */
static int compare_pieces(const void *a, const void *b)
{
    const piece *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->wave != y->wave)
        return x->wave < y->wave ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->count > y->count) - (x->count < y->count);
}

static bool is_new_level(const piece *pieces, size_t i)
{
    return i == 0 || pieces[i].task != pieces[i - 1].task || pieces[i].level != pieces[i - 1].level;
}

/* Copies the times into the order of the sorted pieces, and makes the rows of the levels. */
static void place(clo_graph_waves *waves, int64_t *sorted)
{
    uint32_t at = 0;
    level_row *row = waves->levels;

    assert(row != NULL && waves->level_first != NULL);
    for (size_t i = 0; i < waves->pieces_count; i++) {
        const piece *p = &waves->pieces[i];
        if (is_new_level(waves->pieces, i)) {
            row = i == 0 ? row : row + 1;
            row->level = p->level;
            waves->level_first[p->task + 1]++;
        }
        if (row->wave[p->wave].count == 0)
            row->wave[p->wave].first = at;
        row->wave[p->wave].count += p->count;
        if (p->count > 0)
            memcpy(sorted + at, waves->times + p->first, p->count * sizeof *sorted);
        at += p->count;
    }
}

/* Takes each fresh time out of the first wave once: its first occurrence. What stays keeps its order. */
static void take_fresh_out(level_row *row, int64_t *times, int64_t *scratch)
{
    const span fresh = row->wave[CLO_WAVE_FRESH];
    span *first = &row->wave[CLO_WAVE_FIRST];
    int64_t *from = times + first->first;
    uint32_t kept = 0;
    bool *is_taken = (bool *)(scratch + fresh.count);

    memcpy(scratch, times + fresh.first, fresh.count * sizeof *scratch);
    memset(is_taken, 0, fresh.count * sizeof *is_taken);
    clo_sort_times(scratch, fresh.count);
    for (uint32_t i = 0; i < first->count; i++) {
        uint32_t low = 0, high = fresh.count; /* the first fresh time that is not below it */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (scratch[middle] < from[i])
                low = middle + 1;
            else
                high = middle;
        }
        while (low < fresh.count && scratch[low] == from[i] && is_taken[low])
            low++;
        if (low < fresh.count && scratch[low] == from[i])
            is_taken[low] = true;
        else
            from[kept++] = from[i];
    }
    first->count = kept;
}

/* Levels without a first wave take that of the next smaller one. */
static void fill_first(clo_graph_waves *waves, uint32_t task)
{
    span last = {0, 0};

    for (uint32_t k = waves->level_first[task]; k < waves->level_first[task + 1]; k++) {
        span *first = &waves->levels[k].wave[CLO_WAVE_FIRST];
        if (first->count == 0)
            *first = last;
        last = *first;
    }
}

static clo_status take_tables(clo_graph_waves *waves, uint32_t tasks, int64_t **sorted, int64_t **scratch)
{
    size_t levels = 0;

    for (size_t i = 0; i < waves->pieces_count; i++)
        levels += is_new_level(waves->pieces, i);
    *sorted = clo_allocate(waves->times_count, sizeof **sorted);
    *scratch = clo_allocate(2 * waves->times_count, sizeof **scratch);
    waves->levels = clo_allocate(levels, sizeof *waves->levels);
    waves->level_first = clo_allocate((size_t)tasks + 1, sizeof *waves->level_first);
    if (*sorted != NULL && *scratch != NULL && waves->levels != NULL && waves->level_first != NULL)
        return CLO_OK;
    clo_free(*sorted);
    clo_free(*scratch);
    clo_free(waves->levels);
    clo_free(waves->level_first);
    waves->levels = NULL;
    waves->level_first = NULL;
    return clo_fail_memory("measured times");
}

static clo_status check_levels(const clo_graph_waves *waves)
{
    uint32_t levels = 0;

    for (size_t i = 0; i < waves->pieces_count; i++) {
        bool is_new_task = i == 0 || waves->pieces[i].task != waves->pieces[i - 1].task;
        levels = is_new_task ? 1 : levels + is_new_level(waves->pieces, i);
        if (levels > CLO_WAVE_LEVELS_MAX)
            return clo_fail(CLO_ERR_LIMIT, "task %u: more than %d levels of measured times; use fewer",
                            waves->pieces[i].task, CLO_WAVE_LEVELS_MAX);
    }
    return CLO_OK;
}

clo_status clo_graph_waves_seal(clo_graph_waves *waves, uint32_t tasks)
{
    int64_t *sorted, *scratch;

    if (waves == NULL)
        return CLO_OK;
    qsort(waves->pieces, waves->pieces_count, sizeof *waves->pieces, compare_pieces);
    clo_status status = check_levels(waves);
    if (status == CLO_OK)
        status = take_tables(waves, tasks, &sorted, &scratch);
    if (status != CLO_OK)
        return status;
    place(waves, sorted);
    assert(waves->level_first != NULL && waves->levels != NULL);
    for (uint32_t t = 0; t < tasks; t++)
        waves->level_first[t + 1] += waves->level_first[t];
    for (uint32_t k = 0; k < waves->level_first[tasks]; k++)
        take_fresh_out(&waves->levels[k], sorted, scratch);
    for (uint32_t t = 0; t < tasks; t++)
        fill_first(waves, t);
    clo_free(scratch);
    clo_free(waves->times);
    clo_free(waves->pieces);
    waves->times = sorted;
    waves->pieces = NULL;
    waves->pieces_count = waves->pieces_capacity = 0;
    return CLO_OK;
}

uint32_t clo_graph_waves_levels(const clo_graph_waves *waves, uint32_t task)
{
    return waves->level_first[task + 1] - waves->level_first[task];
}

/* NULL: there is no such level. */
static const level_row *level_of(const clo_graph_waves *waves, uint32_t task, uint32_t k)
{
    return k < clo_graph_waves_levels(waves, task) ? &waves->levels[waves->level_first[task] + k] : NULL;
}

uint32_t clo_graph_waves_level(const clo_graph_waves *waves, uint32_t task, uint32_t k)
{
    const level_row *row = level_of(waves, task, k);

    return row != NULL ? row->level : 0;
}

const int64_t *clo_graph_waves_times(const clo_graph_waves *waves, uint32_t task, uint32_t k, clo_wave wave,
                                     uint32_t *count)
{
    const level_row *row = (unsigned)wave < WAVES ? level_of(waves, task, k) : NULL;

    *count = row != NULL ? row->wave[wave].count : 0;
    return row != NULL ? waves->times + row->wave[wave].first : NULL;
}
