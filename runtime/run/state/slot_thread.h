/* run/state/slot_thread.h - the struct of a slot thread: a thread that serves slots.
 *
 * A slot has a clo_worker, as every executor, but no thread. Whoever has something for it lists it at its slot thread,
 * once (clo_slot_call in wake.c); the slot thread looks at each listed slot in turn (slot_loop.c). So a slot is driven
 * by one thread at a time, and all that is a worker's own stays with one thread. */
#ifndef CLO_RUN_STATE_SLOT_THREAD_H
#define CLO_RUN_STATE_SLOT_THREAD_H

#include "sync/sleep/park.h"
#include "sync/structure/stack.h"

#include <clotho/runtime.h>

#include <pthread.h>

typedef struct clo_slot_thread {
    /* The listed slots, numbers of executors; their links are clo_worker.listed_link. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack listed;
    clo_parker parker;

    alignas(CLO_CACHE_LINE_BYTES) clo_runtime *runtime;
    uint32_t index;
    /* What the system answered; read after `started`. */
    int fifo_error;
    pthread_t thread;
} clo_slot_thread;

#endif
