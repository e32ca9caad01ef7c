/* timing.c - what can be read of a job, and what must be true of it. */
#include "fuzz_api.h"

#include <stdlib.h>

static job_slot *pick(thread *t)
{
    return &w.jobs[below(t, JOBS)];
}

/* The library said that submit `seen` has ended. */
void job_waited(job_slot *slot, uint64_t seen, clo_status status)
{
    uint64_t before = atomic_load_explicit(&slot->waited, memory_order_relaxed);

    while (before < seen && !atomic_compare_exchange_weak_explicit(&slot->waited, &before, seen, memory_order_release,
                                                                   memory_order_relaxed))
        ;
    if (status == CLO_OK)
        atomic_store_explicit(&slot->waited_ok, seen, memory_order_release);
}

/* With USE_OUTPUT held, so that nobody submits: the last submit was waited for. */
static bool is_finished(const job_slot *slot)
{
    uint64_t begun = atomic_load_explicit(&slot->begun, memory_order_relaxed);

    return begun > 0 && atomic_load_explicit(&slot->waited, memory_order_acquire) == begun;
}

static void check_timing(const job_slot *slot, const clo_job_timing *timing, bool is_ok)
{
    const clo_job_timing *x = timing;
    uint64_t seen[3];

    if (x->finished != x->released || x->aborted > x->finished || (is_ok && x->missed > x->finished))
        broken("job %u: %llu released, %llu finished, %llu aborted, %llu missed", slot->index,
               (unsigned long long)x->released, (unsigned long long)x->finished, (unsigned long long)x->aborted,
               (unsigned long long)x->missed);
    if (is_ok && (slot->is_periodic || slot->is_flight) && x->released + x->skipped != slot->releases)
        broken("job %u: %llu released and %llu skipped of %llu", slot->index, (unsigned long long)x->released,
               (unsigned long long)x->skipped, (unsigned long long)slot->releases);
    if (is_ok && !slot->is_periodic && !slot->is_flight && x->released != 1)
        broken("job %u: %llu runs of one submit", slot->index, (unsigned long long)x->released);
    if (!slot->has_handler || !with(WITH_counts) || !atomic_load_explicit(&slot->is_countable, memory_order_relaxed))
        return;
    for (int i = 0; i < 3; i++)
        seen[i] = atomic_load_explicit(&slot->misses[i], memory_order_relaxed);
    if (seen[CLO_MISS_DEADLINE] != x->missed || seen[CLO_MISS_RELEASE] != x->skipped ||
        seen[CLO_MISS_OVERRUN] > x->overruns || (x->overruns <= 256 && seen[CLO_MISS_OVERRUN] != x->overruns))
        broken("job %u: the handler saw %llu missed, %llu skipped, %llu overruns of %llu, %llu, %llu", slot->index,
               (unsigned long long)seen[0], (unsigned long long)seen[1], (unsigned long long)seen[2],
               (unsigned long long)x->missed, (unsigned long long)x->skipped, (unsigned long long)x->overruns);
}

/* If the last submit was waited for: counts and outputs. */
void job_check(job_slot *slot)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job *job;

    if (!job_use_alone(slot, &job))
        return;
    if (is_finished(slot)) {
        uint64_t begun = atomic_load_explicit(&slot->begun, memory_order_relaxed);
        bool is_ok = atomic_load_explicit(&slot->waited_ok, memory_order_acquire) == begun;
        if (clo_job_timing_read(job, &timing) != CLO_OK)
            broken("clo_job_timing_read: %s", clo_last_error());
        check_timing(slot, &timing, is_ok);
        uint64_t hash = clo_job_output_hash(job);
        if (is_ok && !slot->is_part && hash != w.models[slot->model].hash)
            broken("job %u: CLO_OK, but its outputs have the hash %llx, not %llx", slot->index,
                   (unsigned long long)hash, (unsigned long long)w.models[slot->model].hash);
    }
    job_unuse_alone(slot);
}

void call_check(thread *t)
{
    job_slot *slot = pick(t);

    log_begin(t, "check", slot->index);
    job_check(slot);
    log_end(t, 0);
}

void call_timing_read(thread *t)
{
    job_slot *slot = pick(t);
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job *job;

    if (!job_use(slot, USE_TIMING, &job))
        return;
    log_begin(t, "clo_job_timing_read", slot->index);
    log_end(t, expect(clo_job_timing_read(job, &timing), CLO_OK, CLO_ERR_STATE));
    job_unuse(slot, USE_TIMING);
}

void call_job_id(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_ID, &job))
        return;
    log_begin(t, "clo_job_id", slot->index);
    if (clo_job_id(job) == 0 || clo_job_id(job) != clo_job_id(job))
        broken("clo_job_id is 0");
    log_end(t, 0);
    job_unuse(slot, USE_ID);
}

void call_output(thread *t)
{
    job_slot *slot = pick(t);
    uint64_t sum = 0;
    clo_job *job;

    if (!job_use(slot, USE_OUTPUT, &job))
        return;
    log_begin(t, "clo_job_output", slot->index);
    for (int i = 0; i < 4 && is_finished(slot); i++) {
        size_t bytes = 1;
        const unsigned char *output =
            clo_job_output(job, draw_count(t, 18), draw_count(t, 4), chance(t, 90) ? &bytes : NULL);
        if (output == NULL && bytes > 1)
            broken("clo_job_output: NULL of %zu bytes", bytes);
        for (size_t k = 0; output != NULL && k < bytes; k++)
            sum += output[k];
    }
    log_end(t, (int)(sum & 0xff));
    job_unuse(slot, USE_OUTPUT);
}

void call_job_data(thread *t)
{
    job_slot *slot = pick(t);
    uint64_t sum = 0;
    clo_job *job;

    if (!job_use_alone(slot, &job))
        return;
    log_begin(t, "clo_job_data", slot->index);
    for (int i = 0; i < 3 && is_finished(slot); i++) {
        size_t bytes = 0;
        const unsigned char *data = clo_job_data(job, draw_count(t, 4), chance(t, 90) ? &bytes : NULL);
        for (size_t k = 0; data != NULL && k < bytes; k++)
            sum += data[k];
    }
    log_end(t, (int)(sum & 0xff));
    job_unuse_alone(slot);
}

/* Keeps the trace in a slot, in place of the one that is there, if nobody looks at that. */
static void keep_trace(thread *t, clo_trace *trace, const job_slot *of)
{
    trace_slot *slot = &w.traces[below(t, TRACES)];

    if (!use_begin(&slot->object, USE_FREE)) {
        clo_trace_destroy(trace);
        return;
    }
    clo_trace_destroy(atomic_load_explicit(&slot->trace, memory_order_relaxed));
    slot->model = of->model;
    slot->platform = w.runtimes[of->runtime].platform;
    atomic_store_explicit(&slot->trace, trace, memory_order_release);
    use_end(&slot->object, USE_FREE);
}

void call_job_trace(thread *t)
{
    job_slot *slot = pick(t);
    clo_trace *trace = NULL;
    clo_job *job;

    if (!job_use(slot, USE_TRACE, &job))
        return;
    log_begin(t, "clo_job_trace", slot->index);
    clo_status status = expect(clo_job_trace(job, &trace), CLO_OK, CLO_ERR_STATE, CLO_ERR_MEMORY);
    log_end(t, status);
    if (status == CLO_OK && !w.runtimes[slot->runtime].traces)
        broken("clo_job_trace of a runtime that keeps none");
    if (status == CLO_OK)
        keep_trace(t, trace, slot);
    job_unuse(slot, USE_TRACE);
}
