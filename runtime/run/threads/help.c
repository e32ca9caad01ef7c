/* help.c - see help.h. */
#include "run/threads/help.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/dispatch/execute.h"
#include "run/dispatch/unshared.h"
#include "run/extras/capacity.h"
#include "run/job/done.h"
#include "run/sharing/borrow.h"
#include "run/sharing/deferred.h"
#include "run/sharing/share.h"
#include "run/sharing/task_time.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/worker.h"
#include "run/system/real_time.h"

#define BATCH 1024u /* as in worker_loop.c */
#define PAUSES_MAX 32u
#define BORROW_TRIES 32u
#define SAMPLED 8u /* the task time of short jobs is taken each so many times */

static bool is_over(const clo_job *job)
{
    return clo_phase_get(&job->phase) != CLO_PHASE_RUNNING;
}

static bool is_ours(const clo_job *job, uint64_t item)
{
    return item >> 32 == job->slot;
}

/* Items that others shall have: they go back where they came from. */
static void return_items(clo_worker *worker, clo_stack *list, uint64_t chain)
{
    if (chain == CLO_ITEM_NONE)
        return;
    clo_worker_put_back(worker, list, chain);
    clo_runtime_wake_one(worker->runtime); /* who looked while the chain was in our hands has seen nothing */
}

/* One of the job's items on a shared pool that begins with one; more of them go to the deque, which is empty. */
static uint64_t take_shared(clo_worker *worker, const clo_job *job, clo_stack *list)
{
    uint64_t head = atomic_load_explicit(&list->head, memory_order_relaxed), first = CLO_ITEM_NONE;
    uint64_t others = CLO_ITEM_NONE, next;
    uint32_t room = worker->pace.task_time_ns > CLO_SHORT_NS ? 0 : BATCH;

    if (head == CLO_ITEM_NONE || !is_ours(job, head))
        return CLO_ITEM_NONE;
    for (uint64_t item = clo_stack_take(list); item != CLO_ITEM_NONE; item = next) { /* the chain is finite and ours */
        uint64_t *link = clo_item_link(worker->runtime, item);
        next = *link;
        if (is_ours(job, item) && first == CLO_ITEM_NONE) {
            first = item;
        } else if (is_ours(job, item) && room > 0) {
            room--;
            clo_deque_push_old(&worker->deque, item);
        } else {
            *link = others;
            others = item;
        }
    }
    return_items(worker, list, others);
    return first;
}

/* What somebody held out to the worker. */
static uint64_t take_mailbox(clo_worker *worker, const clo_job *job)
{
    uint64_t item = clo_mailbox_take(&worker->mailbox);

    if (item == CLO_MAILBOX_EMPTY)
        return CLO_ITEM_NONE;
    if (is_ours(job, item))
        return item;
    *clo_item_link(worker->runtime, item) = CLO_ITEM_NONE;
    return_items(worker, &worker->shared_pool, item);
    return CLO_ITEM_NONE;
}

static uint64_t take(clo_worker *worker, clo_job *job)
{
    clo_runtime *runtime = worker->runtime;
    uint64_t item = clo_deque_pop(&worker->deque);

    if (item == CLO_ITEM_NONE)
        item = take_mailbox(worker, job);
    if (item == CLO_ITEM_NONE)
        item = take_shared(worker, job, &worker->shared_pool);
    for (uint32_t w = 0; w < runtime->first_slot && item == CLO_ITEM_NONE; w++) {
        if (w == worker->index)
            continue;
        item = take_shared(worker, job, &runtime->workers[w].shared_pool);
        if (item != CLO_ITEM_NONE)
            job->stats[worker->index].steals++;
    }
    return item;
}

/* There is something for the worker that its borrower does not do. `only`: what it would do itself; NULL: nothing. */
static bool is_needed(const clo_worker *worker, const clo_job *only)
{
    const clo_runtime *runtime = worker->runtime;

    if (!clo_stack_is_empty(&worker->inbox) || clo_capacity_is_called(worker) ||
        atomic_load_explicit(&runtime->stopping, memory_order_relaxed) != 0 ||
        clo_combining_is_vacant(&runtime->scheduling.combining) ||
        (only == NULL && !clo_mailbox_is_empty(&worker->mailbox)))
        return true;
    for (uint32_t w = 0; w < runtime->first_slot; w++) {
        uint64_t head = atomic_load_explicit(&runtime->workers[w].shared_pool.head, memory_order_relaxed);
        if (!clo_stack_is_empty(&runtime->workers[w].aging) ||
            (head != CLO_ITEM_NONE && (only == NULL || !is_ours(only, head))))
            return true;
    }
    return false;
}

/* Somebody has called for the worker. */
static bool is_called(clo_worker *worker, const clo_job *only)
{
    return clo_parker_look(&worker->parker) && is_needed(worker, only);
}

static void note_pace(clo_worker *worker)
{
    if (worker->pace.since_ns == 0) { /* not known since when */
        worker->pace.since_ns = clo_clock_ns();
        worker->turns.ran = 0;
    } else {
        clo_worker_take_pace(worker);
    }
}

/* Ready items, until there are none (true) or the worker is called for. */
static bool run(clo_worker *worker, const clo_job *job, uint64_t item)
{
    while (item != CLO_ITEM_NONE) { /* ends with the ready items of the job */
        item = clo_worker_execute(worker, item);
        if (item != CLO_ITEM_NONE && worker->turns.bypasses < CLO_BYPASSES_MAX)
            continue;
        worker->turns.ran += worker->turns.bypasses;
        worker->turns.bypasses = 0;
        if (worker->turns.ran >= CLO_TASK_TIME_ITEMS)
            note_pace(worker);
        if (is_called(worker, job)) {
            if (item != CLO_ITEM_NONE)
                clo_worker_push(worker, item);
            return false;
        }
        if (item == CLO_ITEM_NONE)
            item = clo_deque_pop(&worker->deque);
    }
    return true;
}

/* Whoever has more than it runs shall let us have some. */
static void ask(const clo_worker *worker)
{
    clo_runtime *runtime = worker->runtime;

    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (w != worker->index && !clo_parker_is_away(&runtime->workers[w].parker) &&
            atomic_load_explicit(&runtime->workers[w].asked, memory_order_relaxed) == 0)
            atomic_store_explicit(&runtime->workers[w].asked, worker->index + 1, memory_order_relaxed);
}

/* Until the job is over, or nothing of it was to be had for spin_ns (true), or the worker is called for (false). Begins
 * with the item, if it is one. */
static bool drive(clo_worker *worker, clo_job *job, uint64_t item)
{
    int64_t until_ns = 0;
    uint32_t pauses = 4;

    for (;; item = CLO_ITEM_NONE) { /* ends at until_ns, which moves when something was run */
        if (item == CLO_ITEM_NONE)
            item = take(worker, job);
        if (item != CLO_ITEM_NONE) {
            if (!run(worker, job, item))
                return false;
            until_ns = 0;
            pauses = 4;
            continue;
        }
        if (is_over(job))
            return true;
        if (is_called(worker, job))
            return false;
        ask(worker);
        int64_t now_ns = clo_clock_ns();
        if (until_ns == 0)
            until_ns = clo_time_add(now_ns, worker->runtime->spin_ns);
        if (now_ns >= until_ns)
            return true;
        for (uint32_t i = 0; i < pauses && !is_over(job) && clo_mailbox_is_empty(&worker->mailbox); i++)
            clo_relax();
        pauses = pauses < PAUSES_MAX ? pauses * 2 : PAUSES_MAX;
    }
}

static void begin(clo_worker *worker)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &worker->help.cancels);
    worker->help.thread = pthread_self();
    atomic_store_explicit(&worker->help.is_helped, 1, memory_order_relaxed);
    clo_thread_stands_in(worker->runtime);
    worker->turns.ran = worker->turns.bypasses = 0;
    worker->pace.since_ns = 0;
}

/* Nothing of ours stays behind in the deque, where nobody would find it. */
static void end(clo_worker *worker)
{
    clo_worker_wake_waiters(worker);
    worker->feeding.feeds = 0;
    if (worker->pace.since_ns != 0)
        clo_worker_take_pace(worker);
    if (clo_deque_count(&worker->deque) > 0)
        clo_worker_share_all(worker);
    clo_thread_stands_in(NULL);
    atomic_store_explicit(&worker->current, CLO_ITEM_NONE, memory_order_relaxed);
    atomic_store_explicit(&worker->help.is_helped, 0, memory_order_relaxed);
    pthread_setcancelstate(worker->help.cancels, NULL);
}

/* The worker is borrowed no longer. */
static void give_back(clo_worker *worker, bool is_free)
{
    end(worker);
    /* What was called for before our last look is seen by is_needed; what comes later makes us look again. */
    while (is_free && !is_needed(worker, NULL)) {
        if (clo_parker_return(&worker->parker))
            return;
        (void)clo_parker_look(&worker->parker);
    }
    clo_parker_rouse(&worker->parker);
}

/* The job lies with this worker, and both are ours. True: it is over, and we are its reader. */
static bool run_left(clo_worker *worker, clo_job *job)
{
    begin(worker);
    uint64_t item = clo_deferred_unpack(worker, job->slot + 1);
    bool is_private = clo_job_may_be_unshared(job);
    if (is_private)
        item = clo_unshared_run(worker, job, item);
    bool is_over = is_private && item == CLO_ITEM_NONE, is_free = true;
    if (is_over) {
        clo_unshared_end(worker, job);
    } else if (!clo_job_is_small(job)) { /* the workers' from here on: they have a CPU each */
        clo_worker_push(worker, item);
        is_free = false;
    } else {
        int64_t task_time_ns = atomic_load_explicit(&job->waiting.task_time_ns, memory_order_relaxed);
        if (task_time_ns > 0)
            worker->pace.task_time_ns = task_time_ns;
        note_pace(worker);
        is_free = drive(worker, job, item);
        clo_worker_take_pace(worker);
        atomic_store_explicit(&job->waiting.task_time_ns, worker->pace.task_time_ns, memory_order_relaxed);
    }
    give_back(worker, is_free);
    return is_over;
}

/* The other workers of a planned job, as many as can be borrowed now. Returns with how many the caller has. */
static uint32_t borrow_rest(const clo_job *job)
{
    const clo_serial_plan *plan = job->waiting.serial_plan;

    for (uint32_t k = 1; k < plan->workers_count; k++) {
        clo_worker *worker = &job->runtime->workers[plan->workers[k]];
        uint32_t tries = clo_borrow_suits(job->runtime, worker) ? BORROW_TRIES : 0;
        while (tries > 0 && !clo_parker_borrow(&worker->parker)) /* one that looks is idle again in a moment */
            tries = clo_searching_looks(&worker->searching) ? clo_relax(), tries - 1 : 0;
        if (tries == 0)
            return k;
    }
    return plan->workers_count;
}

/* As long as nobody needs one of the workers. */
static bool drive_plan(clo_job *job, clo_serial_progress *progress)
{
    const clo_serial_plan *plan = job->waiting.serial_plan;
    bool is_needed = false;

    while (!clo_unshared_run_plan(job, progress)) { /* goes on where it was */
        for (uint32_t k = 0; k < plan->workers_count; k++)
            is_needed = is_called(&job->runtime->workers[plan->workers[k]], job) || is_needed;
        if (is_needed || progress->is_long)
            return false;
    }
    return true;
}

/* A planned job lies with this worker, and both are ours. True: it is over, and we are its reader. */
static bool run_left_plan(clo_worker *home, clo_job *job)
{
    const clo_serial_plan plan = *job->waiting.serial_plan; /* the job may be gone in the end */
    clo_runtime *runtime = job->runtime;
    clo_serial_progress progress = {0};
    uint32_t lent = borrow_rest(job);

    for (uint32_t k = 0; k < lent; k++)
        begin(&runtime->workers[plan.workers[k]]);
    bool is_over = lent == plan.workers_count && drive_plan(job, &progress);
    if (is_over)
        clo_unshared_end(home, job);
    else
        clo_unshared_send_plan(job, &progress);
    for (uint32_t k = lent; k-- > 0;)
        give_back(&runtime->workers[plan.workers[k]], true);
    return is_over;
}

bool clo_job_help(clo_job *job)
{
    if (!clo_job_is_helped(job) || !clo_thread_is_foreign())
        return false;
    clo_worker *worker = clo_deferred_claim(job);
    if (worker != NULL)
        return job->is_pinned ? run_left_plan(worker, job) : run_left(worker, job);
    worker = !job->is_pinned && clo_job_is_small(job) ? clo_borrow_take(job) : NULL;
    if (worker == NULL)
        return false;
    begin(worker);
    if (worker->pace.task_time_ns == 0 || ++worker->help.borrowed % SAMPLED == 0)
        note_pace(worker);
    give_back(worker, drive(worker, job, CLO_ITEM_NONE));
    return false;
}
