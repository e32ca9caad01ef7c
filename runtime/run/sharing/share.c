/* share.c - what a worker lets others have of its deque: on its shared pool, or held out to the worker that asked
 * lately. The decisions are share_rule.h's. */
#include "run/sharing/share.h"

#include "run/sharing/wake.h"
#include "run/state/item.h"

/* Puts the `count` oldest items of the deque on the shared pool, the youngest of them on top. */
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
        clo_stack_push(&worker->shared_pool, chain, last);
}

void clo_worker_put_back(clo_worker *worker, clo_stack *list, uint64_t chain)
{
    uint64_t head = CLO_ITEM_NONE, last = chain;

    /* The usual case: the shared pool is empty and takes the chain as it is. */
    if (atomic_compare_exchange_strong_explicit(&list->head, &head, chain, memory_order_release, memory_order_relaxed))
        return;
    while (*clo_item_link(worker->runtime, last) != CLO_ITEM_NONE) /* the chain is finite and ours */
        last = *clo_item_link(worker->runtime, last);
    clo_stack_push(list, chain, clo_item_link(worker->runtime, last));
}

void clo_worker_push(clo_worker *worker, uint64_t item)
{
    if (clo_deque_count(&worker->deque) == CLO_DEQUE_ITEMS)
        publish(worker, CLO_DEQUE_ITEMS / 2);
    clo_deque_push(&worker->deque, item);
}

/* Who asked lately will be back: the oldest item goes to its mailbox, so that it need not wait for our next look. As
 * long as items are taken, this goes on. A worker that falls asleep in this very moment either sees the item or is
 * woken. */
void clo_worker_keep_fed(clo_worker *worker)
{
    clo_worker *fed = &worker->runtime->workers[worker->feeding.index];
    uint64_t item;

    if (clo_share_stops_feeding(worker->pace.task_time_ns, clo_parker_is_asleep(&fed->parker))) {
        worker->feeding.feeds = 0;
        worker->affinity.is_on = worker->pace.task_time_ns >= CLO_WORTH_NS;
    }
    if (!clo_share_holds_out(worker->feeding.feeds, clo_deque_count(&worker->deque)))
        return;
    item = clo_deque_pop_old(&worker->deque);
    if (clo_mailbox_send(&fed->mailbox, item)) {
        worker->feeding.feeds = CLO_FEEDS;
        worker->affinity.exchanges++;
        clo_runtime_wake_for(worker->runtime, worker->feeding.index);
    } else {
        worker->feeding.feeds--;
        clo_deque_push_old(&worker->deque, item);
    }
}

/* Before a long body: an item that the fed one has not taken yet shall not wait for its end. */
void clo_worker_stop_feeding(clo_worker *worker)
{
    worker->feeding.feeds = 0;
    clo_runtime_wake_one(worker->runtime);
}

void clo_worker_share_all(clo_worker *worker)
{
    uint32_t count = clo_deque_count(&worker->deque);

    worker->feeding.feeds = 0;
    publish(worker, count);
    clo_runtime_wake_some(worker->runtime, count + 1); /* one more: what it held out may not be taken yet */
}

/* For what was published: a worker that looks for work anyhow, else a sleeper. A wake is a system call, which a narrow
 * graph would pay for each item while more workers are there than it can use. */
static void call_one(clo_runtime *runtime)
{
    clo_fence_light(&runtime->fence);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) != 0)
        (void)clo_runtime_call(runtime, 1, 0);
}

void clo_worker_share(clo_worker *worker, int64_t next_ns, uint32_t asked)
{
    clo_share_view view = {.task_time_ns = worker->pace.task_time_ns,
                           .next_ns = next_ns,
                           .count = clo_deque_count(&worker->deque),
                           .is_asked = asked != 0,
                           .declined_ns = worker->feeding.declined_ns};
    clo_share_choice choice = clo_share_choose(&view);

    worker->feeding.declined_ns = view.declined_ns;
    worker->affinity.is_on = choice.has_affinity;
    worker->affinity.exchanges += choice.publish;
    if (choice.answers)
        atomic_store_explicit(&worker->asked, 0, memory_order_relaxed);
    if (choice.feeds) {
        worker->feeding.feeds = CLO_FEEDS;
        worker->feeding.index = asked - 1;
    }
    if (choice.holds_out)
        clo_worker_keep_fed(worker);
    if (choice.publish > 0)
        publish(worker, choice.publish);
    if (choice.stops_feeding)
        worker->feeding.feeds = 0;
    if (choice.wakes)
        call_one(worker->runtime);
}
