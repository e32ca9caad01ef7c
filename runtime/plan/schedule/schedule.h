/* plan/schedule/schedule.h - a plan under construction: what every planner needs to place one instance after another.
 *
 * An *execution* is one run of an instance's body; the first execution of an instance is its original, further ones are
 * replicas. Invariant: every execution lies in a gap of its executor, starts no earlier than its
 * inputs arrive, and fits the machine's capacities for all of its duration.
 *
 * Times are added without checks: a cost exists only if all longest times plus the slowest transfer between each pair
 * of instances fit (cost/create.c), and no planner here ends an instance later than the last finish before it plus its
 * own slowest transfer and longest time. */
#ifndef CLO_PLAN_SCHEDULE_SCHEDULE_H
#define CLO_PLAN_SCHEDULE_SCHEDULE_H

#include "cost/cost.h"
#include "library.h"
#include "plan/schedule/occupancy.h"
#include "plan/schedule/stages.h"
#include "plan/schedule/timeline.h"

#include <clotho/plan.h>

typedef struct clo_execution {
    int64_t start_ns, finish_ns;
    uint32_t instance, executor;
    uint32_t next; /* another execution of the same instance; CLO_NONE: the last */
} clo_execution;

/* No start from `from_ns` on, and before `to_ns`, has room for as long as duration_ns. */
typedef struct clo_no_start {
    int64_t from_ns, to_ns, duration_ns;
} clo_no_start;

#define CLO_NO_STARTS 16u

/* Where the capacities of a machine do not let a task begin: of the last task that was asked for, what searches found
 * last. It holds on: what is placed since then takes room. */
typedef struct clo_capacity_memo {
    clo_no_start found[CLO_NO_STARTS]; /* the first `count`; then in turn */
    uint32_t count, next;
    uint32_t task; /* CLO_NONE: nothing is known */
} clo_capacity_memo;

typedef struct clo_schedule {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    uint32_t executors;
    bool may_duplicate;         /* false: the caller of clo_plan_create wants no replicas */
    uint64_t schedules;         /* how many the planner built; it may leave 0 for one    */
    bool is_optimal;            /* proved by search                                       */
    int64_t stop_ns;            /* from here on (clo_clock_ns) nothing more is placed; INT64_MAX: no limit */
    clo_timeline *timelines;    /* [executors]                                        */
    clo_occupancy *occupancies; /* [machines]; NULL: no task demands anything          */
    clo_capacity_memo *memos;   /* [machines]; NULL as above                          */
    clo_stages *stages;         /* NULL: every task has one instance                  */
    clo_execution *executions;  /* [count] of [capacity]                              */
    uint32_t count, capacity;
    uint32_t *first_execution; /* [instances] the original; CLO_NONE: not placed yet */
    uint32_t *order;           /* [instances] by falling rank_u; clo_schedule_order fills it */
    uint32_t *memory;          /* [executors] memory of each, packed                 */
    int64_t *ready_ns;         /* [executors] scratch of the planner                 */
    int64_t *second_ns;        /* [executors] likewise                               */
    uint32_t *critical;        /* [executors] likewise                               */
    int64_t *row_ns;           /* [executors] result of clo_schedule_arrivals         */
    int64_t *times_ns;         /* [executors] scratch of ready.c                      */
    void *block;               /* what holds the arrays above                        */
} clo_schedule;

#define CLO_STOP_EVERY 32u

/* Prepares an empty schedule for at most `executions_each` executions of each instance on average.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_schedule_open(clo_schedule *schedule, const clo_cost *cost, uint32_t executions_each);
CLO_INTERNAL void clo_schedule_close(clo_schedule *schedule);

/* Forgets all executions, keeps the memory. */
CLO_INTERNAL void clo_schedule_clear(clo_schedule *schedule);

/* The latest finish; 0 of an empty one. */
CLO_INTERNAL int64_t clo_schedule_makespan_ns(const clo_schedule *schedule);

/* A filled schedule kept aside. `capacity` of the schedule it came from. */
typedef struct clo_snapshot {
    clo_execution *executions;
    uint32_t count;
    int64_t makespan_ns;
} clo_snapshot;

CLO_INTERNAL clo_status clo_snapshot_open(clo_snapshot *snapshot, const clo_schedule *schedule);
CLO_INTERNAL void clo_snapshot_close(clo_snapshot *snapshot);
/* Keeps the schedule if it is shorter than what is kept; true if it is. */
CLO_INTERNAL bool clo_snapshot_keep(clo_snapshot *snapshot, const clo_schedule *schedule);
/* `from` has no more executions than `to` has room for. */
CLO_INTERNAL void clo_snapshot_copy(clo_snapshot *to, const clo_snapshot *from);
/* Makes the schedule what is kept. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_snapshot_restore(const clo_snapshot *snapshot, clo_schedule *schedule);

/* Fills schedule->order: instances by falling rank_u, ties in topological order (so that inputs come first even
 * where times and transfers are 0). Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_schedule_order(clo_schedule *schedule);

/* The same by keys[tasks]: of the tasks whose producers all stand before, the one with the largest key comes next; of
 * equal keys the one that clo_schedule_order has first. Instances of a task stay together. */
CLO_INTERNAL clo_status clo_schedule_order_by_keys(clo_schedule *schedule, const int64_t *keys);

/* Earliest start >= ready_ns on `executor`, gaps included. */
CLO_INTERNAL int64_t clo_schedule_slot_ns(const clo_schedule *schedule, uint32_t task, uint32_t executor,
                                          int64_t ready_ns, int64_t duration_ns);

/* The same, or something not below latest_ns if that start is not below it either. Shorter, where only an early start
 * counts. */
int64_t clo_schedule_slot_before_ns(const clo_schedule *schedule, uint32_t task, uint32_t executor, int64_t ready_ns,
                                    int64_t duration_ns, int64_t latest_ns);

/* The same for the machine alone: the earliest start >= ready_ns that its capacities allow, whatever its executors
 * do. */
CLO_INTERNAL int64_t clo_schedule_capacity_ns(const clo_schedule *schedule, uint32_t task, uint32_t machine,
                                              int64_t ready_ns, int64_t duration_ns);

/* Raises from_ns [executors], for a task with a demand, to where the capacities of each one's machine let it begin at
 * the earliest: no start from there on is lost. INT64_MAX: the executor cannot run it. */
CLO_INTERNAL void clo_schedule_raise_starts(clo_schedule *schedule, uint32_t task, int64_t *from_ns);

/* Adds an execution at start_ns, a result of clo_schedule_slot_ns for its execution time: the original if it is the
 * first of its instance. Returns CLO_OK, CLO_ERR_MEMORY, or, without a text, CLO_ERR_TIMEOUT past stop_ns, which it
 * looks at in every CLO_STOP_EVERY-th call. So a planner that is cut off ends as if memory had run out. */
CLO_INTERNAL clo_status clo_schedule_place(clo_schedule *schedule, uint32_t instance, uint32_t executor,
                                           int64_t start_ns);

static inline bool clo_schedule_has_demand(const clo_schedule *schedule, uint32_t task)
{
    return schedule->occupancies != NULL && clo_graph_has_demand(schedule->graph, task);
}

/* True if the instance has an execution on `executor`. */
CLO_INTERNAL bool clo_schedule_has_execution(const clo_schedule *schedule, uint32_t instance, uint32_t executor);

#endif
