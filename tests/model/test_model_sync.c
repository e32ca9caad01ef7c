/* Every structure of runtime/sync in every order of its operations, as the runtime uses it, under C11's memory orders (model.h).
 * The headers are the library's own. R11 of docs/REALTIME.md; the mutations that these must catch: mutations.py. */
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

#include "sync/bell.h"
#include "sync/board.h"
#include "sync/countdown.h"
#include "sync/gate.h"
#include "sync/once.h"
#include "sync/park.h"
#include "sync/phase.h"
#include "sync/ring.h"
#include "sync/stack.h"
#include "sync/stop.h"
#include "sync/watch.h"

static uint64_t payload[8]; /* plain data that must travel */

static void put(uint32_t i)
{
    model_write(&payload[i]);
    payload[i] = i + 100;
}

static void get(uint32_t i)
{
    model_read(&payload[i]);
    model_check(payload[i] == i + 100, "plain data have not come along");
}

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

/* Stack: a producer of a chain of two, a producer of one, a taker; the shelf and the inbox. */

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

/* Gate: capacity for one; who is refused comes back by whoever leaves. */

static clo_gate gate;
static uint64_t gate_links[3];
static uint32_t is_inside, passed;
static uint32_t handed_back;

static void gate_set_up(void)
{
    memset(&gate, 0, sizeof gate);
    atomic_init(&gate.locked, 0);
    for (int r = 0; r < CLO_GATE_RESOURCES; r++)
        gate.available[r] = INT64_MAX;
    gate.available[0] = 1;
    gate.waiting = CLO_ITEM_NONE;
    is_inside = passed = handed_back = 0;
}

static void gate_run(uint32_t me)
{
    static const int64_t demand[CLO_GATE_RESOURCES] = {1};

    if (!clo_gate_enter(&gate, demand, me, &gate_links[me]))
        return;              /* our item waits in the chain */
    model_write(&is_inside); /* only one may be here */
    is_inside++;
    for (uint64_t item = clo_gate_leave(&gate, demand); item != CLO_ITEM_NONE; item = gate_links[item])
        handed_back++;
    passed++;
}

static void gate_finish(void)
{
    model_check(passed + handed_back == 3 && gate.waiting == CLO_ITEM_NONE, "the gate has forgotten somebody");
    model_check(gate.available[0] == 1, "the capacity is not whole again");
}

/* Parking: a worker that looks, announces sleep, looks once more and sleeps; producers that publish and wake. With and without
 * membarrier. */

static clo_barrier barrier;
static clo_parker parker;
static _Atomic uint32_t sleepers, items;
static bool has_membarrier;

static void park_set_up(void)
{
    barrier.has_membarrier = has_membarrier;
    atomic_init(&barrier.order, 0);
    atomic_init(&parker.asleep, 0);
    atomic_init(&parker.woken_ns, 0);
    atomic_init(&sleepers, 0);
    atomic_init(&items, 0);
}

static void park_run(uint32_t me)
{
    if (me > 0) { /* clo_worker_give, clo_runtime_wake_one */
        atomic_fetch_or_explicit(&items, me, memory_order_release);
        clo_barrier_light(&barrier);
        if (atomic_load_explicit(&sleepers, memory_order_relaxed) != 0 && clo_parker_is_asleep(&parker))
            (void)clo_parker_wake(&parker);
        return;
    }
    while (atomic_load_explicit(&items, memory_order_acquire) != 3) { /* all of them */
        uint32_t seen = atomic_load_explicit(&items, memory_order_acquire);
        clo_parker_prepare(&parker);
        atomic_fetch_add_explicit(&sleepers, 1, memory_order_seq_cst);
        clo_barrier_heavy(&barrier);
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

/* As above, but the producer's item is its own until it sees the sleeper at its next look up, as in clo_worker_look_up. */

static void share_run(uint32_t me)
{
    if (me == 1) {
        for (uint32_t body = 0; body < 2;
             body++) { /* two bodies; the item goes to the shelf before one of them, or after */
            if (atomic_load_explicit(&sleepers, memory_order_relaxed) == 0)
                continue;
            break;
        }
        atomic_fetch_or_explicit(&items, 3, memory_order_release);
        clo_barrier_light(&barrier);
        if (atomic_load_explicit(&sleepers, memory_order_relaxed) != 0 && clo_parker_is_asleep(&parker))
            (void)clo_parker_wake(&parker);
        return;
    }
    park_run(0);
}

/* Board: three posters, each twice; the holder's state travels from turn to turn. */

static clo_board board;
static clo_board_slot slots[3];
static _Atomic uint32_t answers[3];
static uint32_t decided, holders;

static void board_set_up(void)
{
    clo_board_init(&board, slots, 3);
    for (uint32_t i = 0; i < 3; i++)
        atomic_init(&answers[i], 0);
    decided = holders = 0;
    memset(payload, 0, sizeof payload);
}

static void hold_board(uint32_t posters)
{
    uint32_t handled = 0;

    for (;;) {
        uint32_t before = handled;
        for (uint32_t s = 0; s < posters; s++) {
            uint32_t news = clo_board_read(&board, s);
            if (news == CLO_BOARD_EMPTY)
                continue;
            get(news);
            model_write(&decided); /* a race if two hold the turn, or if the next holder does not see this */
            decided++;
            handled++;
            atomic_store_explicit(&answers[s], news + 1, memory_order_release);
        }
        if (clo_board_leave(&board, handled))
            return;
        if (before == handled)
            model_relax();
    }
}

static void board_run(uint32_t me)
{
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t news = me + 2 * turn;
        put(news);
        if (clo_board_post(&board, me, news))
            hold_board(2);
        while (atomic_load_explicit(&answers[me], memory_order_acquire) != news + 1)
            model_relax();
    }
}

static void board_finish(void)
{
    model_check(decided == 4, "news on the board were lost, or read twice");
    model_check(atomic_load_explicit(&board.turn, memory_order_relaxed) == 0, "the turn was not given back");
}

static void board_once_run(uint32_t me)
{
    put(me);
    if (clo_board_post(&board, me, me))
        hold_board(3);
}

static void board_once_finish(void)
{
    model_check(decided == 3, "news on the board were lost, or read twice");
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

/* Bell: the watchdog's thread beside whoever changes something, and whoever stops it. */

static clo_bell bell;
static _Atomic uint32_t stopping, change, watchdog_lock;
static uint32_t changes_seen;

static void bell_set_up(void)
{
    atomic_init(&bell.rings, 0);
    atomic_init(&stopping, 0);
    atomic_init(&change, 0);
    changes_seen = 0;
}

static void bell_run(uint32_t me)
{
    if (me == 1) { /* clo_watchdog_stop */
        atomic_store_explicit(&stopping, 1, memory_order_relaxed);
        clo_bell_ring(&bell);
    } else if (me == 2) { /* a submit, a cancel, the end of a run */
        atomic_store_explicit(&change, 1, memory_order_relaxed);
        clo_bell_ring(&bell);
    } else { /* watchdog_main */
        for (;;) {
            uint32_t heard = clo_bell_hear(&bell);
            changes_seen = atomic_load_explicit(&change, memory_order_relaxed);
            if (atomic_load_explicit(&stopping, memory_order_relaxed) != 0 && changes_seen == 1)
                break;
            clo_bell_wait_until(&bell, heard, INT64_MAX);
        }
    }
}

static void bell_finish(void)
{
    model_check(changes_seen == 1, "the listener ended without the change");
}

/* Stop: a series of two submits with a run each; cancels at any time. A cancel counts for one submit, wholly or not at all. */

static clo_stop stop;
static uint32_t stopped_runs[2], counted[2];
static _Atomic uint32_t cancels_returned;
static uint32_t returned_before[2];

static void stop_set_up(void)
{
    atomic_init(&stop.run, 0);
    atomic_init(&stop.submit, 0);
    atomic_init(&stop.cancelled, 0);
    atomic_init(&cancels_returned, 0);
    memset(stopped_runs, 0, sizeof stopped_runs);
    memset(counted, 0, sizeof counted);
}

static void stop_run(uint32_t me)
{
    if (me > 0) { /* clo_job_cancel */
        clo_stop_cancel(&stop);
        atomic_fetch_add_explicit(&cancels_returned, 1, memory_order_release);
        return;
    }
    for (uint32_t submit = 0; submit < 2; submit++) { /* the submitter, and the worker that runs it */
        uint64_t first = clo_stop_submit(&stop);
        clo_stop_begin(&stop, first);
        stopped_runs[submit] = clo_stop_is_set(&stop); /* a body that looks early */
        returned_before[submit] = atomic_load_explicit(&cancels_returned, memory_order_acquire);
        stopped_runs[submit] |= clo_stop_is_set(&stop); /* and the last one */
        counted[submit] = clo_stop_is_cancelled(&stop);
    }
}

static void stop_finish(void)
{
    for (uint32_t submit = 0; submit < 2; submit++)
        model_check(!stopped_runs[submit] || counted[submit], "bodies were left out of a run that nobody has cancelled");
    /* The last submit has not ended: a cancel of it must hold for the bodies to come. */
    model_check(!clo_stop_is_cancelled(&stop) || clo_stop_is_set(&stop), "a cancelled series runs its bodies");
    model_check(counted[1] <= clo_stop_is_cancelled(&stop), "a cancel was lost to an older one");
}

/* The same with an abort of the first run: it may not reach the second. */

static void abort_run(uint32_t me)
{
    if (me == 1) {
        clo_stop_abort(&stop, 1);
        return;
    }
    uint64_t first = clo_stop_submit(&stop);
    for (uint32_t run = 0; run < 2; run++) {
        clo_stop_begin(&stop, first + run);
        stopped_runs[run] = clo_stop_is_set(&stop);
    }
}

static void abort_finish(void)
{
    model_check(!stopped_runs[1] && !clo_stop_is_set(&stop), "an abort has hit the run after");
}

/* Phase: two threads that wait and submit again, one that reads; what a run leaves is plain data. */

static clo_phase phase;
static uint32_t runs;

static void phase_set_up(void)
{
    atomic_init(&phase.word, CLO_PHASE_DONE);
    memset(payload, 0, sizeof payload);
    payload[0] = 100;
    runs = 0;
}

static void phase_run(uint32_t me)
{
    if (me < 2 && clo_phase_start(&phase)) { /* clo_job_submit, and the run */
        put(0);
        model_write(&runs);
        runs++;
        clo_phase_end(&phase);
    }
    if (clo_phase_read_begin(&phase)) { /* clo_job_wait */
        get(0);
        model_read(&runs);
        clo_phase_read_end(&phase);
    }
}

static void phase_finish(void)
{
    model_check(runs <= 2 && atomic_load_explicit(&phase.word, memory_order_relaxed) == CLO_PHASE_DONE,
                "a reader or a run was not counted out");
}

/* Watch: a worker with a body that is too long; the watchdog, which finds it while it runs, or by its note; whoever waits for
 * the job and then takes it away. payload[0] is the job. */

static clo_watch watch;
static _Atomic uint32_t has_ended, is_settled;
static uint32_t reports, is_gone;

static void watch_set_up(void)
{
    memset(&watch.notes, 0, sizeof watch.notes);
    atomic_init(&watch.word, 0);
    atomic_init(&watch.item, 0);
    atomic_init(&watch.release, 0);
    atomic_init(&watch.over_ns, 0);
    atomic_init(&watch.noted, 0);
    atomic_init(&watch.read, 0);
    atomic_init(&has_ended, 0);
    atomic_init(&is_settled, 0);
    atomic_init(&watchdog_lock, 0);
    memset(payload, 0, sizeof payload);
    payload[0] = 100;
    reports = is_gone = 0;
}

static void watch_lock(void)
{
    while (atomic_exchange_explicit(&watchdog_lock, 1, memory_order_acquire) != 0)
        model_relax();
}

static void watch_unlock(void)
{
    atomic_store_explicit(&watchdog_lock, 0, memory_order_release);
}

static void watch_report(const clo_watch_note *note)
{
    get(0);
    get(1);
    model_check(!is_gone, "a report reads a job that is gone");
    model_check(note->item == 7 && note->release == 3 && note->over_ns == 10, "a report of another body");
    reports++;
}

static void watch_look(void) /* clo_overrun_poll, and the end of look_after */
{
    clo_watch_note body;
    uint64_t word;
    bool is_over;

    watch_lock();
    is_over = atomic_load_explicit(&has_ended, memory_order_acquire) != 0;
    while (clo_watch_read_note(&watch, &body))
        watch_report(&body);
    if (clo_watch_see(&watch, &word, &body) && clo_watch_claim(&watch, word))
        watch_report(&body);
    if (is_over)
        atomic_store_explicit(&is_settled, 1, memory_order_release);
    watch_unlock();
}

static void watch_run(uint32_t me)
{
    clo_watch_note body = {.item = 7, .release = 3, .over_ns = 10};

    if (me == 0) { /* the worker */
        put(1);        /* what begin and a note carry along */
        clo_watch_begin(&watch, &body);
        if (clo_watch_end(&watch, 20, &body))
            clo_watch_leave_note(&watch, &body);
        atomic_store_explicit(&has_ended, 1, memory_order_release);
    } else if (me == 1) {
        while (atomic_load_explicit(&is_settled, memory_order_acquire) == 0) {
            uint32_t before = atomic_load_explicit(&has_ended, memory_order_acquire);
            watch_look();
            if (before == 0)
                while (atomic_load_explicit(&has_ended, memory_order_acquire) == 0)
                    model_relax();
        }
    } else { /* clo_job_wait, clo_job_destroy */
        while (atomic_load_explicit(&is_settled, memory_order_acquire) == 0)
            model_relax();
        watch_lock(); /* clo_watchdog_remove */
        watch_unlock();
        model_write(&payload[0]);
        is_gone = 1;
    }
}

static void watch_finish(void)
{
    model_check(reports == 1, "an overrun was reported twice, or not at all");
}

int main(void)
{
    static const model_scenario scenarios[] = {
        {"countdown: three hitters, two runs", 3, 2, countdown_set_up, countdown_run, countdown_finish},
        {"countdown: several hits at once", 3, 4, many_set_up, many_run, many_finish},
        {"stack: chain, single item, two takers", 3, 3, stack_set_up, stack_run, stack_finish},
        {"once: three callers", 3, 4, once_set_up, once_run, once_finish},
        {"gate: three for the room of one", 3, 3, gate_set_up, gate_run, gate_finish},
        {"board: two posters, twice each", 2, 3, board_set_up, board_run, board_finish},
        {"board: three posters", 3, 3, board_set_up, board_once_run, board_once_finish},
        {"ring: four records through two slots", 2, 3, ring_set_up, ring_run, ring_finish},
        {"bell: a listener, a change, a stop", 3, 3, bell_set_up, bell_run, bell_finish},
        {"stop: two submits, two cancels", 3, 2, stop_set_up, stop_run, stop_finish},
        {"stop: two runs, an abort of the first", 2, 4, stop_set_up, abort_run, abort_finish},
        {"phase: two submitters, a reader", 3, 2, phase_set_up, phase_run, phase_finish},
        {"watch: a long body, the watchdog, the end of the job", 3, 2, watch_set_up, watch_run, watch_finish},
    };
    static const model_scenario parking[] = {
        {"park: one sleeper, two producers", 3, 2, park_set_up, park_run, park_finish},
        {"park: one sleeper, one that shares", 2, 4, park_set_up, share_run, park_finish},
    };
    uint32_t failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        failed += model_explore(&scenarios[i]) == 0;
    for (int with = 1; with >= 0; with--)
        for (size_t i = 0; i < sizeof parking / sizeof parking[0]; i++) {
            has_membarrier = with;
            failed += model_explore(&parking[i]) == 0;
        }
    return failed > 0;
}
