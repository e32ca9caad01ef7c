/* run/run.h - the threaded driver: runtime, workers, jobs.
 *
 *   runtime.c   creates and stops the workers, pins them, owns the job slots
 *   worker.c    finds work, shares it, spins, sleeps, wakes others
 *   plain.c     runs entries of jobs that need nothing but their bodies called: the fast path
 *   execute.c   runs one entry of any other job
 *   turn.c      policy dispatch: who decides
 *   job.c       makes and frees jobs
 *   submit.c    starts, ends and waits for their runs
 *   record.c    makes a trace of what the workers noted
 *
 * Work travels as items, (job slot << 32 | entry). An item is in exactly one place: a deque, a stack, a gate's
 * waiting chain, or a worker's hands. Items of replay and policy jobs, and of tasks that cannot run everywhere,
 * belong to one worker and go to its inbox; all others may be taken by anybody, once they lie on a shelf. After clo_runtime_create and clo_job_create
 * nothing here allocates, and the only locks are control (create, destroy) and the gates of tasks with demands. */
#ifndef CLO_RUN_RUN_H
#define CLO_RUN_RUN_H

#include "base/clock.h"
#include "base/histogram.h"
#include "base/rng.h"
#include "engine/dispatch.h"
#include "run/deque.h"
#include "sync/board.h"
#include "sync/gate.h"
#include "sync/park.h"
#include "sync/stack.h"

#include <clotho/job.h>
#include <clotho/runtime.h>

#include <pthread.h>

typedef struct clo_worker {
    /* Written by others, read by the owner between bodies. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack inbox; /* items that only this worker may run            */
    _Atomic uint32_t asked;                        /* 1: somebody found nothing to do; a hint, relaxed */
    clo_parker parker;
    alignas(CLO_CACHE_LINE_BYTES) clo_stack shelf; /* items that anybody may take                    */

    /* Owner only, but for what is atomic: that others may read. */
    alignas(CLO_CACHE_LINE_BYTES) clo_runtime *runtime;
    uint32_t index;    /* = executor */
    int32_t cpu;       /* pinned here; -1: not pinned */
    uint32_t bypasses; /* items run in a row without looking elsewhere */
    uint32_t ran;      /* items since the pace was last taken */
    int64_t pace_ns;   /* time an item has taken lately; 0: not known yet */
    int64_t pace_since_ns;
    uint64_t local;           /* chain of items that only this worker may run, not yet run */
    _Atomic uint64_t current; /* what it runs; CLO_ITEM_NONE: nothing. Relaxed: for messages only */
    _Atomic uint64_t parks;   /* statistics: relaxed */
    clo_call call;            /* of the body that runs, on the fast path */
    clo_rng rng;
    clo_status start_status; /* of pinning and priority; read after `started` */
    char start_error[192];
    pthread_t thread;
    clo_deque deque;
} clo_worker;

enum { CLO_JOB_IDLE, CLO_JOB_RUNNING, CLO_JOB_DONE };

enum { CLO_ASK_START = 1, CLO_ASK_SWAP = 2 };

typedef struct clo_swap {
    clo_policy_instance next; /* in: the new one; out: the one to free */
    clo_status status;
    char error[192];
    _Atomic uint32_t is_done; /* futex word */
} clo_swap;

struct clo_job {
    clo_runtime *runtime;
    uint32_t slot;
    clo_program *program;
    clo_engine *engine;
    clo_dispatch *dispatch;     /* policy dispatch, else NULL */
    clo_histogram *decision_ns; /* policy dispatch: whoever holds the turn records */
    int64_t deadline_ns;
    uint64_t *links;             /* [entries] for whatever chain the entry's item is in */
    clo_engine_stats *stats;     /* [workers]                                           */
    clo_engine_scratch *scratch; /* [workers]                                        */
    clo_trace_event *events;     /* [entries]; NULL: no trace                           */
    int64_t *virtual_free_ns; /* [workers] virtual clock: end of the last entry on each executor, its worker's alone */
    int64_t submit_ns;
    clo_tick_line line; /* traced on the fast path: from submit to end, ns from submit              */
    int64_t end_ns;     /* written by the last worker, before DONE             */
    uint64_t parks_before;
    bool was_submitted;
    bool is_pinned; /* its items may run on one worker only, and so never lie where they could be taken */
    bool is_plain;  /* the fast path does: nothing is timed, moved, held or decided                     */
    void *block;

    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t stop; /* 1: start no more bodies (cancel, failure) */
    _Atomic uint32_t cancelled;
    _Atomic uint64_t failure; /* 0: none; else 1 << 63 | task << 32 | code: the first error        */
    _Atomic uint32_t state;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t exits_left; /* entries without successors         */
    clo_board board;       /* policy: completions, and the turn; slot [workers] is for control */
    _Atomic uint32_t asks; /* policy: what control wants of the holder, CLO_ASK_... */
    uint32_t *news;        /* policy: [workers] the holder's */
    bool is_deciding;      /* policy: a run is in progress; the holder's */
    clo_swap *swap;        /* policy: to put in place of the policy; its owner waits for swap->is_done */
};

struct clo_runtime {
    const clo_platform *platform;
    clo_clock clock;
    bool traces, copies, pins, is_oversubscribed;
    int64_t spin_ns;
    int32_t fifo_priority;
    uint32_t workers_count, jobs_max;
    clo_worker *workers;     /* [workers_count] */
    clo_gate *gates;         /* [machines]      */
    clo_job **jobs;          /* [jobs_max]      */
    pthread_mutex_t control; /* job slots   */
    clo_barrier barrier;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t sleepers;
    _Atomic uint32_t stopping;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t done_epoch; /* futex word: some job ended */
    _Atomic uint32_t waiters;
    _Atomic uint32_t started; /* futex word: workers past their set-up */
};

/* worker.c */
void clo_worker_run(clo_worker *worker); /* until the runtime stops */
void clo_worker_give(clo_runtime *runtime, uint32_t worker, uint64_t item, uint64_t *link); /* to an inbox, and wake */
void clo_worker_offer(clo_worker *worker, uint64_t item);                                   /* to its own deque      */
void clo_worker_share(clo_worker *worker, int64_t next_ns, bool was_asked);                 /* see clo_worker_look_up */
void clo_runtime_wake_one(clo_runtime *runtime);
void clo_runtime_wake_for(clo_runtime *runtime, uint32_t worker);

/* plain.c */
uint64_t clo_worker_run_plain(clo_worker *worker, clo_job *job, uint32_t entry);
uint64_t clo_worker_release(clo_worker *worker, clo_job *job, uint32_t entry);
uint32_t clo_job_home(const clo_job *job, uint32_t entry); /* the worker for an item of a pinned job */

/* execute.c */
void clo_job_fail(clo_job *job, uint32_t entry, int code);      /* what a body returned */
uint64_t clo_worker_execute(clo_worker *worker, uint64_t item); /* returns the next item to run, or CLO_ITEM_NONE */
void clo_job_start(clo_job *job);                               /* hands out the first items; any thread          */

/* turn.c */
void clo_job_start_turn(clo_job *job);
uint64_t clo_worker_complete(clo_worker *worker, clo_job *job, uint32_t entry);

/* submit.c */
void clo_job_run_ended(clo_job *job); /* by the last worker: its last touch of the job */
void clo_job_wait_end(clo_job *job);

/* record.c */
int64_t clo_job_busy_ns(const clo_job *job, int64_t busy); /* what a worker has summed up */

static inline uint64_t clo_item(const clo_job *job, uint32_t entry)
{
    return (uint64_t)job->slot << 32 | entry;
}

static inline clo_job *clo_item_job(const clo_runtime *runtime, uint64_t item)
{
    return runtime->jobs[item >> 32];
}

#define CLO_SHORT_NS 2000 /* shorter bodies are not worth a hand-over of their own                    */

/* True if others would wait too long for what is in our deque while we run a body that was declared to take next_ns (0:
 * nothing declared), or is no worse than those before it. */
static inline bool clo_worker_is_slow(const clo_worker *worker, int64_t next_ns)
{
    return next_ns > CLO_SHORT_NS || worker->pace_ns > CLO_SHORT_NS || (next_ns | worker->pace_ns) == 0;
}

/* Before each body: items that wait in the worker's deque are put on its shelf if somebody has nothing to do, or if the
 * body is long, since meanwhile nobody else could get at them. Costs two loads of lines that are seldom written. */
static inline void clo_worker_look_up(clo_worker *worker, int64_t next_ns)
{
    if (clo_deque_count(&worker->deque) == 0)
        return;
    bool was_asked = atomic_load_explicit(&worker->asked, memory_order_relaxed) != 0;
    if (was_asked || clo_worker_is_slow(worker, next_ns) ||
        atomic_load_explicit(&worker->runtime->sleepers, memory_order_relaxed) != 0)
        clo_worker_share(worker, next_ns, was_asked);
}

#endif
