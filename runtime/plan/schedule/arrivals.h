/* plan/schedule/arrivals.h - when data are where: the inputs of an instance whose producers are placed.
 *
 * An edge stands for all pairs of instances of its two tasks, and all instances of a task have the same inputs. What
 * follows takes an edge as a whole: its cost grows with the classes of executors where the producers ended
 * (stages.h) and with those that were executed more than once, not with the producers. */
#ifndef CLO_PLAN_SCHEDULE_ARRIVALS_H
#define CLO_PLAN_SCHEDULE_ARRIVALS_H

#include "library.h"
#include "plan/schedule/schedule.h"

/* As clo_platform_transfer_ns, without the call. */
static inline int64_t clo_schedule_transfer_ns(const clo_schedule *schedule, uint64_t bytes, uint32_t from, uint32_t to)
{
    if (schedule->memory[from] == schedule->memory[to])
        return 0;
    return clo_platform_link_ns(schedule->platform, from, to, bytes);
}

/* When data of `instance`, `bytes` of them, can be on `executor`: the earliest over its executions, LACHESIS eq. 9. */
int64_t clo_schedule_instance_ns(const clo_schedule *schedule, uint32_t instance, uint64_t bytes, uint32_t executor);

/* When the data of the producers over `edge` (index into the graph's `in`), of all that are placed, can be on each
 * executor, into row_ns. */
CLO_INTERNAL void clo_schedule_arrivals(clo_schedule *schedule, uint32_t edge);

/* schedule->ready_ns[e]: when all inputs of `instance` are on e. */
CLO_INTERNAL void clo_schedule_find_ready(clo_schedule *schedule, uint32_t instance);

/* The same; second_ns[e]: the latest arrival but one, equal to ready_ns on a tie; critical[e]: the first producer, in
 * the order of the edges, that arrives last. CLO_NONE: everything is there at 0. */
void clo_schedule_find_critical(clo_schedule *schedule, uint32_t instance);

/* When all inputs of `instance` are on one executor. */
CLO_INTERNAL int64_t clo_schedule_inputs_ns(const clo_schedule *schedule, uint32_t instance, uint32_t executor);

/* The latest and second latest arrival of inputs on an executor; producer: which is the latest (the first of equal
 * ones, in the order of the edges), CLO_NONE without inputs. */
typedef struct clo_inputs {
    int64_t latest_ns, second_ns;
    uint32_t producer;
} clo_inputs;

/* Producers in skipped[count] are left out. */
CLO_INTERNAL clo_inputs clo_schedule_inputs(const clo_schedule *schedule, uint32_t instance, uint32_t executor);
CLO_INTERNAL clo_inputs clo_schedule_inputs_but(const clo_schedule *schedule, uint32_t instance, uint32_t executor,
                                                const uint32_t *skipped, uint32_t count);

/* The instance of `task`, whose instances are placed, of which the original ends last; the first of several. */
CLO_INTERNAL uint32_t clo_schedule_last_of(const clo_schedule *schedule, uint32_t task);

/* When the originals of all producers of `instance` have ended. */
CLO_INTERNAL int64_t clo_schedule_producers_ns(const clo_schedule *schedule, uint32_t instance);

/* The stage of a task, sorted: NULL for a task of one instance. What is not placed yet is in none of its lists. */
clo_stage *clo_schedule_find_stage(const clo_schedule *schedule, uint32_t task);
static inline clo_stage *clo_schedule_stage(const clo_schedule *schedule, uint32_t task)
{
    return schedule->stages == NULL ? NULL : clo_schedule_find_stage(schedule, task);
}

/* The group of a sorted stage in which what ended on `executor` is listed. */
uint32_t clo_schedule_group_of(const clo_schedule *schedule, const clo_stage *stage, uint32_t executor);

static inline bool clo_schedule_is_again(const clo_schedule *schedule, uint32_t instance)
{
    return schedule->executions[schedule->first_execution[instance]].next != CLO_NONE;
}

#endif
