/* watchdog_loop.c - the thread that makes releases, sees deadlines pass and calls the handlers.
 *
 * It sleeps until the next moment that matters, or until its eventcount is rung: a job was submitted or cancelled, or
 * has ended. Every look goes over the watched jobs in full; there are few, and nothing is forgotten. Workers never take
 * its lock, and handlers of misses run outside it (miss.c): bodies that submit watched jobs do not wait for them. */
#include "run/threads/watchdog_loop.h"

#include "base/clock.h"
#include "base/status.h"
#include "run/body/hedge.h"
#include "run/dispatch/launch.h"
#include "run/extras/miss.h"
#include "run/extras/overrun.h"
#include "run/job/cut.h"
#include "run/job/done.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/state/worker.h"
#include "run/system/real_time.h"
#include "sync/sleep/lock.h"

#include <string.h>

#define SUSPECT_NS 1000000 /* a worker that sleeps for so long with work in its inbox was not woken */

static void release(clo_job *job, uint64_t number, int64_t now_ns)
{
    int64_t late_ns = clo_time_sub(now_ns, clo_series_due_ns(job->series, number));

    clo_histogram_record(&job->series->jitter_ns, late_ns);
    job->kind->release(job, number, late_ns);
}

/* Returns when the next release is due; INT64_MAX: there will be none, and the token is given back. */
static int64_t make_releases(clo_job *job, int64_t now_ns)
{
    clo_series *series = job->series;

    for (uint32_t made = 0; series->is_releasing; made++) { /* ends at the first release that is not due */
        if (clo_job_is_stopped(job) || (series->releases > 0 && series->next_release >= series->releases)) {
            series->is_releasing = false;
            job->kind->close(job, series->next_release);
            break;
        }
        int64_t due_ns = clo_series_due_ns(series, series->next_release);
        if (due_ns > now_ns || made == CLO_SERIES_RELEASES)
            return due_ns;
        release(job, series->next_release++, now_ns);
    }
    return INT64_MAX;
}

static void report_deadline(clo_job *job, uint64_t number, int64_t due_ns)
{
    clo_miss_report(job, (clo_miss){CLO_MISS_DEADLINE, CLO_NONE, CLO_NONE, number, 0, clo_clock_ns() - due_ns});
}

/* Looks at release `number`: true if it needs no more attention. */
static bool see_deadline(clo_job *job, uint64_t number, int64_t now_ns)
{
    clo_series *series = job->series;
    int64_t due_ns = clo_time_add(clo_series_due_ns(series, number), series->deadline_ns);

    /* First: a run that ends between this and the look at `ended` is seen there. */
    bool is_done = clo_phase_get(&job->phase) == CLO_PHASE_DONE;
    if (series->skip[number % CLO_SERIES_LATE] == number + 1)
        return true;
    if (atomic_load_explicit(&series->ended, memory_order_acquire) > number) {
        if (atomic_load_explicit(&series->late[number % CLO_SERIES_LATE], memory_order_relaxed) ==
            clo_series_late(number))
            report_deadline(job, number, due_ns);
        return true;
    }
    if (is_done)
        return true; /* it was waiting when the series was stopped */
    if (series->deadline_ns == 0 || due_ns >= now_ns)
        return false;
    if (!clo_series_judge(series, number, true))
        return true; /* it has ended in time, and its worker is about to say so */
    if (series->on_miss == CLO_MISS_ABORT)
        clo_job_run_abort(job, number);
    report_deadline(job, number, due_ns);
    return true;
}

static int64_t see_deadlines(clo_job *job, int64_t now_ns)
{
    clo_series *series = job->series;

    while (series->next_deadline < series->next_release && see_deadline(job, series->next_deadline, now_ns))
        series->next_deadline++;
    if (series->next_deadline == series->next_release || series->deadline_ns == 0)
        return INT64_MAX;
    return clo_time_add(clo_series_due_ns(series, series->next_deadline), series->deadline_ns);
}

static void start_waiting_run(clo_job *job)
{
    clo_series *series = job->series;

    if (atomic_exchange_explicit(&series->wants_start, 0, memory_order_acquire) != 0)
        clo_job_run_next(job);
}

static void forget(clo_watchdog *watchdog, clo_job *job)
{
    uint32_t i = 0;

    while (i < watchdog->jobs_count && watchdog->jobs[i] != job)
        i++;
    if (i == watchdog->jobs_count)
        return;
    watchdog->jobs[i] = watchdog->jobs[--watchdog->jobs_count];
    job->series->is_watched = false;
}

/* Returns when to look at the job again; forgets it when all of it is over and told. */
static int64_t look_after(clo_watchdog *watchdog, clo_job *job, int64_t now_ns)
{
    clo_series *series = job->series;
    int64_t next_ns = make_releases(job, now_ns);

    start_waiting_run(job);
    int64_t deadline_ns = see_deadlines(job, now_ns);
    if (deadline_ns < next_ns)
        next_ns = deadline_ns;
    if (series->poll_ns > 0 && clo_series_is_busy(series) && now_ns + series->poll_ns < next_ns)
        next_ns = now_ns + series->poll_ns;
    if (series->is_releasing || series->next_deadline < series->next_release ||
        clo_phase_get(&job->phase) != CLO_PHASE_DONE)
        return next_ns;
    if (series->miss != NULL) /* what was noted before the end; nobody waits for us else: it could go in a handler */
        (void)clo_overrun_poll(watchdog->runtime, now_ns);
    forget(watchdog, job);
    atomic_store_explicit(&series->is_settled, 1, memory_order_release);
    clo_runtime_tell(watchdog->runtime);
    return INT64_MAX;
}

/* Heals and counts what must not happen: a worker asleep with items that only it may run. */
static int64_t look_for_missed_wakes(const clo_watchdog *watchdog, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t w = 0; w < watchdog->runtime->workers_count; w++) {
        clo_worker *worker = &watchdog->runtime->workers[w];
        if (!clo_parker_is_asleep(&worker->parker) || clo_stack_is_empty(&worker->inbox)) {
            worker->stats.suspect_ns = 0;
        } else if (worker->stats.suspect_ns == 0) {
            worker->stats.suspect_ns = now_ns;
        } else if (now_ns - worker->stats.suspect_ns >= SUSPECT_NS) {
            worker->stats.suspect_ns = 0;
            atomic_fetch_add_explicit(&worker->stats.missed_wakes, 1, memory_order_relaxed);
            (void)clo_parker_wake(&worker->parker);
        }
        if (worker->stats.suspect_ns != 0)
            next_ns = now_ns + SUSPECT_NS;
    }
    return next_ns;
}

static int64_t look(clo_watchdog *watchdog)
{
    int64_t now_ns = clo_clock_ns();
    int64_t next_ns = clo_overrun_poll(watchdog->runtime, now_ns), other_ns = look_for_missed_wakes(watchdog, now_ns);

    if (other_ns < next_ns)
        next_ns = other_ns;
    other_ns = clo_hedges_look(watchdog->runtime, now_ns);
    if (other_ns < next_ns)
        next_ns = other_ns;
    const struct clo_policy_functions *policies = watchdog->runtime->features.policies;
    other_ns = policies != NULL ? policies->look(watchdog->runtime, now_ns) : INT64_MAX;
    if (other_ns < next_ns)
        next_ns = other_ns;
    /* Backwards: one that is forgotten is replaced by the last. While a handler runs others may come, and ring the
     * eventcount, or go. */
    for (uint32_t i = watchdog->jobs_count; i-- > 0;) {
        if (i >= watchdog->jobs_count)
            continue;
        other_ns = look_after(watchdog, watchdog->jobs[i], now_ns);
        if (other_ns < next_ns)
            next_ns = other_ns;
    }
    return next_ns;
}

static void *watchdog_main(void *argument)
{
    clo_watchdog *watchdog = argument;

    watchdog->fifo_error = clo_thread_begin(watchdog->runtime, true);
    /* Release, pairs with the acquire in clo_watchdog_need: carries the error. */
    atomic_store_explicit(&watchdog->is_ready, 1, memory_order_release);
    clo_futex_wake_all(&watchdog->is_ready);
    pthread_cleanup_push(clo_thread_lost, NULL);
    pthread_mutex_lock(&watchdog->lock);
    for (;;) { /* until it is stopped */
        uint32_t heard =
            clo_eventcount_hear(&watchdog->eventcount); /* before any look, the one at `stopping` included */
        if (atomic_load_explicit(&watchdog->stopping, memory_order_relaxed) != 0)
            break;
        int64_t next_ns = look(watchdog);
        pthread_mutex_unlock(&watchdog->lock);
        clo_eventcount_wait_until(&watchdog->eventcount, heard, next_ns);
        pthread_mutex_lock(&watchdog->lock);
    }
    pthread_mutex_unlock(&watchdog->lock);
    pthread_cleanup_pop(0);
    return NULL;
}

clo_status clo_watchdog_init(clo_watchdog *watchdog, clo_runtime *runtime)
{
    watchdog->runtime = runtime;
    atomic_init(&watchdog->timeouts.next_ns, INT64_MAX);
    atomic_init(&watchdog->timeouts.least_ns, INT64_MAX);
    int error = clo_lock_init(&watchdog->lock);
    return error == 0 ? CLO_OK
                      : clo_fail(CLO_ERR_SYSTEM, "cannot make a lock with priority inheritance: %s", strerror(error));
}

clo_status clo_watchdog_need(clo_watchdog *watchdog)
{
    int error = 0;

    pthread_mutex_lock(&watchdog->lock);
    if (!watchdog->exists)
        error = clo_thread_create(watchdog->runtime, CLO_THREAD_WATCHDOG, &watchdog->thread, watchdog_main, watchdog);
    watchdog->exists = error == 0;
    while (error == 0 && atomic_load_explicit(&watchdog->is_ready, memory_order_acquire) == 0)
        clo_futex_wait(&watchdog->is_ready, 0); /* it takes no lock before */
    pthread_mutex_unlock(&watchdog->lock);
    return error == 0 ? CLO_OK : clo_fail(CLO_ERR_SYSTEM, "cannot create the watchdog's thread: %s", strerror(error));
}

void clo_watchdog_stop(clo_watchdog *watchdog)
{
    if (watchdog->exists) {
        atomic_store_explicit(&watchdog->stopping, 1, memory_order_relaxed); /* travels with the ring */
        clo_eventcount_ring(&watchdog->eventcount);
        pthread_join(watchdog->thread, NULL);
    }
    pthread_mutex_destroy(&watchdog->lock);
}

void clo_watchdog_add(clo_watchdog *watchdog, clo_job *job)
{
    pthread_mutex_lock(&watchdog->lock);
    if (!job->series->is_watched)
        watchdog->jobs[watchdog->jobs_count++] = job;
    job->series->is_watched = true;
    pthread_mutex_unlock(&watchdog->lock);
}

void clo_watchdog_remove(clo_watchdog *watchdog, clo_job *job)
{
    pthread_mutex_lock(&watchdog->lock);
    forget(watchdog, job);
    pthread_mutex_unlock(&watchdog->lock);
}
