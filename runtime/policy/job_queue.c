/* job_queue.c - see job_queue.h. */
#include "policy/job_queue.h"

#include <string.h>

size_t clo_job_queue_bytes(uint32_t jobs)
{
    return (size_t)jobs * (sizeof(int64_t) + sizeof(uint64_t) + (CLO_BANDS_MAX + 3) * sizeof(uint32_t));
}

void clo_job_queue_open(clo_job_queue *queue, void *memory, uint32_t jobs)
{
    queue->jobs = jobs;
    queue->key = memory;
    queue->id = (uint64_t *)(queue->key + jobs);
    queue->place = (uint32_t *)(queue->id + jobs);
    queue->band = queue->place + jobs;
    queue->aside = queue->band + jobs;
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++) {
        queue->heap[b] = queue->aside + (size_t)(b + 1) * jobs;
        queue->count[b] = 0;
    }
    queue->aside_count = 0;
    memset(queue->place, 0xff, jobs * sizeof *queue->place);
}

static bool is_before(const clo_job_queue *queue, uint32_t a, uint32_t b)
{
    return queue->key[a] != queue->key[b] ? queue->key[a] < queue->key[b] : queue->id[a] < queue->id[b];
}

static void set(clo_job_queue *queue, uint32_t band, uint32_t at, uint32_t slot)
{
    queue->heap[band][at] = slot;
    queue->place[slot] = at;
}

static void rise(clo_job_queue *queue, uint32_t band, uint32_t at)
{
    uint32_t slot = queue->heap[band][at];

    for (; at > 0 && is_before(queue, slot, queue->heap[band][(at - 1) / 2]); at = (at - 1) / 2)
        set(queue, band, at, queue->heap[band][(at - 1) / 2]);
    set(queue, band, at, slot);
}

static void sink(clo_job_queue *queue, uint32_t band, uint32_t at)
{
    uint32_t slot = queue->heap[band][at], count = queue->count[band];

    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(queue, queue->heap[band][child + 1], queue->heap[band][child]))
            child++;
        if (!is_before(queue, queue->heap[band][child], slot))
            break;
        set(queue, band, at, queue->heap[band][child]);
    }
    set(queue, band, at, slot);
}

static void insert(clo_job_queue *queue, uint32_t slot)
{
    uint32_t band = queue->band[slot], at = queue->count[band]++;

    set(queue, band, at, slot);
    rise(queue, band, at);
}

void clo_job_queue_put(clo_job_queue *queue, const clo_live_job *job, uint32_t slot, int64_t key)
{
    bool rises = key <= queue->key[slot];

    queue->key[slot] = key;
    if (!clo_job_queue_has(queue, slot)) {
        queue->id[slot] = job->id;
        queue->band[slot] = job->band;
        insert(queue, slot);
    } else if (rises) {
        rise(queue, queue->band[slot], queue->place[slot]);
    } else {
        sink(queue, queue->band[slot], queue->place[slot]);
    }
}

void clo_job_queue_remove(clo_job_queue *queue, uint32_t slot)
{
    uint32_t band = queue->band[slot], at = queue->place[slot];

    if (at == CLO_NONE)
        return;
    uint32_t last = queue->heap[band][--queue->count[band]];
    queue->place[slot] = CLO_NONE;
    if (last == slot)
        return;
    set(queue, band, at, last);
    rise(queue, band, at);
    sink(queue, band, queue->place[last]);
}

void clo_job_queue_pass(clo_job_queue *queue, uint32_t band)
{
    uint32_t slot = queue->heap[band][0];

    clo_job_queue_remove(queue, slot);
    queue->aside[queue->aside_count++] = slot;
}

void clo_job_queue_restore(clo_job_queue *queue)
{
    while (queue->aside_count > 0)
        insert(queue, queue->aside[--queue->aside_count]);
}

bool clo_job_queue_choose(clo_job_queue *queue, const clo_view *view, clo_choice *choice)
{
    uint32_t band = clo_view_band(view), slot;
    bool found = false, is_cut = false;

    while (!found && !is_cut && (slot = clo_job_queue_first(queue, band)) != CLO_NONE) {
        const clo_live_job *job = clo_view_job(view, slot);
        bool has_room = job->running + job->committed < job->limit;
        uint32_t stage = has_room ? job->first_ready : CLO_NONE;
        while (stage != CLO_NONE && !found && !(is_cut = !clo_view_step(view))) {
            found = clo_view_free_for(view, slot, stage) != CLO_NONE;
            if (found)
                *choice = (clo_choice){slot, stage, UINT32_MAX, CLO_NONE, CLO_NONE, 0, 0};
            else
                stage = clo_view_stage(view, slot, stage)->next_ready;
        }
        is_cut = is_cut || (!found && !has_room && !clo_view_step(view));
        if (!found && !is_cut)
            clo_job_queue_pass(queue, band);
    }
    clo_job_queue_restore(queue);
    return found;
}

bool clo_job_queue_event(clo_job_queue *queue, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return false;
    if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END) {
        clo_job_queue_remove(queue, event->job);
        return false;
    }
    if (clo_view_job(view, event->job)->first_ready == CLO_NONE) {
        clo_job_queue_remove(queue, event->job);
        return false;
    }
    return event->kind != CLO_EVENT_ARRIVE;
}
