/* runtimes.c - calls on runtimes. Each slot has one or none; the jobs in slots with the same remainder are its. */
#include "fuzz_api.h"

#include <stdlib.h>

static void draw_config(thread *t, runtime_slot *slot, clo_runtime_config *config)
{
    static const uint32_t jobs_max[] = {0, 1, 2, 4, 64}, recorder[] = {0, 0, 1, 64, 1000};
    static const int64_t spin[] = {0, 0, -1, -1, 1, 100000};

    slot->platform = below(t, PLATFORMS);
    slot->clock = (clo_clock)(chance(t, 60) ? CLO_CLOCK_REAL : 1 + below(t, 2));
    slot->traces = chance(t, 50);
    config->clock = slot->clock;
    config->trace = slot->traces;
    config->unpinned = chance(t, 90);
    config->copy_always = chance(t, 30);
    config->jobs_max = jobs_max[below(t, 5)];
    config->recorder_events = recorder[below(t, 5)];
    config->spin_ns = spin[below(t, 6)];
    config->name_signals = chance(t, 5);
    config->help = chance(t, 70) ? 0 : chance(t, 50) ? 1 : -1;
    config->slot_workers = chance(t, 80) ? below(t, 4) : 256;
    config->policy_bytes = chance(t, 90) ? 0 : 1 + below(t, 100000);
    config->dilate = config->clock == CLO_CLOCK_PADDED && chance(t, 40) ? 1 + below(t, 4) : 0;
    config->stack_bytes = chance(t, 20) ? 256 << 10 : 0;
    if (with(WITH_extreme) && chance(t, 5)) {
        config->spin_ns = draw_time(t, 1000);
        config->stack_bytes = draw_count(t, 1) % 2;
        config->fifo_priority = chance(t, 50) ? 0 : chance(t, 50) ? 100 : -1;
        config->clock = slot->clock = (clo_clock)below(t, 4);
    }
}

/* Sometimes too few bytes, or not aligned; false: then it must be refused. */
static bool give_memory(thread *t, runtime_slot *slot, clo_runtime_config *config)
{
    size_t bytes;

    if (!with(WITH_callers_memory) || !chance(t, 30))
        return true;
    if (expect(clo_runtime_memory_bytes(w.platforms[slot->platform], config, &bytes), CLO_OK, CLO_ERR_ARGUMENT,
               CLO_ERR_LIMIT, CLO_ERR_MEMORY, CLO_ERR_PLATFORM, CLO_ERR_SYSTEM) != CLO_OK)
        return true;
    slot->memory = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
    if (slot->memory == NULL)
        return true;
    config->memory = slot->memory;
    config->memory_bytes = bytes;
    if (chance(t, 10))
        config->memory_bytes--;
    else if (chance(t, 5))
        config->memory = (char *)slot->memory + 8;
    else
        return true;
    return false;
}

void call_runtime_create(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    runtime_slot *slot = &w.runtimes[index];
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *made = NULL;

    if (atomic_load_explicit(&slot->runtime, memory_order_relaxed) != NULL || !use_alone(&slot->object, USE_CLOSE))
        return;
    if (atomic_load_explicit(&slot->runtime, memory_order_relaxed) == NULL) {
        draw_config(t, slot, &config);
        slot->memory = NULL;
        bool is_good = give_memory(t, slot, &config);
        log_begin(t, "clo_runtime_create", index);
        clo_status status = expect(clo_runtime_create(w.platforms[slot->platform], &config, &made), CLO_OK,
                                   CLO_ERR_PLATFORM, CLO_ERR_SYSTEM, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT, CLO_ERR_MEMORY);
        log_end(t, status);
        if (status == CLO_OK && !is_good)
            broken("clo_runtime_create took memory that is too small or not aligned");
        if (status != CLO_OK) {
            free(slot->memory);
            slot->memory = NULL;
        }
        atomic_store_explicit(&slot->runtime, made, memory_order_release);
    }
    use_end(&slot->object, USE_CLOSE);
}

static void end_one(runtime_slot *slot, uint32_t index)
{
    atomic_store_explicit(&slot->runtime, NULL, memory_order_relaxed);
    for (uint32_t j = index; j < JOBS; j += RUNTIMES)
        if (atomic_load_explicit(&w.jobs[j].job, memory_order_relaxed) != NULL)
            job_gone(&w.jobs[j]);
    free(slot->memory);
    slot->memory = NULL;
}

static void end_runtime(thread *t, bool closes, int64_t timeout_ns)
{
    uint32_t index = below(t, RUNTIMES);
    runtime_slot *slot = &w.runtimes[index];

    /* Seldom: what is alive must get old enough for something to happen to it. */
    if (!chance(t, 3) || !use_alone(&slot->object, USE_CLOSE))
        return;
    clo_runtime *runtime = atomic_load_explicit(&slot->runtime, memory_order_relaxed);
    if (runtime != NULL) {
        clo_status status = CLO_OK;
        log_begin(t, closes ? "clo_runtime_close" : "clo_runtime_destroy", index);
        if (closes)
            status = expect(clo_runtime_close(runtime, timeout_ns), CLO_OK, CLO_ERR_TIMEOUT);
        if (status == CLO_ERR_TIMEOUT) /* the join: afterwards everything is ours */
            status = expect(clo_runtime_close(runtime, INT64_MAX), CLO_OK);
        if (!closes)
            clo_runtime_destroy(runtime);
        log_end(t, status);
        end_one(slot, index);
    }
    use_end(&slot->object, USE_CLOSE);
}

void call_runtime_close(thread *t)
{
    end_runtime(t, true, chance(t, 40) ? 0 : draw_time(t, 3000000));
}

void call_runtime_destroy(thread *t)
{
    end_runtime(t, false, 0);
}

void runtimes_end(void)
{
    for (uint32_t r = 0; r < RUNTIMES; r++) {
        while (!use_alone(&w.runtimes[r].object, USE_CLOSE))
            ; /* bodies of other runtimes' jobs may be in a call on this one */
        clo_runtime_destroy(atomic_load(&w.runtimes[r].runtime));
        end_one(&w.runtimes[r], r);
        use_end(&w.runtimes[r].object, USE_CLOSE);
    }
}

void call_runtime_read(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;

    if (!runtime_use(index, &runtime))
        return;
    log_begin(t, "report, platform, workers", index);
    const runtime_slot *slot = &w.runtimes[index];
    if (clo_runtime_report(runtime) == NULL || clo_runtime_platform(runtime) != w.platforms[slot->platform] ||
        clo_runtime_workers(runtime) != w.workers[slot->platform])
        broken("runtime %u tells what it was not made with", index);
    log_end(t, 0);
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}

void call_worker_stats(thread *t)
{
    uint32_t index = below(t, RUNTIMES), worker = draw_count(t, 9);
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;
    clo_runtime *runtime;

    if (!runtime_use(index, &runtime))
        return;
    log_begin(t, "clo_runtime_worker_stats", index);
    clo_status status = expect(clo_runtime_worker_stats(runtime, worker, &stats), CLO_OK, CLO_ERR_ARGUMENT);
    log_end(t, status);
    if ((status == CLO_OK) != (worker < w.workers[w.runtimes[index].platform]))
        broken("clo_runtime_worker_stats of worker %u: %d", worker, (int)status);
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}

static void look_at_job(void *argument, const clo_job_progress *job)
{
    uint64_t *jobs = argument;

    if (job->id == 0 || job->graph == NULL || job->mode > CLO_JOB_POLICY || job->state > CLO_JOB_ENDED ||
        (job->mode != CLO_JOB_POLICY && job->policy[0] != '\0'))
        broken("clo_runtime_visit_jobs shows an impossible job %llu", (unsigned long long)job->id);
    ++*jobs;
}

void call_visit_jobs(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;
    uint64_t jobs = 0;

    if (!runtime_use(index, &runtime))
        return;
    log_begin(t, "clo_runtime_visit_jobs", index);
    log_end(t, expect(clo_runtime_visit_jobs(runtime, look_at_job, &jobs), CLO_OK));
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}

void call_record_read(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;
    clo_record records[16];
    uint64_t dropped;

    if (!runtime_use(index, &runtime))
        return;
    uint32_t worker = below(t, w.workers[w.runtimes[index].platform]);
    object_slot *reader = &w.runtimes[index].readers[worker];
    if (use_begin(reader, USE_RECORDS)) {
        log_begin(t, "clo_runtime_record_read", index);
        size_t count = clo_runtime_record_read(runtime, worker, records, below(t, 17), chance(t, 50) ? &dropped : NULL);
        log_end(t, (int)count);
        for (size_t i = 0; i < count; i++)
            if (records[i].executor != worker || records[i].finish_ns < records[i].start_ns || records[i].job == 0)
                broken("a record of worker %u is of %u, %lld ns long, of job %llu", worker, records[i].executor,
                       (long long)(records[i].finish_ns - records[i].start_ns), (unsigned long long)records[i].job);
        use_end(reader, USE_RECORDS);
    }
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}
