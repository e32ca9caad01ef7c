/* sim/time/timeline.h - a plan in virtual time: the events of its executions, one after another.
 *
 * There are two kinds of events: an execution may start (its inputs are there), and an execution ends. At one instant
 * ends come before starts, and equal events in order of executions. What waits for capacities stands in a line
 * (engine/state/capacity.h). So what happens is a function of the plan.
 *
 * Who calls the bodies is the driver's choice. The simulator (sim/sim.c) calls each one at its end, on its one thread.
 * Workers (run/dispatch/virtual.c) run them side by side: they get each one at its start, and its end is taken once its
 * body has really ended. The times are the same. */
#ifndef CLO_SIM_TIME_TIMELINE_H
#define CLO_SIM_TIME_TIMELINE_H

#include "base/carve.h"
#include "base/order/heap.h"
#include "engine/execution/engine.h"
#include "engine/state/capacity.h"
#include "library.h"
#include "sim/time/ports.h"

typedef struct clo_timeline {
    const clo_program *program;
    clo_engine *engine;
    int64_t now_ns;
    /* Executions that have ended, also those that were skipped. */
    uint32_t finished;
    clo_heap heap;
    clo_line line;
    /* [executions] when each one started; until then since when it waits. The finish is in the engine. */
    int64_t *start_ns;
    /* NULL: every message goes as if it were alone. */
    clo_sim_ports *ports;
    /* [executions] no execution starts earlier; NULL: no limits. */
    const int64_t *ready_ns;
    void *driver;
    /* The execution starts now. */
    void (*start)(void *driver, uint32_t execution, int64_t since_ns);
    /* NULL: events say when executions start. Else there are no events: called for each execution that may run. */
    void (*decide)(void *driver, uint32_t execution);
} clo_timeline;

/* Adds to `block` what `program` needs. Ports, limits, the driver and its functions are the caller's to set. */
CLO_INTERNAL void clo_timeline_carve(clo_timeline *timeline, const clo_program *program, clo_engine *engine,
                                     clo_block *block);

/* Time 0: nothing has run, and what waits for nothing may start. */
CLO_INTERNAL void clo_timeline_begin(clo_timeline *timeline);

/* Lets executions start until one ends before all others can start. Returns that one; CLO_NONE: nothing is left. */
CLO_INTERNAL uint32_t clo_timeline_next(clo_timeline *timeline);

/* That execution ends: what it held is free, and whom it held up may start. */
CLO_INTERNAL void clo_timeline_end(clo_timeline *timeline);

/* Parts of the above, for a driver that decides itself: the execution has ended; it holds what it demands. */
CLO_INTERNAL void clo_timeline_release(clo_timeline *timeline, uint32_t execution);
CLO_INTERNAL void clo_timeline_let_ask(clo_timeline *timeline, uint32_t execution);

#endif
