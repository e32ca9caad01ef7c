/* run/state/machine.h - the struct of a machine: its capacities, and the items of steal jobs that wait for them. */
#ifndef CLO_RUN_STATE_MACHINE_H
#define CLO_RUN_STATE_MACHINE_H

#include "sync/structure/semaphore.h"
#include "sync/structure/stack.h"

typedef struct clo_machine {
    clo_semaphore semaphore;
    /* 1: somebody shall look through the line. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t is_called;
    /* Reports of the semaphore so far. */
    _Atomic uint32_t reports;
    /* 1: something of the scheduler was refused, and reports are to reach it. */
    _Atomic uint32_t is_wanted;
    /* 1: there was such a report. */
    _Atomic uint32_t has_reported;
    /* The line: what came since it was last looked through, youngest first, and what was there before, oldest first. */
    clo_stack fresh;
    clo_stack aging;
} clo_machine;

#endif
