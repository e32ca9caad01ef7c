/* run/state/virtual_time.h - the struct of a job's virtual time: its events to come, and those who wait for capacities.
 *
 * The combiner's (virtual.c). Only jobs whose tasks have demands have one, under the virtual clock. */
#ifndef CLO_RUN_STATE_VIRTUAL_TIME_H
#define CLO_RUN_STATE_VIRTUAL_TIME_H

#include "base/order/heap.h"
#include "engine/state/capacity.h"
#include "sync/structure/combining.h"

typedef struct clo_virtual {
    /* Worker w posts in slot w, who starts a run in the last one. */
    clo_combining combining;
    clo_heap heap;
    clo_line line;
    /* [executions] */
    int64_t *start_ns;
    /* [executions] 1: its body has ended. */
    uint8_t *has_run;
    int64_t now_ns;
    uint32_t finished;
    /* A run is in progress. */
    bool is_running;
} clo_virtual;

/* Everything lies in `arena`. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_virtual_create(const clo_program *program, uint32_t workers, clo_arena *arena, clo_virtual **out);

#endif
