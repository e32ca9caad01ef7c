/* plan/rcpsp/priority.h - planners that are one order of the instances: rising keys, given to schedule generation.
 *
 * Where the problem is a packing (problem.h) clo_rcpsp_serial or clo_rcpsp_parallel builds the packing. Everywhere else
 * (executors of a machine that differ, transfers, masks) the same keys order the ready instances, and each goes
 * where it ends first, transfers counted and gaps filled: so these planners give a valid plan for anything. */
#ifndef CLO_PLAN_RCPSP_PRIORITY_H
#define CLO_PLAN_RCPSP_PRIORITY_H

#include "plan/rcpsp/problem.h"
#include "plan/schedule/schedule.h"

typedef enum clo_priority_order {
    CLO_PRIORITY_SERIAL,   /* no clock: the next of those whose producers have a place            */
    CLO_PRIORITY_PARALLEL, /* a clock: the next of those whose producers have ended               */
    CLO_PRIORITY_SERIAL_BACKWARD,
    CLO_PRIORITY_PARALLEL_BACKWARD, /* from the end of the graph; dispatched, they run forward    */
} clo_priority_order;

/* Fills an empty schedule. keys: [instances]. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_priority_fill(clo_schedule *schedule, const int64_t *keys, clo_priority_order way);

/* The second half of it, for any problem. by_clock: as CLO_PRIORITY_PARALLEL. */
clo_status clo_priority_dispatch(clo_schedule *schedule, const int64_t *keys, bool by_clock);

/* Lanes of a problem's words: lane l of word w; its amount in `words`, guards masked out. */
static inline uint32_t clo_rcpsp_lane_bits(const clo_rcpsp *problem)
{
    return (problem->guards & 0x8000) != 0 ? 16 : 32;
}

static inline int64_t clo_rcpsp_lane(const clo_rcpsp *problem, const uint64_t *words, uint32_t lane)
{
    uint32_t bits = clo_rcpsp_lane_bits(problem), each = 64 / bits;

    return (int64_t)((words[lane / each] & ~problem->guards) >> (lane % each * bits) & ((1ull << bits) - 1));
}

static inline uint32_t clo_rcpsp_lanes(const clo_rcpsp *problem)
{
    return problem->words * (64 / clo_rcpsp_lane_bits(problem));
}

#endif
