/* wake.c - how a worker that sleeps learns of an item, and how an item comes to the one worker that may run it. */
#include "run/sharing/wake.h"

#include "run/state/worker.h"

void clo_runtime_wake_one(clo_runtime *runtime)
{
    clo_fence_light(&runtime->fence);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) == 0)
        return;
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (clo_parker_is_away(&runtime->workers[w].parker) && clo_parker_wake(&runtime->workers[w].parker))
            return;
}

void clo_slot_call(clo_runtime *runtime, uint32_t slot)
{
    clo_worker *worker = &runtime->workers[slot];
    clo_slot_thread *slot_thread = worker->serving.thread;

    /* acq_rel: where the slot is listed already, its slot thread sees what we have written when it takes the mark
     * away. */
    if (atomic_exchange_explicit(&worker->listing.is_listed, 1, memory_order_acq_rel) != 0)
        return;
    clo_stack_push(&slot_thread->listed, slot, &worker->listing.link);
    clo_fence_light(&runtime->fence);
    if (clo_parker_is_away(&slot_thread->parker))
        (void)clo_parker_wake(&slot_thread->parker);
}

void clo_runtime_call_slot_threads(clo_runtime *runtime)
{
    for (uint32_t c = 0; c < runtime->slot_threads_count; c++)
        clo_slot_call(runtime, runtime->first_slot + c); /* one slot of each */
}

void clo_runtime_wake_for(clo_runtime *runtime, uint32_t worker)
{
    if (worker >= runtime->first_slot) {
        clo_slot_call(runtime, worker);
        return;
    }
    clo_fence_light(&runtime->fence);
    if (clo_parker_is_away(&runtime->workers[worker].parker))
        (void)clo_parker_wake(&runtime->workers[worker].parker);
}

uint32_t clo_runtime_wake_some(clo_runtime *runtime, uint32_t count)
{
    uint32_t woken = 0;

    clo_fence_light(&runtime->fence);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) == 0)
        return 0;
    for (uint32_t w = 0; w < runtime->first_slot && woken < count; w++)
        if (clo_parker_is_away(&runtime->workers[w].parker))
            woken += clo_parker_wake(&runtime->workers[w].parker);
    return woken;
}

bool clo_runtime_call(clo_runtime *runtime, uint32_t count, uint32_t spare)
{
    uint32_t found = 0, wanted = count > spare ? count - spare : 1;

    for (uint32_t w = 0; w < runtime->first_slot && found < wanted; w++)
        found += clo_searching_trust(&runtime->workers[w].searching);
    if (found < wanted)
        found += clo_runtime_wake_some(runtime, wanted - found);
    return found > 0;
}

void clo_worker_send(clo_runtime *runtime, uint32_t worker, uint64_t item, uint64_t *link)
{
    clo_stack_push(&runtime->workers[worker].inbox, item, link);
    clo_runtime_wake_for(runtime, worker);
}
