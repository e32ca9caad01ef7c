/* overrun.c - bodies that take longer than they may.
 *
 * A worker tells in words of its own which body it has begun and when it is too long; the watchdog looks while such jobs
 * run. One of the two finds an overrun first, and the exchange of the word decides who counts it: exactly one. */
#include "base/clock.h"
#include "run/run.h"

static uint64_t word_of(uint64_t number, uint64_t phase)
{
    return number << 2 | phase;
}

int64_t clo_job_limit_ns(const clo_job *job, uint32_t entry, uint32_t executor)
{
    const clo_series *series = job->series;
    int64_t limit_ns = series->limit_ns;

    if (series->limit_percent > 0) {
        int64_t expected_ns = clo_cost_time(job->program->cost, clo_program_task(job->program, entry), executor);
        int64_t part_ns = expected_ns / 100 * series->limit_percent + expected_ns % 100 * series->limit_percent / 100;
        if (expected_ns > 0 && (limit_ns == 0 || part_ns < limit_ns))
            limit_ns = part_ns > 0 ? part_ns : 1;
    }
    return limit_ns;
}

void clo_watch_begin(clo_worker *worker, clo_job *job, uint32_t entry)
{
    clo_watch *watch = &worker->watch;
    int64_t limit_ns = clo_job_limit_ns(job, entry, worker->index);
    uint64_t number = (atomic_load_explicit(&watch->word, memory_order_relaxed) >> 2) + 1;

    atomic_store_explicit(&watch->item, clo_item(job, entry), memory_order_relaxed);
    atomic_store_explicit(&watch->limit_ns, limit_ns, memory_order_relaxed);
    atomic_store_explicit(&watch->start_ns, clo_clock_ns(), memory_order_relaxed);
    /* Release, pairs with the acquire in see_body: the three words above. */
    atomic_store_explicit(&watch->word, word_of(number, limit_ns > 0 ? CLO_WATCH_RUNNING : CLO_WATCH_IDLE),
                          memory_order_release);
}

static void leave_note(clo_watch *watch, const clo_watch_note *note)
{
    uint32_t noted = atomic_load_explicit(&watch->noted, memory_order_relaxed);

    /* Acquire pairs with the release in read_notes: the slot has been read. */
    if (noted - atomic_load_explicit(&watch->read, memory_order_acquire) == CLO_WATCH_NOTES)
        return; /* the count is right all the same */
    watch->notes[noted % CLO_WATCH_NOTES] = *note;
    atomic_store_explicit(&watch->noted, noted + 1, memory_order_release);
}

void clo_watch_end(clo_worker *worker, clo_job *job, uint32_t entry)
{
    clo_watch *watch = &worker->watch;
    uint64_t word = atomic_load_explicit(&watch->word, memory_order_relaxed);
    int64_t start_ns = atomic_load_explicit(&watch->start_ns, memory_order_relaxed);
    int64_t limit_ns = atomic_load_explicit(&watch->limit_ns, memory_order_relaxed);

    /* acq_rel: the watchdog may not see the next body's words under this body's number. */
    word = atomic_exchange_explicit(&watch->word, word_of(word >> 2, CLO_WATCH_IDLE), memory_order_acq_rel);
    if ((word & 3) != CLO_WATCH_RUNNING || clo_clock_ns() - start_ns <= limit_ns)
        return;
    atomic_fetch_add_explicit(&job->series->overruns, 1, memory_order_relaxed);
    leave_note(watch, &(clo_watch_note){.item = clo_item(job, entry),
                                        .release = atomic_load_explicit(&job->series->current, memory_order_relaxed),
                                        .over_ns = start_ns + limit_ns});
}

static void report(clo_runtime *runtime, uint32_t worker, const clo_watch_note *note, int64_t now_ns)
{
    clo_job *job = clo_item_job(runtime, note->item);

    clo_watchdog_report(job, (clo_miss){.kind = CLO_MISS_OVERRUN,
                                        .task = clo_job_task(job, note->item),
                                        .executor = worker,
                                        .release = note->release,
                                        .late_ns = now_ns - note->over_ns});
}

static void read_notes(clo_runtime *runtime, uint32_t worker, int64_t now_ns)
{
    clo_watch *watch = &runtime->workers[worker].watch;
    uint32_t read = atomic_load_explicit(&watch->read, memory_order_relaxed);

    while (read != atomic_load_explicit(&watch->noted, memory_order_acquire)) {
        clo_watch_note note = watch->notes[read % CLO_WATCH_NOTES];
        atomic_store_explicit(&watch->read, ++read, memory_order_release);
        report(runtime, worker, &note, now_ns);
    }
}

/* Returns when the body that runs now will be over its limit; INT64_MAX: none, or it was reported. */
static int64_t see_body(clo_runtime *runtime, uint32_t worker, int64_t now_ns)
{
    clo_watch *watch = &runtime->workers[worker].watch;
    uint64_t word = atomic_load_explicit(&watch->word, memory_order_acquire);

    if ((word & 3) != CLO_WATCH_RUNNING)
        return INT64_MAX;
    uint64_t item = atomic_load_explicit(&watch->item, memory_order_relaxed);
    int64_t over_ns = atomic_load_explicit(&watch->start_ns, memory_order_relaxed) +
                      atomic_load_explicit(&watch->limit_ns, memory_order_relaxed);
    if (over_ns >= now_ns)
        return over_ns + 1;
    /* Only if it is still the same body; then its job cannot have ended. */
    if (!atomic_compare_exchange_strong_explicit(&watch->word, &word, word_of(word >> 2, CLO_WATCH_REPORTED),
                                                 memory_order_acq_rel, memory_order_relaxed))
        return INT64_MAX;
    clo_series *series = clo_item_job(runtime, item)->series;
    atomic_fetch_add_explicit(&series->overruns, 1, memory_order_relaxed);
    report(runtime, worker,
           &(clo_watch_note){item, atomic_load_explicit(&series->current, memory_order_relaxed), over_ns}, now_ns);
    return INT64_MAX;
}

int64_t clo_watch_poll(clo_watchdog *watchdog, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t w = 0; w < watchdog->runtime->workers_count; w++) {
        read_notes(watchdog->runtime, w, now_ns);
        int64_t over_ns = see_body(watchdog->runtime, w, now_ns);
        if (over_ns < next_ns)
            next_ns = over_ns;
    }
    return next_ns;
}
