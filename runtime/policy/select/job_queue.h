/* policy/select/job_queue.h - live jobs by key, smallest first, ties in order of arrival: a heap for each band (of
 * four, so that the children of a node share a cache line or two), with places, so that a job's key can change and a
 * job can leave. O(log jobs).
 *
 * The job whose key changed last stays where it stands until another one's changes, or somebody looks further than at
 * the first job. Often it gets its old key back before that: an executor ends an instance of a job, and begins the next
 * one of it. */
#ifndef CLO_POLICY_SELECT_JOB_QUEUE_H
#define CLO_POLICY_SELECT_JOB_QUEUE_H

#include "library.h"
#include "policy/select/select.h"

typedef struct clo_queued_job {
    int64_t key;
    uint64_t id;
    uint32_t slot, band;
} clo_queued_job;

typedef struct clo_job_queue {
    uint32_t jobs;
    uint32_t count[CLO_BANDS_MAX];
    clo_queued_job *heap[CLO_BANDS_MAX]; /* [jobs] */
    clo_queued_job *aside;               /* [jobs] taken off while one decision looks further */
    uint32_t aside_count;
    uint32_t *place;     /* [jobs] in its heap; CLO_NONE: in none */
    uint32_t *band;      /* [jobs] of those that are in one */
    uint32_t changed;    /* the slot of the job that stands where its last key has put it; CLO_NONE: none */
    int64_t changed_key; /* its key */
} clo_job_queue;

/* Bytes after the struct itself. */
CLO_INTERNAL size_t clo_job_queue_bytes(uint32_t jobs);
CLO_INTERNAL void clo_job_queue_open(clo_job_queue *queue, void *memory, uint32_t jobs);

CLO_INTERNAL void clo_job_queue_remove(clo_job_queue *queue, uint32_t slot);

static inline bool clo_job_queue_has(const clo_job_queue *queue, uint32_t slot)
{
    return queue->place[slot] != CLO_NONE;
}

/* Puts the job in, or gives it another key. */
CLO_INTERNAL void clo_job_queue_put_beside(clo_job_queue *queue, const clo_live_job *job, uint32_t slot, int64_t key);
static inline void clo_job_queue_put(clo_job_queue *queue, const clo_live_job *job, uint32_t slot, int64_t key)
{
    uint32_t place = queue->place[slot];

    if (place == CLO_NONE || (queue->changed != CLO_NONE && queue->changed != slot)) {
        clo_job_queue_put_beside(queue, job, slot, key);
        return;
    }
    queue->changed = queue->heap[job->band][place].key == key ? CLO_NONE : slot;
    queue->changed_key = key;
}

/* The key of a job that is in. */
static inline int64_t clo_job_queue_key(const clo_job_queue *queue, uint32_t slot)
{
    return queue->changed == slot ? queue->changed_key : queue->heap[queue->band[slot]][queue->place[slot]].key;
}

/* The first job of the band; CLO_NONE: none. */
CLO_INTERNAL uint32_t clo_job_queue_first_changed(const clo_job_queue *queue, uint32_t band);
static inline uint32_t clo_job_queue_first(const clo_job_queue *queue, uint32_t band)
{
    if (queue->changed != CLO_NONE)
        return clo_job_queue_first_changed(queue, band);
    return queue->count[band] > 0 ? queue->heap[band][0].slot : CLO_NONE;
}

/* Looks past the first job; clo_job_queue_restore puts back what was passed. */
CLO_INTERNAL void clo_job_queue_pass(clo_job_queue *queue, uint32_t band);
CLO_INTERNAL void clo_job_queue_restore(clo_job_queue *queue);

/* Keeps the queue: a job is in it exactly while it has ready stages. Returns the row of event->job if the event may
 * have changed its key, and it is or belongs in the queue; else NULL. */
static inline const clo_live_job *clo_job_queue_event(clo_job_queue *queue, const clo_view *view,
                                                      const clo_event *event)
{
    if (event->job == CLO_NONE)
        return NULL;
    const clo_live_job *job = clo_view_job(view, event->job);
    if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END || job->first_ready == CLO_NONE) {
        clo_job_queue_remove(queue, event->job);
        return NULL;
    }
    return event->kind != CLO_EVENT_ARRIVE ? job : NULL;
}

/* The first jobs of a band, in order, without taking any off: CLO_JOB_WALK_MAX at most. */
enum { CLO_JOB_WALK_MAX = 32 };

typedef struct clo_job_walk {
    const clo_queued_job *heap;
    uint32_t count, taken, ends_count;
    uint32_t ends[3 * CLO_JOB_WALK_MAX + 1]; /* places whose parents were taken, least first as in a heap */
} clo_job_walk;

CLO_INTERNAL void clo_job_walk_open(clo_job_walk *walk, clo_job_queue *queue, uint32_t band);

/* The next slot; CLO_NONE: none is left, or enough were taken. O(log CLO_JOB_WALK_MAX). */
CLO_INTERNAL uint32_t clo_job_walk_next(clo_job_walk *walk);

/* As functions of a clo_job_order; the order is the queue. */
static inline uint32_t clo_job_queue_order_first(void *order, const clo_view *view, uint32_t band)
{
    (void)view;
    return clo_job_queue_first(order, band);
}

static inline void clo_job_queue_order_pass(void *order, const clo_view *view, uint32_t band)
{
    (void)view;
    clo_job_queue_pass(order, band);
}

static inline void clo_job_queue_order_restore(void *order, const clo_view *view)
{
    (void)view;
    clo_job_queue_restore(order);
}

#endif
