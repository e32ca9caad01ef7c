/* runtime.c - the workers: created, pinned, stopped. */
#define _GNU_SOURCE /* CPU sets */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "run/run.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define SPIN_DEFAULT_NS 20000
#define JOBS_DEFAULT 256u
#define JOBS_MAX 65536u

static clo_status pin(const clo_worker *worker)
{
    cpu_set_t set;

    if (worker->cpu < 0)
        return CLO_OK;
    CPU_ZERO(&set);
    CPU_SET((size_t)worker->cpu, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    return error == 0 ? CLO_OK
                      : clo_fail(CLO_ERR_SYSTEM, "cannot pin worker %u to CPU %d: %s; allow the CPU or run unpinned",
                                 worker->index, (int)worker->cpu, strerror(error));
}

static clo_status raise_priority(const clo_worker *worker)
{
    struct sched_param parameter = {.sched_priority = worker->runtime->fifo_priority};

    if (parameter.sched_priority == 0)
        return CLO_OK;
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);
    return error == 0 ? CLO_OK
                      : clo_fail(CLO_ERR_SYSTEM,
                                 "cannot give worker %u SCHED_FIFO priority %d: %s; raise "
                                 "RLIMIT_RTPRIO or grant CAP_SYS_NICE",
                                 worker->index, parameter.sched_priority, strerror(error));
}

static void *worker_main(void *argument)
{
    clo_worker *worker = argument;
    clo_runtime *runtime = worker->runtime;

    worker->start_status = pin(worker);
    if (worker->start_status == CLO_OK)
        worker->start_status = raise_priority(worker);
    if (worker->start_status != CLO_OK)
        snprintf(worker->start_error, sizeof worker->start_error, "%s", clo_last_error());
    /* Release pairs with the acquire in start_workers: carries start_status. */
    atomic_fetch_add_explicit(&runtime->started, 1, memory_order_release);
    clo_futex_wake_all(&runtime->started);
    clo_worker_run(worker);
    return NULL;
}

/* CPUs this process may use, in order, into cpus[max]; returns their number. */
static uint32_t allowed_cpus(int32_t *cpus, uint32_t max)
{
    cpu_set_t set;
    uint32_t count = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set)) {
            if (count < max)
                cpus[count] = cpu;
            count++;
        }
    return count;
}

static clo_status place_workers(clo_runtime *runtime)
{
    int32_t cpus[CPU_SETSIZE];
    uint32_t allowed = allowed_cpus(cpus, CPU_SETSIZE);
    bool is_real = runtime->clock == CLO_CLOCK_REAL;

    runtime->is_oversubscribed = runtime->workers_count > allowed;
    if (runtime->is_oversubscribed)
        runtime->spin_ns = 0; /* an idle worker would spin on the CPU that a busy one needs */
    if (is_real && runtime->pins && runtime->is_oversubscribed)
        return clo_fail(CLO_ERR_PLATFORM,
                        "platform '%s' has %u executors but this process may use %u CPUs; "
                        "choose the padded or virtual clock, or a smaller platform",
                        runtime->platform->name, runtime->workers_count, allowed);
    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        int32_t own = runtime->platform->executors[w].os_index;
        bool can_pin = runtime->pins && !runtime->is_oversubscribed && runtime->clock != CLO_CLOCK_VIRTUAL;
        runtime->workers[w].cpu = !can_pin ? -1 : is_real && own >= 0 ? own : cpus[w];
    }
    return CLO_OK;
}

static void init_worker(clo_runtime *runtime, uint32_t index)
{
    clo_worker *worker = &runtime->workers[index];

    worker->runtime = runtime;
    worker->index = index;
    worker->local = CLO_ITEM_NONE;
    worker->rng = clo_rng_seed(index);
    clo_stack_init(&worker->inbox);
    clo_stack_init(&worker->shelf);
    atomic_init(&worker->current, CLO_ITEM_NONE);
    worker->call = (clo_call){.executor = index};
}

static void init_gates(clo_runtime *runtime)
{
    const clo_platform *platform = runtime->platform;

    for (uint32_t m = 0; m < platform->machines_count; m++) {
        runtime->gates[m].waiting = CLO_ITEM_NONE;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t capacity = platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            runtime->gates[m].available[r] = capacity < 0 ? INT64_MAX : capacity;
        }
    }
}

static void stop_workers(clo_runtime *runtime, uint32_t count)
{
    atomic_store_explicit(&runtime->stopping, 1, memory_order_seq_cst);
    clo_barrier_heavy(&runtime->barrier);
    for (uint32_t w = 0; w < count; w++)
        (void)clo_parker_wake(&runtime->workers[w].parker);
    for (uint32_t w = 0; w < count; w++)
        pthread_join(runtime->workers[w].thread, NULL);
}

static clo_status start_workers(clo_runtime *runtime)
{
    uint32_t created = 0;
    int error = 0;

    for (; created < runtime->workers_count; created++) {
        error = pthread_create(&runtime->workers[created].thread, NULL, worker_main, &runtime->workers[created]);
        if (error != 0)
            break;
    }
    for (;;) { /* each worker counts itself soon after its birth */
        uint32_t started = atomic_load_explicit(&runtime->started, memory_order_acquire);
        if (started == created)
            break;
        clo_futex_wait(&runtime->started, started);
    }
    clo_status status = CLO_OK;
    if (created < runtime->workers_count)
        status = clo_fail(CLO_ERR_SYSTEM, "cannot create worker %u of %u: %s", created, runtime->workers_count,
                          strerror(error));
    for (uint32_t w = 0; w < created && status == CLO_OK; w++)
        if (runtime->workers[w].start_status != CLO_OK)
            status = clo_fail(runtime->workers[w].start_status, "%s", runtime->workers[w].start_error);
    if (status != CLO_OK)
        stop_workers(runtime, created);
    return status;
}

static clo_status read_config(const clo_runtime_config *theirs, clo_runtime_config *config)
{
    *config = (clo_runtime_config)CLO_RUNTIME_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_runtime_config");
    if (status != CLO_OK)
        return status;
    if (config->clock < CLO_CLOCK_REAL || config->clock > CLO_CLOCK_VIRTUAL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.clock is %d; use CLO_CLOCK_...", (int)config->clock);
    if (config->jobs_max > JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_runtime_config.jobs_max is %u; at most %u", config->jobs_max, JOBS_MAX);
    if (config->fifo_priority < 0 || config->fifo_priority > 99)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_config.fifo_priority is %d; use 0, or 1 to 99",
                        (int)config->fifo_priority);
    if (config->jobs_max == 0)
        config->jobs_max = JOBS_DEFAULT;
    return CLO_OK;
}

static clo_runtime *allocate_runtime(const clo_platform *platform, uint32_t jobs_max)
{
    clo_layout layout = {0};
    size_t at_runtime = clo_layout_add(&layout, 1, sizeof(clo_runtime));
    size_t at_workers = clo_layout_add(&layout, platform->executors_count, sizeof(clo_worker));
    size_t at_gates = clo_layout_add(&layout, platform->machines_count, sizeof(clo_gate));
    size_t at_jobs = clo_layout_add(&layout, jobs_max, sizeof(clo_job *));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return NULL;

    clo_runtime *runtime = (clo_runtime *)(void *)(block + at_runtime); /* first: freeing it frees all */
    runtime->workers = (clo_worker *)(void *)(block + at_workers);
    runtime->gates = (clo_gate *)(void *)(block + at_gates);
    runtime->jobs = (clo_job **)(void *)(block + at_jobs);
    return runtime;
}

clo_status clo_runtime_create(const clo_platform *platform, const clo_runtime_config *theirs, clo_runtime **out)
{
    clo_runtime_config config;

    if (platform == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_runtime_create needs a platform and a place for the result");
    clo_status status = read_config(theirs, &config);
    if (status != CLO_OK)
        return status;
    clo_runtime *runtime = allocate_runtime(platform, config.jobs_max);
    if (runtime == NULL)
        return clo_fail_memory("a runtime");

    runtime->platform = platform;
    runtime->clock = config.clock;
    runtime->traces = config.trace != 0;
    runtime->copies = config.copy_always != 0 || !platform->coherent;
    runtime->pins = config.unpinned == 0;
    runtime->spin_ns = config.spin_ns == 0 ? SPIN_DEFAULT_NS : config.spin_ns < 0 ? 0 : config.spin_ns;
    runtime->fifo_priority = config.fifo_priority;
    runtime->workers_count = platform->executors_count;
    runtime->jobs_max = config.jobs_max;
    pthread_mutex_init(&runtime->control, NULL);
    clo_barrier_init(&runtime->barrier);
    init_gates(runtime);
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        init_worker(runtime, w);

    status = place_workers(runtime);
    if (status == CLO_OK)
        status = start_workers(runtime);
    if (status != CLO_OK) {
        pthread_mutex_destroy(&runtime->control);
        clo_free(runtime);
        return status;
    }
    *out = runtime;
    return CLO_OK;
}

void clo_runtime_destroy(clo_runtime *runtime)
{
    if (runtime == NULL)
        return;
    for (uint32_t j = 0; j < runtime->jobs_max; j++) {
        if (runtime->jobs[j] != NULL)
            clo_job_cancel(runtime->jobs[j]);
        clo_job_destroy(runtime->jobs[j]);
    }
    stop_workers(runtime, runtime->workers_count);
    pthread_mutex_destroy(&runtime->control);
    clo_free(runtime);
}

const clo_platform *clo_runtime_platform(const clo_runtime *runtime)
{
    return runtime->platform;
}

uint32_t clo_runtime_workers(const clo_runtime *runtime)
{
    return runtime->workers_count;
}

bool clo_runtime_is_emulated(const clo_runtime *runtime)
{
    return runtime->clock != CLO_CLOCK_REAL;
}
