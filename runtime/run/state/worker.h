/* run/state/worker.h - the struct of a worker: the thread that drives one executor, or, of a slot, what a thread needs
 * to drive it (slot_thread.h).
 *
 * What others write, what others may take from, and what is the owner's alone lie on cache lines of their own. */
#ifndef CLO_RUN_STATE_WORKER_H
#define CLO_RUN_STATE_WORKER_H

#include "base/numbers/rng.h"
#include "run/state/deque.h"
#include "run/state/machine.h"
#include "run/state/slot_thread.h"
#include "sync/protocol/completion.h"
#include "sync/protocol/counter.h"
#include "sync/sleep/eventcount.h"
#include "sync/sleep/mailbox.h"
#include "sync/sleep/park.h"
#include "sync/sleep/searching.h"
#include "sync/sleep/timeout_slot.h"
#include "sync/sleep/watch.h"
#include "sync/structure/histogram.h"
#include "sync/structure/ring.h"
#include "sync/structure/stack.h"

#include <clotho/job.h>
#include <clotho/runtime.h>
#include <clotho/token.h>

#include <pthread.h>

/* After so many items in a row without a look elsewhere, another source of work has its turn. */
#define CLO_BYPASSES_MAX 32u

/* Whose turn it is: sources of work (run/threads/worker_loop.c). */
typedef struct clo_worker_turns {
    /* Items run in a row without looking elsewhere. */
    uint32_t bypasses;
    /* Items since the time of an item was last taken (task_time.h). */
    uint32_t ran;
    /* Bodies run in the usual order since another source had its turn. */
    uint32_t served;
    /* The source that had its turn last. */
    uint32_t source;
    /* Items of stopped jobs in that turn. */
    uint32_t skips;
    /* Worker whose shared pool had its turn last. */
    uint32_t neighbour;
    /* Turns that came by since. */
    uint32_t passes;
} clo_worker_turns;

/* Jobs that were left with some worker, as it has seen them (run/sharing/deferred.c). */
typedef struct clo_worker_deferred {
    /* A run has ended here, and who waits for it sleeps still (run/job/done.h). */
    bool owes_wake;
    /* The job that was left, when one had ended last, and how often some job was there in a row. */
    uint32_t note, count;
    uint64_t ends;
} clo_worker_deferred;

/* The worker that asked lately, and is held out items (run/sharing/share.c). */
typedef struct clo_worker_feeding {
    /* How often an item is yet to be held out to the worker that asked lately. */
    uint32_t feeds;
    /* That worker. */
    uint32_t index;
    /* Time that items of the deque have waited while nobody was woken for them. */
    int64_t declined_ns;
} clo_worker_feeding;

/* Which of several released successors is run next (run/dispatch/fast_path.c). */
typedef struct clo_worker_affinity {
    /* Items taken from another worker or given away, since the order of successors was judged. */
    uint32_t exchanges;
    /* Items run since then. */
    uint32_t judged;
    /* The graph is narrow: `stride` and `keeps_last` say which successor is run next. */
    bool is_on;
    /* While it is: distance of ids from the last task to the successor that was run next. */
    uint32_t stride;
    /* Which successor is run next where none is at that distance: the last released, not the first. */
    bool keeps_last;
} clo_worker_affinity;

/* Items that only this worker may run and that wait for capacities (run/extras/capacity.c). */
typedef struct clo_worker_line {
    /* Oldest first. */
    uint64_t first;
    /* The last link of that chain. */
    uint64_t *end;
    /* The item, to be run next, that holds what it demands already; CLO_ITEM_NONE: none. */
    uint64_t held;
    /* The last one that came was refused. */
    bool is_refused;
    /* 1: something may be in the line. */
    _Atomic uint32_t has_line;
} clo_worker_line;

/* Policy dispatch: what it ran last. The combiner's from the post until the next item. */
typedef struct clo_worker_policy {
    clo_job *job;
    uint32_t execution;
    int64_t start_ns, finish_ns;
    /* The same under the virtual clock: its body has ended. The end of the execution is handled then, and no event
     * before an earlier one. The combiner's. */
    bool has_run;
} clo_worker_policy;

/* Of the body that may finish later (run/extras/pending.h). */
typedef struct clo_worker_pending {
    /* It has taken its token; its cancel function was called, or it has none. */
    bool has_token, was_told;
    clo_cancel_fn cancel;
    void *argument;
    /* Its completion: this one of clo_worker.completions. */
    uint32_t place;
    /* Slots: its body is pending. Then: the item, whether it holds what it demands, and when the body began, or, if that
     * was later, the body before it on a deep slot ended. */
    bool is_held, keeps_room;
    uint64_t item;
    int64_t start_ns;
} clo_worker_pending;

/* How a slot is served. */
typedef struct clo_worker_serving {
    /* Of bodies that are pending, `held` of them, from the oldest on; and what is free. */
    clo_worker_pending places[CLO_SLOT_DEPTH_MAX];
    uint32_t held;
    /* Who serves it; NULL: it has a thread of its own. */
    clo_slot_thread *thread;
} clo_worker_serving;

/* Its last executions, of clo_recorded. */
typedef struct clo_worker_recorder {
    clo_ring ring;
    /* One of `every` is kept; so many are still passed over. */
    uint32_t every, passes;
} clo_worker_recorder;

/* Of the execution of a pair (run/body/hedge.h) that runs. */
typedef struct clo_worker_pair {
    /* Its body's code if that is not 0; it was left out or dropped. */
    int code;
    bool is_cut;
} clo_worker_pair;

/* The thread that has borrowed it (run/threads/help.c). */
typedef struct clo_worker_help {
    /* For signals.c, which asks only about its own thread. */
    pthread_t thread;
    _Atomic uint32_t is_helped;
    /* Whether that thread may be cancelled otherwise. */
    int cancels;
    /* How often it was borrowed. */
    uint32_t borrowed;
} clo_worker_help;

/* Statistics: relaxed. */
typedef struct clo_worker_stats_kept {
    _Atomic uint64_t wakes;
    _Atomic uint64_t missed_wakes;
    /* The watchdog's: since when it sleeps with work in its inbox; 0: it does not. */
    int64_t suspect_ns;
    /* From the waker's call until it ran. */
    clo_histogram wake_ns;
    /* Page faults, minor and major, when it was ready. */
    uint64_t faults_before[2];
    _Atomic uint64_t parks;
} clo_worker_stats_kept;

/* What the system answered; read after `started`. */
typedef struct clo_worker_system {
    /* Of its thread, for the kernel's statistics. */
    int32_t tid;
    int pin_error;
    int fifo_error;
    pthread_t thread;
} clo_worker_system;

/* How long an item has taken lately (run/sharing/task_time.h). */
typedef struct clo_worker_pace {
    /* 0: not known yet. */
    int64_t task_time_ns;
    int64_t since_ns;
} clo_worker_pace;

/* Of a slot: 1: it is listed at its slot thread, and the link of that list. */
typedef struct clo_worker_listing {
    _Atomic uint32_t is_listed;
    uint64_t link;
} clo_worker_listing;

typedef struct clo_worker {
    /* Written by others, read by the owner between bodies. */

    /* Items that only this worker may run. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack inbox;
    /* 1 + worker that found nothing to do; 0: none. A hint, relaxed. */
    _Atomic uint32_t asked;
    /* 1: it shall look through its line of items that wait for capacities. */
    _Atomic uint32_t is_called;

    /* An item that another worker held out to this one. Others look at it often, so it lies apart from the inbox. */
    alignas(CLO_CACHE_LINE_BYTES) clo_mailbox mailbox;
    /* A hedge for this worker alone, ahead of everything else; put there with is_called. */
    clo_mailbox hedge;

    /* What is left with it are jobs (deferred.h). An idle worker reads its inbox and its mailbox all the time: a
     * borrower writes here, so this lies apart from them. */
    alignas(CLO_CACHE_LINE_BYTES) clo_parker parker;
    /* Runs that ended while it was borrowed; its borrower's. */
    clo_counter ended;

    /* Items that anybody may take. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack shared_pool;
    /* More of them: taken over from `shared_pool` when this one is empty, so that what lies here gets its turn. */
    clo_stack aging;
    /* Submits read it: it does not lie with the parker, which the owner writes at each look. */
    clo_searching searching;

    /* How its bodies end if they finish later (pending.h), and the eventcount that whoever ends one rings. */
    alignas(CLO_CACHE_LINE_BYTES) clo_completion completions[CLO_SLOT_DEPTH_MAX];
    clo_eventcount eventcount;
    /* When its body, one that may be hedged, is to get its hedge. */
    clo_timeout timeout;
    clo_worker_listing listing;

    /* The owner's only, but for what is atomic: others may read that. */

    alignas(CLO_CACHE_LINE_BYTES) clo_runtime *runtime;
    /* Of its executor. */
    clo_machine *machine;
    /* = executor */
    uint32_t index;
    /* Pinned here; -1: not pinned. */
    int32_t cpu;
    clo_worker_turns turns;
    clo_worker_deferred deferred;
    clo_worker_pace pace;
    clo_worker_feeding feeding;
    clo_worker_affinity affinity;
    clo_worker_line line;
    clo_worker_stats_kept stats;
    clo_worker_policy policy;
    /* Of the body that runs, or that is looked at. */
    clo_worker_pending pending;
    clo_worker_serving serving;
    clo_worker_pair pair;
    clo_worker_system system;
    clo_worker_help help;
    /* Stretched clock: the moment its last execution of any job ended, on CLOCK_MONOTONIC. */
    int64_t padded_until_ns;
    /* Chain of items that only this worker may run, not yet run. */
    uint64_t local;
    /* Job slot << 32 | task that it runs; CLO_ITEM_NONE: nothing. Relaxed: for messages only. */
    _Atomic uint64_t current;
    /* What the watchdog sees of the body that runs. */
    clo_watch watch;
    clo_worker_recorder recorder;
    /* Number of its thread among those that use clo_job.scratch. */
    uint32_t scratch;
    /* Of the body that runs, on the fast path. */
    clo_call call;
    clo_rng rng;
    clo_deque deque;
} clo_worker;

#endif
