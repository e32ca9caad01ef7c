/* policy/synch/queues.h - instances that wait at places: each joins a queue when its stage is ready, that of a place or
 * the common one, and leaves it when it starts. What the scheduler's own rule starts elsewhere leaves the longest one. */
#ifndef CLO_POLICY_SYNCH_QUEUES_H
#define CLO_POLICY_SYNCH_QUEUES_H

#include "policy/synch/live.h"

typedef struct clo_synch_queues {
    uint64_t length[CLO_SYNCH_PLACES_MAX + 1]; /* instances; the common queue is behind those of the places */
    int64_t load_ns[CLO_SYNCH_PLACES_MAX];     /* time that they take of the place's executors */
} clo_synch_queues;

/* The queue that the next instances of the task join: a place, or the number of places. */
typedef uint32_t (*clo_synch_join)(const clo_synch_queues *queues, const clo_synch_places *places,
                                   const clo_synch_job *job, uint32_t task);

/* Follows clo_synch_live_event. Instances of one stage join in up to 64 parts: O(64 * places). */
void clo_synch_queues_event(clo_synch_queues *queues, const clo_synch_live *live, const clo_view *view,
                            const clo_event *event, clo_synch_join join);

/* Instances of the stage in the queue. */
static inline uint32_t clo_synch_queued(const clo_synch_places *places, const clo_synch_job *job, uint32_t task,
                                        uint32_t queue)
{
    return job->queued[(size_t)task * (places->count + 1) + queue];
}

#endif
