/* policy/synch/places.h - what the policies after SynchPack share: a platform as a few places, and what a job's tasks
 * take there.
 *
 * A *place* is all executors of one machine and kind; places of one machine are a *domain*, which has the machine's
 * capacities. Where there are more than 64 places, all executors are one place of one domain. The time of a task at a
 * place is its shortest one there. Its *load* is the time for which it fills the place or a resource of the domain,
 * whichever is longer: time * demand / capacity. */
#ifndef CLO_POLICY_SYNCH_PLACES_H
#define CLO_POLICY_SYNCH_PLACES_H

#include "cost/cost.h"

#include <clotho/policy.h>

enum { CLO_SYNCH_PLACES_MAX = 64 };

typedef struct clo_synch_places {
    const clo_platform *platform;
    uint32_t count, domains;
    uint32_t domain_of[CLO_SYNCH_PLACES_MAX], size[CLO_SYNCH_PLACES_MAX];
    uint32_t machine[CLO_SYNCH_PLACES_MAX], kind[CLO_SYNCH_PLACES_MAX]; /* of a place */
    int64_t capacity[CLO_SYNCH_PLACES_MAX][CLO_RESOURCES_MAX];          /* of a domain; < 0: no limit */
} clo_synch_places;

/* Of a job. */
typedef struct clo_synch_job {
    int64_t *time_ns;  /* [tasks * places] CLO_TIME_NEVER: it cannot run there */
    int64_t *load_ns;  /* [tasks] of an instance, at the first of its fastest places */
    uint32_t *fastest; /* [tasks] that place; CLO_NONE: none */
    uint32_t *queued;  /* [tasks * (places + 1)] instances in the queue of a place, or of all; see queues.h */
    int64_t rest_ns;   /* load of what has not started */
} clo_synch_job;

/* O(executors * places). */
void clo_synch_places_open(clo_synch_places *places, const clo_platform *platform);
uint32_t clo_synch_place_of(const clo_synch_places *places, uint32_t executor);

/* clo_policy.job_bytes and .prepare. */
size_t clo_synch_job_bytes(const clo_cost *cost, const void *argument);
clo_status clo_synch_prepare(void *job_state, const clo_cost *cost, const void *argument);

/* floor(a * b / c) of numbers >= 0; INT64_MAX / 4 where that is more, or c is 0. */
int64_t clo_synch_part(int64_t a, int64_t b, int64_t c);

/* What an instance demands of the platform's resource. */
int64_t clo_synch_demand(const clo_cost *cost, uint32_t task, uint32_t resource);

/* The largest share of the domain's resources that an instance demands, in 1 / 65536. */
int64_t clo_synch_share_q16(const clo_synch_places *places, const clo_cost *cost, uint32_t task, uint32_t domain);

/* The free executor with room where an instance of the stage takes the least time, the first of several. `place`
 * CLO_NONE: at any. kept_ns [domains]: an instance must not end later there; NULL: it may. place_of [executors]. CLO_NONE:
 * there is none. O(executors), at most 1024 of those that are free. */
uint32_t clo_synch_executor(const clo_view *view, const clo_synch_places *places, const uint32_t *place_of,
                            clo_ready_stage stage, uint32_t place, const int64_t *kept_ns);

static inline clo_synch_job *clo_synch_job_of(const clo_view *view, uint32_t slot)
{
    return (clo_synch_job *)clo_view_job(view, slot)->state;
}

/* The job may have one more executor, and is of the decision's band. */
static inline bool clo_synch_may_grow(const clo_view *view, const clo_live_job *job)
{
    return job->startable > 0 && job->running + job->committed < job->limit && job->band == clo_view_band(view);
}

#endif
