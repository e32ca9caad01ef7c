/* run/threads/slot_loop.h - slot threads: threads that serve the slots of a platform on the real clock. */
#ifndef CLO_RUN_THREADS_SLOT_LOOP_H
#define CLO_RUN_THREADS_SLOT_LOOP_H

#include "run/state/slot_thread.h"

/* Executors from this one on are slots that slot threads serve; clo_platform_executors: none is. */
uint32_t clo_slots_first(const clo_platform *platform);

/* How many slot threads serve so many slots; wanted: clo_runtime_config.slot_workers. */
uint32_t clo_slot_threads(uint32_t slots, uint32_t wanted);

/* Makes the slot threads and their slots known to each other. Before any thread. */
void clo_slots_init(clo_runtime *runtime);

/* What a slot thread does, until the runtime stops. */
void clo_slot_thread_run(clo_slot_thread *slot_thread);

#endif
