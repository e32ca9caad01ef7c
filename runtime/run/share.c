/* share.c - what a worker lets others have of its deque: on its public list, or held out to the worker that asked
 * lately. */
#include "run/share.h"

#include "base/saturate.h"
#include "run/item.h"
#include "run/wake.h"

/* Work that makes up for the lines that move when it changes hands. */
#define HAND_OVER_NS 50
/* And for waking a sleeper. */
#define WAKE_NS 10000
/* With more of them, whoever asks gets enough for a while. */
#define NARROW_ITEMS 4u
/* Items that found the other's hand full before it is fed no longer. */
#define FEEDS 16u
/* A body that is worth a hand-over of its own where somebody must be woken for it. */
#define WORTH_NS 300

/* Puts the `count` oldest items of the deque on the public list, the youngest of them on top. */
static void publish(clo_worker *worker, uint32_t count)
{
    clo_runtime *runtime = worker->runtime;
    uint64_t chain = CLO_ITEM_NONE, *last = NULL;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t item = clo_deque_pop_old(&worker->deque), *link = clo_item_link(runtime, item);
        if (last == NULL)
            last = link;
        *link = chain;
        chain = item;
    }
    if (last != NULL)
        clo_stack_push(&worker->public_list, chain, last);
}

void clo_worker_put_back(clo_worker *worker, clo_stack *list, uint64_t chain)
{
    uint64_t head = CLO_ITEM_NONE, last = chain;

    /* The usual case: the public list is empty and takes the chain as it is. */
    if (atomic_compare_exchange_strong_explicit(&list->head, &head, chain, memory_order_release, memory_order_relaxed))
        return;
    while (*clo_item_link(worker->runtime, last) != CLO_ITEM_NONE) /* the chain is finite and ours */
        last = *clo_item_link(worker->runtime, last);
    clo_stack_push(list, chain, clo_item_link(worker->runtime, last));
}

void clo_worker_offer(clo_worker *worker, uint64_t item)
{
    if (clo_deque_count(&worker->deque) == CLO_DEQUE_ITEMS)
        publish(worker, CLO_DEQUE_ITEMS / 2);
    clo_deque_push(&worker->deque, item);
}

/* In a narrow graph no more than an item or two wait at any moment, never enough to wake somebody for; but while the
 * next body runs they wait all the same. Returns the sum of that time since somebody was woken, for bodies that are
 * worth a hand-over each. */
static int64_t declined(clo_worker *worker, int64_t queued_ns)
{
    if (worker->pace_ns >= WORTH_NS)
        worker->declined_ns += queued_ns < worker->pace_ns ? queued_ns : worker->pace_ns;
    return worker->declined_ns;
}

/* Who asked lately will be back: the oldest item is held out to it, so that it need not wait for our next look. As long
 * as items are taken, this goes on. A worker that falls asleep in this very moment either sees the item or is woken. */
void clo_worker_keep_fed(clo_worker *worker)
{
    clo_worker *fed = &worker->runtime->workers[worker->fed];
    uint64_t item;

    if (worker->pace_ns < WORTH_NS || clo_parker_is_asleep(&fed->parker))
        worker->feeds = 0;
    if (worker->feeds == 0 || clo_deque_count(&worker->deque) > NARROW_ITEMS)
        return;
    item = clo_deque_pop_old(&worker->deque);
    if (clo_hand_give(&fed->hand, item)) {
        worker->feeds = FEEDS;
        worker->exchanges++;
        clo_runtime_wake_for(worker->runtime, worker->fed);
    } else {
        worker->feeds--;
        clo_deque_push_old(&worker->deque, item);
    }
}

/* Before a long body: an item that the fed one has not taken yet shall not wait for its end. */
void clo_worker_stop_feeding(clo_worker *worker)
{
    worker->feeds = 0;
    clo_runtime_wake_one(worker->runtime);
}

void clo_worker_share_all(clo_worker *worker)
{
    uint32_t count = clo_deque_count(&worker->deque);

    worker->feeds = 0;
    publish(worker, count);
    clo_runtime_wake_some(worker->runtime, count + 1); /* one more: what it held out may not be taken yet */
}

void clo_worker_share(clo_worker *worker, int64_t next_ns, uint32_t asked)
{
    uint32_t count = clo_deque_count(&worker->deque);
    bool is_slow = clo_worker_is_slow(worker, next_ns);
    int64_t queued_ns = clo_time_mul(count, worker->pace_ns > 0 ? worker->pace_ns : next_ns);
    bool is_worth_waking = is_slow || queued_ns >= WAKE_NS || declined(worker, queued_ns) >= WAKE_NS;
    bool is_wanted = asked != 0 && queued_ns >= HAND_OVER_NS;
    if (!is_worth_waking && !is_wanted)
        return;
    if (asked != 0)
        atomic_store_explicit(&worker->asked, 0, memory_order_relaxed);
    bool feeds_asker = is_wanted && worker->pace_ns >= WORTH_NS;
    if (feeds_asker) {
        worker->feeds = FEEDS;
        worker->fed = asked - 1;
    }
    if (feeds_asker && !is_worth_waking && count <= NARROW_ITEMS) {
        clo_worker_keep_fed(worker);
        return;
    }
    publish(worker, is_slow ? count : (count + 1) / 2);
    if (is_slow)
        worker->feeds = 0;
    if (is_worth_waking) {
        worker->declined_ns = 0;
        clo_runtime_wake_one(worker->runtime);
    }
}
