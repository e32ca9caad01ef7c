/* policy/synch/profile.h - what every domain holds over time, in memory of fixed size: where SynchPack-2 inserts.
 *
 * The steps of a domain rise in time; the first begins at the time of the plan, the last one has no end. `used` of a step
 * are the executors of each place of the domain, then the amounts of each resource that some domain limits. */
#ifndef CLO_POLICY_SYNCH_PROFILE_H
#define CLO_POLICY_SYNCH_PROFILE_H

#include "policy/synch/live.h"

typedef struct clo_synch_profile {
    uint32_t steps_max, width;                   /* of each domain; numbers in `used` of a step */
    uint32_t column_of[CLO_SYNCH_PLACES_MAX];    /* of each place's executors in `used` */
    uint32_t resource_column[CLO_RESOURCES_MAX]; /* CLO_NONE: no domain limits it */
    int64_t *open_ns; /* [places] from the plan's time on, all of its executors are held until then */
    uint32_t *steps;  /* [domains] */
    int64_t *time_ns; /* [domains * steps_max] */
    int64_t *used;    /* [domains * steps_max * width] */
} clo_synch_profile;

/* `count` instances of a stage, on executors of a place. */
typedef struct clo_synch_batch {
    uint32_t job, stage, place, count; /* job: a slot */
    int64_t start_ns, time_ns;
} clo_synch_batch;

size_t clo_synch_profile_bytes(const clo_synch_places *places);
/* Returns what is behind its memory. */
void *clo_synch_profile_open(clo_synch_profile *profile, const clo_synch_places *places, void *memory);

/* Nothing is held from now_ns on; or all that `from` holds. */
void clo_synch_profile_clear(clo_synch_profile *profile, const clo_synch_places *places, int64_t now_ns);
void clo_synch_profile_copy(clo_synch_profile *profile, const clo_synch_places *places, const clo_synch_profile *from);

/* The earliest start >= from_ns of instances like the batch's at its place, and how many (1 .. batch->count) may start
 * there together. Sets both. Returns the steps that were looked at. */
uint32_t clo_synch_profile_find(const clo_synch_profile *profile, const clo_synch_places *places, const clo_cost *cost,
                                clo_synch_batch *batch, int64_t from_ns);

/* Places it. False: the domain has no steps left, and is as before. */
bool clo_synch_profile_place(clo_synch_profile *profile, const clo_synch_places *places, const clo_cost *cost,
                             const clo_synch_batch *batch);

#endif
