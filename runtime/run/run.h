/* run/run.h - the threaded driver: runtime, workers, jobs.
 *
 *   runtime.c   creates and stops the workers, pins them, owns the job slots
 *   worker.c    finds work, spins, sleeps, wakes others
 *   execute.c   runs one entry and hands on what it released, for each way of dispatch
 *   job.c       makes and frees jobs
 *   submit.c    starts, ends and waits for their runs
 *
 * Work travels as items, (job slot << 32 | entry). An item is in exactly one place: a deque, a stack, a gate's
 * waiting chain, or a worker's hands. Items of replay and policy jobs, and of tasks that cannot run everywhere,
 * belong to one worker and go to its inbox; all others may be stolen. After clo_runtime_create and clo_job_create
 * nothing here allocates, and the only locks are control (create, destroy) and the gates of tasks with demands. */
#ifndef CLO_RUN_RUN_H
#define CLO_RUN_RUN_H

#include "base/histogram.h"
#include "base/rng.h"
#include "engine/dispatch.h"
#include "sync/deque.h"
#include "sync/gate.h"
#include "sync/park.h"
#include "sync/stack.h"

#include <clotho/job.h>
#include <clotho/runtime.h>

#include <pthread.h>

typedef struct clo_worker {
    /* Written by others. */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack inbox; /* items that only this worker may run  */
    clo_parker parker;
    alignas(CLO_CACHE_LINE_BYTES) clo_stack spill; /* anyone's items that found no room in a deque */

    clo_deque deque;

    /* Owner only, but for the counters. */
    alignas(CLO_CACHE_LINE_BYTES) clo_runtime *runtime;
    uint32_t index; /* = executor */
    int32_t cpu;    /* pinned here; -1: not pinned */
    uint64_t local; /* chain taken from the inbox, not yet run */
    clo_rng rng;
    _Atomic uint64_t parks;  /* statistics: relaxed, read by anybody */
    clo_status start_status; /* of pinning and priority; read after `started` */
    char start_error[192];
    pthread_t thread;
} clo_worker;

enum { CLO_JOB_IDLE, CLO_JOB_RUNNING, CLO_JOB_DONE };

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
    int64_t end_ns; /* written by the last worker, before DONE             */
    uint64_t parks_before;
    bool was_submitted;
    void *block;

    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t stop; /* 1: start no more bodies (cancel, failure) */
    _Atomic uint32_t cancelled;
    _Atomic uint64_t failure; /* 0: none; else 1 << 63 | task << 32 | code: the first error        */
    _Atomic uint32_t state;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t exits_left; /* entries without successors         */
    _Atomic uint64_t sequence; /* of completions, when traced                                       */
    alignas(CLO_CACHE_LINE_BYTES) clo_stack completions; /* policy: finished entries                 */
    _Atomic uint32_t turn; /* policy: completions added since it was free; 0 -> 1 takes the turn        */
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
void clo_worker_offer(clo_worker *worker, uint64_t item, uint64_t *link);                   /* to own deque          */
void clo_runtime_wake_one(clo_runtime *runtime);
void clo_runtime_wake_for(clo_runtime *runtime, uint32_t worker);

/* execute.c */
uint64_t clo_worker_execute(clo_worker *worker, uint64_t item); /* returns the next item to run, or CLO_ITEM_NONE */
void clo_job_start(clo_job *job);                               /* hands out the first items; any thread          */

/* submit.c */
void clo_job_run_ended(clo_job *job); /* by the last worker: its last touch of the job */
void clo_job_wait_end(clo_job *job);

static inline uint64_t clo_item(const clo_job *job, uint32_t entry)
{
    return (uint64_t)job->slot << 32 | entry;
}

/* True if the job's items may run on one worker only, and so never lie where they could be stolen. */
static inline bool clo_job_is_pinned(const clo_job *job)
{
    return job->program->is_replay || job->program->is_restricted || job->dispatch != NULL;
}

static inline clo_job *clo_item_job(const clo_runtime *runtime, uint64_t item)
{
    return runtime->jobs[item >> 32];
}

#endif
