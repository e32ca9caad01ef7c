/* worker.c - where a worker looks for work, and what it does when there is none.
 *
 * Order: what it has taken already, its inbox, its deque, its spill, then other workers' deques and spills. An
 * idle worker looks round with growing pauses (a thief that polls a victim's line makes the victim's
 * pushes twenty times dearer), for spin_ns at most, then sleeps on its own futex word. */
#include "base/clock.h"
#include "run/run.h"

#define BATCH 256u /* items moved from a spill to the deque at a time */
#define PAUSES_MAX 256u
#define BYPASSES_MAX 32u

/* A producer has made an item visible; wake one sleeper if there is any (see sync/park.h for why this is enough). */
void clo_runtime_wake_one(clo_runtime *runtime)
{
    clo_barrier_light(&runtime->barrier);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) == 0)
        return;
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        if (clo_parker_is_asleep(&runtime->workers[w].parker) && clo_parker_wake(&runtime->workers[w].parker))
            return;
}

void clo_runtime_wake_for(clo_runtime *runtime, uint32_t worker)
{
    clo_barrier_light(&runtime->barrier);
    if (clo_parker_is_asleep(&runtime->workers[worker].parker))
        (void)clo_parker_wake(&runtime->workers[worker].parker);
}

void clo_worker_give(clo_runtime *runtime, uint32_t worker, uint64_t item, uint64_t *link)
{
    clo_stack_push(&runtime->workers[worker].inbox, item, link);
    clo_runtime_wake_for(runtime, worker);
}

void clo_worker_offer(clo_worker *worker, uint64_t item, uint64_t *link)
{
    if (!clo_deque_push(&worker->deque, item))
        clo_stack_push(&worker->spill, item, link);
}

static uint64_t *link_of(const clo_runtime *runtime, uint64_t item)
{
    return &clo_item_job(runtime, item)->links[(uint32_t)item];
}

static uint64_t take_local(clo_worker *worker)
{
    uint64_t item = worker->local;

    if (item == CLO_ITEM_NONE) {
        item = clo_stack_take(&worker->inbox);
        if (item == CLO_ITEM_NONE)
            return item;
    }
    worker->local = *link_of(worker->runtime, item);
    return item;
}

/* Takes one item to run and moves at most BATCH more to the deque; the rest goes back as one chain. While the chain is in
 * our hands nobody else can see it, and a worker that looked in that moment may have gone to sleep: so one is woken. */
static uint64_t take_spill(clo_worker *worker, clo_stack *spill)
{
    uint64_t first = clo_stack_take(spill);
    if (first == CLO_ITEM_NONE)
        return first;

    uint64_t rest = *link_of(worker->runtime, first);
    for (uint32_t i = 0; i < BATCH && rest != CLO_ITEM_NONE; i++) {
        uint64_t item = rest, next = *link_of(worker->runtime, item);
        if (!clo_deque_push(&worker->deque, item))
            break;
        rest = next;
    }
    if (rest != CLO_ITEM_NONE) {
        uint64_t head = CLO_ITEM_NONE;
        /* The usual case: our spill is empty and takes the chain as it is. */
        if (!atomic_compare_exchange_strong_explicit(&worker->spill.head, &head, rest, memory_order_release,
                                                     memory_order_relaxed)) {
            uint64_t last = rest;
            while (*link_of(worker->runtime, last) != CLO_ITEM_NONE) /* the chain is finite and ours */
                last = *link_of(worker->runtime, last);
            clo_stack_push(&worker->spill, rest, link_of(worker->runtime, last));
        }
    }
    if (!clo_deque_is_empty(&worker->deque))
        clo_runtime_wake_one(worker->runtime);
    return first;
}

static uint64_t steal(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;
    uint32_t count = runtime->workers_count;
    uint32_t offset = count > 2 ? clo_rng_below(&worker->rng, count) : 0;

    for (uint32_t i = 0; i < count; i++) {
        clo_worker *victim = &runtime->workers[(offset + i) % count];
        if (victim == worker)
            continue;
        uint64_t item = clo_deque_is_empty(&victim->deque) ? CLO_ITEM_NONE : clo_deque_steal(&victim->deque);
        if (item == CLO_ITEM_NONE)
            item = take_spill(worker, &victim->spill);
        if (item == CLO_ITEM_NONE)
            continue;
        clo_item_job(runtime, item)->stats[worker->index].steals++;
        if (!clo_deque_is_empty(&victim->deque))
            clo_runtime_wake_one(runtime); /* the woken wakes the next: no waker pays for all */
        return item;
    }
    return CLO_ITEM_NONE;
}

static uint64_t take_own(clo_worker *worker)
{
    uint64_t item = take_local(worker);

    if (item == CLO_ITEM_NONE)
        item = clo_deque_pop(&worker->deque);
    if (item == CLO_ITEM_NONE)
        item = take_spill(worker, &worker->spill);
    return item;
}

/* A chain of successors could keep a worker for ever: after BYPASSES_MAX of them in a row, whatever has waited longest
 * goes first and `item` waits in the deque. */
static uint64_t rotate(clo_worker *worker, uint64_t item)
{
    uint64_t other = take_local(worker);

    if (other == CLO_ITEM_NONE)
        other = take_spill(worker, &worker->spill);
    if (other == CLO_ITEM_NONE && !clo_deque_is_empty(&worker->deque))
        other = clo_deque_steal(&worker->deque); /* from the far end; the owner may steal from itself */
    if (other == CLO_ITEM_NONE)
        return item;
    if (clo_job_is_pinned(clo_item_job(worker->runtime, item)))
        clo_stack_push(&worker->inbox, item, link_of(worker->runtime, item));
    else
        clo_worker_offer(worker, item, link_of(worker->runtime, item));
    return other;
}

static uint64_t find(clo_worker *worker)
{
    uint64_t item = take_own(worker);

    return item != CLO_ITEM_NONE ? item : steal(worker);
}

static uint64_t spin(clo_worker *worker)
{
    int64_t until_ns = clo_clock_ns() + worker->runtime->spin_ns;

    for (uint32_t pauses = 4;; pauses = pauses < PAUSES_MAX ? pauses * 2 : PAUSES_MAX) { /* ends at until_ns */
        for (uint32_t i = 0; i < pauses; i++) {
            if (!clo_stack_is_empty(&worker->inbox))
                break;
            clo_relax();
        }
        uint64_t item = find(worker);
        if (item != CLO_ITEM_NONE || clo_clock_ns() >= until_ns)
            return item;
    }
}

/* Announces sleep, looks once more behind the heavy barrier, sleeps. Returns an item found at the last moment. */
static uint64_t park(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    clo_parker_prepare(&worker->parker);
    atomic_fetch_add_explicit(&runtime->sleepers, 1, memory_order_seq_cst);
    clo_barrier_heavy(&runtime->barrier);
    uint64_t item = find(worker);
    if (item == CLO_ITEM_NONE && atomic_load_explicit(&runtime->stopping, memory_order_acquire) == 0) {
        atomic_fetch_add_explicit(&worker->parks, 1, memory_order_relaxed);
        clo_parker_sleep(&worker->parker);
    } else if (!clo_parker_cancel(&worker->parker) && item != CLO_ITEM_NONE) {
        clo_runtime_wake_one(runtime); /* we ate a wake that was meant for somebody's other item: pass it on */
    }
    atomic_fetch_sub_explicit(&runtime->sleepers, 1, memory_order_relaxed);
    return item;
}

void clo_worker_run(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    for (;;) { /* until the runtime stops; jobs have ended by then */
        uint64_t item = find(worker);
        if (item == CLO_ITEM_NONE && runtime->spin_ns > 0)
            item = spin(worker);
        if (item == CLO_ITEM_NONE)
            item = park(worker);
        for (uint32_t run = 1; item != CLO_ITEM_NONE; run++) {
            item = clo_worker_execute(worker, item);
            if (run % BYPASSES_MAX == 0 && item != CLO_ITEM_NONE)
                item = rotate(worker, item);
        }
        if (atomic_load_explicit(&runtime->stopping, memory_order_acquire) != 0)
            return;
    }
}
