/* policy/placement/enforced.h - a plan, instance by instance, that is followed: of one job while it is alone (graphene),
 * or of all jobs of a workload (follow).
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
    uint32_t job;   /* index into `slots` */
} clo_enforced_row;

/* Of clo_enforced.slots: a job that has not come, and one that is gone. */
#define CLO_ENFORCED_LATE CLO_NONE
#define CLO_ENFORCED_GONE (CLO_NONE - 1)

typedef struct clo_enforced {
    clo_enforced_row *rows; /* [instances] by machine, in each by start */
    uint32_t *next, *end;   /* [machines] of the rows of each: the first that has not started; behind the last */
    int64_t *ends_ns;  /* [executors] how far the plan has come when what runs there ends, and 1; 0: nothing does */
    uint32_t *slots;   /* by the rows' `job` */
    bool is_patient;   /* where all should end at one moment: an executor that has not ended is waited for */
    bool is_quiet;     /* what has no room does not ask for it: the plan may be another one when it has */
    uint32_t round;    /* how often the job has come; from 1 */
    int64_t passed_ns; /* how far it has come; INT64_MAX: others came between */
} clo_enforced;

/* Bytes behind the struct, of a plan of so many jobs and instances in all. */
size_t clo_enforced_bytes(const clo_platform *platform, uint32_t jobs, size_t instances);
void clo_enforced_open(clo_enforced *plan, void *memory, const clo_platform *platform, uint32_t jobs, size_t instances);

/* Takes in rows, which come by start: first how many there are for each executor, then each of them. */
void clo_enforced_count(clo_enforced *plan, const clo_platform *platform, uint32_t executor);
void clo_enforced_counted(clo_enforced *plan, const clo_platform *platform);
void clo_enforced_add(clo_enforced *plan, const clo_platform *platform, clo_enforced_row row);

/* Takes in a plan of one job without replicas. */
void clo_enforced_fill(clo_enforced *plan, const clo_plan *from, const clo_platform *platform);

/* At the first arrival (of the job: at CLO_EVENT_ARRIVE, which it gets once for each time that it is submitted), with all
 * jobs late; at CLO_EVENT_FINISH; and where others come between. */
void clo_enforced_begin(clo_enforced *plan, const clo_platform *platform, uint32_t jobs);
void clo_enforced_finish(clo_enforced *plan, uint32_t executor);
void clo_enforced_leave(clo_enforced *plan);

/* Nothing runs, and nothing goes: the plan comes to the first start of what could go now. False: it is there already, or
 * nothing could. O(machines * 512). */
bool clo_enforced_go_on(clo_enforced *plan, const clo_view *view);

/* What goes next of the jobs of the plan that are in the decision's band. Sets *choice. False: nothing now, or *is_cut:
 * the decision has reached its bound. O(machines * (1 + what may be overtaken: at most 32 of the next 512 rows, executors
 * for each)), amortised. */
bool clo_enforced_choose(clo_enforced *plan, const clo_view *view, clo_choice *choice, bool *is_cut);

/* No executor has a job. False also where the decision has reached its bound. O(executors). */
bool clo_enforced_is_idle(const clo_view *view);

#endif
