/* plan/schedule/ready.h - what list schedulers share: which instances have all their inputs placed, a heap to choose
 * among them, and where an execution that is appended (no gaps filled) may start.
 *
 * Invariant: an instance is handed out by clo_ready_next exactly once, after all its producers were placed, and
 * available_ns[e] is when the last execution on e ends. Entries come first, by id; then in order of release, so that
 * all instances of a task, which wait for the same producers, come one behind the other. */
#ifndef CLO_PLAN_SCHEDULE_READY_H
#define CLO_PLAN_SCHEDULE_READY_H

#include "base/order/heap.h"
#include "library.h"
#include "plan/schedule/arrivals.h"

#include <assert.h>

/* A place for one execution. */
typedef struct clo_slot {
    int64_t start_ns, finish_ns;
    uint32_t executor; /* CLO_NONE: no place found */
} clo_slot;

typedef struct clo_ready {
    clo_schedule *schedule;
    uint32_t *left;     /* [tasks] instances that are not placed                               */
    uint32_t *waiting;  /* [tasks] producing tasks of which some instance is not placed        */
    uint32_t *released; /* [instances] in order of release; [taken, released_count) are new     */
    uint32_t released_count, taken;
    clo_heap heap;         /* of the planner, with room for all instances */
    int64_t *available_ns; /* [executors]                                                         */
    void *block;
} clo_ready;

/* The schedule is empty, and filled through clo_ready_place only. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_ready_open(clo_ready *ready, clo_schedule *schedule);
CLO_INTERNAL void clo_ready_close(clo_ready *ready);

/* The next instance whose producers are all placed; false: none at the moment. */
CLO_INTERNAL bool clo_ready_next(clo_ready *ready, uint32_t *instance);

/* The earliest finish of `instance` on any executor (ties: the lowest one), gaps included; available_ns [executors]:
 * nothing starts before, NULL: anything goes. With demands those executors come first that may end it first, and
 * what a search of a machine's capacities found serves all of its executors. */
CLO_INTERNAL clo_slot clo_schedule_earliest(clo_schedule *schedule, uint32_t instance, const int64_t *available_ns);

/* The executor with the least sum of from_ns and times_ns [executors], or the first of those; CLO_NONE: none is left,
 * for where a time is CLO_TIME_NEVER nothing runs. */
CLO_INTERNAL uint32_t clo_ready_most_promising(uint32_t executors, const int64_t *from_ns, const int64_t *times_ns,
                                               int64_t *least_ns);

/* Where an execution of `task` may be appended on `executor`: behind its last one and no earlier than ready_ns. Its
 * executor is CLO_NONE if the task cannot run there. */
CLO_INTERNAL clo_slot clo_ready_append(const clo_ready *ready, uint32_t task, uint32_t executor, int64_t ready_ns);
/* The same for an instance, whose producers are placed, on an executor that can run it. */
CLO_INTERNAL clo_slot clo_ready_append_on(const clo_ready *ready, uint32_t instance, uint32_t executor);

/* The earliest finish of `instance` on any executor (ties: the lowest one), appended or in gaps too. */
CLO_INTERNAL clo_slot clo_ready_earliest(clo_ready *ready, uint32_t instance, bool fill_gaps);

/* Places an instance that clo_ready_next handed out, and releases what waited for it. Returns CLO_OK or
 * CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_ready_place(clo_ready *ready, uint32_t instance, clo_slot slot);
/* The second half of it, for what was placed otherwise: takes the executions from `first_execution` on into
 * available_ns. */
CLO_INTERNAL void clo_ready_placed(clo_ready *ready, uint32_t instance, uint32_t first_execution);

/* Of the executors that can run the task, the first that has nothing more to do (ties: the lowest one). */
static inline uint32_t clo_ready_idle_first(const clo_ready *ready, uint32_t task)
{
    uint32_t best = CLO_NONE;

    for (uint32_t e = 0; e < ready->schedule->executors; e++)
        if ((best == CLO_NONE || ready->available_ns[e] < ready->available_ns[best]) &&
            clo_cost_time(ready->schedule->cost, task, e) != CLO_TIME_NEVER)
            best = e;
    assert(best != CLO_NONE);
    return best;
}

/* When the first executor has nothing more to do: the least of available_ns. */
CLO_INTERNAL int64_t clo_ready_first_idle_ns(const clo_ready *ready);

#endif
