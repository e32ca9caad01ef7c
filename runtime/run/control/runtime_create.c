/* runtime_create.c - the workers: created, stopped. */
#include "base/carve.h"
#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/state/capacity.h"
#include "run/control/attach.h"
#include "run/control/job_create.h"
#include "run/control/place.h"
#include "run/job/done.h"
#include "run/records/recorder.h"
#include "run/records/running.h"
#include "run/records/stamp.h"
#include "run/records/timing.h"
#include "run/sharing/borrow.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "run/system/signals.h"
#include "run/threads/slot_loop.h"
#include "run/threads/watchdog_loop.h"
#include "run/threads/worker_loop.h"
#include "sync/sleep/lock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPIN_DEFAULT_NS 20000
#define JOBS_DEFAULT 256u
#define JOBS_MAX 65536u
#define STAGES_DEFAULT 4096u
#define CARRIERS_MAX 256u
#define RECORDER_EVERY_MAX (1u << 16)
#define CLOSE_STEP_NS 10000000 /* between looks for jobs that bodies were about to submit when all was cancelled */

static void free_runtime(clo_runtime *runtime)
{
    clo_scheduling_free(runtime);
    clo_arena_close(&runtime->arena);
}

static void *worker_main(void *argument)
{
    clo_worker *worker = argument;
    clo_runtime *runtime = worker->runtime;

    worker->system.pin_error = clo_worker_pin(worker);
    worker->system.fifo_error = clo_thread_begin(runtime, false);
    worker->system.tid = clo_thread_id();
    clo_thread_own_faults(worker->stats.faults_before);
    /* Release pairs with the acquire in start_threads: carries the errors. */
    atomic_fetch_add_explicit(&runtime->started, 1, memory_order_release);
    clo_futex_wake_all(&runtime->started);
    pthread_cleanup_push(clo_thread_lost, NULL);
    clo_worker_run(worker);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *slot_thread_main(void *argument)
{
    clo_slot_thread *slot_thread = argument;
    clo_runtime *runtime = slot_thread->runtime;

    slot_thread->fifo_error = clo_thread_begin(runtime, false);
    for (uint32_t w = runtime->first_slot + slot_thread->index; w < runtime->workers_count;
         w += runtime->slot_threads_count) {
        runtime->workers[w].system.tid = clo_thread_id();
        clo_thread_own_faults(runtime->workers[w].stats.faults_before);
    }
    atomic_fetch_add_explicit(&runtime->started, 1, memory_order_release); /* as worker_main */
    clo_futex_wake_all(&runtime->started);
    pthread_cleanup_push(clo_thread_lost, NULL);
    clo_slot_thread_run(slot_thread);
    pthread_cleanup_pop(0);
    return NULL;
}

static void init_worker(clo_runtime *runtime, uint32_t index)
{
    clo_worker *worker = &runtime->workers[index];

    worker->runtime = runtime;
    worker->index = worker->scratch = index;
    worker->cpu = -1;
    worker->local = CLO_ITEM_NONE;
    worker->rng = clo_rng_seed(index);
    clo_stack_init(&worker->inbox);
    clo_mailbox_init(&worker->mailbox);
    clo_mailbox_init(&worker->hedge);
    clo_stack_init(&worker->shared_pool);
    clo_stack_init(&worker->aging);
    worker->machine = &runtime->machines[runtime->platform->executors[index].machine];
    worker->line.first = worker->line.held = CLO_ITEM_NONE;
    worker->line.end = &worker->line.first;
    atomic_init(&worker->current, CLO_ITEM_NONE);
    worker->call = (clo_call){.executor = index};
    /* Tokens are numbered from the clock on: no opening takes less than 1 ns, so a token of a runtime that was here
     * before is stale. */
    for (uint32_t p = 0; p < CLO_SLOT_DEPTH_MAX; p++) {
        atomic_init(&worker->completions[p].number, (uint64_t)clo_clock_ns());
        worker->serving.places[p].place = p;
    }
}

static void init_machines(clo_runtime *runtime, clo_semaphore_page *pages)
{
    for (uint32_t m = 0; m < runtime->platform->machines_count; m++) {
        clo_machine *machine = &runtime->machines[m];
        clo_capacity_open(runtime->platform, m, &machine->semaphore, &pages, runtime->workers_count + 1);
        clo_stack_init(&machine->fresh);
        clo_stack_init(&machine->aging);
    }
}

/* The first `count` threads: of workers, then of slot threads. */
static void stop_threads(clo_runtime *runtime, uint32_t count)
{
    atomic_store_explicit(&runtime->stopping, 1, memory_order_seq_cst);
    clo_fence_heavy(&runtime->fence);
    for (uint32_t t = 0; t < count; t++)
        (void)clo_parker_wake(t < runtime->first_slot ? &runtime->workers[t].parker
                                                      : &runtime->slot_threads[t - runtime->first_slot].parker);
    for (uint32_t t = 0; t < count; t++)
        pthread_join(t < runtime->first_slot ? runtime->workers[t].system.thread
                                             : runtime->slot_threads[t - runtime->first_slot].thread,
                     NULL);
}

/* What the workers met with on their way. */
static clo_status read_start(clo_runtime *runtime)
{
    int fifo_error = 0;

    for (uint32_t c = 0; c < runtime->slot_threads_count && fifo_error == 0; c++)
        fifo_error = runtime->slot_threads[c].fifo_error;
    for (uint32_t w = 0; w < runtime->first_slot; w++) {
        const clo_worker *worker = &runtime->workers[w];
        if (worker->system.pin_error != 0)
            return clo_fail(CLO_ERR_SYSTEM, "cannot pin worker %u to CPU %d: %s; allow the CPU or run unpinned", w,
                            (int)worker->cpu, strerror(worker->system.pin_error));
        if (fifo_error == 0)
            fifo_error = worker->system.fifo_error;
    }
    return clo_real_time_report_priority(runtime, false, fifo_error);
}

static int create_thread(clo_runtime *runtime, uint32_t t)
{
    if (t < runtime->first_slot)
        return clo_thread_create(runtime, (int)t, &runtime->workers[t].system.thread, worker_main,
                                 &runtime->workers[t]);
    clo_slot_thread *slot_thread = &runtime->slot_threads[t - runtime->first_slot];
    return clo_thread_create(runtime, (int)t, &slot_thread->thread, slot_thread_main, slot_thread);
}

static clo_status start_threads(clo_runtime *runtime)
{
    uint32_t created = 0, threads = clo_runtime_threads(runtime);
    int error = 0;

    for (; created < threads; created++) {
        error = create_thread(runtime, created);
        if (error != 0)
            break;
    }
    for (;;) { /* each thread counts itself soon after its birth */
        uint32_t started = atomic_load_explicit(&runtime->started, memory_order_acquire);
        if (started == created)
            break;
        clo_futex_wait(&runtime->started, started);
    }
    runtime->ticks_in_us = clo_ticks_are_steady() ? clo_stamp_ticks_in_us(&runtime->line) : 0;
    clo_status status = created == threads ? read_start(runtime)
                                           : clo_fail(CLO_ERR_SYSTEM, "cannot create worker %u of %u: %s", created,
                                                      threads, strerror(error));
    if (status != CLO_OK)
        stop_threads(runtime, created);
    return status;
}

static clo_status read_memory_config(clo_runtime_config *config)
{
    size_t stack_least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

    if (config->real_time < CLO_REAL_TIME_OFF || config->real_time > CLO_REAL_TIME_REQUIRE)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.real_time is %d; use CLO_REAL_TIME_...",
                        (int)config->real_time);
    if ((uintptr_t)config->memory % CLO_CACHE_LINE_BYTES != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.memory is not aligned to %d bytes", CLO_CACHE_LINE_BYTES);
    if (config->recorder_events > 1u << 24)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.recorder_events is %u; at most %u", config->recorder_events,
                        1u << 24);
    if (config->recorder_every > RECORDER_EVERY_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.recorder_every is %u; at most %u", config->recorder_every,
                        RECORDER_EVERY_MAX);
    if (config->stack_bytes > 0 && config->stack_bytes < stack_least)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.stack_bytes is %zu; the system needs %zu",
                        config->stack_bytes, stack_least);
    if (config->stack_bytes > (size_t)1 << 30)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.stack_bytes is more than 1 GiB");
    if (config->stack_bytes == 0 && (config->memory != NULL || config->real_time != CLO_REAL_TIME_OFF))
        config->stack_bytes = CLO_STACK_DEFAULT_BYTES;
    config->stack_bytes = (config->stack_bytes + 4095) / 4096 * 4096;
    while ((config->recorder_events & (config->recorder_events - 1)) != 0) /* up to a power of two */
        config->recorder_events += config->recorder_events & (~config->recorder_events + 1);
    return CLO_OK;
}

/* For states of policies, in memory of a fixed size. */
static size_t policy_bytes_default(const clo_platform *platform, const clo_runtime_config *config)
{
    size_t stages = config->policy_stages > 0 ? config->policy_stages : STAGES_DEFAULT;

    return (16u << 10) + ((size_t)platform->executors_count << 10) + 64 * ((size_t)config->jobs_max + stages);
}

static clo_status read_policy_config(const clo_platform *platform, clo_runtime_config *config)
{
    if (config->policy_bytes > SIZE_MAX / 8)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.policy_bytes is %zu; there is not that much memory",
                        config->policy_bytes);
    if (config->policy_bytes == 0 && (config->memory != NULL || config->real_time != CLO_REAL_TIME_OFF))
        config->policy_bytes = policy_bytes_default(platform, config);
    if (config->policy_bytes > 0)
        config->policy_bytes = clo_arena_need(config->policy_bytes);
    return CLO_OK;
}

static clo_status read_config(const clo_platform *platform, const clo_runtime_config *theirs,
                              clo_runtime_config *config)
{
    *config = (clo_runtime_config)CLO_RUNTIME_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_runtime_config");
    if (status != CLO_OK)
        return status;
    if (config->clock < CLO_CLOCK_REAL || config->clock > CLO_CLOCK_VIRTUAL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.clock is %d; use CLO_CLOCK_...", (int)config->clock);
    if (config->jobs_max > JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.jobs_max is %u; at most %u", config->jobs_max, JOBS_MAX);
    if (config->fifo_priority < 0 || config->fifo_priority > CLO_FIFO_MAX)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_runtime_config.fifo_priority is %d; use 0, or 1 to %d: the watchdog has one more",
                        (int)config->fifo_priority, CLO_FIFO_MAX);
    if (config->dilate > 1 && config->clock != CLO_CLOCK_PADDED)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.dilate is %u; only CLO_CLOCK_PADDED can be stretched",
                        config->dilate);
    if (config->dilate > CLO_DILATE_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.dilate is %u; at most %u", config->dilate, CLO_DILATE_MAX);
    if (config->help < -1 || config->help > 1)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.help is %d; use -1, 0 or 1", (int)config->help);
    if (config->spin_ns < -1)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.spin_ns is %lld; use -1 not to spin, or a time",
                        (long long)config->spin_ns);
    if (config->slot_workers > CARRIERS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.slot_workers is %u; at most %u", config->slot_workers,
                        CARRIERS_MAX);
    if (config->jobs_max == 0)
        config->jobs_max = JOBS_DEFAULT;
    status = read_memory_config(config);
    return status == CLO_OK ? read_policy_config(platform, config) : status;
}

/* The runtime and its parts, in one piece. */
typedef struct parts {
    clo_runtime *runtime;
    clo_recorded *records;
} parts;

/* `stacks`: whether those of the workers are ours. */
static void carve(const clo_platform *platform, const clo_runtime_config *config, bool stacks, clo_runtime *runtime,
                  parts *at, clo_block *block)
{
    size_t workers = platform->executors_count;

    runtime->workers_count = platform->executors_count;
    runtime->first_slot = config->clock == CLO_CLOCK_REAL ? clo_slots_first(platform) : platform->executors_count;
    runtime->slot_threads_count = clo_slot_threads(runtime->workers_count - runtime->first_slot, config->slot_workers);
    runtime->scheduling.memory_bytes = clo_scheduling_bytes(platform, config->jobs_max, config->clock);
    clo_carve(block, &at->runtime, 1);
    clo_carve(block, &runtime->workers, workers);
    clo_carve(block, &runtime->slot_threads, runtime->slot_threads_count);
    clo_carve(block, &runtime->machines, platform->machines_count);
    clo_carve(block, &runtime->pages, clo_capacity_pages(platform, platform->executors_count + 1));
    clo_carve(block, &runtime->jobs, config->jobs_max);
    clo_carve(block, &runtime->monitored, config->jobs_max);
    clo_carve(block, &runtime->scheduling.followers, config->jobs_max);
    clo_carve(block, &runtime->visits, 1);
    clo_carve(block, &runtime->free_slots, config->jobs_max);
    clo_carve(block, &runtime->watchdog.jobs, config->jobs_max);
    clo_carve(block, &runtime->scheduling.memory, runtime->scheduling.memory_bytes);
    if (config->policy_bytes > 0)
        clo_carve_bytes(block, &runtime->scheduling.places, 2, config->policy_bytes);
    clo_carve(block, &at->records, workers * config->recorder_events);
    if (stacks)
        clo_carve_bytes(block, &runtime->stacks, (size_t)clo_runtime_threads(runtime) + 1, config->stack_bytes);
}

static clo_status allocate_runtime(const clo_platform *platform, const clo_runtime_config *config, clo_runtime **out)
{
    bool is_callers = config->memory != NULL;
    clo_runtime built = {.block_bytes = 0};
    parts at;
    clo_block block = {0};
    clo_arena arena;

    carve(platform, config, is_callers, &built, &at, &block);
    size_t bytes = clo_arena_need(block.bytes);
    if (is_callers && !block.is_refused && config->memory_bytes < bytes)
        return clo_fail(CLO_ERR_MEMORY, "clo_runtime_config.memory_bytes is %zu; this runtime needs %zu",
                        config->memory_bytes, bytes);
    clo_arena_open(&arena, config->memory, config->memory_bytes);
    if (!clo_block_take(&block, &arena))
        return clo_fail_memory("a runtime");

    clo_runtime *runtime = at.runtime;
    *runtime = built;
    runtime->arena = arena;
    runtime->block_bytes = bytes;
    runtime->stack_bytes = config->stack_bytes;
    runtime->scheduling.policy_bytes = config->policy_bytes;
    for (uint32_t w = 0; w < platform->executors_count && config->recorder_events > 0; w++) {
        clo_ring_init(&runtime->workers[w].recorder.ring, at.records + (size_t)w * config->recorder_events,
                      sizeof(clo_recorded), config->recorder_events);
        runtime->workers[w].recorder.every = config->recorder_every;
    }
    *out = runtime;
    return CLO_OK;
}

static void configure(clo_runtime *runtime, const clo_platform *platform, const clo_runtime_config *config)
{
    runtime->platform = platform;
    runtime->clock = config->clock;
    runtime->dilate = config->dilate == 0 ? 1 : config->dilate;
    runtime->traces = config->trace != 0;
    runtime->copies = config->copy_always != 0 || !platform->coherent;
    runtime->pins = config->unpinned == 0;
    runtime->spin_ns = config->spin_ns == 0 ? SPIN_DEFAULT_NS : config->spin_ns < 0 ? 0 : config->spin_ns;
    runtime->fifo_priority = config->fifo_priority;
    runtime->scheduling.is_virtual = config->clock == CLO_CLOCK_VIRTUAL;
    runtime->helps = config->clock == CLO_CLOCK_REAL && clo_borrow_is_on(config);
    runtime->is_uniform = clo_borrow_is_uniform(platform);
    runtime->real_time = config->real_time;
    runtime->names_signals = config->name_signals != 0;
    runtime->recorder_events = config->recorder_events;
    clo_clock_pair(&runtime->line.ticks, &runtime->line.ns);
    runtime->jobs_max = config->jobs_max;
    for (uint32_t slot = config->jobs_max; slot-- > 0;)
        runtime->free_slots[runtime->free_count++] = slot;
    clo_runtime_note_forks(runtime);
    (void)clo_lock_init(&runtime->control); /* where that cannot be, clo_watchdog_init says so */
    clo_fence_init(&runtime->fence);
    clo_scheduling_init(runtime);
    init_machines(runtime, runtime->pages);
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        init_worker(runtime, w);
    clo_slots_init(runtime);
}

static clo_status start_watchdog(clo_runtime *runtime)
{
    if (!clo_real_time_is_wanted(runtime))
        return CLO_OK;
    clo_status status = clo_watchdog_need(&runtime->watchdog);
    return status != CLO_OK ? status : clo_real_time_report_priority(runtime, true, runtime->watchdog.fifo_error);
}

static clo_status start(clo_runtime *runtime)
{
    clo_status status = clo_watchdog_init(&runtime->watchdog, runtime);
    if (status != CLO_OK)
        return status;
    status = clo_runtime_place(runtime);
    if (status == CLO_OK)
        status = clo_real_time_lock(runtime);
    if (status == CLO_OK && runtime->names_signals)
        status = clo_signals_begin(runtime);
    if (status != CLO_OK)
        return clo_watchdog_stop(&runtime->watchdog), status;
    status = start_threads(runtime);
    if (status == CLO_OK) {
        status = start_watchdog(runtime);
        if (status == CLO_OK)
            return CLO_OK;
        stop_threads(runtime, clo_runtime_threads(runtime));
    }
    if (runtime->names_signals)
        clo_signals_end(runtime);
    clo_watchdog_stop(&runtime->watchdog);
    return status;
}

clo_status clo_runtime_create_with(const clo_platform *platform, const clo_runtime_config *theirs,
                                   const clo_features *features, clo_runtime **out)
{
    clo_runtime_config config;
    clo_features has = CLO_FEATURES_INIT;
    clo_runtime *runtime = NULL;

    if (platform == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_create needs a platform and a place for the result");
    clo_status status = clo_config_read(&has, sizeof has, features, "clo_features");
    if (status == CLO_OK)
        status = read_config(platform, theirs, &config);
    if (status == CLO_OK && config.clock != CLO_CLOCK_REAL && has.clocks == NULL)
        status =
            clo_fail(CLO_ERR_UNSUPPORTED, "clo_runtime_config.clock is emulated; name clo_with_clocks in clo_features");
    if (status == CLO_OK)
        status = allocate_runtime(platform, &config, &runtime);
    if (status != CLO_OK)
        return status;
    runtime->features.policies = has.policies != NULL ? has.policies->functions : NULL;
    runtime->features.pipelines = has.pipelines != NULL ? has.pipelines->functions : NULL;
    runtime->features.clocks = has.clocks != NULL ? has.clocks->functions : NULL;
    configure(runtime, platform, &config);
    status = start(runtime);
    if (status != CLO_OK) {
        pthread_mutex_destroy(&runtime->control);
        free_runtime(runtime);
        return status;
    }
    *out = runtime;
    return CLO_OK;
}

clo_status clo_runtime_create(const clo_platform *platform, const clo_runtime_config *config, clo_runtime **out)
{
    static const clo_features all = {.size = sizeof all,
                                     .policies = &clo_with_policies,
                                     .pipelines = &clo_with_pipelines,
                                     .clocks = &clo_with_clocks};

    return clo_runtime_create_with(platform, config, &all, out);
}

clo_status clo_runtime_memory_bytes(const clo_platform *platform, const clo_runtime_config *theirs, size_t *bytes)
{
    clo_runtime_config config;
    clo_runtime sizes = {.block_bytes = 0};
    parts at;
    clo_block block = {0};

    if (platform == NULL || bytes == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_memory_bytes needs a platform and a place for the result");
    clo_status status = read_config(platform, theirs, &config);
    if (status != CLO_OK)
        return status;
    if (config.stack_bytes == 0)
        config.stack_bytes = CLO_STACK_DEFAULT_BYTES;
    if (config.policy_bytes == 0)
        config.policy_bytes = policy_bytes_default(platform, &config);
    carve(platform, &config, true, &sizes, &at, &block);
    if (block.is_refused)
        return clo_fail_memory("a runtime");
    *bytes = clo_arena_need(block.bytes);
    return CLO_OK;
}

/* Cancels what runs. False: something did. Under the lock: bodies may make jobs, and destroy some that do not run. */
static bool cancel_all(clo_runtime *runtime)
{
    bool are_over = true;

    pthread_mutex_lock(&runtime->control);
    for (uint32_t j = 0; j < runtime->jobs_max; j++) {
        clo_job *job = runtime->jobs[j];
        if (job == NULL || clo_job_is_over(job))
            continue;
        are_over = false;
        if (!clo_stop_is_cancelled(&job->stop))
            clo_job_cancel(job);
    }
    pthread_mutex_unlock(&runtime->control);
    return are_over;
}

/* Twice: a body may have submitted a job that was looked at already, and ended before its own job was. */
static bool are_over(void *runtime)
{
    for (uint32_t looks = 0; looks < 2; looks++)
        if (!cancel_all(runtime))
            return false;
    return true;
}

/* False: the time was up. No job goes before all have ended: a body, and a handler of misses, may name another job. */
static bool end_jobs(clo_runtime *runtime, int64_t until_ns)
{
    if (!clo_runtime_wait_until(runtime, until_ns, CLOSE_STEP_NS, are_over, runtime))
        return false;
    for (uint32_t j = 0; j < runtime->jobs_max; j++)
        clo_job_destroy(runtime->jobs[j]);
    return true;
}

/* In a process that was forked away from the workers there is nobody to wait for. */
static void free_forked(clo_runtime *runtime)
{
    if (!clo_runtime_is_whole(runtime))
        return;
    for (uint32_t j = 0; j < runtime->jobs_max; j++)
        if (runtime->jobs[j] != NULL)
            clo_job_leave(runtime->jobs[j]);
    free_runtime(runtime);
}

clo_status clo_runtime_close(clo_runtime *runtime, int64_t timeout_ns)
{
    char running[200];

    if (runtime == NULL)
        return CLO_OK;
    if (clo_thread_is_worker(runtime) || clo_thread_is_watchdog(runtime))
        return clo_fail(CLO_ERR_STATE, "a task body or a handler of misses may not close the runtime that runs it");
    if (clo_runtime_is_forked(runtime))
        return free_forked(runtime), CLO_OK;
    atomic_store_explicit(&runtime->closing, 1, memory_order_relaxed);
    if (!end_jobs(runtime, clo_time_add(clo_clock_ns(), timeout_ns > 0 ? timeout_ns : 0))) {
        pthread_mutex_lock(&runtime->control); /* bodies may destroy jobs */
        clo_runtime_name_running(runtime, NULL, running, sizeof running);
        pthread_mutex_unlock(&runtime->control);
        return clo_fail(CLO_ERR_TIMEOUT, "the runtime cannot close yet; running: %s; close it again to wait on",
                        running);
    }
    if (runtime->names_signals)
        clo_signals_end(runtime);
    clo_watchdog_stop(&runtime->watchdog);
    stop_threads(runtime, clo_runtime_threads(runtime));
    /* Acquire, pairs with the release in clo_token_complete: completions that ended the last jobs have returned. */
    for (uint32_t left; (left = atomic_load_explicit(&runtime->completers, memory_order_acquire)) != 0;)
        clo_futex_doze(&runtime->completers, left);
    pthread_mutex_destroy(&runtime->control);
    free_runtime(runtime);
    return CLO_OK;
}

void clo_runtime_destroy(clo_runtime *runtime)
{
    clo_status status = clo_runtime_close(runtime, INT64_MAX);

    (void)status; /* from a task body: nothing has happened, and clo_last_error says so */
}

const clo_platform *clo_runtime_platform(const clo_runtime *runtime)
{
    return runtime != NULL ? runtime->platform : NULL;
}

uint32_t clo_runtime_workers(const clo_runtime *runtime)
{
    return runtime != NULL ? runtime->workers_count : 0;
}
