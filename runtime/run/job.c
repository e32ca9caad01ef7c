/* job.c - the life of a job: create allocates everything, destroy frees; submit.c has what lies between. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "run/run.h"

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
    size_t at_slots = clo_layout_add(&layout, workers + 1, sizeof(clo_board_slot));
    size_t at_news = clo_layout_add(&layout, workers, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return clo_fail_memory("a job");

    job->block = block;
    job->links = (uint64_t *)(void *)(block + at_links);
    job->stats = (clo_engine_stats *)(void *)(block + at_stats);
    job->scratch = (clo_engine_scratch *)(void *)(block + at_scratch);
    job->virtual_free_ns = (int64_t *)(void *)(block + at_free);
    job->decision_ns = (clo_histogram *)(void *)(block + at_decisions);
    job->news = (uint32_t *)(void *)(block + at_news);
    clo_board_init(&job->board, (clo_board_slot *)(void *)(block + at_slots), (uint32_t)workers + 1);
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

static void choose_path(clo_job *job)
{
    const clo_program *program = job->program;
    const clo_graph *graph = program->graph;
    bool has_kind_bodies = false;

    for (uint32_t t = 0; t < graph->tasks && !has_kind_bodies; t++)
        has_kind_bodies = graph->rows[t].has_kind_body != 0;
    job->is_pinned = program->is_replay || program->is_restricted || job->dispatch != NULL;
    job->is_plain = job->runtime->clock == CLO_CLOCK_REAL && job->dispatch == NULL &&
                    (job->events == NULL || clo_ticks_are_steady()) && !job->engine->is_timed &&
                    program->entries == program->instances && !graph->has_demands && !graph->has_outputs &&
                    !program->crosses_memories && !has_kind_bodies;
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
        status = clo_dispatch_create(job->engine, config->policy, config->steps_max, &job->dispatch);
    if (status == CLO_OK)
        choose_path(job);
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
    status = build_job(job, cost, &config);
    if (status != CLO_OK)
        return free_job(job), status;
    *out = job;
    return CLO_OK;
}

void clo_job_destroy(clo_job *job)
{
    if (job == NULL)
        return;
    if (job->was_submitted)
        clo_job_wait_end(job);
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
