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
 *   watchdog.c  periods and deadlines; overrun.c limits of bodies; timing.c what was measured
 *
 * Work travels as items, (job slot << 32 | entry). An item is in exactly one place: a deque, a stack, a gate's
 * waiting chain, or a worker's hands. Items of replay and policy jobs, and of tasks that cannot run everywhere,
 * belong to one worker and go to its inbox; all others may be taken by anybody, once they lie on a shelf. After
 * clo_runtime_create and clo_job_create nothing here allocates, and the only locks are control (create, destroy) and
 * the gates of tasks with demands. */
#ifndef CLO_RUN_RUN_H
#define CLO_RUN_RUN_H

#include "base/clock.h"
#include "base/rng.h"
#include "engine/dispatch.h"
#include "run/deque.h"
#include "run/watchdog.h"
#include "sync/board.h"
#include "sync/gate.h"
#include "sync/hand.h"
#include "sync/histogram.h"
#include "sync/park.h"
#include "sync/phase.h"
#include "sync/ring.h"
#include "sync/stack.h"
#include "sync/stop.h"

#include <clotho/job.h>
#include <clotho/runtime.h>

#include <pthread.h>

typedef struct clo_recorded {
    clo_record record;
    bool is_ticks; /* its times */
} clo_recorded;

struct clo_worker {
    /* Written by others, read by the owner between bodies. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack inbox; /* items that only this worker may run            */
    _Atomic uint32_t asked;                        /* 1 + worker that found nothing to do; a hint, relaxed */
    clo_parker parker;
    /* An item that another worker held out to this one. Others look at it often, so it lies apart from the inbox. */
    alignas(CLO_CACHE_LINE_BYTES) clo_hand hand;
    alignas(CLO_CACHE_LINE_BYTES) clo_stack shelf; /* items that anybody may take                    */
    clo_stack aged; /* the same; filled from `shelf` when it is empty, so that what lies here gets its turn */

    /* Owner only, but for what is atomic: that others may read. */
    alignas(CLO_CACHE_LINE_BYTES) clo_runtime *runtime;
    uint32_t index;    /* = executor */
    int32_t cpu;       /* pinned here; -1: not pinned */
    uint32_t bypasses; /* items run in a row without looking elsewhere */
    uint32_t ran;      /* items since the pace was last taken */
    uint32_t served;   /* bodies run in the usual order since another source had its turn */
    uint32_t source;   /* that had its turn last */
    uint32_t skips;    /* items of stopped jobs in that turn */
    uint32_t neighbour, passes; /* worker whose shelf had its turn last; turns that came by since */
    int64_t pace_ns;   /* time an item has taken lately; 0: not known yet */
    int64_t pace_since_ns;
    uint32_t feeds; /* how often an item is yet to be held out to the worker that asked lately */
    uint32_t fed;   /* that worker */
    uint32_t exchanges, judged; /* items taken from a hand or put into one, and items run, since that order was judged */
    uint32_t stride;        /* while it is fed: distance of ids from the last task to the successor that was run next */
    bool keeps_last;        /* which one is run next where none is at that distance: the last released, not the first */
    bool was_fed;   /* this worker found an item in its hand the last time it looked */
    int64_t declined_ns; /* time that items of the deque have waited while nobody was woken for them */
    int64_t padded_until_ns;  /* stretched clock: the moment its last entry of any job ended, on CLOCK_MONOTONIC */
    uint64_t local;           /* chain of items that only this worker may run, not yet run */
    /* Job slot << 32 | task that it runs; CLO_ITEM_NONE: nothing. Relaxed: for messages only. */
    _Atomic uint64_t current;
    _Atomic uint64_t wakes, missed_wakes;
    int64_t suspect_ns;        /* the watchdog's: since when it sleeps with work in its inbox; 0: it does not */
    clo_histogram wake_ns;     /* from the waker's call until it ran */
    int32_t tid;               /* of its thread, for the kernel's statistics */
    uint64_t faults_before[2]; /* minor and major, when it was ready */
    clo_watch watch;
    clo_ring recorder;
    _Atomic uint64_t parks; /* statistics: relaxed */
    clo_call call;          /* of the body that runs, on the fast path */
    clo_rng rng;
    int pin_error, fifo_error; /* read after `started` */
    pthread_t thread;
    clo_deque deque;
};

enum { CLO_ASK_START = 1, CLO_ASK_SWAP = 2 };

typedef struct clo_swap {
    clo_policy_instance next; /* in: the new one; out: the one to free */
    clo_status status;
    char error[192];
    _Atomic uint32_t is_done; /* futex word */
} clo_swap;

/* What goes when another plan comes: the compiled plan and all that has a place for each of its entries. */
typedef struct clo_job_body {
    clo_arena *arena, own; /* where it is made; where it lies, unless that is the job's */
    clo_program *program;
    clo_engine *engine;
    uint64_t *links;
    clo_engine_scratch *scratch;
    clo_trace_event *events;
    struct clo_job_body *older;
} clo_job_body;

struct clo_job {
    clo_arena arena; /* of all that is in here, and the job itself */
    clo_arena own;   /* of the plan in use, if it came by a swap   */
    const clo_cost *cost;
    clo_job_body *_Atomic incoming; /* for the next run                        */
    clo_job_body *_Atomic retired;  /* of earlier runs, to be freed by control under the watchdog's lock */
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
    _Atomic int64_t response_ns; /* of the last run that ended; for clo_job_timing_read */
    uint64_t parks_before;
    uint64_t first_run; /* of the current submit, as clo_stop numbers runs */
    bool is_replay;
    bool is_pinned; /* its items may run on one worker only, and so never lie where they could be taken */
    bool is_plain;  /* the fast path does: nothing is timed, moved, held or decided                     */

    clo_series *series; /* periods, deadlines and limits; NULL: none that anybody watches */
    uint64_t id;
    int64_t run_ns; /* when the current run started */

    alignas(CLO_CACHE_LINE_BYTES) clo_stop stop;
    _Atomic uint64_t failure; /* 0: none; else (task + 1) << 32 | code: the first error */
    _Atomic uint32_t was_cut; /* 1: some body of the current run was left out */
    clo_phase phase;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t exits_left; /* entries without successors         */
    clo_board board;        /* policy: completions, and the turn; slot [workers] is for control */
    _Atomic uint32_t asks;  /* policy: what control wants of the holder, CLO_ASK_... */
    uint32_t *news;         /* policy: [workers] the holder's */
    bool is_deciding;       /* policy: a run is in progress; the holder's */
    clo_arena policy_arena; /* of the policy in use, if it came by a swap */
    clo_swap *_Atomic swap; /* policy: to put in place of the policy; its owner waits for swap->is_done */
};

struct clo_runtime {
    const clo_platform *platform;
    clo_clock clock;
    bool traces, copies, pins, is_oversubscribed;
    uint32_t dilate; /* >= 1: a ns of emulated time takes so many ns; above 1 with the padded clock only */
    int64_t spin_ns;
    int32_t fifo_priority;
    clo_real_time real_time;
    void *block; /* all of this, and the stacks if they are ours */
    size_t block_bytes, stack_bytes;
    char *stacks; /* [workers + 1] of stack_bytes; NULL: the system's */
    bool is_callers, names_signals;
    uint32_t recorder_events;
    clo_tick_line line; /* its first moment: the start */
    char report[512];
    uint32_t workers_count, jobs_max;
    clo_worker *workers; /* [workers_count] */
    clo_gate *gates;     /* [machines]      */
    clo_job **jobs;      /* [jobs_max]      */
    uint32_t *free_slots, free_count;
    pthread_mutex_t control; /* job slots   */
    uint64_t jobs_made;
    clo_watchdog watchdog;
    clo_barrier barrier;
    uint32_t forks;            /* of the process, when the runtime was created */
    _Atomic uint32_t closing;  /* 1: clo_runtime_close was called; no new jobs or submits */
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
void clo_worker_share(clo_worker *worker, int64_t next_ns, uint32_t asked);                 /* see clo_worker_look_up */
void clo_worker_keep_fed(clo_worker *worker);
void clo_worker_stop_feeding(clo_worker *worker);
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

/* job.c */
void clo_job_adopt(clo_job *job); /* takes a plan that was swapped in */
void clo_job_free(clo_job *job);  /* its memory alone; NULL is allowed */
void clo_job_leave(clo_job *job); /* its slot and its memory, without a lock; nobody runs it, or looks for it */

/* signals.c */
clo_status clo_signals_begin(clo_runtime *runtime);
void clo_signals_end(const clo_runtime *runtime);

/* recorder.c; start and finish as the job's events have them */
void clo_recorder_add(clo_worker *worker, const clo_job *job, uint32_t entry, int64_t start, int64_t finish);

/* submit.c */
void clo_job_run_start(clo_job *job, uint64_t release);
void clo_job_run_next(clo_job *job);
void clo_job_run_ended(clo_job *job); /* by the last worker: its last touch of the job */
void clo_job_done(clo_job *job);
void clo_job_abort(clo_job *job, uint64_t release);      /* if that is what runs */
bool clo_job_is_stopped(const clo_job *job); /* of one with a series: no further run starts */
bool clo_job_wait_until(clo_job *job, int64_t until_ns); /* false: the time was up first */
void clo_runtime_tell(clo_runtime *runtime);             /* whoever waits for a job shall look again */
/* What of the job (NULL: of any) runs now, for messages. */
void clo_runtime_name_running(const clo_runtime *runtime, const clo_job *only, char *text, size_t bytes);

/* runtime.c */
#define CLO_FORKED_TEXT "this process was forked from the one that created the runtime; its workers are not here"
bool clo_runtime_is_forked(const clo_runtime *runtime);
clo_status clo_runtime_check_open(const clo_runtime *runtime); /* CLO_ERR_STATE: closed, or left behind by a fork */

/* real_time.c */
#define CLO_STACK_DEFAULT_BYTES ((size_t)256 << 10)
enum { CLO_THREAD_WATCHDOG = -1 }; /* else the worker's number */
int clo_thread_create(clo_runtime *runtime, int what, pthread_t *thread, void *(*main_of)(void *), void *argument);
int clo_thread_begin(clo_runtime *runtime, bool is_watchdog); /* on the thread itself; what SCHED_FIFO met with */
bool clo_thread_is_worker(const clo_runtime *runtime);   /* whether the calling thread is one of its workers */
bool clo_thread_is_watchdog(const clo_runtime *runtime); /* whether it is its watchdog */
int32_t clo_thread_id(void);
void clo_thread_faults(int32_t tid, uint64_t faults[2]);
clo_status clo_real_time_lock(clo_runtime *runtime);
clo_status clo_real_time_report_priority(clo_runtime *runtime, int error);

/* record.c */
int64_t clo_job_busy_ns(const clo_job *job, int64_t busy); /* what a worker has summed up */

static inline uint64_t clo_item(const clo_job *job, uint32_t entry)
{
    return (uint64_t)job->slot << 32 | entry;
}

/* What a worker shows of the body it runs. */
static inline uint64_t clo_task_shown(const clo_job *job, uint32_t task)
{
    return (uint64_t)job->slot << 32 | task;
}

/* A body of the run was left out. */
static inline void clo_job_cut(clo_job *job)
{
    if (atomic_load_explicit(&job->was_cut, memory_order_relaxed) == 0)
        atomic_store_explicit(&job->was_cut, 1, memory_order_relaxed);
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
    if (clo_deque_count(&worker->deque) == 0) {
        if (worker->feeds > 0 && clo_worker_is_slow(worker, next_ns))
            clo_worker_stop_feeding(worker);
        return;
    }
    uint32_t asked = atomic_load_explicit(&worker->asked, memory_order_relaxed);
    if (asked != 0 || clo_worker_is_slow(worker, next_ns) ||
        atomic_load_explicit(&worker->runtime->sleepers, memory_order_relaxed) != 0)
        clo_worker_share(worker, next_ns, asked);
    else if (worker->feeds > 0)
        clo_worker_keep_fed(worker);
}

#endif
