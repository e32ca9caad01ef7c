/* job.c - the life of a job: create allocates, submit arms, wait reads, destroy frees. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "run/run.h"
#include "trace/trace.h"

#include <string.h>

static clo_status check_arguments(const clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config)
{
    if (runtime == NULL || cost == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_create needs a runtime and a cost");
    if (clo_cost_platform(cost) != runtime->platform)
        return clo_fail(CLO_ERR_ARGUMENT, "the cost was built for another platform than the runtime's");
    if (config->plan != NULL && config->policy != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config has both a plan and a policy; give one");
    if (config->policy != NULL && (config->policy->ready == NULL || config->policy->pick == NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no ready or no pick function");
    if (runtime->clock == CLO_CLOCK_VIRTUAL && config->plan == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the virtual clock on workers needs a plan; use clo_simulate for policies");
    if (config->deadline_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.deadline_ns is negative; use 0 for none");
    return CLO_OK;
}

/* Everything per entry and per worker in one block. */
static clo_status allocate_parts(clo_job *job)
{
    const clo_program *program = job->program;
    size_t workers = job->runtime->workers_count, inputs = program->inputs_max;
    clo_layout layout = {0};

    size_t at_links = clo_layout_add(&layout, program->entries, sizeof(uint64_t));
    size_t at_stats = clo_layout_add(&layout, workers, sizeof(clo_engine_stats));
    size_t at_scratch = clo_layout_add(&layout, workers, sizeof(clo_engine_scratch));
    size_t at_free = clo_layout_add(&layout, workers, sizeof(int64_t) * 8);
    size_t at_decisions = clo_layout_add(&layout, 1, sizeof(clo_histogram));
    size_t at_events = clo_layout_add(&layout, job->runtime->traces ? program->entries : 0, sizeof(clo_trace_event));
    bool shows_inputs = program->graph->has_outputs;
    size_t at_inputs = clo_layout_add(&layout, shows_inputs ? workers * inputs : 0, sizeof(void *));
    size_t at_bytes = clo_layout_add(&layout, shows_inputs ? workers * inputs : 0, sizeof(size_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return clo_fail_memory("a job");

    job->block = block;
    job->links = (uint64_t *)(void *)(block + at_links);
    job->stats = (clo_engine_stats *)(void *)(block + at_stats);
    job->scratch = (clo_engine_scratch *)(void *)(block + at_scratch);
    job->virtual_free_ns = (int64_t *)(void *)(block + at_free);
    job->decision_ns = (clo_histogram *)(void *)(block + at_decisions);
    job->events = job->runtime->traces ? (clo_trace_event *)(void *)(block + at_events) : NULL;
    for (size_t w = 0; w < workers && shows_inputs; w++) {
        job->scratch[w].inputs = (const void **)(void *)(block + at_inputs) + w * inputs;
        job->scratch[w].bytes = (size_t *)(void *)(block + at_bytes) + w * inputs;
    }
    return CLO_OK;
}

static clo_status take_slot(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    clo_status status = CLO_OK;
    uint32_t slot = 0;

    pthread_mutex_lock(&runtime->control);
    while (slot < runtime->jobs_max && runtime->jobs[slot] != NULL)
        slot++;
    if (slot == runtime->jobs_max) {
        status = clo_fail(CLO_ERR_LIMIT, "%u jobs exist already; destroy some or raise clo_runtime_config.jobs_max",
                          runtime->jobs_max);
    } else {
        job->slot = slot;
        runtime->jobs[slot] = job;
    }
    pthread_mutex_unlock(&runtime->control);
    return status;
}

static void free_job(clo_job *job)
{
    clo_dispatch_destroy(job->dispatch);
    clo_engine_destroy(job->engine);
    clo_program_destroy(job->program);
    clo_free(job->block);
    clo_free(job);
}

static clo_status build_job(clo_job *job, const clo_cost *cost, const clo_job_config *config)
{
    clo_runtime *runtime = job->runtime;
    size_t count = 0;
    const clo_placement *placements = config->plan != NULL ? clo_plan_placements(config->plan, &count) : NULL;
    bool is_timed = runtime->clock != CLO_CLOCK_REAL || config->policy != NULL;

    clo_status status = clo_program_create(cost, placements, count, &job->program);
    if (status == CLO_OK)
        status = clo_engine_create(job->program, runtime->copies, is_timed, &job->engine);
    if (status == CLO_OK)
        status = allocate_parts(job);
    if (status == CLO_OK && config->policy != NULL)
        status = clo_dispatch_create(job->engine, config->policy, &job->dispatch);
    if (status == CLO_OK)
        status = take_slot(job);
    return status;
}

clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *theirs, clo_job **out)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_status status = clo_config_read(&config, sizeof config, theirs, "clo_job_config");

    if (status == CLO_OK)
        status = check_arguments(runtime, cost, &config);
    if (status != CLO_OK)
        return status;
    clo_job *job = clo_allocate_aligned(1, sizeof *job);
    if (job == NULL)
        return clo_fail_memory("a job");
    job->runtime = runtime;
    job->deadline_ns = config.deadline_ns;
    clo_stack_init(&job->completions);
    status = build_job(job, cost, &config);
    if (status != CLO_OK)
        return free_job(job), status;
    *out = job;
    return CLO_OK;
}

static uint64_t count_parks(const clo_runtime *runtime)
{
    uint64_t parks = 0;

    for (uint32_t w = 0; w < runtime->workers_count; w++)
        parks += atomic_load_explicit(&runtime->workers[w].parks, memory_order_relaxed);
    return parks;
}

/* Plain and relaxed stores: the push of the first item publishes them all. */
static void arm(clo_job *job)
{
    uint32_t workers = job->runtime->workers_count;

    clo_engine_reset(job->engine);
    memset(job->stats, 0, workers * sizeof *job->stats);
    memset(job->decision_ns, 0, sizeof *job->decision_ns);
    memset(job->virtual_free_ns, 0, workers * sizeof *job->virtual_free_ns);
    for (uint32_t entry = 0; job->events != NULL && entry < job->program->entries; entry++)
        job->events[entry].executor = CLO_NONE; /* not executed */
    atomic_store_explicit(&job->stop, 0, memory_order_relaxed);
    atomic_store_explicit(&job->cancelled, 0, memory_order_relaxed);
    atomic_store_explicit(&job->failure, 0, memory_order_relaxed);
    atomic_store_explicit(&job->sequence, 0, memory_order_relaxed);
    atomic_store_explicit(&job->exits_left, job->program->exits, memory_order_relaxed);
    atomic_store_explicit(&job->turn, 1, memory_order_relaxed);
    clo_stack_init(&job->completions);
    job->parks_before = count_parks(job->runtime);
    job->was_submitted = true;
}

clo_status clo_job_submit(clo_job *job)
{
    if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_RUNNING)
        return clo_fail(CLO_ERR_STATE, "the job is running; wait for it before the next submit");
    arm(job);
    atomic_store_explicit(&job->state, CLO_JOB_RUNNING, memory_order_relaxed);
    job->submit_ns = clo_clock_ns();
    clo_job_start(job);
    return CLO_OK;
}

static void wait_done(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_DONE)
        return;
    /* seq_cst with the finisher's epoch: two locations, waiters and done_epoch (see end_job). */
    atomic_fetch_add_explicit(&runtime->waiters, 1, memory_order_seq_cst);
    for (;;) { /* every end of a job moves the epoch */
        uint32_t epoch = atomic_load_explicit(&runtime->done_epoch, memory_order_seq_cst);
        if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_DONE)
            break;
        clo_futex_wait(&runtime->done_epoch, epoch);
    }
    atomic_fetch_sub_explicit(&runtime->waiters, 1, memory_order_relaxed);
}

static int64_t makespan_ns(const clo_job *job)
{
    int64_t last_ns = 0;

    if (job->runtime->clock != CLO_CLOCK_VIRTUAL)
        return job->end_ns - job->submit_ns;
    for (uint32_t entry = 0; entry < job->program->entries; entry++)
        if (job->engine->finish_ns[entry] > last_ns)
            last_ns = job->engine->finish_ns[entry];
    return last_ns;
}

static void sum_stats(const clo_job *job, clo_job_result *result)
{
    int64_t wanted_ns = 0, missed_ns = 0;

    for (uint32_t w = 0; w < job->runtime->workers_count; w++) {
        const clo_engine_stats *stats = &job->stats[w];
        result->executed += stats->executed;
        result->duplicates_run += stats->duplicates;
        result->transfers += stats->transfers;
        result->transferred_bytes += stats->transferred_bytes;
        result->copied_bytes += stats->copied_bytes;
        result->steals += stats->steals;
        result->busy_ns += stats->busy_ns;
        wanted_ns += stats->wanted_ns;
        missed_ns += stats->missed_ns;
    }
    result->emulation_error = wanted_ns > 0 ? (double)missed_ns / (double)wanted_ns : 0;
    result->parks = count_parks(job->runtime) - job->parks_before;
}

static void read_decisions(const clo_job *job, clo_job_result *result)
{
    const clo_histogram *histogram = job->decision_ns;

    result->decisions = job->dispatch->decisions;
    result->decision_p50_ns = clo_histogram_quantile(histogram, 0.5);
    result->decision_p99_ns = clo_histogram_quantile(histogram, 0.99);
    result->decision_p999_ns = clo_histogram_quantile(histogram, 0.999);
    result->decision_max_ns = histogram->max_ns;
}

static clo_status read_status(const clo_job *job, clo_job_result *result)
{
    /* Acquire pairs with the release in fail_job. */
    uint64_t failure = atomic_load_explicit(&job->failure, memory_order_acquire);
    char scratch[16];

    if (failure != 0) {
        result->failed_task = (uint32_t)((failure >> 32) - 1);
        result->failed_code = (int)(uint32_t)failure;
        return clo_fail(CLO_ERR_TASK, "task '%s' failed with %d",
                        clo_graph_task_name(job->program->graph, result->failed_task, scratch), result->failed_code);
    }
    if (job->dispatch != NULL && job->dispatch->status != CLO_OK)
        return clo_fail(job->dispatch->status, "%s", job->dispatch->error);
    if (atomic_load_explicit(&job->cancelled, memory_order_relaxed) != 0 && result->executed < job->program->entries)
        return clo_fail(CLO_ERR_CANCELLED, "the job was cancelled after %llu of %u executions",
                        (unsigned long long)result->executed, job->program->entries);
    return CLO_OK;
}

clo_status clo_job_wait(clo_job *job, clo_job_result *out)
{
    clo_job_result result = {.failed_task = CLO_NONE};

    if (!job->was_submitted)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted");
    wait_done(job);
    sum_stats(job, &result);
    result.makespan_ns = makespan_ns(job);
    result.missed_deadline = job->deadline_ns > 0 && result.makespan_ns > job->deadline_ns;
    if (job->dispatch != NULL)
        read_decisions(job, &result);
    result.status = read_status(job, &result);
    if (out != NULL)
        *out = result;
    return result.status;
}

void clo_job_cancel(clo_job *job)
{
    atomic_store_explicit(&job->cancelled, 1, memory_order_relaxed);
    atomic_store_explicit(&job->stop, 1, memory_order_relaxed); /* orders nothing: bodies may start until it is seen */
}

void clo_job_destroy(clo_job *job)
{
    if (job == NULL)
        return;
    if (job->was_submitted)
        wait_done(job);
    clo_runtime *runtime = job->runtime;
    pthread_mutex_lock(&runtime->control);
    runtime->jobs[job->slot] = NULL;
    pthread_mutex_unlock(&runtime->control);
    free_job(job);
}

const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes)
{
    const clo_graph *graph = job->program->graph;

    if (bytes != NULL)
        *bytes = 0;
    if (task >= graph->tasks || instance >= graph->rows[task].instances)
        return NULL;
    if (bytes != NULL)
        *bytes = (size_t)graph->rows[task].output_bytes;
    return clo_engine_output(job->engine, graph->first_instance[task] + instance);
}

uint64_t clo_job_output_hash(const clo_job *job)
{
    return clo_engine_output_hash(job->engine);
}

clo_status clo_job_trace(const clo_job *job, clo_trace **out)
{
    size_t count = 0;

    if (job->events == NULL)
        return clo_fail(CLO_ERR_STATE, "the runtime keeps no trace; set clo_runtime_config.trace");
    if (atomic_load_explicit(&job->state, memory_order_acquire) != CLO_JOB_DONE)
        return clo_fail(CLO_ERR_STATE, "the job has not run to its end; wait for it first");
    clo_trace_event *events = clo_allocate(job->program->entries, sizeof *events);
    if (events == NULL)
        return clo_fail_memory("a trace");
    for (uint32_t entry = 0; entry < job->program->entries; entry++)
        if (job->events[entry].executor != CLO_NONE)
            events[count++] = job->events[entry];
    clo_status status = clo_trace_create(events, count, out);
    clo_free(events);
    return status;
}
