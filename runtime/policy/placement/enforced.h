/* policy/placement/enforced.h - the plan of a job, instance by instance, followed while the job is alone.
 *
 * Each machine has the instances that are planned there in the order of their starts. The first one that has not
 * started goes next, on its executor, as soon as its inputs and its room are there; nothing planned later overtakes it.
 * So where times are as planned nothing starts later than planned: at the planned start of an instance only such run on
 * its machine as run there in the plan (induction over the starts).
 *
 * How far the plan has come is not read from a clock, so that decisions depend on the order of ends alone, and a trace of
 * the run replays: when an instance ends, it is where it was at its start, and the planned time of the instance further;
 * the furthest counts. Where times are as planned that is the time. What should have started by then and cannot is late;
 * what should have, too, may go before it, on any executor. So a wrong time delays what depends on it, not all. (Where
 * all that runs should end at one moment, it cannot be told from late before the last of it has ended. Then what is due
 * takes any executor on which it is as fast: now and then one that something else needs, and the plan is not kept.)
 *
 * All that holds for plans without transfers. Data begin to move when an executor is chosen, which here is when it is
 * free; in the plan they move while it is busy. A job that was not alone all the time keeps the order of its plan, but
 * whatever can go goes. */
#ifndef CLO_POLICY_PLACEMENT_ENFORCED_H
#define CLO_POLICY_PLACEMENT_ENFORCED_H

#include <clotho/plan.h>
#include <clotho/policy.h>

typedef struct clo_enforced_row {
    int64_t start_ns, time_ns; /* of the plan */
    uint32_t stage, executor;
    uint32_t round; /* the last in which it has started */
} clo_enforced_row;

/* Of one job. */
typedef struct clo_enforced {
    clo_enforced_row *rows; /* [instances] by machine, in each by start */
    uint32_t *next, *end;   /* [machines] of the rows of each: the first that has not started; behind the last */
    int64_t *ends_ns;       /* [executors] how far the plan has come when what runs there ends */
    uint32_t round;         /* how often the job has come */
    int64_t passed_ns;      /* how far it has come; INT64_MAX: others came between */
} clo_enforced;

/* Bytes behind the struct. */
size_t clo_enforced_bytes(const clo_cost *cost);
void clo_enforced_open(clo_enforced *plan, void *memory, const clo_cost *cost);

/* Takes in a plan of the job without replicas. */
void clo_enforced_fill(clo_enforced *plan, const clo_plan *from, const clo_cost *cost);

/* At CLO_EVENT_ARRIVE, which a job gets once for each time that it is submitted; at CLO_EVENT_FINISH; and where the job
 * is not alone. */
void clo_enforced_begin(clo_enforced *plan, const clo_cost *cost);
void clo_enforced_finish(clo_enforced *plan, uint32_t executor);
void clo_enforced_leave(clo_enforced *plan);

/* What goes next of the job in the slot, which is alone. Sets *choice. False: nothing now, or *is_cut: the decision has
 * reached its bound. O(machines * (1 + what may be overtaken: at most 32 of the next 512 rows, executors for each)),
 * amortised. */
bool clo_enforced_choose(clo_enforced *plan, const clo_view *view, uint32_t slot, clo_choice *choice, bool *is_cut);

#endif
