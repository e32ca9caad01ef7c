/* job_create.c - the life of a job: create takes everything from one arena, destroy gives it back; submit.c has what
 * lies between. */
#include "run/control/job_create.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/facts.h"
#include "run/body/hedge.h"
#include "run/body/pacings.h"
#include "run/control/attach.h"
#include "run/dispatch/dispatches.h"
#include "run/dispatch/pipeline.h"
#include "run/extras/checkpoint.h"
#include "run/extras/overrun.h"
#include "run/job/done.h"
#include "run/job/job_body.h"
#include "run/records/monitor.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "run/threads/watchdog_loop.h"

#define POLL_SHORTEST_NS 50000
#define POLL_LONGEST_NS 10000000
#define PERIOD_LEAST_NS 1000 /* what no watchdog can keep up with is refused */

static clo_status check_timing(const clo_runtime *runtime, const clo_job_config *config)
{
    if (config->deadline_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.deadline_ns is negative; use 0 for none");
    if (config->period_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.period_ns is negative; use 0 for none");
    if (config->period_ns > 0 && config->period_ns < PERIOD_LEAST_NS)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.period_ns is %lld; the shortest period is %d ns",
                        (long long)config->period_ns, PERIOD_LEAST_NS);
    if (config->task_limit_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.task_limit_ns is negative; use 0 for none");
    if (config->on_miss < CLO_MISS_RUN_LATE || config->on_miss > CLO_MISS_ABORT)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.on_miss is %d; use CLO_MISS_...", (int)config->on_miss);
    if (config->releases > 0 && config->period_ns == 0 && config->releases_in_flight == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.releases without period_ns; set both");
    if (config->period_ns > 0 && config->deadline_ns / CLO_SERIES_PERIODS > config->period_ns)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.deadline_ns is more than %u periods; shorten it",
                        CLO_SERIES_PERIODS);
    if (config->period_ns > 0 && runtime->clock == CLO_CLOCK_VIRTUAL && config->releases_in_flight == 0)
        return clo_fail(CLO_ERR_UNSUPPORTED, "a period needs a real or padded clock, or releases_in_flight");
    bool is_watched = config->period_ns > 0 || config->task_limit_ns > 0 || config->task_limit_percent > 0 ||
                      config->miss != NULL || config->on_miss == CLO_MISS_ABORT;
    if (runtime->dilate > 1 && is_watched)
        return clo_fail(CLO_ERR_UNSUPPORTED, "periods, limits and what is done about misses are kept in real time; "
                                             "leave clo_runtime_config.dilate at 1 for them");
    return CLO_OK;
}

/* What the job asks for and the runtime has not. */
static clo_status check_features(const clo_runtime *runtime, const clo_job_config *config)
{
    if (config->policy != NULL && runtime->features.policies == NULL)
        return clo_runtime_fail_lacks("policies");
    if (config->releases_in_flight > 0 && runtime->features.pipelines == NULL)
        return clo_runtime_fail_lacks("pipelines");
    return CLO_OK;
}

/* What cannot be done in emulated time. */
static clo_status check_real(const clo_job_config *config)
{
    if (config->hedge_after_ns != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_job_config.hedge_after_ns needs the real clock");
    if (config->done != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_job_config.done needs the real clock");
    return CLO_OK;
}

static clo_status check_arguments(const clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config)
{
    if (clo_cost_platform(cost) != runtime->platform)
        return clo_fail(CLO_ERR_ARGUMENT, "the cost was built for another platform than the runtime's");
    if (config->plan != NULL && clo_plan_matches(config->plan, cost) != CLO_OK)
        return CLO_ERR_ARGUMENT;
    if (config->plan != NULL && config->policy != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config has both a plan and a policy; give one");
    if (config->band >= CLO_BANDS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.band is %u; use 0 to %d", config->band, CLO_BANDS_MAX - 1);
    if (config->tag > INT64_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.tag is more than INT64_MAX");
    if (runtime->clock == CLO_CLOCK_VIRTUAL && config->plan == NULL && config->policy == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "the virtual clock on workers needs a plan or a policy; use clo_simulate for work stealing");
    if (config->arrival_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.arrival_ns is negative; use 0 for at once");
    if (config->arrival_ns > 0 && (runtime->clock != CLO_CLOCK_VIRTUAL || config->policy == NULL))
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "clo_job_config.arrival_ns is for policies under the virtual clock; submit "
                        "the job when it is to arrive");
    if ((uintptr_t)config->memory % CLO_CACHE_LINE_BYTES != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.memory is not aligned to %d bytes", CLO_CACHE_LINE_BYTES);
    clo_status status = check_timing(runtime, config);
    if (status == CLO_OK)
        status = check_features(runtime, config);
    if (status == CLO_OK && runtime->clock != CLO_CLOCK_REAL)
        status = runtime->features.clocks->check(runtime, cost, config);
    if (status == CLO_OK && config->releases_in_flight > 0)
        status = runtime->features.pipelines->check(runtime, config);
    else if (status == CLO_OK && config->traced_releases > 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_config.traced_releases is for releases_in_flight; set both");
    return status == CLO_OK && runtime->clock != CLO_CLOCK_REAL ? check_real(config) : status;
}

static clo_status take_rest(clo_job *job, bool has_policy, clo_arena *arena)
{
    clo_block block = {0};

    clo_carve(&block, &job->stats, job->runtime->workers_count);
    if (has_policy)
        clo_carve(&block, &job->policy.decision_ns, 1);
    if (has_policy && job->runtime->clock == CLO_CLOCK_VIRTUAL)
        clo_carve(&block, &job->emulated.start_ns, job->program->executions);
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("a job");
}

/* The shortest limit of any body, divided so that an overrun is seen soon. */
static int64_t poll_ns(const clo_job *job)
{
    int64_t shortest_ns = INT64_MAX;

    for (uint32_t execution = 0; execution < job->program->instances; execution++)
        for (uint32_t w = 0; w < job->runtime->workers_count; w++) {
            int64_t limit_ns = clo_job_limit_ns(job, execution, w);
            if (limit_ns > 0 && limit_ns < shortest_ns)
                shortest_ns = limit_ns;
        }
    if (shortest_ns == INT64_MAX)
        return 0;
    int64_t part_ns = shortest_ns / 4;
    return part_ns < POLL_SHORTEST_NS ? POLL_SHORTEST_NS : part_ns > POLL_LONGEST_NS ? POLL_LONGEST_NS : part_ns;
}

static clo_status make_series(clo_job *job, const clo_job_config *config, clo_arena *arena)
{
    bool is_watched = config->period_ns > 0 || config->task_limit_ns > 0 || config->task_limit_percent > 0 ||
                      config->releases_in_flight > 0 ||
                      (config->deadline_ns > 0 && (config->miss != NULL || config->on_miss == CLO_MISS_ABORT));

    if (!is_watched)
        return CLO_OK;
    job->series = clo_arena_take(arena, 1, sizeof *job->series);
    if (job->series == NULL)
        return clo_fail_memory("a job");
    /* In virtual time pipeline.c keeps the period, and the watchdog knows nothing of it. */
    bool is_kept = job->runtime->clock != CLO_CLOCK_VIRTUAL || config->releases_in_flight == 0;
    job->series->period_ns = is_kept ? config->period_ns : 0;
    job->series->deadline_ns = !is_kept ? 0 : config->deadline_ns > 0 ? config->deadline_ns : config->period_ns;
    job->series->has_releases = job->series->period_ns > 0 || config->releases_in_flight > 0;
    job->series->releases = config->releases;
    job->series->traced = config->traced_releases > 0 ? config->traced_releases : 1;
    job->series->on_miss = config->on_miss;
    job->series->miss = config->miss;
    job->series->argument = config->miss_argument;
    job->series->limit_ns = config->task_limit_ns;
    job->series->limit_percent = config->task_limit_percent;
    job->series->poll_ns = poll_ns(job);
    job->deadline_ns = job->series->deadline_ns;
    return CLO_OK;
}

static const clo_dispatch *kind_of(const clo_job *job, const clo_job_config *config)
{
    const clo_runtime *runtime = job->runtime;

    if (config->releases_in_flight > 0)
        return runtime->features.pipelines->dispatch;
    if (config->policy != NULL)
        return runtime->features.policies->dispatch;
    return runtime->clock == CLO_CLOCK_VIRTUAL ? runtime->features.clocks->dispatch : &clo_dispatch_general;
}

/* What the job is, for good: whoever runs it follows these tables, and asks for no clock, plan or policy. */
static void choose_kind(clo_job *job, const clo_job_config *config)
{
    job->mode = config->policy != NULL ? CLO_JOB_POLICY : job->program->is_replay ? CLO_JOB_REPLAY : CLO_JOB_STEAL;
    job->kind = kind_of(job, config);
    job->pacing =
        job->runtime->clock == CLO_CLOCK_REAL ? &clo_pacing_real : job->runtime->features.clocks->pacing_of(job);
}

/* Everything but the slot. The job lies in its own arena, as all its parts. */
static clo_status build_job(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, clo_arena *arena,
                            clo_job **out)
{
    size_t count = 0;
    const clo_placement *placements = config->plan != NULL ? clo_plan_placements(config->plan, &count) : NULL;
    clo_job *job = clo_arena_take(arena, 1, sizeof *job);
    clo_job_body body = {.arena = arena,
                         .has_policy = config->policy != NULL,
                         .slots = config->releases_in_flight,
                         .traced = config->traced_releases};

    if (config->policy != NULL && config->policy->decide == NULL) /* not before: a swap waits for us from attach on */
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    if (job == NULL)
        return clo_fail_memory("a job");
    job->runtime = runtime;
    job->cost = cost;
    job->deadline_ns = config->deadline_ns;
    job->policy.due_ns = config->arrival_ns;
    clo_status status = clo_hedges_create(job, config, arena);
    if (status == CLO_OK)
        status = clo_job_body_build(job, cost, placements, count,
                                    runtime->clock != CLO_CLOCK_REAL || config->policy != NULL, &body);
    if (status != CLO_OK)
        return status;
    job->program = body.program; /* for the limits */
    choose_kind(job, config);
    status = clo_checkpoint_create(job, config, arena);
    if (status == CLO_OK)
        status = make_series(job, config, arena);
    if (status == CLO_OK)
        status = take_rest(job, config->policy != NULL, arena);
    if (status == CLO_OK && config->policy != NULL)
        status = runtime->features.policies->make(job, config, arena);
    if (status != CLO_OK)
        return status;
    if (config->releases_in_flight > 0)
        status = runtime->features.pipelines->create(job, config, arena);
    if (status != CLO_OK)
        return status;
    clo_job_body_exchange(job, &body);
    job->engine->control_flow.seed = config->seed - 1; /* each run adds one before it begins */
    if (job->policy.scheduled != NULL && job->engine->control_flow.graph != NULL)
        job->policy.scheduled->control_flow = &job->engine->control_flow;
    clo_checkpoint_fill(job, config->done_outputs);
    job->is_pinned = job->program->is_replay || job->program->is_restricted || job->policy.scheduled != NULL ||
                     runtime->first_slot < runtime->workers_count;
    *out = job;
    return CLO_OK;
}

/* The same, with what the arena has left for the scratch of planners and checks. */
static clo_status build(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, clo_arena *arena,
                        clo_job **out)
{
    clo_arena *outer = clo_arena_offer(arena);
    clo_status status = build_job(runtime, cost, config, arena, out);
    (void)clo_arena_offer(outer);
    return status;
}

/* What a job needs that comes or goes. */
static void lock_jobs(const clo_job *job)
{
    if (job->policy.scheduled != NULL)
        pthread_mutex_lock(&job->runtime->scheduling.coming);
    pthread_mutex_lock(&job->runtime->control);
}

static void unlock_jobs(const clo_job *job)
{
    pthread_mutex_unlock(&job->runtime->control);
    if (job->policy.scheduled != NULL)
        pthread_mutex_unlock(&job->runtime->scheduling.coming);
}

static clo_status take_slot(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    clo_status status = CLO_OK;

    lock_jobs(job);
    if (runtime->free_count == 0) {
        status = clo_fail(CLO_ERR_LIMIT, "%u job%s already; destroy some or raise clo_runtime_config.jobs_max",
                          runtime->jobs_max, runtime->jobs_max == 1 ? " exists" : "s exist");
    } else if (job->policy.scheduled != NULL && job->policy.scheduled->version != runtime->scheduling.swaps) {
        status = clo_fail(CLO_ERR_STATE, "the runtime's policy was swapped while the job was made; make it again");
    } else {
        job->slot = runtime->free_slots[--runtime->free_count];
        job->id = ++runtime->jobs_made;
        runtime->jobs[job->slot] = job;
        if (job->policy.scheduled != NULL)
            runtime->scheduling.followers[job->slot] = job;
        clo_monitor_add(job);
    }
    unlock_jobs(job);
    return status;
}

static clo_status read_arguments(const clo_runtime *runtime, const clo_cost *cost, const clo_job_config *theirs,
                                 clo_job_config *config)
{
    *config = (clo_job_config)CLO_JOB_CONFIG_INIT;
    if (clo_thread_is_watchdog(runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not make a job: it would wait for its own thread");
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_job_config");

    return status == CLO_OK ? check_arguments(runtime, cost, config) : status;
}

static void detach(clo_runtime *runtime)
{
    pthread_mutex_lock(&runtime->scheduling.coming);
    clo_scheduling_detach(runtime);
    pthread_mutex_unlock(&runtime->scheduling.coming);
}

clo_status clo_job_create(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *theirs, clo_job **out)
{
    if (runtime == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_job_create", "runtime, cost or out");
    clo_job_config config;
    clo_arena arena;
    clo_job *job = NULL;
    uint32_t version = 0;
    clo_status status = read_arguments(runtime, cost, theirs, &config);

    if (status == CLO_OK)
        status = clo_runtime_check_open(runtime);
    if (status == CLO_OK && config.policy != NULL)
        status = runtime->features.policies->attach(
            runtime, &(clo_policy_use){.policy = config.policy, .argument = config.argument}, config.steps_max,
            &version);
    if (status != CLO_OK)
        return status;
    clo_arena_open(&arena, config.memory, config.memory_bytes);
    clo_arena_limit(&arena, config.memory_limit_bytes);
    status = clo_arena_explain(&arena, build(runtime, cost, &config, &arena, &job));
    if (status == CLO_ERR_MEMORY && config.memory != NULL)
        status = clo_fail(CLO_ERR_MEMORY,
                          "clo_job_config.memory_bytes is %zu: too few; clo_job_memory_bytes tells "
                          "how many this job needs",
                          config.memory_bytes);
    if (status == CLO_OK && (job->series != NULL || job->hedges.after_ns != NULL))
        status = clo_watchdog_need(&runtime->watchdog);
    if (status == CLO_OK && job->policy.scheduled != NULL)
        job->policy.scheduled->version = version;
    if (status == CLO_OK)
        status = take_slot(job);
    if (status != CLO_OK) {
        if (config.policy != NULL)
            detach(runtime);
        clo_arena_close(&arena);
    } else {
        job->arena = arena;
        *out = job;
    }
    if (config.policy != NULL)
        clo_scheduling_made(runtime, version);
    return status;
}

clo_status clo_job_memory_bytes(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *theirs, size_t *bytes)
{
    if (runtime == NULL || cost == NULL || bytes == NULL)
        return clo_fail_null("clo_job_memory_bytes", "runtime, cost or bytes");
    clo_job_config config;
    clo_arena arena;
    clo_job *job;
    clo_status status = read_arguments(runtime, cost, theirs, &config);

    if (status != CLO_OK)
        return status;
    clo_arena_open(&arena, NULL, 0);
    clo_arena_limit(&arena, config.memory_limit_bytes);
    status = clo_arena_explain(&arena, build(runtime, cost, &config, &arena, &job));
    if (status == CLO_OK)
        *bytes = arena.peak;
    clo_arena_close(&arena);
    return status;
}

/* Its memory alone. */
static void free_job(clo_job *job)
{
    clo_arena arena = job->arena;
    clo_job_bodies_free(job);
    clo_arena_close(&job->plans.own);
    clo_arena_close(&arena);
}

static void leave_slot(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (job->policy.scheduled != NULL) {
        runtime->scheduling.followers[job->slot] = NULL;
        clo_scheduling_detach(runtime);
    }
    clo_monitor_remove(job);
    runtime->jobs[job->slot] = NULL;
    runtime->free_slots[runtime->free_count++] = job->slot;
}

void clo_job_leave(clo_job *job)
{
    if (!clo_runtime_is_whole(job->runtime))
        return;
    leave_slot(job);
    if (clo_phase_get(&job->phase) != CLO_PHASE_RUNNING) /* a worker may have been putting in another plan */
        free_job(job);
}

void clo_job_destroy(clo_job *job)
{
    if (job == NULL)
        return;
    clo_runtime *runtime = job->runtime;
    bool is_running = clo_phase_get(&job->phase) == CLO_PHASE_RUNNING, is_forked = clo_runtime_is_forked(runtime);

    if (clo_thread_is_watchdog(runtime) || (is_running && clo_thread_is_worker(runtime))) {
        clo_status status =
            clo_fail(CLO_ERR_STATE, "a task body or a handler of misses may not destroy a job that runs; "
                                    "cancel it, and destroy it from another thread");
        (void)status; /* nothing has happened, and clo_last_error says so */
        return;
    }
    if (is_forked) { /* nobody here runs it, and locks may be held by threads that are not here */
        clo_job_leave(job);
        return;
    }
    if (job->series != NULL && job->series->has_releases && job->series->releases == 0)
        clo_job_cancel(job); /* it would never end */
    (void)clo_job_wait_until(job, INT64_MAX);
    if (job->series != NULL)
        clo_watchdog_remove(&runtime->watchdog, job);
    for (uint32_t asks; (asks = atomic_load_explicit(&job->policy.asks, memory_order_acquire)) != 0;)
        clo_futex_doze(&job->policy.asks, asks); /* until the combiner has let go of it */
    lock_jobs(job);
    leave_slot(job);
    unlock_jobs(job);
    clo_monitor_wait(runtime);
    free_job(job);
}

const void *clo_job_output(const clo_job *job, uint32_t task, uint32_t instance, size_t *bytes)
{
    if (bytes != NULL)
        *bytes = 0;
    if (job == NULL)
        return NULL;
    const clo_graph *graph = job->program->graph;
    if (task >= graph->tasks || instance >= graph->rows[task].instances)
        return NULL;
    if (clo_control_flow_skips(&job->engine->control_flow, task))
        return NULL;
    if (bytes != NULL)
        *bytes = (size_t)clo_graph_output_bytes(graph, task, instance);
    if (job->pipeline != NULL)
        return clo_releases_output(&job->pipeline->releases->data, graph->first_instance[task] + instance,
                                   clo_job_pipeline_last(job->pipeline));
    const clo_data *data = &job->engine->data;
    return clo_data_output(data, clo_data_winner(data, graph->first_instance[task] + instance));
}

const void *clo_job_data(const clo_job *job, uint32_t handle, size_t *bytes)
{
    if (bytes != NULL)
        *bytes = 0;
    if (job == NULL || handle >= clo_graph_handles(job->program->graph))
        return NULL;
    const void *content = clo_engine_content(job->engine, handle);
    if (bytes != NULL && content != NULL)
        *bytes = (size_t)job->program->graph->data->handles[handle].bytes;
    return content;
}

uint64_t clo_job_output_hash(const clo_job *job)
{
    if (job == NULL)
        return 0;
    if (job->pipeline != NULL)
        return clo_releases_output_hash(&job->pipeline->releases->data, clo_job_pipeline_last(job->pipeline));
    return clo_engine_output_hash(job->engine);
}
