/* Every structure of runtime/sync in every order of its operations, as the runtime uses it, under C11's memory orders
 * (model.h). The headers are the library's own. R11 of docs/REALTIME.md; the mutations that these must catch:
 * mutations.py. */
#include "model.h"

#include <stdio.h>
#include <string.h>

/* The ring copies its records itself; the checker shall see that. */
static uint64_t records[2];

static void *copy(void *to, const void *from, size_t bytes)
{
    if (to == &records[0] || to == &records[1])
        model_write(to);
    if (from == &records[0] || from == &records[1])
        model_read(from);
    return memcpy(to, from, bytes);
}
#define memcpy copy

#include "sync/protocol/countdown.h"
#include "sync/protocol/once.h"
#include "sync/sleep/mailbox.h"
#include "sync/sleep/park.h"
#include "sync/structure/combining.h"
#include "sync/structure/ring.h"
#include "sync/structure/stack.h"

#include "semaphores.h" /* before what includes the semaphore with its usual size */

#include "outcomes.h"
#include "protocols.h"

/* Countdown: three hitters, two runs; the last hitter of the first run starts the second. */

static clo_countdown countdown;
static _Atomic uint32_t run_of, lasts[2];
static uint32_t hits_of[3];

static void countdown_set_up(void)
{
    clo_countdown_arm(&countdown, 3);
    atomic_init(&run_of, 0);
    memset(payload, 0, sizeof payload);
    lasts[0] = lasts[1] = 0;
}

static void countdown_run(uint32_t me)
{
    for (uint32_t run = 0; run < 2; run++) {
        while (atomic_load_explicit(&run_of, memory_order_acquire) != run) /* the next submit */
            model_relax();
        put(me + 3 * run);
        if (!clo_countdown_hit(&countdown))
            continue;
        for (uint32_t i = 0; i < 3; i++)
            get(i + 3 * run);
        lasts[run]++;
        atomic_store_explicit(&run_of, run + 1, memory_order_release);
    }
}

static void countdown_finish(void)
{
    model_check(lasts[0] == 1 && lasts[1] == 1, "a run of the countdown had no last hitter, or two");
}

/* The same with two hits at once. */

static void many_set_up(void)
{
    countdown_set_up();
    clo_countdown_arm(&countdown, 5);
    hits_of[0] = 2, hits_of[1] = 2, hits_of[2] = 1;
}

static void many_run(uint32_t me)
{
    put(me);
    if (!clo_countdown_hit_many(&countdown, hits_of[me]))
        return;
    for (uint32_t i = 0; i < 3; i++)
        get(i);
    lasts[0]++;
}

static void many_finish(void)
{
    model_check(lasts[0] == 1, "the countdown had no last hitter, or two");
    model_check(atomic_load_explicit(&countdown.left, memory_order_relaxed) == 5, "the counter was not put back");
}

/* A stage's barrier (engine/program/program.h): two instances of the producer hit its counter; whoever hits it last
 * notes what the consumers need of the stage, and hits the consumer, which waits for a third task, too. */

static clo_countdown consumer;

static void stage_set_up(void)
{
    clo_countdown_arm(&countdown, 2);
    clo_countdown_arm(&consumer, 2);
    memset(payload, 0, sizeof payload);
    lasts[0] = lasts[1] = 0;
}

static void stage_run(uint32_t me)
{
    put(me);
    if (me < 2) {
        if (!clo_countdown_hit(&countdown))
            return;
        get(0);
        get(1);
        put(3);
        lasts[0]++;
    }
    if (!clo_countdown_hit(&consumer))
        return;
    for (uint32_t i = 0; i < 4; i++)
        get(i);
    lasts[1]++;
}

static void stage_finish(void)
{
    model_check(lasts[0] == 1 && lasts[1] == 1, "a barrier or its consumer had no last hitter, or two");
    model_check(atomic_load_explicit(&countdown.left, memory_order_relaxed) == 2, "the barrier was not put back");
}

/* Stack: a producer of a chain of two, a producer of one, a taker; the shared pool and the inbox. */

static clo_stack stack;
static uint64_t links[4];
static uint32_t taken[4];

static void stack_set_up(void)
{
    atomic_init(&stack.head, CLO_ITEM_NONE);
    memset(taken, 0, sizeof taken);
    memset(payload, 0, sizeof payload);
}

static void take_chain(void)
{
    for (uint64_t item = clo_stack_take(&stack), next; item != CLO_ITEM_NONE; item = next) {
        model_read(&links[item]);
        next = links[item];
        get((uint32_t)item);
        taken[item]++;
    }
}

static void stack_run(uint32_t me)
{
    if (me == 0) {
        put(0);
        put(1);
        model_write(&links[0]);
        links[0] = 1;
        model_write(&links[1]); /* push writes it, before it is published */
        clo_stack_push(&stack, 0, &links[1]);
    } else if (me == 1) {
        put(2);
        model_write(&links[2]);
        clo_stack_push(&stack, 2, &links[2]);
        take_chain();
    } else {
        take_chain();
        take_chain();
    }
}

static void stack_finish(void)
{
    for (uint64_t item = clo_stack_take(&stack); item != CLO_ITEM_NONE; item = links[item])
        taken[item]++;
    for (uint32_t i = 0; i < 3; i++)
        model_check(taken[i] == 1, "an item of the stack was lost, or taken twice");
}

/* Hand: two givers, who take back what was not taken, and its owner. */

static clo_mailbox mailbox;

static void hand_set_up(void)
{
    clo_mailbox_init(&mailbox);
    memset(taken, 0, sizeof taken);
    memset(payload, 0, sizeof payload);
}

static void use_item(uint64_t item)
{
    if (item == CLO_MAILBOX_EMPTY)
        return;
    get((uint32_t)item);
    taken[item]++;
}

static void hand_run(uint32_t me)
{
    if (me < 2) {
        put(me);
        if (!clo_mailbox_send(&mailbox, me))
            use_item(me);
        use_item(clo_mailbox_take(&mailbox));
    } else {
        use_item(clo_mailbox_take(&mailbox));
        use_item(clo_mailbox_take(&mailbox));
    }
}

static void hand_finish(void)
{
    uint64_t left = clo_mailbox_take(&mailbox);

    if (left != CLO_MAILBOX_EMPTY)
        taken[left]++;
    for (uint32_t i = 0; i < 2; i++)
        model_check(taken[i] == 1, "an item in a hand was lost, or taken twice");
}

/* Once: two callers, two runs of the job. */

static clo_once once;
static uint32_t done[2];

static void once_set_up(void)
{
    atomic_init(&once.state, 0);
    memset(payload, 0, sizeof payload);
    done[0] = 0;
}

static void once_run(uint32_t me)
{
    (void)me;
    if (clo_once_begin(&once, 1)) {
        put(0);
        done[0]++;
        clo_once_end(&once, 1);
    }
    get(0);
}

static void once_finish(void)
{
    model_check(done[0] == 1, "the work was not done once");
}

/* Parking: a worker that looks, announces sleep, looks once more and sleeps; producers that publish and wake. With and
 * without membarrier. */

static clo_fence fence;
static clo_parker parker;
static _Atomic uint32_t sleepers, items;
static bool has_membarrier;

static void park_set_up(void)
{
    fence.has_membarrier = has_membarrier;
    atomic_init(&fence.order, 0);
    atomic_init(&parker.state, 0);
    atomic_init(&parker.woken_ns, 0);
    atomic_init(&sleepers, 0);
    atomic_init(&items, 0);
}

static void park_run(uint32_t me)
{
    if (me > 0) { /* clo_worker_send, clo_runtime_wake_one */
        atomic_fetch_or_explicit(&items, me, memory_order_release);
        clo_fence_light(&fence);
        if (atomic_load_explicit(&sleepers, memory_order_relaxed) != 0 && clo_parker_is_away(&parker))
            (void)clo_parker_wake(&parker);
        return;
    }
    while (atomic_load_explicit(&items, memory_order_acquire) != 3) { /* all of them */
        uint32_t seen = atomic_load_explicit(&items, memory_order_acquire);
        clo_parker_prepare(&parker);
        atomic_fetch_add_explicit(&sleepers, 1, memory_order_seq_cst);
        clo_fence_heavy(&fence);
        if (atomic_load_explicit(&items, memory_order_acquire) == seen && seen != 3)
            clo_parker_sleep(&parker);
        else
            (void)clo_parker_cancel(&parker);
        atomic_fetch_sub_explicit(&sleepers, 1, memory_order_relaxed);
    }
}

static void park_finish(void)
{
}

/* As above, but the producer's item is its own until it sees the sleeper at its next look up, as in
 * clo_worker_look_up. */

static void share_run(uint32_t me)
{
    if (me == 1) {
        for (uint32_t body = 0; body < 2;
             body++) { /* two bodies; the item goes to the shared pool before one of them, or after */
            if (atomic_load_explicit(&sleepers, memory_order_relaxed) == 0)
                continue;
            break;
        }
        atomic_fetch_or_explicit(&items, 3, memory_order_release);
        clo_fence_light(&fence);
        if (atomic_load_explicit(&sleepers, memory_order_relaxed) != 0 && clo_parker_is_away(&parker))
            (void)clo_parker_wake(&parker);
        return;
    }
    park_run(0);
}

#include "lending.h"

/* Combining: three posters, each twice; the combiner's state travels from one to the next. */

static clo_combining combining;
static clo_combining_slot slots[3];
static _Atomic uint32_t answers[3];
static uint32_t decided, holders;

static void combining_set_up(void)
{
    clo_combining_init(&combining, slots, 3);
    for (uint32_t i = 0; i < 3; i++)
        atomic_init(&answers[i], 0);
    decided = holders = 0;
    memset(payload, 0, sizeof payload);
}

/* `handled`: by the holders of the turn before; hands_over: to others, as long as there are posts. */
static void combine(uint32_t posters, uint32_t handled, bool hands_over)
{
    for (;;) {
        uint32_t before = handled;
        for (uint32_t s = 0; s < posters; s++) {
            uint32_t news = clo_combining_read(&combining, s);
            if (news == CLO_COMBINING_EMPTY)
                continue;
            get(news);
            model_write(&decided); /* a race if two hold the turn, or if the next holder does not see this */
            decided++;
            handled++;
            atomic_store_explicit(&answers[s], news + 1, memory_order_release);
        }
        if (clo_combining_leave(&combining, handled))
            return;
        if (hands_over) {
            clo_combining_hand_over(&combining, handled);
            return;
        }
        if (before == handled)
            model_relax();
    }
}

static void combining_run(uint32_t me)
{
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t news = me + 2 * turn;
        put(news);
        if (clo_combining_post(&combining, me, news))
            combine(2, 0, false);
        while (atomic_load_explicit(&answers[me], memory_order_acquire) != news + 1)
            model_relax();
    }
}

static void combining_finish(void)
{
    model_check(decided == 4, "news on the combining were lost, or read twice");
    model_check(atomic_load_explicit(&combining.posts, memory_order_relaxed) == 0, "the turn was not given back");
}

static void combining_once_run(uint32_t me)
{
    put(me);
    if (clo_combining_post(&combining, me, me))
        combine(3, 0, false);
}

static void combining_once_finish(void)
{
    model_check(decided == 3, "news on the combining were lost, or read twice");
}

/* One hands the turn over, and both look for a vacant one until all is handled. */
static void combining_vacant_run(uint32_t me)
{
    uint32_t handled = 0;

    put(me);
    if (clo_combining_post(&combining, me, me))
        combine(2, 0, me == 0);
    while (atomic_load_explicit(&combining.posts, memory_order_acquire) != 0)
        if (clo_combining_take(&combining, &handled))
            combine(2, handled, false);
        else
            model_relax();
}

static void combining_vacant_finish(void)
{
    model_check(decided == 2, "news on the combining were lost, or read twice");
    model_check(!clo_combining_is_vacant(&combining), "a vacant turn was left behind");
}

/* Ring: two slots, four records. */

static clo_ring ring;
static uint32_t received, last_received;

static void ring_set_up(void)
{
    clo_ring_init(&ring, records, sizeof records[0], 2);
    received = last_received = 0;
}

static void ring_run(uint32_t me)
{
    for (uint64_t i = 1; i <= 4 && me == 0; i++)
        (void)clo_ring_put(&ring, &i);
    for (uint32_t i = 0; i < 4 && me == 1; i++) {
        uint64_t record = 0;
        if (!clo_ring_take(&ring, &record))
            continue;
        model_check(record > last_received && record <= 4, "a record came twice, late, or torn");
        last_received = (uint32_t)record;
        received++;
    }
}

static void ring_finish(void)
{
    uint64_t record;

    while (clo_ring_take(&ring, &record))
        received++;
    model_check(received + atomic_load_explicit(&ring.dropped, memory_order_relaxed) == 4,
                "a record was lost uncounted");
}

/* Scenarios whose name begins with the first argument; all without one. */
int main(int argc, char **argv)
{
    static const model_scenario scenarios[] = {
        {"countdown: three hitters, two runs", 3, 2, countdown_set_up, countdown_run, countdown_finish},
        {"countdown: several hits at once", 3, 4, many_set_up, many_run, many_finish},
        {"stage: a barrier, a third task, a consumer of both", 3, 4, stage_set_up, stage_run, stage_finish},
        {"stack: chain, single item, two takers", 3, 3, stack_set_up, stack_run, stack_finish},
        {"mailbox: two givers, its owner", 3, 4, hand_set_up, hand_run, hand_finish},
        {"once: three callers", 3, 4, once_set_up, once_run, once_finish},
        {"semaphore: its rules", 1, 0, semaphore_set_up, semaphore_rules, semaphore_whole},
        {"semaphore: a reader beside two changes", 2, 2, semaphore_set_up, semaphore_change, semaphore_changed},
        {"semaphore: two for the room of one", 2, 1, semaphore_set_up, semaphore_run, semaphore_whole},
        {"semaphore: kept for the oldest", 2, 1, semaphore_set_up_kept, semaphore_pass, semaphore_kept},
        {"combining: two posters, twice each", 2, 3, combining_set_up, combining_run, combining_finish},
        {"combining: three posters", 3, 3, combining_set_up, combining_once_run, combining_once_finish},
        {"combining: two posters, one hands over", 2, 4, combining_set_up, combining_vacant_run,
         combining_vacant_finish},
        {"ring: four records through two slots", 2, 3, ring_set_up, ring_run, ring_finish},
        {"eventcount: a listener, a change, a stop", 3, 3, eventcount_set_up, eventcount_run, eventcount_finish},
        {"stop: two submits, two cancels", 3, 2, stop_set_up, stop_run, stop_finish},
        {"stop: two runs, an abort of the first", 2, 4, stop_set_up, abort_run, abort_finish},
        {"phase: two submitters, a reader", 3, 2, phase_set_up, phase_run, phase_finish},
        {"phase: an end that goes on reading, a waiter", 2, 4, phase_wait_set_up, phase_wait_run, phase_wait_finish},
        {"visit: one that takes away, two visitors", 3, 4, visit_set_up, visit_run, visit_finish},
        {"completion: two openings, two settlers", 3, 2, completion_set_up, completion_run, completion_finish},
        {"timeout_slot: three armings, the thread that looks", 2, 2, timeout_set_up, timeout_run, timeout_finish},
        {"outcome: two that fail, one left out", 3, 3, outcome_set_up, outcome_run, outcome_finish},
        {"stop: one fails, the other is left out", 2, 3, failed_set_up, failed_run, failed_finish},
        {"first_wins: two runners, the starter", 3, 2, race_set_up, race_run, race_finish},
        {"first_wins: the first one does not end well", 3, 2, race_set_up_bad, race_run, race_finish},
        {"watch: a long body, the watchdog, the end of the job", 3, 2, watch_set_up, watch_run, watch_finish},
    };
    static const model_scenario parking[] = {
        {"park, note: left in reliance on one that was asleep", 2, 4, woken_set_up, woken_run, woken_finish},
        {"park, note: left in reliance on one that found work", 2, 4, woken_set_up, woken_cancel_run, woken_finish},
        {"park: one sleeper, two producers", 3, 2, park_set_up, park_run, park_finish},
        {"park: one sleeper, one that shares", 2, 4, park_set_up, share_run, park_finish},
        {"park, lent: a sleeper, a borrower, a producer", 3, 2, lend_set_up, lend_run, lend_finish},
        {"park, lent: a sleeper, two loans, a producer", 3, 1, lend_set_up, lend_twice_run, lend_finish},
        {"park, note: its owner, who leaves it, who claims it", 3, 2, note_set_up, note_run, note_finish},
        {"searching: one that looks, two producers", 3, 3, searching_set_up, searching_run, searching_finish},
        {"searching: one that looks, two that leave notes", 3, 3, searching_set_up, searching_seen_run,
         searching_finish},
    };
    const char *wanted = argc > 1 ? argv[1] : "";
    uint32_t failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strncmp(scenarios[i].name, wanted, strlen(wanted)) == 0)
            failed += model_explore(&scenarios[i]) == 0;
    for (int with = 3; with >= 0; with--)
        for (size_t i = 0; i < sizeof parking / sizeof parking[0]; i++) {
            has_membarrier = (with & 1) != 0;
            is_idle_first = (with & 2) != 0; /* lending only */
            if (is_idle_first && strncmp(parking[i].name, "park, lent", 10) != 0)
                continue;
            if (strncmp(parking[i].name, wanted, strlen(wanted)) == 0)
                failed += model_explore(&parking[i]) == 0;
        }
    return failed > 0;
}
