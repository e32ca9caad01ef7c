/* slot_loop.c - see slot_loop.h.
 *
 * A slot runs one body at a time, and holds its place as long as that is pending; its slot thread goes on with others. A
 * deep slot (CLO_OS_SLOT_DEEP) has a few places, and is one executor nevertheless: in traces a body begins there when
 * the one before it has ended.
 * It is listed when an item came for it, when capacities may fit, when its body was completed, when its job was
 * stopped, and when the scheduler's turn is vacant (combining.c). A look at it deals with all of that. Nothing is
 * forgotten: the mark that a slot is listed is taken away before the look, so what comes later lists it again. */
#include "run/threads/slot_loop.h"

#include "base/clock.h"
#include "run/body/job_clock.h"
#include "run/dispatch/execute.h"
#include "run/extras/capacity.h"
#include "run/extras/pending.h"
#include "run/records/timing.h"
#include "run/sharing/wake.h"
#include "run/state/features.h"
#include "run/state/item.h"
#include "run/state/local.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/system/real_time.h"

#include <string.h>

#define SERVED_MAX 64u /* executions of one slot, until others have a turn */
#define CARRIERS_DEFAULT 2u

uint32_t clo_slots_first(const clo_platform *platform)
{
    uint32_t first = 0;

    while (first < platform->executors_count && platform->executors[first].os_index > CLO_OS_SLOT)
        first++;
    return first;
}

uint32_t clo_slot_threads(uint32_t slots, uint32_t wanted)
{
    uint32_t slot_threads = wanted > 0 ? wanted : CARRIERS_DEFAULT;

    return slot_threads < slots ? slot_threads : slots;
}

void clo_slots_init(clo_runtime *runtime)
{
    for (uint32_t c = 0; c < runtime->slot_threads_count; c++) {
        clo_slot_thread *slot_thread = &runtime->slot_threads[c];
        slot_thread->runtime = runtime;
        slot_thread->index = c;
        clo_stack_init(&slot_thread->listed);
    }
    uint32_t slot_threads = runtime->slot_threads_count;
    for (uint32_t w = runtime->first_slot; slot_threads > 0 && w < runtime->workers_count; w++) {
        uint32_t c = (w - runtime->first_slot) % slot_threads;
        runtime->workers[w].serving.thread = &runtime->slot_threads[c];
        runtime->workers[w].scratch = runtime->first_slot + c;
    }
}

/* Before all else that it has. */
static void put_back(clo_worker *slot, uint64_t item)
{
    *clo_item_link(slot->runtime, item) = slot->local;
    slot->local = item;
}

/* Bodies of the item's job may be pending on a deep slot beside others. */
static bool is_deep(const clo_worker *slot, uint64_t item)
{
    const clo_job *job = clo_item_job(slot->runtime, item);

    return job->program->is_deep && job->program->twin == NULL && (job->series == NULL || job->series->poll_ns == 0);
}

/* The next item that may begin now; CLO_ITEM_NONE: there is none. What waits for capacities waits until nothing is
 * pending here, since what is found there cannot be put back; once it is called for, nothing else begins before. */
static uint64_t next_of(clo_worker *slot)
{
    uint64_t item = CLO_ITEM_NONE;

    if (slot->serving.held > 0 && atomic_load_explicit(&slot->is_called, memory_order_relaxed) != 0)
        return CLO_ITEM_NONE;
    if (slot->serving.held == 0 && clo_capacity_is_called(slot))
        item = clo_capacity_next(slot);
    if (item == CLO_ITEM_NONE)
        item = clo_worker_take_local(slot);
    if (item == CLO_ITEM_NONE || slot->serving.held == 0 ||
        (is_deep(slot, item) && is_deep(slot, slot->serving.places[0].item)))
        return item;
    put_back(slot, item);
    return CLO_ITEM_NONE;
}

/* A body has ended: what is pending beside it begins here, as far as its executor is concerned. */
static void begin_here(clo_worker *slot)
{
    for (uint32_t p = 0; p < slot->serving.held; p++)
        slot->serving.places[p].start_ns =
            clo_job_moment_ns(slot, clo_item_job(slot->runtime, slot->serving.places[p].item));
}

/* True: another look is wanted, later. */
static bool run_items(clo_worker *slot)
{
    uint32_t depth = (uint32_t)clo_slot_depth(&slot->runtime->platform->executors[slot->index]);

    for (uint32_t served = 0; slot->serving.held < depth; served++) { /* at most SERVED_MAX + 1 */
        if (served == SERVED_MAX)
            return true;
        uint64_t item = next_of(slot);
        if (item == CLO_ITEM_NONE)
            return false;
        slot->turns.bypasses = 0;
        slot->pending = slot->serving.places[slot->serving.held];
        slot->line.is_refused = false;
        item = clo_worker_execute(slot, item);
        if (slot->pending.is_held)
            slot->serving.places[slot->serving.held++] = slot->pending;
        else if (!slot->line.is_refused)
            begin_here(slot);
        if (item != CLO_ITEM_NONE)
            put_back(slot, item);
    }
    return false;
}

/* Ends what is pending no more, from the oldest on. */
static void look_at_pending(clo_worker *slot)
{
    int code = 0;

    for (uint32_t p = 0; p < slot->serving.held;) { /* each turn goes on, or one is held less */
        slot->pending = slot->serving.places[p];
        clo_pending_state state = clo_pending_look(slot, clo_item_job(slot->runtime, slot->pending.item),
                                                   (uint32_t)slot->pending.item, &code);
        if (state == CLO_PENDING_OPEN) {
            slot->serving.places[p++] = slot->pending;
            continue;
        }
        uint64_t item = clo_worker_resume(slot, state == CLO_PENDING_CUT, code);
        slot->serving.held--;
        memmove(&slot->serving.places[p], &slot->serving.places[p + 1],
                (slot->serving.held - p) * sizeof slot->serving.places[0]);
        slot->serving.places[slot->serving.held] = slot->pending;
        begin_here(slot);
        if (item != CLO_ITEM_NONE)
            put_back(slot, item);
    }
}

/* What the slot shows: the oldest of what is pending. */
static uint64_t shown(const clo_worker *slot)
{
    if (slot->serving.held == 0)
        return CLO_ITEM_NONE;
    uint64_t item = slot->serving.places[0].item;
    const clo_job *job = clo_item_job(slot->runtime, item);

    return clo_task_shown(job, clo_program_task(job->program, (uint32_t)item % job->program->executions));
}

static void serve(clo_worker *slot)
{
    /* acq_rel, pairs with clo_slot_call: what was there before a call that found the slot listed is seen now. */
    (void)atomic_exchange_explicit(&slot->listing.is_listed, 0, memory_order_acq_rel);
    /* If one was handed over, held or not. */
    const struct clo_policy_functions *policies = slot->runtime->features.policies;
    uint64_t item = policies != NULL ? policies->take_turn(slot) : CLO_ITEM_NONE;
    if (item != CLO_ITEM_NONE)
        put_back(slot, item);
    look_at_pending(slot);
    slot->system.thread = pthread_self(); /* for signals.c */
    if (run_items(slot))
        clo_slot_call(slot->runtime, slot->index);
    memset(&slot->system.thread, 0, sizeof slot->system.thread);
    atomic_store_explicit(&slot->current, shown(slot), memory_order_relaxed);
}

/* Each listed slot once, in the order in which they were listed. */
static void serve_listed(clo_slot_thread *slot_thread)
{
    clo_worker *workers = slot_thread->runtime->workers;
    uint64_t chain = clo_stack_take(&slot_thread->listed), ordered = CLO_ITEM_NONE;

    while (chain != CLO_ITEM_NONE) { /* the chain is finite and ours */
        uint64_t next = workers[chain].listing.link;
        workers[chain].listing.link = ordered;
        ordered = chain;
        chain = next;
    }
    while (ordered != CLO_ITEM_NONE) {
        clo_worker *slot = &workers[ordered];
        ordered = slot->listing.link; /* from the look on it may be listed anew */
        serve(slot);
    }
}

static void park(clo_slot_thread *slot_thread)
{
    clo_runtime *runtime = slot_thread->runtime;
    clo_worker *first = &runtime->workers[runtime->first_slot + slot_thread->index];

    clo_parker_prepare(&slot_thread->parker);
    clo_fence_heavy(&runtime->fence);
    if (!clo_stack_is_empty(&slot_thread->listed) ||
        atomic_load_explicit(&runtime->stopping, memory_order_acquire) != 0) {
        (void)clo_parker_cancel(&slot_thread->parker);
        return;
    }
    atomic_fetch_add_explicit(&first->stats.parks, 1, memory_order_relaxed);
    clo_parker_sleep(&slot_thread->parker);
    atomic_fetch_add_explicit(&first->stats.wakes, 1, memory_order_relaxed);
    clo_histogram_record(&first->stats.wake_ns,
                         clo_clock_ns() - atomic_load_explicit(&slot_thread->parker.woken_ns, memory_order_relaxed));
}

void clo_slot_thread_run(clo_slot_thread *slot_thread)
{
    clo_runtime *runtime = slot_thread->runtime;

    while (atomic_load_explicit(&runtime->stopping, memory_order_acquire) == 0) { /* jobs have ended by then */
        serve_listed(slot_thread);
        if (clo_stack_is_empty(&slot_thread->listed))
            park(slot_thread);
    }
}
