/* jobs.c - calls that make, run and end jobs. */
#include "fuzz_api.h"

#include <stdlib.h>
#include <string.h>

#define RUN_MOST_NS 200000000 /* a series that lasts longer is cancelled before it is waited for */

static job_slot *pick(thread *t)
{
    return &w.jobs[below(t, JOBS)];
}

static void draw_timing(thread *t, job_slot *slot, clo_job_config *config)
{
    if (with(WITH_periods) && chance(t, 40)) {
        config->period_ns = draw_time(t, chance(t, 50) ? 300000 : 3000000);
        if (config->period_ns > 1 && config->period_ns < 20000)
            config->period_ns = 20000;
        config->releases = chance(t, 30) ? 0 : with(WITH_extreme) && chance(t, 3) ? UINT64_MAX : 1 + below(t, 20);
    }
    if (chance(t, 50))
        config->deadline_ns = draw_time(t, chance(t, 50) ? 100000 : 4000000);
    config->on_miss = (clo_miss_action)(with(WITH_extreme) && chance(t, 1) ? 3 : below(t, with(WITH_abort) ? 3 : 2));
    if (with(WITH_limits) && chance(t, 25))
        config->task_limit_ns = draw_time(t, chance(t, 50) ? 10000 : 1000000);
    if (with(WITH_limits) && chance(t, 15))
        config->task_limit_percent = draw_count(t, 300);
    config->miss = chance(t, 60) ? fuzz_miss : NULL;
    config->miss_argument = slot;
}

static const clo_plan *draw_plan(thread *t, uint32_t model, uint32_t platform)
{
    if (with(WITH_foreign) && chance(t, 15))
        platform = below(t, PLATFORMS);
    return w.models[model].plans[platform][below(t, PLANS)];
}

/* What runs; the platform's index is where the runtime lives. */
static void draw_dispatch(thread *t, job_slot *slot, uint32_t plan_model, clo_job_config *config)
{
    uint32_t platform = w.runtimes[slot->runtime].platform;
    uint32_t how = below(t, 3);

    if (how == 0 && with(WITH_replay))
        config->plan = draw_plan(t, plan_model, platform);
    if ((how == 1 && with(WITH_policies)) || chance(t, 1)) {
        config->policy = chance(t, 90) ? atomic_load_explicit(&w.runtimes[slot->runtime].policy, memory_order_relaxed)
                                       : NULL; /* the one that its other jobs are likely to have */
        if (config->policy == NULL)
            config->policy = draw_policy(t);
        config->weight = below(t, 4);
        config->band = below(t, 3);
        config->limit = below(t, 4);
    }
    config->steps_max = chance(t, 30) ? draw_count(t, 3) : 0;
}

/* Of tasks that may be executed twice, some after a moment. */
static void draw_hedges(thread *t, const model_slot *model, int64_t *after_ns, clo_job_config *config)
{
    clo_task task;

    if (!with(WITH_hedges) || config->policy != NULL || !chance(t, 20))
        return;
    for (uint32_t i = 0; i < clo_graph_tasks(model->graph); i++) {
        bool can = clo_graph_task(model->graph, i, &task) == CLO_OK && task.duplicable;
        after_ns[i] = can && chance(t, 70) ? 1 + below(t, 50000) : 0;
    }
    config->hedge_after_ns = after_ns;
}

/* Releases in flight; mostly without what they do not go together with. */
static void draw_flight(thread *t, clo_job_config *config)
{
    if (!with(WITH_flights) || config->policy != NULL || !chance(t, 20))
        return;
    config->releases_in_flight = chance(t, 95) ? 1 + below(t, 6) : draw_count(t, CLO_IN_FLIGHT_MAX);
    if (config->period_ns == 0)
        config->releases = chance(t, 20) ? 0 : with(WITH_extreme) && chance(t, 3) ? UINT64_MAX : 1 + below(t, 40);
    if (chance(t, 5))
        return;
    config->on_miss = CLO_MISS_RUN_LATE;
    config->task_limit_ns = 0;
    config->task_limit_percent = 0;
    if (config->period_ns == 0)
        config->deadline_ns = 0;
    config->hedge_after_ns = NULL;
}

/* A run that goes on: what is done has no outputs, so those of the run are not known. done: [TASKS_MAX] words. */
static void draw_done(thread *t, const model_slot *model, uint64_t *done, clo_job_config *config)
{
    uint32_t percent = chance(t, 20) ? 100 : below(t, 100);

    if (!with(WITH_done) || !chance(t, 8))
        return;
    for (uint32_t i = 0; i < clo_graph_instances(model->graph) && i < 64 * TASKS_MAX; i++)
        done[i / 64] |= (uint64_t)chance(t, percent) << i % 64;
    config->done = done;
    if (chance(t, 90))
        config->releases_in_flight = 0;
}

static void draw_rest(thread *t, clo_clock clock, clo_job_config *config)
{
    config->seed = chance(t, 50) ? below(t, 100) : UINT64_MAX;
    config->tag = below(t, 3);
    config->group = draw_count(t, 3);
    if (chance(t, 3))
        config->memory_limit_bytes = 1 + below(t, 100000);
    if (config->policy != NULL && (clock == CLO_CLOCK_VIRTUAL || chance(t, 2)))
        config->arrival_ns = chance(t, 50) ? 0 : draw_time(t, 1000000) & INT64_MAX >> 3;
}

static void note_kind(job_slot *slot, const clo_job_config *config)
{
    int64_t period_ns = config->period_ns;

    slot->is_replay = config->plan != NULL;
    slot->is_policy = config->policy != NULL;
    slot->is_callers = config->memory != NULL;
    slot->is_periodic = period_ns > 0;
    slot->has_handler = config->miss != NULL;
    slot->releases = config->releases;
    slot->is_flight = config->releases_in_flight > 0;
    slot->is_part = config->done != NULL;
    slot->is_endless = (period_ns > 0 || slot->is_flight) && (config->releases == 0 || config->releases > RUN_MOST_NS ||
                                                              period_ns > RUN_MOST_NS / (int64_t)config->releases);
    atomic_store(&slot->begun, 0);
    atomic_store(&slot->done, 0);
    atomic_store(&slot->waited, 0);
    atomic_store(&slot->waited_ok, 0);
}

#define CREATE_STATUSES \
    CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_INVALID, CLO_ERR_LIMIT, CLO_ERR_MEMORY, CLO_ERR_UNSUPPORTED, CLO_ERR_SYSTEM

static bool give_memory(thread *t, job_slot *slot, clo_runtime *runtime, const clo_cost *cost, clo_job_config *config)
{
    size_t bytes;

    if (!with(WITH_callers_memory) || !chance(t, 15))
        return true;
    if (expect(clo_job_memory_bytes(runtime, cost, config, &bytes), CREATE_STATUSES) != CLO_OK)
        return true;
    config->memory = slot->memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    config->memory_bytes = bytes - (chance(t, 10) ? 1 : 0);
    return config->memory_bytes == bytes;
}

/* The slot is ours alone and empty, the runtime and the models are in use. */
static void create(thread *t, job_slot *slot, clo_runtime *runtime, uint32_t plan_model)
{
    uint32_t platform = w.runtimes[slot->runtime].platform;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    int64_t after_ns[TASKS_MAX];
    uint64_t done[TASKS_MAX] = {0};
    clo_job *made = NULL;

    if (with(WITH_foreign) && chance(t, 3))
        platform = below(t, PLATFORMS);
    const clo_cost *cost = w.models[slot->model].costs[platform];
    draw_timing(t, slot, &config);
    draw_dispatch(t, slot, plan_model, &config);
    draw_hedges(t, &w.models[slot->model], after_ns, &config);
    draw_flight(t, &config);
    draw_done(t, &w.models[slot->model], done, &config);
    draw_rest(t, w.runtimes[slot->runtime].clock, &config);
    slot->memory = NULL;
    bool is_default = chance(t, 5);
    if (is_default)
        config = (clo_job_config)CLO_JOB_CONFIG_INIT;
    bool is_good = is_default || give_memory(t, slot, runtime, cost, &config);
    note_kind(slot, &config);
    log_begin(t, "clo_job_create", slot->index);
    clo_status status = expect(clo_job_create(runtime, cost, is_default ? NULL : &config, &made), CREATE_STATUSES,
                               CLO_ERR_STATE); /* another policy than that of the runtime's other jobs */
    log_end(t, status);
    if (status == CLO_OK && !is_good)
        broken("clo_job_create took memory that is too small");
    if (status != CLO_OK) {
        free(slot->memory);
        slot->memory = NULL;
        return;
    }
    if (config.policy != NULL)
        atomic_store_explicit(&w.runtimes[slot->runtime].policy, config.policy, memory_order_relaxed);
    use_again(&w.models[slot->model].object, USE_SHARED);
    atomic_store_explicit(&slot->job, made, memory_order_release);
}

void call_job_create(thread *t)
{
    job_slot *slot = pick(t);
    clo_runtime *runtime;
    uint32_t model = chance(t, 50) ? slot->index % MODELS : below(t, MODELS);
    uint32_t plan_model = with(WITH_foreign) && chance(t, 5) ? below(t, MODELS) : model;

    if (atomic_load_explicit(&slot->job, memory_order_relaxed) != NULL || !runtime_use(slot->runtime, &runtime))
        return;
    if (use_begin(&w.models[model].object, USE_SHARED)) {
        if (use_begin(&w.models[plan_model].object, USE_SHARED)) {
            if (use_begin(&slot->object, USE_DESTROY)) {
                if (atomic_load_explicit(&slot->job, memory_order_relaxed) == NULL) {
                    slot->model = model;
                    create(t, slot, runtime, plan_model);
                }
                use_end(&slot->object, USE_DESTROY);
            }
            use_end(&w.models[plan_model].object, USE_SHARED);
        }
        use_end(&w.models[model].object, USE_SHARED);
    }
    use_end(&w.runtimes[slot->runtime].object, USE_RUNTIME);
}

void call_job_memory_bytes(thread *t)
{
    uint32_t index = below(t, RUNTIMES), model = below(t, MODELS);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    job_slot unused = {.runtime = index};
    clo_runtime *runtime;
    size_t bytes;

    if (!runtime_use(index, &runtime))
        return;
    if (use_begin(&w.models[model].object, USE_SHARED)) {
        draw_timing(t, &unused, &config);
        draw_dispatch(t, &unused, model, &config);
        draw_flight(t, &config);
        log_begin(t, "clo_job_memory_bytes", index);
        log_end(
            t, expect(clo_job_memory_bytes(runtime, w.models[model].costs[w.runtimes[index].platform], &config, &bytes),
                      CREATE_STATUSES));
        use_end(&w.models[model].object, USE_SHARED);
    }
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}

void call_submit(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_SUBMIT, &job))
        return;
    log_begin(t, "clo_job_submit", slot->index);
    log_end(t, job_submit(slot, job));
    job_unuse(slot, USE_SUBMIT);
}

#define WAIT_STATUSES CLO_OK, CLO_ERR_TASK, CLO_ERR_CANCELLED, CLO_ERR_ABORTED, CLO_ERR_STATE

static void wait_one(thread *t, job_slot *slot, clo_job *job, int64_t timeout_ns)
{
    uint64_t seen = atomic_load_explicit(&slot->done, memory_order_relaxed);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status;

    if (timeout_ns < 0) {
        log_begin(t, "clo_job_wait", slot->index);
        status = expect(clo_job_wait(job, &result), WAIT_STATUSES);
    } else {
        log_begin(t, "clo_job_wait_for", slot->index);
        status = expect(clo_job_wait_for(job, timeout_ns, &result), CLO_ERR_TIMEOUT, WAIT_STATUSES);
    }
    log_end(t, status);
    if (seen > 0 && status != CLO_ERR_TIMEOUT && status != result.status)
        broken("clo_job_wait returns %d, its result says %d", (int)status, (int)result.status);
    if (seen > 0 && status != CLO_ERR_TIMEOUT)
        job_waited(slot, seen, status);
}

void call_wait(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_WAIT, &job))
        return;
    wait_one(t, slot, job, slot->is_endless ? 1000000 : -1);
    job_unuse(slot, USE_WAIT);
    job_check(slot);
}

void call_wait_for(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_WAIT, &job))
        return;
    int64_t timeout_ns = chance(t, 30) ? 0 : draw_time(t, 10000000);
    if (slot->is_endless && timeout_ns > 10000000)
        timeout_ns = 10000000;
    wait_one(t, slot, job, timeout_ns > 0 ? timeout_ns : 0);
    job_unuse(slot, USE_WAIT);
    job_check(slot);
}

void call_cancel(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_CANCEL, &job))
        return;
    log_begin(t, "clo_job_cancel", slot->index);
    clo_job_cancel(job);
    log_end(t, 0);
    job_unuse(slot, USE_CANCEL);
}

/* Cancel and wait, while nobody else may submit: it must end soon, or the watch over hangs tells. */
void call_end(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_SUBMIT, &job))
        return;
    clo_job_cancel(job);
    wait_one(t, slot, job, -1);
    job_unuse(slot, USE_SUBMIT);
    job_check(slot);
}

/* A body of the job may be in the middle of its last call on it: so the model is let go afterwards only. */
void call_job_destroy(thread *t)
{
    job_slot *slot = pick(t);
    clo_runtime *runtime;

    if (!chance(t, 30) || !runtime_use(slot->runtime, &runtime))
        return;
    if (use_alone(&slot->object, USE_DESTROY)) {
        clo_job *job = atomic_load_explicit(&slot->job, memory_order_relaxed);
        log_begin(t, "clo_job_destroy", slot->index);
        if (job != NULL && slot->is_endless)
            clo_job_cancel(job);
        clo_job_destroy(job);
        if (job != NULL)
            job_gone(slot);
        log_end(t, 0);
        use_end(&slot->object, USE_DESTROY);
    }
    use_end(&w.runtimes[slot->runtime].object, USE_RUNTIME);
}

void call_swap_plan(thread *t)
{
    job_slot *slot = pick(t);
    clo_job *job;

    if (!job_use(slot, USE_SWAP, &job))
        return;
    uint32_t model = with(WITH_foreign) && chance(t, 5) ? below(t, MODELS) : slot->model;
    if (use_begin(&w.models[model].object, USE_SHARED)) {
        log_begin(t, "clo_job_swap_plan", slot->index);
        log_end(t, expect(clo_job_swap_plan(job, draw_plan(t, model, w.runtimes[slot->runtime].platform)), CLO_OK,
                          CLO_ERR_ARGUMENT, CLO_ERR_INVALID, CLO_ERR_MEMORY));
        use_end(&w.models[model].object, USE_SHARED);
    }
    job_unuse(slot, USE_SWAP);
}

void call_swap_policy(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;

    if (!runtime_use(index, &runtime))
        return;
    const clo_policy *policy = draw_policy(t);
    log_begin(t, "clo_runtime_swap_policy", index);
    clo_status status =
        expect(clo_runtime_swap_policy(runtime, policy, NULL), CLO_OK, CLO_ERR_MEMORY, CLO_ERR_LIMIT, CLO_ERR_STATE);
    log_end(t, status);
    if (status == CLO_OK) /* most new jobs of the runtime name it; a guess, for others swap too */
        atomic_store_explicit(&w.runtimes[index].policy, policy, memory_order_relaxed);
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}
