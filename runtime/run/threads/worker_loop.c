/* worker_loop.c - where a worker looks for work, and what it does when there is none.
 *
 * Order: what has waited for capacities and may run now, what it has taken already, its inbox, its deque, its mailbox,
 * its shared pool, then other workers' mailboxes and shared pools. A worker's deque is nobody else's business, so ready
 * items cost no fence; what others may have lies on the shared pool, put there when somebody asked, when somebody
 * sleeps and there is enough to do, or before a long body. An idle worker looks at the others' shared pools (lines
 * that are written only when something is put there), asks, and pauses between rounds; after spin_ns at most it sleeps
 * on its own futex word.
 *
 * Fairness: once BODIES_MAX bodies have been run in that order, the next source in turn gives what has lain there
 * longest; a chain of successors gives way after CLO_BYPASSES_MAX. So a source has its turn after at most
 * SOURCES * (BODIES_MAX + CLO_BYPASSES_MAX) other bodies (other workers' lists after NEIGHBOUR_PASSES times as many),
 * and an item after one turn for each item that lies in its source when it comes there: what comes later does not pass
 * it more than once. Items of a stopped job have no body and do not count, up to SKIPS_MAX in one turn.
 *
 * Narrow graphs never have much in a deque. While an item waits there and somebody sleeps, its waiting is summed up
 * (declined in share.c), and once the sum is worth a wake, one is woken; who asked lately is handed an item whenever
 * one can be spared (clo_worker_keep_fed), and each worker stays with its stage where it can (prefers in
 * fast_path.c). */
#include "run/threads/worker_loop.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/dispatch/execute.h"
#include "run/extras/capacity.h"
#include "run/job/done.h"
#include "run/sharing/deferred.h"
#include "run/sharing/share.h"
#include "run/sharing/task_time.h"
#include "run/sharing/wake.h"
#include "run/state/features.h"
#include "run/state/item.h"
#include "run/state/local.h"

#define BATCH 1024u /* items moved from a shared pool to the deque at a time */
#define PAUSES_MAX 32u
#define PAUSES_SLOW 128u
#define BODIES_MAX 44u
#define SKIPS_MAX 1024u
#define NEIGHBOUR_PASSES 8u
#define ITEM_TURN (CLO_ITEM_NONE - 1) /* not an item: the scheduler's turn is vacant (combining.h) */

/* Where a worker finds work. */
enum { SOURCE_INBOX, SOURCE_DEQUE, SOURCE_MAILBOX, SOURCE_SHARED, SOURCE_NEIGHBOUR, SOURCE_CAPACITY, SOURCES };

/* Takes one item to run and moves at most BATCH more to the deque, which is empty; none where bodies are long. The
 * rest goes back in one piece: to `rest_to`, a shared pool of ours. While the chain is in our hands nobody else can see
 * it, and a worker that looked in that moment may have gone to sleep: so one is woken. */
static uint64_t take_shared(clo_worker *worker, clo_stack *list, clo_stack *rest_to)
{
    uint64_t first = clo_stack_take(list);
    if (first == CLO_ITEM_NONE)
        return first;

    uint64_t rest = *clo_item_link(worker->runtime, first);
    clo_deque *deque = &worker->deque;
    uint32_t batch = worker->pace.task_time_ns > CLO_SHORT_NS ? 0 : BATCH;
    for (uint32_t i = 0; i < batch && rest != CLO_ITEM_NONE; i++) {
        clo_deque_push_old(deque, rest);
        rest = *clo_item_link(worker->runtime, rest);
    }
    if (rest != CLO_ITEM_NONE) {
        clo_worker_put_back(worker, rest_to, rest);
        clo_runtime_wake_one(worker->runtime);
    }
    return first;
}

/* One item of what lies on a shared pool; the rest goes to `aged`, to which nothing is added before it is empty, so
 * that each item's turn comes however many are put on the shared pool meanwhile. */
static uint64_t take_aging(clo_worker *worker, clo_worker *owner)
{
    uint64_t first = clo_stack_take(&owner->aging);

    if (first == CLO_ITEM_NONE)
        first = clo_stack_take(&owner->shared_pool);
    if (first == CLO_ITEM_NONE)
        return first;
    uint64_t rest = *clo_item_link(worker->runtime, first);
    if (rest != CLO_ITEM_NONE) {
        clo_worker_put_back(worker, &owner->aging, rest);
        clo_runtime_wake_one(worker->runtime); /* who looked while the chain was in our hands has seen nothing */
    }
    return first;
}

static uint64_t steal(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;
    uint32_t count = runtime->first_slot;
    uint32_t offset = count > 2 ? clo_rng_below(&worker->rng, count) : 0;

    for (uint32_t i = 0; i < count; i++) {
        clo_worker *victim = &runtime->workers[(offset + i) % count];
        if (victim == worker)
            continue;
        uint64_t item = clo_mailbox_take(&victim->mailbox);
        if (item == CLO_ITEM_NONE)
            item = take_shared(worker, &victim->shared_pool, &worker->shared_pool);
        if (item == CLO_ITEM_NONE)
            item = take_shared(worker, &victim->aging, &worker->shared_pool);
        if (item == CLO_ITEM_NONE)
            continue;
        clo_item_job(runtime, item)->stats[worker->index].steals++;
        worker->affinity.exchanges++;
        return item;
    }
    return CLO_ITEM_NONE;
}

/* Whoever has more than it runs shall put some on its shared pool. */
static void ask(const clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (w != worker->index && atomic_load_explicit(&runtime->workers[w].asked, memory_order_relaxed) == 0)
            atomic_store_explicit(&runtime->workers[w].asked, worker->index + 1, memory_order_relaxed);
}

/* Its own. */
static uint64_t take_mailbox(clo_worker *worker)
{
    uint64_t item = clo_mailbox_take(&worker->mailbox);

    if (item != CLO_MAILBOX_EMPTY) {
        worker->affinity.exchanges++;
        clo_item_job(worker->runtime, item)->stats[worker->index].steals++;
    }
    return item;
}

/* What has waited for capacities. */
static uint64_t take_waiting(clo_worker *worker)
{
    return clo_capacity_is_called(worker) ? clo_capacity_next(worker) : CLO_ITEM_NONE;
}

static uint64_t take_own(clo_worker *worker)
{
    uint64_t item = take_waiting(worker);

    if (item == CLO_ITEM_NONE)
        item = clo_worker_take_local(worker);
    if (item == CLO_ITEM_NONE)
        item = clo_deque_pop(&worker->deque);
    if (item != CLO_ITEM_NONE)
        return item;
    item = take_mailbox(worker);
    if (item == CLO_ITEM_NONE)
        item = take_shared(worker, &worker->shared_pool, &worker->shared_pool);
    return item != CLO_ITEM_NONE ? item : take_shared(worker, &worker->aging, &worker->aging);
}

/* Other workers' mailboxes and shared pools, one after another: an owner may be in a body that does not end. Seldom,
 * since mostly it is not, and two workers at one list disturb each other. */
static uint64_t take_neighbour(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    if (++worker->turns.passes % NEIGHBOUR_PASSES != 0)
        return CLO_ITEM_NONE;
    worker->turns.neighbour = (worker->turns.neighbour + 1) % runtime->first_slot;
    clo_worker *owner = &runtime->workers[worker->turns.neighbour];
    if (owner == worker)
        return CLO_ITEM_NONE;
    /* In each other round. */
    bool is_hands_turn = worker->turns.passes / (NEIGHBOUR_PASSES * runtime->first_slot) % 2 == 0;
    uint64_t item = is_hands_turn ? clo_mailbox_take(&owner->mailbox) : take_aging(worker, owner);
    if (item == CLO_ITEM_NONE)
        item = is_hands_turn ? take_aging(worker, owner) : clo_mailbox_take(&owner->mailbox);
    return item;
}

static uint64_t take_oldest(clo_worker *worker, uint32_t source)
{
    switch (source) {
    case SOURCE_INBOX:
        return clo_worker_take_local(worker);
    case SOURCE_DEQUE:
        return clo_deque_pop_old(&worker->deque);
    case SOURCE_MAILBOX:
        return take_mailbox(worker);
    case SOURCE_SHARED:
        return take_aging(worker, worker);
    case SOURCE_CAPACITY:
        return take_waiting(worker);
    default:
        return take_neighbour(worker);
    }
}

/* An item of a stopped job has no body, so the next one may follow without a turn of the others; not without end. */
static bool may_skip(clo_worker *worker, uint64_t item, uint32_t items)
{
    if (!clo_stop_is_set(&clo_item_job(worker->runtime, item)->stop) || worker->turns.skips >= SKIPS_MAX) {
        worker->turns.skips = 0;
        return false;
    }
    worker->turns.skips += items;
    return true;
}

/* The oldest item of the next source that has any. */
static uint64_t take_in_turn(clo_worker *worker)
{
    for (uint32_t i = 1; i <= SOURCES; i++) {
        uint32_t source = (worker->turns.source + i) % SOURCES;
        uint64_t item = take_oldest(worker, source);
        if (item == CLO_ITEM_NONE)
            continue;
        worker->turns.served = 0;
        worker->turns.source = source;
        if (may_skip(worker, item, 1)) { /* nothing to run: the same source once more */
            worker->turns.served = BODIES_MAX;
            worker->turns.source = (source + SOURCES - 1) % SOURCES;
        }
        return item;
    }
    return CLO_ITEM_NONE;
}

static uint64_t take_next(clo_worker *worker)
{
    return worker->turns.served < BODIES_MAX ? take_own(worker) : take_in_turn(worker);
}

/* A chain of successors could keep a worker for ever: after CLO_BYPASSES_MAX of them in a row another source has its
 * turn, and `item` waits. */
static uint64_t rotate(clo_worker *worker, uint64_t item)
{
    if (may_skip(worker, item, CLO_BYPASSES_MAX))
        return item;
    uint64_t other = take_in_turn(worker);
    if (other == CLO_ITEM_NONE)
        return item;
    if (clo_item_job(worker->runtime, item)->is_pinned)
        clo_stack_push(&worker->inbox, item, clo_item_link(worker->runtime, item));
    else
        clo_worker_push(worker, item);
    return other;
}

/* An item, or ITEM_TURN. */
static uint64_t find(clo_worker *worker)
{
    uint64_t item = take_own(worker);

    if (item == CLO_ITEM_NONE && clo_combining_is_vacant(&worker->runtime->scheduling.combining))
        return ITEM_TURN;
    return item != CLO_ITEM_NONE ? item : steal(worker);
}

/* Short jobs that threads run themselves while they wait need nobody to be woken as long as one worker looks. */
static bool is_first_on_searching(const clo_worker *worker)
{
    for (uint32_t w = 0; w < worker->index; w++)
        if (clo_searching_looks(&worker->runtime->workers[w].searching))
            return false;
    return true;
}

/* A moment without a look. */
static void pause_for(const clo_worker *worker, uint32_t pauses)
{
    for (uint32_t i = 0; i < pauses; i++) {
        if (!clo_stack_is_empty(&worker->inbox) || !clo_mailbox_is_empty(&worker->mailbox))
            break;
        clo_relax();
    }
}

static bool has_public(const clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (!clo_stack_is_empty(&runtime->workers[w].shared_pool))
            return true;
    return false;
}

/* Until woken. Then others may rely on us for all that is left: the first of it is ours to run, and an item of that is
 * returned, unless there is nothing; the rest, and what else we may have been woken for, is another one's. */
static uint64_t sleep_counted(clo_worker *worker)
{
    bool is_lent = false;

    atomic_fetch_add_explicit(&worker->stats.parks, 1, memory_order_relaxed);
    uint32_t note = clo_parker_sleep(&worker->parker);
    atomic_fetch_add_explicit(&worker->stats.wakes, 1, memory_order_relaxed);
    clo_histogram_record(&worker->stats.wake_ns,
                         clo_clock_ns() - atomic_load_explicit(&worker->parker.woken_ns, memory_order_relaxed));
    uint64_t item = note != 0 ? clo_deferred_unpack(worker, note) : CLO_ITEM_NONE;
    if (item == CLO_ITEM_NONE)
        item = clo_deferred_take(worker, true, &is_lent);
    if (item == CLO_ITEM_NONE)
        return item;
    clo_deferred_publish(worker->runtime);
    if (has_public(worker->runtime))
        clo_runtime_wake_one(worker->runtime);
    return item;
}

/* Looks no longer; what others have relied on us for is another one's. */
static void end_searching(clo_worker *worker)
{
    if (!clo_searching_end(&worker->searching))
        return;
    clo_deferred_publish(worker->runtime);
    if (has_public(worker->runtime))
        clo_runtime_wake_one(worker->runtime);
}

/* The worker is lent, and sleeps until it is needed. */
static uint64_t retire(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;
    uint64_t item = CLO_ITEM_NONE;
    uint32_t note;

    atomic_fetch_add_explicit(&runtime->sleepers, 1, memory_order_seq_cst);
    clo_fence_heavy(&runtime->fence);
    bool sleeps = clo_parker_retire(&worker->parker, &note);
    end_searching(worker);
    if (sleeps)
        item = sleep_counted(worker);
    else if (note != 0)
        item = clo_deferred_unpack(worker, note);
    atomic_fetch_sub_explicit(&runtime->sleepers, 1, memory_order_relaxed);
    return item;
}

/* How an idle worker spends its time. */
typedef struct searching {
    int64_t until_ns;
    uint64_t ends; /* of jobs, when until_ns was set */
    uint32_t pauses, most;
    uint32_t blocked; /* looks in a row when there was something to do, and the worker was lent */
} searching;

/* Whether to look on after a look that found nothing. Where waiting threads help, one worker goes on as long as jobs
 * end, at a slower pace: it moves the lines of those that work. The others sleep once their time is up. While there is
 * something to do that the borrower of a lent one leaves alone, the borrower is asked to give it back. */
static bool looks_on(clo_worker *worker, searching *l, bool is_lent)
{
    const clo_runtime *runtime = worker->runtime;
    int64_t now_ns = clo_clock_ns();

    l->pauses = l->pauses < l->most ? l->pauses * 2 : l->most;
    l->blocked = is_lent && has_public(runtime) ? l->blocked + 1 : 0;
    if (l->blocked > 1)
        clo_parker_call(&worker->parker);
    if (now_ns < l->until_ns)
        return true;
    uint64_t ends = clo_deferred_ends(runtime);
    if (!runtime->helps || ends == l->ends || !is_first_on_searching(worker))
        return false;
    l->ends = ends;
    l->until_ns = clo_time_add(now_ns, runtime->spin_ns);
    l->most = PAUSES_SLOW;
    return true;
}

/* From here on threads that wait may borrow the worker, if none has done so yet. Who is woken may submit another job
 * and run it as this worker, so it is given time to. */
static void be_idle(clo_worker *worker, searching *l, bool is_lent)
{
    if (is_lent)
        return;
    bool owes_wake = clo_worker_take_wake(worker);
    if (worker->runtime->helps)
        clo_parker_idle(&worker->parker);
    if (owes_wake) {
        clo_runtime_wake_waiters(worker->runtime); /* takes long */
        l->pauses = l->most;
        l->until_ns = clo_time_add(clo_clock_ns(), worker->runtime->spin_ns);
    }
}

/* Until an item is found or the time is up. */
static uint64_t look_out(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;
    searching l = {.until_ns = clo_time_add(clo_clock_ns(), runtime->spin_ns),
                   .ends = clo_deferred_ends(runtime),
                   .pauses = 4,
                   .most = PAUSES_MAX};

    for (bool is_lent = false;;) { /* ends when looks_on says so */
        uint64_t item = CLO_ITEM_NONE;
        ask(worker);
        be_idle(worker, &l, is_lent);
        pause_for(worker, l.pauses);
        is_lent = runtime->helps && !clo_parker_resume(&worker->parker);
        if (!is_lent)
            item = find(worker);
        if (item == CLO_ITEM_NONE && runtime->helps)
            item = clo_deferred_take(worker, false, &is_lent);
        bool is_stopping = atomic_load_explicit(&runtime->stopping, memory_order_relaxed) != 0;
        if (item == CLO_ITEM_NONE && !is_stopping && looks_on(worker, &l, is_lent))
            continue;
        return is_lent ? retire(worker) : item;
    }
}

static uint64_t search(clo_worker *worker)
{
    clo_searching_begin(&worker->searching);
    uint64_t item = find(worker);
    if (item == CLO_ITEM_NONE)
        item = look_out(worker);

    if (item != CLO_ITEM_NONE)
        end_searching(worker);
    else
        (void)clo_searching_end(&worker->searching); /* we look once more in park */
    return item;
}

/* Announces sleep, looks once more behind the heavy fence, sleeps. Returns an item found at the last moment. Who has
 * items in its deque sees `sleepers` before its next body. */
static uint64_t park(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    clo_worker_wake_waiters(worker);
    clo_parker_prepare(&worker->parker);
    atomic_fetch_add_explicit(&runtime->sleepers, 1, memory_order_seq_cst);
    clo_fence_heavy(&runtime->fence);
    bool is_lent = false;
    uint64_t item = find(worker);
    if (item == CLO_ITEM_NONE)
        item = clo_deferred_take(worker, true, &is_lent);
    if (item == CLO_ITEM_NONE && atomic_load_explicit(&runtime->stopping, memory_order_acquire) == 0) {
        item = sleep_counted(worker);
    } else if (!clo_parker_cancel(&worker->parker) && item != CLO_ITEM_NONE) {
        clo_deferred_publish(runtime); /* we ate a wake that was meant for somebody's other item: pass it on */
        clo_runtime_wake_one(runtime);
    }
    atomic_fetch_sub_explicit(&runtime->sleepers, 1, memory_order_relaxed);
    return item;
}

static void run_from(clo_worker *worker, uint64_t item)
{
    worker->turns.ran = worker->turns.bypasses = 0;
    clo_worker_take_pace(worker);    /* what it took to find the item is not counted */
    clo_worker_wake_waiters(worker); /* a turn may take long, too */
    if (item == ITEM_TURN)
        item = worker->runtime->features.policies->take_turn(worker);
    while (item != CLO_ITEM_NONE) { /* ends with the ready items; new ones are rotated in */
        clo_worker_wake_waiters(worker);
        item = clo_worker_execute(worker, item);
        if (item != CLO_ITEM_NONE && worker->turns.bypasses < CLO_BYPASSES_MAX)
            continue;
        worker->turns.ran += worker->turns.bypasses;
        worker->turns.served += worker->turns.bypasses;
        worker->turns.bypasses = 0;
        if (worker->turns.ran >= CLO_TASK_TIME_ITEMS)
            clo_worker_take_pace(worker);
        item = item == CLO_ITEM_NONE ? take_next(worker) : rotate(worker, item);
    }
    clo_worker_take_pace(worker);
    atomic_store_explicit(&worker->current, CLO_ITEM_NONE, memory_order_relaxed);
}

void clo_worker_run(clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    for (;;) { /* until the runtime stops; jobs have ended by then */
        uint64_t item = runtime->spin_ns > 0 ? search(worker) : find(worker);
        if (item == CLO_ITEM_NONE)
            item = park(worker);
        run_from(worker, item);
        if (atomic_load_explicit(&runtime->stopping, memory_order_acquire) != 0) {
            clo_worker_wake_waiters(worker);
            return;
        }
    }
}
