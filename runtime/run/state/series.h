/* run/state/series.h - releases, deadlines and limits of one job.
 *
 * Only jobs that ask for it (a period, a deadline with a handler or an action, a limit for bodies) have a clo_series.
 * `pending` is where the watchdog and the workers meet: runs released and not ended, and, as long as more releases may
 * come, a token. Whoever adds the first run starts it; whoever takes off the last one and finds no token ends the
 * job. */
#ifndef CLO_RUN_STATE_SERIES_H
#define CLO_RUN_STATE_SERIES_H

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "sync/structure/histogram.h"

#include <clotho/job.h>

#include <stdalign.h>

#define CLO_SERIES_TOKEN (1ull << 32)
#define CLO_SERIES_RUNS (CLO_SERIES_TOKEN - 1)

/* The watchdog makes the releases and then looks at the deadlines of all of them, so that it is never further behind
 * than the releases of one look and those whose deadlines are not yet due. */

/* Releases of one job in one look: then others have their turn, and the lock is free for a moment. */
#define CLO_SERIES_RELEASES 32u
/* Longest deadline. */
#define CLO_SERIES_PERIODS 32u
/* More than both. */
#define CLO_SERIES_LATE 128u

typedef struct clo_series {
    /* Constant. */

    /* 0: none. */
    int64_t period_ns;
    /* More than one run, with a period or in flight. */
    bool has_releases;
    /* The trace holds so many releases, release r as the r % traced-th. */
    uint32_t traced;
    /* 0: none. */
    int64_t deadline_ns;
    /* 0: until stopped. */
    uint64_t releases;
    clo_miss_action on_miss;
    clo_miss_fn miss;
    void *argument;
    int64_t limit_ns;
    uint32_t limit_percent;
    /* With limits: how often to look at what runs. */
    int64_t poll_ns;

    /* Since the submit. */

    /* When release 0 was due. */
    int64_t base_ns;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint64_t pending;
    /* Release that runs, or ran last: written by who starts it. */
    _Atomic uint64_t current;
    /* 1 + release that ended last; 0: none. */
    _Atomic uint64_t ended;
    /* [release % CLO_SERIES_LATE] of the newest release that was judged: clo_series_late, or 1 less if it was in
     * time. */
    _Atomic uint64_t late[CLO_SERIES_LATE];
    /* No further run starts. */
    _Atomic uint32_t stopped;
    /* The watchdog shall start the next run. */
    _Atomic uint32_t wants_start;
    /* No body of the current run has begun. */
    _Atomic uint32_t is_first;
    _Atomic uint64_t released;
    _Atomic uint64_t finished;
    _Atomic uint64_t aborted;
    _Atomic uint64_t missed;
    _Atomic uint64_t skipped;
    _Atomic uint64_t overruns;
    clo_histogram jitter_ns;
    clo_histogram start_ns;
    clo_histogram response_ns;

    /* The watchdog's, under its lock. */

    bool is_watched;
    bool is_releasing;
    /* Numbers of releases. */
    uint64_t next_release;
    uint64_t next_deadline;
    /* As `late`: 1 + release, if that was left out. */
    uint64_t skip[CLO_SERIES_LATE];
    /* All misses are reported. */
    _Atomic uint32_t is_settled;
} clo_series;

/* Released, and not ended. */
static inline uint64_t clo_series_runs(const clo_series *series)
{
    return atomic_load_explicit(&series->pending, memory_order_acquire) & CLO_SERIES_RUNS;
}

/* Some release has begun and not ended, or the next one follows at once. */
static inline bool clo_series_is_busy(const clo_series *series)
{
    return clo_series_runs(series) > 0 || atomic_load_explicit(&series->released, memory_order_relaxed) !=
                                              atomic_load_explicit(&series->finished, memory_order_relaxed);
}

static inline uint64_t clo_series_late(uint64_t release)
{
    return 2 * release + 3; /* above 0 and 1, where nothing was judged */
}

/* Whether a run was late is decided once: by the worker that ends it, or by the watchdog that sees it go on past its
 * deadline. Returns what was decided, by whoever came first. */
static inline bool clo_series_judge(clo_series *series, uint64_t release, bool is_late)
{
    _Atomic uint64_t *place = &series->late[release % CLO_SERIES_LATE];
    uint64_t newest = atomic_load_explicit(place, memory_order_relaxed), mine = clo_series_late(release) - !is_late;

    /* Only upwards. Relaxed: published by `ended`, or read by the same thread. */
    while (newest < clo_series_late(release) - 1)
        if (atomic_compare_exchange_weak_explicit(place, &newest, mine, memory_order_relaxed, memory_order_relaxed)) {
            if (is_late)
                atomic_fetch_add_explicit(&series->missed, 1, memory_order_relaxed);
            return is_late;
        }
    /* A later release: the watchdog has counted this one before it came so far. */
    return newest >= clo_series_late(release);
}

/* When a release is due; INT64_MAX: never. */
static inline int64_t clo_series_due_ns(const clo_series *series, uint64_t release)
{
    if (release > INT64_MAX)
        return INT64_MAX;
    return clo_time_add(series->base_ns, clo_time_mul((int64_t)release, series->period_ns));
}

#endif
