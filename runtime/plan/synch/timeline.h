/* plan/synch/timeline.h - what every machine holds over time, and the batches that were placed: non-preemptive plans.
 *
 * A batch is `count` tasks of one kind that start together on one group. */
#ifndef CLO_PLAN_SYNCH_TIMELINE_H
#define CLO_PLAN_SYNCH_TIMELINE_H

#include "plan/synch_lp/problem.h"

typedef struct clo_synch_batch {
    uint32_t kind, group, count;
    int64_t start_ns;
} clo_synch_batch;

typedef struct clo_synch_profile {
    size_t steps, room_time, room_used;
    int64_t *time; /* [steps] rising, time[0] = 0; the last step has no end */
    int64_t *used; /* [steps * bins] by the problem's bins */
} clo_synch_profile;

typedef struct clo_synch_timeline {
    const clo_synch_problem *problem;
    clo_synch_profile *profiles; /* [machines] */
    clo_synch_batch *batches;
    size_t count, room;
    bool has_failed; /* to allocate */
} clo_synch_timeline;

/* Empty. False: no memory. */
bool clo_synch_timeline_create(clo_synch_timeline *timeline, const clo_synch_problem *problem);
void clo_synch_timeline_destroy(clo_synch_timeline *timeline);

/* The earliest start >= from_ns of a task of the kind on the group, and how many (1 .. count) may start there together.
 * The kind can run there. O(steps). */
int64_t clo_synch_timeline_find(const clo_synch_timeline *timeline, uint32_t kind, uint32_t group, int64_t from_ns,
                                uint32_t count, uint32_t *together);

/* Places a batch, which fits. */
void clo_synch_timeline_place(clo_synch_timeline *timeline, clo_synch_batch batch);

/* Makes `to` hold what `from` has placed that starts before `before_ns`. False: no memory. */
bool clo_synch_timeline_keep(clo_synch_timeline *to, const clo_synch_timeline *from, int64_t before_ns);

/* The sum of weight * completion over the jobs of the batches. `done` [jobs] is written: the last finish, or 0. */
int64_t clo_synch_timeline_weighted(const clo_synch_timeline *timeline, int64_t *done);

#endif
