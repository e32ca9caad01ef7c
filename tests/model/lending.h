/* lending.h - scenarios of sync/sleep/park.h and sync/sleep/searching.h where a thread borrows what belongs to a worker
 * that sleeps or is idle, and where producers rely on one that looks. Part of test_model_sync.c. */
#ifndef CLO_MODEL_LENDING_H
#define CLO_MODEL_LENDING_H

#include "sync/sleep/park.h"
#include "sync/sleep/searching.h"

/* Lending: a worker, a thread that borrows it, a producer of two items. Whoever drives the worker uses its seat;
 * `eaten` belongs to that. */

static clo_parker seat_parker;
static clo_fence seat_fence;
static _Atomic uint32_t fare;
static uint32_t seat, eaten;
static bool is_idle_first;
enum { FARE = 3 };

static void lend_set_up(void)
{
    seat_fence.has_membarrier = has_membarrier;
    atomic_init(&seat_fence.order, 0);
    atomic_init(&seat_parker.state, CLO_PARK_AWAKE);
    atomic_init(&seat_parker.woken_ns, 0);
    atomic_init(&fare, 0);
    seat = eaten = 0;
    memset(payload, 0, sizeof payload);
}

/* One look by who has the seat. True: all is eaten. */
static bool drive(void)
{
    model_read(&seat);
    model_write(&seat);
    seat++;
    if (atomic_load_explicit(&fare, memory_order_relaxed) != 0) {
        uint32_t got = atomic_exchange_explicit(&fare, 0, memory_order_acquire);
        for (uint32_t i = 0; i < 2; i++)
            if (got & 1u << i)
                get(i);
        eaten += got;
    }
    return eaten == FARE;
}

static void lend_owner(void)
{
    for (uint32_t looks = 0; !drive(); looks++) { /* once idle, then asleep */
        if (is_idle_first && looks == 0) {        /* look_out of worker_loop.c */
            clo_parker_idle(&seat_parker);
            if (clo_parker_resume(&seat_parker))
                continue;
            clo_fence_heavy(&seat_fence);
            uint32_t note;
            if (clo_parker_retire(&seat_parker, &note))
                (void)clo_parker_sleep(&seat_parker);
            continue;
        }
        clo_parker_prepare(&seat_parker); /* park */
        clo_fence_heavy(&seat_fence);
        if (drive() || atomic_load_explicit(&fare, memory_order_relaxed) != 0)
            (void)clo_parker_cancel(&seat_parker);
        else
            (void)clo_parker_sleep(&seat_parker);
    }
}

static void lend_borrower(void) /* clo_job_help */
{
    if (!clo_parker_borrow(&seat_parker))
        return;
    bool is_done = drive();
    while (!is_done && atomic_load_explicit(&fare, memory_order_relaxed) == 0) { /* a turn for each call */
        if (clo_parker_return(&seat_parker))
            return;
        (void)clo_parker_look(&seat_parker);
    }
    clo_parker_rouse(&seat_parker);
}

static void lend_run(uint32_t me)
{
    if (me == 0) {
        lend_owner();
    } else if (me == 1) {
        lend_borrower();
    } else {
        for (uint32_t i = 0; i < 2; i++) { /* clo_worker_send */
            put(i);
            atomic_fetch_or_explicit(&fare, 1u << i, memory_order_release);
            clo_fence_light(&seat_fence);
            if (clo_parker_is_away(&seat_parker))
                (void)clo_parker_wake(&seat_parker);
        }
    }
}

static void lend_finish(void)
{
    model_check(eaten == FARE, "an item for a lent worker was lost");
}

/* Two that borrow one after the other, beside the producer of one item. */

static void lend_twice_run(uint32_t me)
{
    if (me == 1)
        for (uint32_t i = 0; i < 2; i++)
            lend_borrower();
    else
        lend_run(me);
}

/* A note: its owner, who leaves it and wakes the owner, who claims it with the parker. */

static _Atomic uint32_t notes_taken;

static void note_set_up(void)
{
    lend_set_up();
    atomic_init(&notes_taken, 0);
}

static void take_note(void)
{
    get(0);
    atomic_fetch_add_explicit(&notes_taken, 1, memory_order_release);
}

static void note_run(uint32_t me)
{
    if (me == 2) {
        if (clo_parker_claim(&seat_parker, 5)) {
            take_note();
            clo_parker_rouse(&seat_parker);
        }
        return;
    }
    if (me == 1) {
        put(0);
        if (!clo_parker_leave(&seat_parker, 5))
            take_note();
        clo_fence_light(&seat_fence);
        if (clo_parker_is_away(&seat_parker))
            (void)clo_parker_wake(&seat_parker);
        return;
    }
    while (atomic_load_explicit(&notes_taken, memory_order_acquire) == 0) { /* once asleep, or called too early */
        clo_parker_prepare(&seat_parker);
        clo_fence_heavy(&seat_fence);
        if (atomic_load_explicit(&notes_taken, memory_order_relaxed) != 0)
            (void)clo_parker_cancel(&seat_parker);
        else if (clo_parker_sleep(&seat_parker) != 0)
            take_note();
    }
}

static void note_finish(void)
{
    model_check(atomic_load_explicit(&notes_taken, memory_order_relaxed) == 1, "a note was lost, or taken twice");
}

/* A note left with a parker whose owner sleeps on, by somebody who wakes nobody, since another owner was woken and will
 * look at all notes (will_look of run/sharing/deferred.c). That one was asleep, or found something to do before it
 * slept. */

static clo_parker woken_parker;
static uint32_t notes_seen;

static void woken_set_up(void)
{
    lend_set_up();
    atomic_init(&seat_parker.state, CLO_PARK_ASLEEP);
    atomic_init(&woken_parker.state, CLO_PARK_AWAKE | CLO_PARK_CALLED);
    atomic_init(&woken_parker.woken_ns, 0);
    notes_seen = 0;
}

static void woken_run_with(uint32_t me, bool sleeps)
{
    if (me == 0) {
        if (sleeps)
            (void)clo_parker_sleep(&woken_parker);
        else
            (void)clo_parker_cancel(&woken_parker);
        if (clo_parker_lift(&seat_parker) != 0) { /* clo_deferred_publish */
            get(0);
            notes_seen++;
        }
        return;
    }
    put(0);
    bool is_left = clo_parker_leave(&seat_parker, 5);
    model_check(is_left, "a sleeper took no note");
    if (!clo_parker_is_woken(&woken_parker)) /* wake_for_left */
        notes_seen++;
}

static void woken_run(uint32_t me)
{
    woken_run_with(me, true);
}

static void woken_cancel_run(uint32_t me)
{
    woken_run_with(me, false);
}

static void woken_finish(void)
{
    model_check(notes_seen > 0, "a note is forgotten");
}

/* Lookout: a worker that looks once and then sleeps, two producers that rely on it, or wake a sleeper: that one takes
 * everything in the end. */

static clo_searching searching;
static _Atomic uint32_t left, sleepers_woken;
static uint32_t taken_of[2];

static void searching_set_up(void)
{
    seat_fence.has_membarrier = has_membarrier;
    atomic_init(&seat_fence.order, 0);
    atomic_init(&searching.state, CLO_SEARCHING_NONE);
    atomic_init(&left, 0);
    atomic_init(&sleepers_woken, 0);
    taken_of[0] = taken_of[1] = 0;
    memset(payload, 0, sizeof payload);
}

static uint32_t searching_take(void)
{
    if (atomic_load_explicit(&left, memory_order_relaxed) == 0)
        return 0;
    uint32_t got = atomic_exchange_explicit(&left, 0, memory_order_acquire);
    for (uint32_t i = 0; i < 2; i++)
        if (got & 1u << i) {
            get(i);
            taken_of[i]++;
        }
    return got;
}

static void searching_run(uint32_t me)
{
    if (me == 0) {
        clo_searching_begin(&searching);
        uint32_t got = searching_take();
        bool is_trusted = clo_searching_end(&searching);
        if (got == 0) { /* park */
            clo_fence_heavy(&seat_fence);
            (void)searching_take();
        } else if (is_trusted && atomic_load_explicit(&left, memory_order_relaxed) != 0) {
            atomic_fetch_add_explicit(&sleepers_woken, 1, memory_order_relaxed);
        }
        return;
    }
    put(me - 1);
    atomic_fetch_or_explicit(&left, me, memory_order_release);
    if (!clo_searching_trust(&searching))
        atomic_fetch_add_explicit(&sleepers_woken, 1, memory_order_relaxed);
}

/* The same with what is left by a seq_cst read-modify-write, as notes are (run/sharing/deferred.c): a trust need not
 * write what it finds. The owner looks at them after its end. */
static void searching_seen_run(uint32_t me)
{
    if (me == 0) {
        clo_searching_begin(&searching);
        if (clo_searching_end(&searching) &&
            atomic_load_explicit(&left, memory_order_seq_cst) != 0) /* clo_deferred_publish */
            (void)searching_take();
        return;
    }
    put(me - 1);
    atomic_fetch_or_explicit(&left, me, memory_order_seq_cst);
    if (!clo_searching_trust_seen(&searching))
        atomic_fetch_add_explicit(&sleepers_woken, 1, memory_order_relaxed);
}

static void searching_finish(void)
{
    bool is_woken = atomic_load_explicit(&sleepers_woken, memory_order_relaxed) > 0;
    uint32_t rest = atomic_load_explicit(&left, memory_order_relaxed);

    model_check(rest == 0 || is_woken, "what was left is forgotten");
    for (uint32_t i = 0; i < 2; i++)
        model_check(taken_of[i] + (rest >> i & 1) == 1, "what was left was taken twice, or lost");
}

#endif
