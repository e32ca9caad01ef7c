/* run/sharing/wake.h - wakes workers that sleep, and puts items into the inboxes of those that alone may run them. */
#ifndef CLO_RUN_SHARING_WAKE_H
#define CLO_RUN_SHARING_WAKE_H

#include "run/state/runtime.h"

/* A producer has made an item visible; wakes one sleeper if there is any (see sync/sleep/park.h for why this is
 * enough). */
void clo_runtime_wake_one(clo_runtime *runtime);

/* Wakes at most `count` workers, those with the lowest numbers first. Returns how many. */
uint32_t clo_runtime_wake_some(clo_runtime *runtime, uint32_t count);

/* Somebody shall see to `count` items that were made visible on shared pools, of which the caller may come back for
 * `spare` itself: workers that look for work anyhow, else sleepers. True: at least one will. */
bool clo_runtime_call(clo_runtime *runtime, uint32_t count, uint32_t spare);

/* The slot is to be looked at by its slot thread (slot_loop.c). Any thread. */
void clo_slot_call(clo_runtime *runtime, uint32_t slot);

/* Every slot thread shall look at one of its slots. */
void clo_runtime_call_slot_threads(clo_runtime *runtime);

/* A producer has made an item visible that this worker shall take. */
void clo_runtime_wake_for(clo_runtime *runtime, uint32_t worker);

/* Puts an item into the worker's inbox, and wakes the worker. Any thread. */
void clo_worker_send(clo_runtime *runtime, uint32_t worker, uint64_t item, uint64_t *link);

#endif
