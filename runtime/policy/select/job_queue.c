/* job_queue.c - see job_queue.h. */
#include "policy/select/job_queue.h"

#include <string.h>

#define ARITY 4u

size_t clo_job_queue_bytes(uint32_t jobs)
{
    return (size_t)jobs * ((CLO_BANDS_MAX + 1) * sizeof(clo_queued_job) + 2 * sizeof(uint32_t));
}

void clo_job_queue_open(clo_job_queue *queue, void *memory, uint32_t jobs)
{
    queue->jobs = jobs;
    queue->aside = memory;
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++) {
        queue->heap[b] = queue->aside + (size_t)(b + 1) * jobs;
        queue->count[b] = 0;
    }
    queue->place = (uint32_t *)(queue->aside + (size_t)(CLO_BANDS_MAX + 1) * jobs);
    queue->band = queue->place + jobs;
    queue->aside_count = 0;
    queue->changed = CLO_NONE;
    memset(queue->place, 0xff, jobs * sizeof *queue->place);
}

static bool is_before(const clo_queued_job *a, const clo_queued_job *b)
{
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void set(clo_job_queue *queue, clo_queued_job *heap, uint32_t at, clo_queued_job job)
{
    heap[at] = job;
    queue->place[job.slot] = at;
}

static void rise(clo_job_queue *queue, clo_queued_job *heap, uint32_t at, clo_queued_job job)
{
    for (; at > 0 && is_before(&job, &heap[(at - 1) / ARITY]); at = (at - 1) / ARITY)
        set(queue, heap, at, heap[(at - 1) / ARITY]);
    set(queue, heap, at, job);
}

static void sink(clo_job_queue *queue, clo_queued_job *heap, uint32_t count, uint32_t at, clo_queued_job job)
{
    for (uint32_t first; (first = ARITY * at + 1) < count;) {
        uint32_t best = first, end = first + ARITY < count ? first + ARITY : count;
        for (uint32_t child = first + 1; child < end; child++)
            best = is_before(&heap[child], &heap[best]) ? child : best;
        if (!is_before(&heap[best], &job))
            break;
        set(queue, heap, at, heap[best]);
        at = best;
    }
    set(queue, heap, at, job);
}

/* The job stands at `at`, but may belong elsewhere. */
static void settle(clo_job_queue *queue, uint32_t band, uint32_t at, clo_queued_job job)
{
    clo_queued_job *heap = queue->heap[band];

    if (at > 0 && is_before(&job, &heap[(at - 1) / ARITY]))
        rise(queue, heap, at, job);
    else
        sink(queue, heap, queue->count[band], at, job);
}

static void insert(clo_job_queue *queue, clo_queued_job job)
{
    rise(queue, queue->heap[job.band], queue->count[job.band]++, job);
}

/* Every job stands where it belongs. */
static void settle_changed(clo_job_queue *queue)
{
    uint32_t slot = queue->changed;

    if (slot == CLO_NONE)
        return;
    uint32_t band = queue->band[slot], at = queue->place[slot];
    clo_queued_job job = queue->heap[band][at];
    job.key = queue->changed_key;
    queue->changed = CLO_NONE;
    settle(queue, band, at, job);
}

void clo_job_queue_put_beside(clo_job_queue *queue, const clo_live_job *job, uint32_t slot, int64_t key)
{
    if (!clo_job_queue_has(queue, slot)) {
        queue->band[slot] = job->band;
        insert(queue, (clo_queued_job){key, job->id, slot, job->band});
        return;
    }
    if (queue->heap[job->band][queue->place[slot]].key == key)
        return;
    settle_changed(queue);
    queue->changed = slot;
    queue->changed_key = key;
}

uint32_t clo_job_queue_first_changed(const clo_job_queue *queue, uint32_t band)
{
    const clo_queued_job *heap = queue->heap[band];
    uint32_t count = queue->count[band], changed = queue->changed, best = 0;

    if (count == 0 || queue->band[changed] != band)
        return count > 0 ? heap[0].slot : CLO_NONE;
    if (heap[0].slot == changed) { /* the first of the others is below it */
        if (count == 1)
            return changed;
        best = 1;
        for (uint32_t child = 2; child <= ARITY && child < count; child++)
            best = is_before(&heap[child], &heap[best]) ? child : best;
    }
    clo_queued_job job = heap[queue->place[changed]];
    job.key = queue->changed_key;
    return is_before(&job, &heap[best]) ? changed : heap[best].slot;
}

void clo_job_queue_remove(clo_job_queue *queue, uint32_t slot)
{
    uint32_t at = queue->place[slot];

    if (at == CLO_NONE)
        return;
    if (queue->changed == slot)
        queue->changed = CLO_NONE;
    uint32_t band = queue->band[slot];
    clo_queued_job last = queue->heap[band][--queue->count[band]];
    queue->place[slot] = CLO_NONE;
    if (last.slot != slot)
        settle(queue, band, at, last);
}

void clo_job_queue_pass(clo_job_queue *queue, uint32_t band)
{
    settle_changed(queue);
    clo_queued_job first = queue->heap[band][0];

    clo_job_queue_remove(queue, first.slot);
    queue->aside[queue->aside_count++] = first;
}

void clo_job_queue_restore(clo_job_queue *queue)
{
    while (queue->aside_count > 0)
        insert(queue, queue->aside[--queue->aside_count]);
}

void clo_job_walk_open(clo_job_walk *walk, clo_job_queue *queue, uint32_t band)
{
    settle_changed(queue);
    walk->heap = queue->heap[band];
    walk->count = queue->count[band];
    walk->taken = walk->ends_count = 0;
    if (walk->count > 0)
        walk->ends[walk->ends_count++] = 0;
}

static void add_end(clo_job_walk *walk, uint32_t place)
{
    uint32_t at = walk->ends_count++;

    for (; at > 0 && is_before(&walk->heap[place], &walk->heap[walk->ends[(at - 1) / 2]]); at = (at - 1) / 2)
        walk->ends[at] = walk->ends[(at - 1) / 2];
    walk->ends[at] = place;
}

static uint32_t take_end(clo_job_walk *walk)
{
    uint32_t first = walk->ends[0], last = walk->ends[--walk->ends_count], at = 0;

    for (uint32_t child; (child = 2 * at + 1) < walk->ends_count; at = child) {
        if (child + 1 < walk->ends_count &&
            is_before(&walk->heap[walk->ends[child + 1]], &walk->heap[walk->ends[child]]))
            child++;
        if (!is_before(&walk->heap[walk->ends[child]], &walk->heap[last]))
            break;
        walk->ends[at] = walk->ends[child];
    }
    walk->ends[at] = last;
    return first;
}

uint32_t clo_job_walk_next(clo_job_walk *walk)
{
    if (walk->ends_count == 0 || walk->taken == CLO_JOB_WALK_MAX)
        return CLO_NONE;
    uint32_t place = take_end(walk), first = ARITY * place + 1;
    walk->taken++;
    for (uint32_t child = first; child < first + ARITY && child < walk->count; child++)
        add_end(walk, child);
    return walk->heap[place].slot;
}
