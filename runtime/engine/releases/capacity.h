/* engine/releases/capacity.h - in which order the executions of releases in flight take the capacities of machines.
 *
 * As capacity_order.h says of one release: each resource of each machine is a queue in the plan's order of starts, here
 * of all releases, and an execution asks for what it demands when all that stand before it in the queues of its
 * resources hold what they demand. Such a queue is a row of turns like an executor's (releases.h); but an execution
 * lets the next one ask when it begins, not when it ends. So nothing starts later than planned where nothing takes
 * longer than planned, and nobody waits in a circle: the plan's order of starts is one order for inputs, executors,
 * buffers and queues.
 *
 * What is free is the semaphore's business in real time (run/extras/capacity.h): bodies may take as long as they like,
 * and no capacity is exceeded. In virtual time it is computed here, from the ends of those that have begun. */
#ifndef CLO_ENGINE_RELEASES_CAPACITY_H
#define CLO_ENGINE_RELEASES_CAPACITY_H

#include "base/arena.h"
#include "engine/program/program.h"

#include <clotho/plan.h>

/* An execution in a queue. */
typedef struct clo_releases_ask {
    /* Of clo_releases.turn_first; 0 while the ask is not filled. */
    uint32_t row;
    /* Of clo_releases.turn. */
    uint32_t place;
    int64_t demand;
} clo_releases_ask;

typedef struct clo_releases_hold {
    int64_t finish_ns, demand;
} clo_releases_hold;

/* Virtual time: a resource of a machine. */
typedef struct clo_releases_queue {
    int64_t capacity;
    /* Of the one that began last. */
    int64_t start_ns;
    /* [executors of the machine] those that may hold some of it after start_ns. */
    clo_releases_hold *holds;
    uint32_t holds_count;
} clo_releases_queue;

typedef struct clo_releases_capacity {
    /* The row of the first queue: there is one for each executor before it. */
    uint32_t first_row;
    /* [machines * resources] as rows; 0 where nobody demands what is limited. */
    uint32_t queues_count;
    /* [executions + 1], [] NULL: nobody demands what is limited. */
    uint32_t *first;
    clo_releases_ask *asks;
    /* [queues_count] of virtual time only, else NULL. */
    clo_releases_queue *queues;
} clo_releases_capacity;

/* Counts the asks of each execution, which the caller is to fill. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_releases_capacity_create(const clo_program *program, bool is_timed, clo_arena *arena,
                                        clo_releases_capacity *room);

/* All asks. */
static inline uint32_t clo_releases_capacity_asks(const clo_releases_capacity *room, uint32_t executions)
{
    return room->first != NULL ? room->first[executions] : 0;
}

/* Whether the execution demands what is limited. */
static inline bool clo_releases_capacity_has(const clo_releases_capacity *room, uint32_t execution)
{
    return room->first != NULL && room->first[execution + 1] > room->first[execution];
}

/* The next ask of the execution, of that row, at that place. */
void clo_releases_capacity_fill(clo_releases_capacity *room, uint32_t execution, uint32_t row, uint32_t place,
                                int64_t demand);

/* Nobody holds anything. */
void clo_releases_capacity_begin(const clo_releases_capacity *room);

/* Virtual time: when the execution can begin, from start_ns on; from then on it holds what it demands for length_ns. By
 * whoever has it ready, before the next ones in its queues are let to ask. O(resources * executors^2). */
int64_t clo_releases_capacity_take(const clo_releases_capacity *room, uint32_t execution, int64_t start_ns,
                                   int64_t length_ns);

#endif
