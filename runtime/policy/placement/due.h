/* policy/placement/due.h - what a deadline makes of a job's remaining work, for orders in which the least work goes first:
 * the work that all executors could do until the deadline, where that is more. So jobs that can still be in time go by
 * their deadlines, behind shorter ones that will be late (modified due date: Baker, Bertrand, J. Operations Management 3,
 * 1982). A job without a deadline has its remaining work.
 *
 * The value falls while nothing happens, so an order that keeps it looks CLO_DUE_LOOKS jobs over again, in turn, at each
 * event. */
#ifndef CLO_POLICY_PLACEMENT_DUE_H
#define CLO_POLICY_PLACEMENT_DUE_H

#include "base/numbers/saturate.h"
#include "library.h"
#include <clotho/policy.h>

static inline int64_t clo_due_work_ns(const clo_live_job *job, int64_t now_ns, uint32_t executors)
{
    int64_t left_ns = clo_time_sub(job->deadline_ns, now_ns);

    if (job->deadline_ns == CLO_TIME_NEVER || left_ns <= job->remaining_ns / executors)
        return job->remaining_ns;
    return clo_time_mul(left_ns, executors);
}

enum { CLO_DUE_LOOKS = 8 };

/* How many jobs are looked over again at an event; none is twice. */
static inline uint32_t clo_due_looks(const clo_view *view)
{
    uint32_t jobs = clo_view_jobs(view);

    return jobs < CLO_DUE_LOOKS ? jobs : CLO_DUE_LOOKS;
}

/* Whose turn it is to be looked over again. Begin with {CLO_NONE, false}. */
typedef struct clo_due_turn {
    uint32_t next; /* slot; CLO_NONE: the first job */
    bool has_deadlines;
} clo_due_turn;

/* To be asked clo_due_looks times at each event: a slot; CLO_NONE: nobody, as always where no job has had a deadline. */
static inline uint32_t clo_due_next(clo_due_turn *turn, const clo_view *view, const clo_event *e)
{
    bool is_end = e->kind == CLO_EVENT_END;

    if (e->kind == CLO_EVENT_ARRIVE && clo_view_job(view, e->job)->deadline_ns != CLO_TIME_NEVER)
        turn->has_deadlines = true;
    if (!turn->has_deadlines)
        return CLO_NONE;
    uint32_t slot = turn->next != CLO_NONE ? turn->next : clo_view_first_job(view);
    if (is_end && slot == e->job) /* the last event in which its row is there */
        slot = clo_view_job(view, slot)->next;
    turn->next = slot != CLO_NONE ? clo_view_job(view, slot)->next : CLO_NONE;
    if (is_end && turn->next == e->job)
        turn->next = clo_view_job(view, e->job)->next;
    return slot;
}

#endif
