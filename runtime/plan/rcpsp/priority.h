/* plan/rcpsp/priority.h - planners that are one order of the instances: rising keys, given to schedule generation.
 *
 * Where the problem is a packing (pool.h) clo_pool_serial or clo_pool_parallel builds the schedule. Everywhere else
 * (executors of a machine that differ, transfers, masks) the same keys order the ready instances, and each goes
 * where it ends first, transfers counted and gaps filled: so these planners give a valid plan for anything. */
#ifndef CLO_PLAN_PACKING_H
#define CLO_PLAN_PACKING_H

#include "plan/schedule/schedule.h"
#include "plan/rcpsp/problem.h"

typedef enum clo_packing_way {
    CLO_PACKING_SERIAL,   /* no clock: the next of those whose producers have a place            */
    CLO_PACKING_PARALLEL, /* a clock: the next of those whose producers have ended               */
    CLO_PACKING_SERIAL_BACKWARD,
    CLO_PACKING_PARALLEL_BACKWARD, /* from the end of the graph; dispatched, they run forward    */
} clo_packing_way;

/* Fills an empty draft. keys: [instances]. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_packing_fill(clo_draft *draft, const int64_t *keys, clo_packing_way way);

/* The second half of it, for any problem. by_clock: as CLO_PACKING_PARALLEL. */
clo_status clo_packing_dispatch(clo_draft *draft, const int64_t *keys, bool by_clock);

/* Lanes of a pool's words: lane l of word w; its amount in `words`, guards masked out. */
static inline uint32_t clo_pool_lane_bits(const clo_pool *pool)
{
    return (pool->guards & 0x8000) != 0 ? 16 : 32;
}

static inline int64_t clo_pool_lane(const clo_pool *pool, const uint64_t *words, uint32_t lane)
{
    uint32_t bits = clo_pool_lane_bits(pool), each = 64 / bits;

    return (int64_t)((words[lane / each] & ~pool->guards) >> (lane % each * bits) & ((1ull << bits) - 1));
}

static inline uint32_t clo_pool_lanes(const clo_pool *pool)
{
    return pool->words * (64 / clo_pool_lane_bits(pool));
}

#endif
