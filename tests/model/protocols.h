/* protocols.h - scenarios of the runtime's protocols that are more than one structure: the watchdog's eventcount, the
 * stop and the phase of a job, the overruns of bodies, promises, timeouts, races. Part of test_model_sync.c. */
#ifndef CLO_MODEL_PROTOCOLS_H
#define CLO_MODEL_PROTOCOLS_H

#include "sync/protocol/completion.h"
#include "sync/protocol/first_wins.h"
#include "sync/protocol/phase.h"
#include "sync/protocol/stop.h"
#include "sync/protocol/visit.h"
#include "sync/sleep/eventcount.h"
#include "sync/sleep/mailbox.h"
#include "sync/sleep/timeout_slot.h"
#include "sync/sleep/watch.h"

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

/* Bell: the watchdog's thread beside whoever changes something, and whoever stops it. */

static clo_eventcount eventcount;
static _Atomic uint32_t stopping, change, watchdog_lock;
static uint32_t changes_seen;

static void eventcount_set_up(void)
{
    atomic_init(&eventcount.rings, 0);
    atomic_init(&stopping, 0);
    atomic_init(&change, 0);
    changes_seen = 0;
}

static void eventcount_run(uint32_t me)
{
    if (me == 1) { /* clo_watchdog_stop */
        atomic_store_explicit(&stopping, 1, memory_order_relaxed);
        clo_eventcount_ring(&eventcount);
    } else if (me == 2) { /* a submit, a cancel, the end of a run */
        atomic_store_explicit(&change, 1, memory_order_relaxed);
        clo_eventcount_ring(&eventcount);
    } else { /* watchdog_main */
        for (;;) {
            uint32_t heard = clo_eventcount_hear(&eventcount);
            changes_seen = atomic_load_explicit(&change, memory_order_relaxed);
            if (atomic_load_explicit(&stopping, memory_order_relaxed) != 0 && changes_seen == 1)
                break;
            clo_eventcount_wait_until(&eventcount, heard, INT64_MAX);
        }
    }
}

static void eventcount_finish(void)
{
    model_check(changes_seen == 1, "the listener ended without the change");
}

/* Stop: a series of two submits with a run each; cancels at any time. A cancel counts for one submit, wholly or not at
 * all. */

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
        model_check(!stopped_runs[submit] || counted[submit],
                    "bodies were left out of a run that nobody has cancelled");
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

/* The same where who ends the run goes on as a reader (run/job/done.c), beside one that waits. */

static _Atomic uint32_t waiters, done_epoch;

static void phase_wait_set_up(void)
{
    atomic_init(&phase.word, CLO_PHASE_RUNNING);
    atomic_init(&waiters, 0);
    atomic_init(&done_epoch, 0);
    memset(payload, 0, sizeof payload);
}

static void phase_wait_run(uint32_t me)
{
    if (me == 0) { /* clo_job_done_reading, clo_runtime_tell */
        put(0);
        clo_phase_end_reading(&phase);
        if (atomic_load_explicit(&waiters, memory_order_seq_cst) > 0) {
            atomic_fetch_add_explicit(&done_epoch, 1, memory_order_seq_cst);
            clo_futex_wake_all(&done_epoch);
        }
        get(0);
        clo_phase_read_end(&phase);
        return;
    }
    atomic_fetch_add_explicit(&waiters, 1, memory_order_seq_cst); /* clo_job_wait_until */
    for (;;) {
        uint32_t epoch = atomic_load_explicit(&done_epoch, memory_order_seq_cst);
        if (clo_phase_is_done(&phase))
            break;
        clo_futex_wait(&done_epoch, epoch);
    }
    get(0);
    atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
}

static void phase_wait_finish(void)
{
    model_check(atomic_load_explicit(&phase.word, memory_order_relaxed) == CLO_PHASE_DONE,
                "the reader was not counted out");
}

/* Visit: one that takes something away, two that may look at it. payload[0] is what the pointer leads to. */

static clo_visits visits;
static _Atomic uint32_t is_listed;

static void visit_set_up(void)
{
    atomic_init(&visits.were, 0);
    atomic_init(&is_listed, 1);
    memset(payload, 0, sizeof payload);
    payload[0] = 100;
}

static void visit_run(uint32_t me)
{
    if (me == 0) {                                                  /* clo_job_destroy */
        atomic_store_explicit(&is_listed, 0, memory_order_release); /* clo_rcu_publish */
        if (!clo_visits_ask(&visits))                               /* else a grace period */
            model_write(&payload[0]);
        return;
    }
    clo_visits_note(&visits); /* clo_runtime_visit_jobs */
    if (atomic_load_explicit(&is_listed, memory_order_acquire) != 0)
        get(0);
}

static void visit_finish(void)
{
    model_check(atomic_load_explicit(&visits.were, memory_order_relaxed) == 1, "a visit was forgotten");
}

/* Watch: a worker with a body that is too long; the watchdog, which finds it while it runs, or by its note; whoever
 * waits for the job and then takes it away. payload[0] is the job. */

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
        put(1);    /* what begin and a note carry along */
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

/* Promise: its owner opens it twice; two that know a number settle it, and one of them is believed. */

static clo_completion completion;
static _Atomic uint64_t opened[2];
static _Atomic uint32_t settled[2];

static void completion_set_up(void)
{
    atomic_init(&completion.number, 1ull << 32); /* the low half begins anew */
    atomic_init(&completion.word, clo_completion_word(1ull << 32, 0));
    for (uint32_t k = 0; k < 2; k++) {
        atomic_init(&opened[k], 0);
        atomic_init(&settled[k], 0);
    }
    memset(payload, 0, sizeof payload);
}

static void completion_own(void)
{
    for (uint32_t k = 0; k < 2; k++) {
        int32_t result;
        uint64_t number = clo_completion_open(&completion);
        model_check(!clo_completion_settle(&completion, number - (1ull << 32), 3), "an old number settled the promise");
        atomic_store_explicit(&opened[k], number, memory_order_release); /* the token's way */
        while (!clo_completion_read(&completion, &result))
            model_relax();
        get((uint32_t)result + 2 * k);
    }
}

static void completion_run(uint32_t me)
{
    if (me == 0) {
        completion_own();
        return;
    }
    for (uint32_t k = 0; k < 3 - me; k++) { /* the second one knows the first number only */
        uint64_t number;
        while ((number = atomic_load_explicit(&opened[k], memory_order_acquire)) == 0)
            model_relax();
        put(me + 2 * k);
        if (clo_completion_settle(&completion, number, (int32_t)me))
            atomic_fetch_add_explicit(&settled[k], 1, memory_order_relaxed);
    }
}

static void completion_finish(void)
{
    for (uint32_t k = 0; k < 2; k++)
        model_check(atomic_load_explicit(&settled[k], memory_order_relaxed) == 1,
                    "an opening was settled twice, or not at all");
}

/* Alarm: a worker that arms three times, and the thread that sleeps until then. The first timeout comes beside a look
 * that was to come at that moment anyway; the second is ended at once; the third ends the scenario. */

static clo_timeout timeouts_own;
static clo_timeouts timeouts_all;
static _Atomic uint32_t claims[4];
static uint32_t ends[4];

static void timeout_set_up(void)
{
    atomic_init(&timeouts_own.word, 0);
    atomic_init(&timeouts_own.item, 0);
    atomic_init(&timeouts_own.at_ns, 0);
    atomic_init(&timeouts_all.next_ns, 10);
    atomic_init(&eventcount.rings, 0);
    for (uint32_t k = 0; k < 4; k++)
        atomic_init(&claims[k], 0);
    memset(ends, 0, sizeof ends);
    memset(payload, 0, sizeof payload);
}

static void timeout_own(void)
{
    for (uint32_t k = 1; k <= 3; k++) {
        put(k);
        if (clo_timeout_arm(&timeouts_own, &timeouts_all, k, 10))
            clo_eventcount_ring(&eventcount);
        while (k != 2 && atomic_load_explicit(&claims[k], memory_order_acquire) == 0)
            model_relax();
        ends[k] = clo_timeout_end(&timeouts_own);
    }
}

static void timeout_run(uint32_t me)
{
    if (me == 0) {
        timeout_own();
        return;
    }
    for (bool is_last = false; !is_last;) { /* clo_hedges_look, in the watchdog's loop */
        uint64_t word, item;
        uint32_t heard = clo_eventcount_hear(&eventcount);
        clo_timeouts_look(&timeouts_all);
        if (clo_timeout_see(&timeouts_own, &word) < INT64_MAX && clo_timeout_claim(&timeouts_own, word, &item)) {
            get((uint32_t)item);
            is_last = item == 3;
            atomic_fetch_add_explicit(&claims[item], 1, memory_order_release);
        }
        clo_timeouts_looked(&timeouts_all, INT64_MAX);
        if (!is_last)
            clo_eventcount_wait_until(&eventcount, heard, INT64_MAX);
    }
}

static void timeout_finish(void)
{
    for (uint32_t k = 1; k <= 3; k++)
        model_check(atomic_load_explicit(&claims[k], memory_order_relaxed) == ends[k],
                    "a worker does not know that its alarm was claimed, or thinks that it was");
}

/* Race: the first runner, the worker of the second, the starter. payload[0] is the pair's memory, which whoever is last
 * takes away; 1 and 2 are the runners' outputs, 3 is where the second one runs. */

static clo_first_wins first_wins;
static clo_mailbox race_hand;
static _Atomic uint32_t race_winners, race_lasts, race_holds;
static bool race_is_good;

static void race_set_up(void)
{
    race_is_good = true;
    atomic_init(&race_holds, 2);
    atomic_init(&first_wins.word, 0);
    clo_mailbox_init(&race_hand);
    atomic_init(&race_winners, 0);
    atomic_init(&race_lasts, 0);
    memset(payload, 0, sizeof payload);
    payload[0] = 100;
}

/* Whoever was last, and whoever releases successors, has let go of the job: the second of the two takes it away. */
static void race_leave(bool lets_go)
{
    if (!lets_go || atomic_fetch_sub_explicit(&race_holds, 1, memory_order_acq_rel) > 1)
        return;
    model_write(&payload[0]);
    atomic_fetch_add_explicit(&race_lasts, 1, memory_order_relaxed);
}

static void race_release(const clo_first_wins_end *end, bool is_last)
{
    race_leave(end->has_won || (end->is_second && !end->is_decided));
    race_leave(is_last);
}

static bool race_end(uint32_t who, bool is_good, clo_first_wins_end *end)
{
    get(0);
    *end = clo_first_wins_finish(&first_wins, who, is_good);
    if (end->has_won)
        atomic_fetch_add_explicit(&race_winners, 1, memory_order_relaxed);
    else if (end->is_decided)
        get(2 - who); /* the other one's */
    return end->is_last;
}

static void race_first(void)
{
    clo_first_wins_end end, other;

    put(1);
    if (!race_is_good && clo_first_wins_is_held_out(&first_wins)) { /* of a job that was stopped */
        get(3);
        if (clo_mailbox_retract(&race_hand, 7))
            (void)race_end(1, false, &other);
    }
    bool is_last = race_end(0, race_is_good, &end);
    if (end.has_won && !end.is_second && clo_first_wins_is_held_out(&first_wins)) {
        get(3);
        if (clo_mailbox_retract(&race_hand, 7))
            is_last = race_end(1, false, &other);
    }
    race_release(&end, is_last);
}

static void race_second(void)
{
    clo_first_wins_end end;
    uint64_t item;

    while ((item = clo_mailbox_take(&race_hand)) == CLO_MAILBOX_EMPTY &&
           atomic_load_explicit(&race_lasts, memory_order_relaxed) == 0)
        model_relax();
    if (item == CLO_MAILBOX_EMPTY)
        return;
    get(3);
    bool begins = clo_first_wins_begin(&first_wins);
    if (begins)
        put(2);
    if (!begins || clo_first_wins_is_lost(&first_wins, 1))
        get(1);
    bool is_last = race_end(1, begins, &end);
    race_release(&end, is_last);
}

static void race_run(uint32_t me)
{
    if (me == 0) {
        race_first();
    } else if (me == 1) {
        race_second();
    } else {
        clo_first_wins_end end;
        put(3);
        model_check(clo_mailbox_send(&race_hand, 7), "the hand is not empty");
        get(0);
        bool is_last;
        if (!clo_first_wins_post_in_time(&first_wins, &is_last)) {
            if (clo_mailbox_retract(&race_hand, 7))
                (void)race_end(1, false, &end);
            is_last = clo_first_wins_post(&first_wins);
        }
        race_leave(is_last);
    }
}

static void race_set_up_bad(void)
{
    race_set_up();
    race_is_good = false;
}

static void race_finish(void)
{
    uint32_t winners = atomic_load_explicit(&race_winners, memory_order_relaxed);
    model_check(winners == 1 || (!race_is_good && winners == 0), "not exactly one has won");
    model_check(atomic_load_explicit(&race_lasts, memory_order_relaxed) == 1, "not exactly one was last");
}

#endif
