/* policy/synch/insert.h - plans of what is ready, for SynchPack-2: instances inserted job by job, each where it ends
 * first, as early as it fits beside what runs and those inserted before (as plan/synch/pack.c does without LP). */
#ifndef CLO_POLICY_SYNCH_INSERT_H
#define CLO_POLICY_SYNCH_INSERT_H

#include "policy/synch/profile.h"

enum { CLO_SYNCH_BATCHES_MAX = 2048 };

typedef struct clo_synch_inserted {
    clo_synch_batch *batches; /* [CLO_SYNCH_BATCHES_MAX] in no order of time */
    uint32_t count, instances;
    int64_t weighted; /* the sum of weight * time until the last end of each job */
    bool is_whole;    /* false: something that is ready is not in it */
} clo_synch_inserted;

typedef struct clo_synch_inserter {
    const clo_synch_live *live;
    uint32_t instances_max;
    uint32_t *tried;              /* [jobs] slots, in the order of the plan */
    clo_synch_profile base, work; /* what runs, and jobs that stay where they are; that and what is inserted */
    clo_synch_inserted plans[2];  /* the best one, and the next */
} clo_synch_inserter;

size_t clo_synch_inserter_bytes(const clo_synch_places *places, uint32_t jobs);
/* Returns what is behind its memory. */
void *clo_synch_inserter_open(clo_synch_inserter *in, const clo_synch_live *live, uint32_t instances_max, void *memory);

/* Plans `tries` orders of jobs: that of the live jobs, and those that a search finds from it, where one job moves forward
 * by 1, 2, 4 ... places. Returns the best plan; where the decision reaches its bound, the best until then, or what has been
 * inserted of the first. NULL: the bound was reached before that. */
const clo_synch_inserted *clo_synch_insert(clo_synch_inserter *in, const clo_view *view, uint32_t tries);

#endif
