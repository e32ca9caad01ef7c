/* run/state/dispatch.h - the table of a dispatch: how jobs of one kind are run.
 *
 * What kind a job is of is decided once, where it is made (run/control/job_create.c), and nothing else asks for it.
 * Each table stands in the file of run/dispatch that does what it says. */
#ifndef CLO_RUN_STATE_DISPATCH_H
#define CLO_RUN_STATE_DISPATCH_H

#include "run/state/pacing.h"

typedef struct clo_dispatch {
    /* Of clo_job.dispatch, which may change when a plan is exchanged. */

    /* Runs an item of the job, and what follows from it on this worker. Returns the next item for the worker, or
     * CLO_ITEM_NONE; the job may be gone then. */
    uint64_t (*run)(struct clo_worker *worker, clo_job *job, uint32_t item);
    /* What is noted of an execution is clo_ticked, not a trace event. */
    bool is_ticked;
    /* A thread that waits for the job may run items of it. */
    bool is_helped;

    /* Of clo_job.kind, which is constant; not set in the table of the fast path. */

    /* Completions are numbered as they happen; else the trace finds their order afterwards. */
    bool numbers_events;
    /* Moves the inputs of an item and calls its body; returns what that returned. */
    int (*call)(struct clo_worker *worker, clo_job *job, uint32_t item, int64_t expected_ns);
    /* The release of an item that runs; of a job with a series. */
    uint64_t (*release_of)(const clo_job *job, uint32_t item);
    /* Executions of a run that is cut short may never come to a worker. */
    bool drops_rest;
    /* Runs after the first are started by the watchdog: within the end of the last one they would nest. */
    bool is_watchdog_started;
    /* Runs plans of which nothing but bodies is to be called; NULL: there are none. */
    const struct clo_dispatch *fast;
    /* The general path: an execution is over. Hands on whom it releases; returns as `run`. */
    uint64_t (*complete)(struct clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span);
    /* Ends what a slot has left pending and is not open any more (run/extras/pending.h): its body was cut short, or has
     * ended with that code. Returns as `run`. NULL: it has no slots. */
    uint64_t (*resume)(struct clo_worker *slot, clo_job *job, bool is_cut, int code);
    /* Its own part of clo_job_run_arm; NULL: nothing. */
    void (*arm)(clo_job *job, uint64_t release);
    /* Starts a run that is armed. The job may have ended, and be gone, when this returns. */
    void (*start)(clo_job *job);
    /* A series is submitted, and nobody knows of it yet: arms what begins at once. */
    void (*open)(clo_job *job);
    /* The watchdog's, of a series with a period: release `number` is due, and has been for late_ns; there will be
     * `count` releases in all. NULL: no such series. */
    void (*release)(clo_job *job, uint64_t number, int64_t late_ns);
    void (*close)(clo_job *job, uint64_t count);
    /* The job was cancelled, or its run aborted; any thread. NULL: its items find out themselves. */
    void (*cancel)(clo_job *job);
} clo_dispatch;

#endif
