/* policy/packing/due.h - what a deadline makes of a job's remaining work, for orders in which the least work goes first.
 * A job without a deadline has its remaining work. The others, by what is to be small:
 *
 *   mean  the work that all executors could do until the deadline, where that is more. So jobs that can still be in time
 *         go by their deadlines, behind shorter ones that will be late (modified due date: Baker, Bertrand, J. Operations
 *         Management 3, 1982): mean tardiness
 *   p95   deadlines do not count
 *   late  jobs that will be late whatever is done go behind all others: they are lost already (Moore, "An n job, one
 *         machine sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968). The others
 *         as for `mean`, with a third of the time left: where not all can be in time, short jobs are, and not those whose
 *         deadlines happen to be next. A job is lost when its remaining work on all executors, or the longest path that is
 *         left of it, takes longer than the time to its deadline
 *
 * The value falls while nothing happens, so an order that keeps it looks CLO_DUE_LOOKS jobs over again, in turn, at each
 * event. */
#ifndef CLO_POLICY_PACKING_DUE_H
#define CLO_POLICY_PACKING_DUE_H

#include "base/numbers/saturate.h"
#include "library.h"
#include <clotho/policy.h>

#include <string.h>

typedef enum clo_goal { CLO_GOAL_MEAN, CLO_GOAL_P95, CLO_GOAL_LATE } clo_goal;

/* By its name. False: there is no such goal. */
static inline bool clo_goal_find(const char *name, size_t length, clo_goal *out)
{
    static const char *const names[] = {[CLO_GOAL_MEAN] = "mean", [CLO_GOAL_P95] = "p95", [CLO_GOAL_LATE] = "late"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *out = (clo_goal)i;
            return true;
        }
    return false;
}

/* What lost jobs have: more than any that is not, of up to a million times its work. */
enum { CLO_DUE_LOST = 1 << 20, CLO_DUE_PART = 3 };

/* What a job's order goes by: work_ns / weight. */
typedef struct clo_due {
    int64_t work_ns;
    uint32_t weight;
} clo_due;

/* path_ns: the longest path that is left of the job; of CLO_GOAL_LATE alone. */
static inline clo_due clo_due_of(const clo_live_job *job, int64_t now_ns, uint32_t executors, clo_goal goal,
                                 int64_t path_ns)
{
    clo_due due = {job->remaining_ns, job->weight};
    int64_t left_ns = clo_time_sub(job->deadline_ns, now_ns);

    if (job->deadline_ns == CLO_TIME_NEVER || goal == CLO_GOAL_P95)
        return due;
    int64_t least_ns = job->remaining_ns / executors;
    if (goal == CLO_GOAL_MEAN) {
        due.work_ns = left_ns <= least_ns ? job->remaining_ns : clo_time_mul(left_ns, executors);
    } else if (left_ns < least_ns || left_ns < path_ns) { /* lost; no weight brings it in front of the others */
        due.work_ns = clo_time_mul(job->remaining_ns, CLO_DUE_LOST);
        due.weight = due.weight > 1 ? 1 : due.weight;
    } else {
        int64_t due_ns = clo_time_mul(left_ns / CLO_DUE_PART, executors);
        due.work_ns = due_ns > job->remaining_ns ? due_ns : job->remaining_ns;
    }
    return due;
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

/* The queue of the policy `mdd` (backfill.c), for a goal: in place of its init. For CLO_GOAL_LATE the state of a job must
 * begin with a clo_ranked of rank_u that is kept before the policy's events. */
void clo_due_open(void *state, const clo_view *view, clo_goal goal);

#endif
