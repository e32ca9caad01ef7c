/* run/state/virtual_time.h - the struct of a job's virtual time: its events to come, and the turn of who handles them
 * (run/dispatch/virtual.c). Jobs with a plan have one under the virtual clock. */
#ifndef CLO_RUN_STATE_VIRTUAL_TIME_H
#define CLO_RUN_STATE_VIRTUAL_TIME_H

#include "base/status.h"
#include "sim/time/timeline.h"

#include <stdatomic.h>

typedef struct clo_virtual {
    /* Executions whose bodies have ended: since nobody had the turn; and, of whoever has it, in earlier turns. */
    _Atomic uint32_t posts;
    uint32_t posted;
    /* [executions] 1: its body has ended. */
    _Atomic uint8_t *has_run;
    /* Of whoever has the turn. */
    clo_timeline timeline;
} clo_virtual;

/* Everything lies in `arena`. Returns CLO_OK or CLO_ERR_MEMORY. */
static inline clo_status clo_virtual_create(clo_engine *engine, clo_arena *arena, clo_virtual **out)
{
    clo_virtual *made = clo_arena_take(arena, 1, sizeof *made);
    clo_block block = {0};

    if (made == NULL)
        return clo_fail_memory("a job in virtual time");
    clo_carve(&block, &made->has_run, engine->program->executions);
    clo_timeline_carve(&made->timeline, engine->program, engine, &block);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("a job in virtual time");
    *out = made;
    return CLO_OK;
}

#endif
