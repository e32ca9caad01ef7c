/* sim/slowing.h - tasks that use one memory, in virtual time: memory parts are stretched where all together would move
 * more than the memory can (clotho/memory.h).
 *
 * The driver says when executions start and end, and is told whenever one ends at another time than it knew. An execution
 * without a memory part, or on an executor whose memory has no capacity, is none of ours. */
#ifndef CLO_SIM_SLOWING_H
#define CLO_SIM_SLOWING_H

#include "cost/cost.h"

#include <clotho/memory.h>

typedef struct clo_slowing clo_slowing; /* opaque: what runs, and how slowly */

typedef struct clo_slowing_config {
    const clo_cost *cost;
    /* [tasks * kinds] */
    const clo_memory_part *parts;
    /* That can run at once. */
    uint32_t executions;
    void *driver;
    /* The execution will end then, if nothing else starts or ends before. */
    void (*move)(void *driver, uint32_t execution, int64_t finish_ns);
} clo_slowing_config;

/* Returns CLO_OK or CLO_ERR_ARGUMENT for a part out of range, and for a capacity of 0. */
CLO_NODISCARD clo_status clo_slowing_check(const clo_cost *cost, const clo_memory_part *parts);

/* Returns CLO_OK or CLO_ERR_MEMORY. *out is NULL where no execution can be slowed. */
CLO_NODISCARD clo_status clo_slowing_open(const clo_slowing_config *config, clo_slowing **out);
void clo_slowing_close(clo_slowing *c); /* NULL is allowed */

/* True: an execution of the task on the executor is ours. */
bool clo_slowing_has(const clo_slowing *c, uint32_t task, uint32_t executor);

/* True: it has begun, and has not ended. */
bool clo_slowing_runs(const clo_slowing *c, uint32_t execution);

/* An execution of ours starts, and takes length_ns > 0 alone; calls `move` for it, and for those of its memory that go on
 * at another speed. */
void clo_slowing_begin(clo_slowing *c, uint32_t execution, uint32_t task, uint32_t executor, int64_t now_ns,
                       int64_t length_ns);

/* It ends, when it was said to. Does nothing for executions that are not ours. */
void clo_slowing_end(clo_slowing *c, uint32_t execution, int64_t now_ns);

/* Calls `move` for the others of the memory of the one that ended last. */
void clo_slowing_settle(clo_slowing *c);

#endif
