/* run/watchdog.h - releases, deadlines and limits: what a job has for them, and the thread that looks after them.
 *
 * Only jobs that ask for it (a period, a deadline with a handler or an action, a limit for bodies) have a clo_series.
 * `pending` is where the watchdog and the workers meet: runs released and not ended, and, as long as more releases may
 * come, a token. Whoever adds the first run starts it; whoever takes off the last one and finds no token ends the
 * job. */
#ifndef CLO_RUN_WATCHDOG_H
#define CLO_RUN_WATCHDOG_H

#include "base/memory.h"
#include "base/saturate.h"
#include "sync/bell.h"
#include "sync/histogram.h"
#include "sync/watch.h"

#include <clotho/job.h>

#include <pthread.h>
#include <stdalign.h>

typedef struct clo_worker clo_worker;

#define CLO_SERIES_TOKEN (1ull << 32)
#define CLO_SERIES_RUNS (CLO_SERIES_TOKEN - 1)
/* The watchdog makes the releases and then looks at the deadlines of all of them, so that it is never further behind
 * than the releases of one look and those whose deadlines are not yet due. */
#define CLO_SERIES_RELEASES 32u /* of one job in one look: then others have their turn, and the lock is free for a moment */
#define CLO_SERIES_PERIODS 32u  /* longest deadline */
#define CLO_SERIES_LATE 128u    /* more than both */

typedef struct clo_series {
    /* Constant. */
    int64_t period_ns, deadline_ns; /* 0: none */
    uint64_t releases;              /* 0: until stopped */
    clo_miss_action on_miss;
    clo_miss_fn miss;
    void *argument;
    int64_t limit_ns;
    uint32_t limit_percent;
    int64_t poll_ns; /* with limits: how often to look at what runs */

    /* Since the submit. */
    int64_t base_ns; /* when release 0 was due */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint64_t pending;
    _Atomic uint64_t current;               /* release that runs, or ran last: written by who starts it */
    _Atomic uint64_t ended;                 /* 1 + release that ended last; 0: none */
    _Atomic uint64_t late[CLO_SERIES_LATE]; /* [release % ..] 1 + the newest release that was late and is counted */
    _Atomic uint32_t stopped;               /* no further run starts */
    _Atomic uint32_t wants_start;           /* the watchdog shall start the next run */
    _Atomic uint32_t is_first;              /* no body of the current run has begun */
    _Atomic uint64_t released, finished, aborted, missed, skipped, overruns;
    clo_histogram jitter_ns, start_ns, response_ns;

    /* The watchdog's, under its lock. */
    bool is_watched, is_releasing;
    uint64_t next_release, next_deadline; /* numbers */
    uint64_t skip[CLO_SERIES_LATE];       /* as late: 1 + release, if that was left out */
    _Atomic uint32_t is_settled;          /* all misses are reported */
} clo_series;

typedef struct clo_watchdog {
    clo_runtime *runtime;
    pthread_t thread;
    bool exists;
    pthread_mutex_t lock; /* priority inheritance; control path only */
    clo_job **jobs;       /* [jobs_max] those watched */
    uint32_t jobs_count;
    clo_bell bell;
    _Atomic uint32_t stopping;
} clo_watchdog;

/* Counts a run as late, once: the worker that ends it and the watchdog that sees it go on both call this. */
static inline void clo_series_note_late(clo_series *series, uint64_t release)
{
    _Atomic uint64_t *place = &series->late[release % CLO_SERIES_LATE];
    uint64_t newest = atomic_load_explicit(place, memory_order_relaxed);

    /* Only upwards: a later number is the watchdog's, which has counted this run before it came so far. Relaxed:
     * published by `ended`, or read by the same thread. */
    while (newest < release + 1)
        if (atomic_compare_exchange_weak_explicit(place, &newest, release + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            atomic_fetch_add_explicit(&series->missed, 1, memory_order_relaxed);
            return;
        }
}

/* When a release is due; INT64_MAX: never. */
static inline int64_t clo_series_due_ns(const clo_series *series, uint64_t release)
{
    if (release > INT64_MAX)
        return INT64_MAX;
    return clo_time_add(series->base_ns, clo_time_mul((int64_t)release, series->period_ns));
}

/* watchdog.c */
clo_status clo_watchdog_init(clo_watchdog *watchdog, clo_runtime *runtime);
void clo_watchdog_stop(clo_watchdog *watchdog);       /* joins the thread, if there is one */
clo_status clo_watchdog_need(clo_watchdog *watchdog); /* creates the thread, if there is none */
void clo_watchdog_add(clo_watchdog *watchdog, clo_job *job);
void clo_watchdog_remove(clo_watchdog *watchdog, clo_job *job);
void clo_watchdog_report(clo_job *job, clo_miss miss); /* calls the handler; the watchdog only */

/* overrun.c */
void clo_overrun_begin(clo_worker *worker, clo_job *job, uint32_t entry);
void clo_overrun_end(clo_worker *worker, clo_job *job);
int64_t clo_overrun_poll(clo_watchdog *watchdog, int64_t now_ns); /* reports overruns; returns when to look again */
int64_t clo_job_limit_ns(const clo_job *job, uint32_t entry, uint32_t executor);

#endif
