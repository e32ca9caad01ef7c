/* policy/select/by_job.h - a policy that orders jobs by a key and serves the first one that can be served: fifo, fair,
 * edf, sjf, wfair differ in the key alone. O(log jobs) an event, and a decision that passes no job. */
#ifndef CLO_POLICY_SELECT_BY_JOB_H
#define CLO_POLICY_SELECT_BY_JOB_H

#include "library.h"
#include "policy/select/job_queue.h"

CLO_INTERNAL size_t clo_by_job_bytes(const clo_limits *limits, const void *argument);
CLO_INTERNAL clo_status clo_by_job_init(void *state, const clo_view *view);
bool clo_by_job_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice);
bool clo_by_job_decide(void *state, const clo_view *view, clo_choice *choice);

/* One instance at a time: where each changes the key. */
bool clo_by_job_decide_one(void *state, const clo_view *view, clo_choice *choice);

/* The queue of a policy by job, kept with `key` of the job. */
static inline void clo_by_job_event(void *state, const clo_view *view, const clo_event *event,
                                    int64_t (*key)(const clo_live_job *))
{
    const clo_live_job *job = clo_job_queue_event(state, view, event);

    if (job != NULL)
        clo_job_queue_put(state, job, event->job, key(job));
}

#endif
