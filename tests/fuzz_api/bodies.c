/* bodies.c - what runs on the library's own threads: bodies, miss handlers, policies. */
#include "fuzz_api.h"

#include <string.h>

enum { QUIET, CANCEL, SUBMIT, FORBIDDEN, READ, ACTIONS };

_Thread_local bool is_quiet;

/* A body has no generator that the seed reaches: which worker runs it when is not reproducible anyway. */
static thread *body_thread(void)
{
    static _Atomic uint64_t count;
    static _Thread_local thread own;

    if (own.index == 0) {
        own.index = UINT32_MAX;
        own.rng = clo_rng_seed(atomic_fetch_add_explicit(&count, 1, memory_order_relaxed));
    }
    return &own;
}

body_trait draw_trait(thread *t, uint32_t model)
{
    body_trait trait = {.model = model};

    if (chance(t, 20))
        trait.spin_ns = below(t, chance(t, 5) ? 2000000 : 30000);
    if (with(WITH_body_calls) && chance(t, 15))
        trait.action = 1 + below(t, ACTIONS - 1);
    return trait;
}

/* Bytes that depend on the task, the instance and the inputs only. */
static void compute(const clo_call *call)
{
    uint64_t sum = ((uint64_t)call->task << 32) + call->instance;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        uint64_t value = 0;
        if (call->inputs[i] != NULL)
            memcpy(&value, call->inputs[i], sizeof value);
        sum = clo_mix64(sum * 31 + value + call->inputs_bytes[i]);
    }
    for (size_t at = 0; at + sizeof sum <= call->output_bytes; at += sizeof sum)
        memcpy((char *)call->output + at, &sum, sizeof sum);
}

/* A job slot, as likely as not one that runs this body's graph: perhaps the body's own job. */
static job_slot *pick_job(thread *t, const body_trait *trait)
{
    uint32_t first = below(t, JOBS);

    for (uint32_t i = 0; i < JOBS && chance(t, 90); i++)
        if (w.jobs[(first + i) % JOBS].index % MODELS == trait->model)
            return &w.jobs[(first + i) % JOBS];
    return &w.jobs[first];
}

static void cancel_one(job_slot *slot)
{
    clo_job *job;

    if (!job_use(slot, USE_CANCEL, &job))
        return;
    clo_job_cancel(job);
    job_unuse(slot, USE_CANCEL);
}

static void submit_one(job_slot *slot)
{
    clo_job *job;

    if (!job_use(slot, USE_SUBMIT, &job))
        return;
    (void)job_submit(slot, job);
    job_unuse(slot, USE_SUBMIT);
}

/* Calls that a body must be refused. Of another runtime's job or runtime they may do what they do elsewhere, except
 * that a wait with timeout 0 ends in any case. */
static void try_forbidden(thread *t, job_slot *slot)
{
    clo_job *job;
    clo_runtime *runtime;

    switch (below(t, 3)) {
    case 0:
        if (!job_use(slot, USE_WAIT, &job))
            return;
        (void)expect(clo_job_wait_for(job, 0, NULL), CLO_ERR_STATE, CLO_OK, CLO_ERR_TIMEOUT, CLO_ERR_TASK,
                     CLO_ERR_CANCELLED, CLO_ERR_ABORTED, CLO_ERR_LIMIT);
        job_unuse(slot, USE_WAIT);
        return;
    case 1:
        if (!job_use(slot, USE_SWAP, &job))
            return;
        (void)expect(clo_job_swap_policy(job, clo_policy_find("steal")), CLO_ERR_STATE, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT,
                     CLO_ERR_UNSUPPORTED, CLO_OK);
        job_unuse(slot, USE_SWAP);
        return;
    default: {
        uint32_t index = below(t, RUNTIMES);
        if (!runtime_use(index, &runtime))
            return;
        clo_worker_stats stats = CLO_WORKER_STATS_INIT;
        (void)expect(clo_runtime_worker_stats(runtime, below(t, 3), &stats), CLO_OK, CLO_ERR_ARGUMENT);
        use_end(&w.runtimes[index].object, USE_RUNTIME);
    }
    }
}

static void read_one(job_slot *slot)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job *job;

    if (!job_use(slot, USE_TIMING, &job))
        return;
    (void)expect(clo_job_timing_read(job, &timing), CLO_OK, CLO_ERR_STATE);
    (void)clo_job_id(job);
    job_unuse(slot, USE_TIMING);
}

int fuzz_body(const clo_call *call)
{
    const body_trait *trait = call->argument;

    compute(call);
    if (is_quiet || trait->action == QUIET)
        for (int64_t end_ns = is_quiet || trait->spin_ns == 0 ? 0 : now_ns() + trait->spin_ns; now_ns() < end_ns;)
            ;
    if (is_quiet)
        return 0;
    thread *t = body_thread();
    switch (trait->action) {
    case CANCEL:
        cancel_one(pick_job(t, trait));
        break;
    case SUBMIT:
        submit_one(pick_job(t, trait));
        break;
    case FORBIDDEN:
        try_forbidden(t, pick_job(t, trait));
        break;
    case READ:
        read_one(pick_job(t, trait));
        break;
    case ACTION_FAIL:
        return chance(t, 50) ? (int)(1 + below(t, 100)) : chance(t, 50) ? 0 : -1;
    default:
        break;
    }
    return 0;
}

void fuzz_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    job_slot *slot = argument;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    thread *t = body_thread();

    if (miss->kind > CLO_MISS_OVERRUN)
        broken("a miss of kind %d", (int)miss->kind);
    if (miss->late_ns < 0 && with(WITH_lateness))
        broken("a miss of kind %d, %lld ns late", (int)miss->kind, (long long)miss->late_ns);
    atomic_fetch_add_explicit(&slot->misses[miss->kind], 1, memory_order_relaxed);
    if (chance(t, 3))
        clo_job_cancel(job);
    if (chance(t, 10) && clo_job_timing_read(job, &timing) != CLO_OK)
        broken("clo_job_timing_read in a handler: %s", clo_last_error());
}

/* A policy that never decides: the run must end with CLO_ERR_STATE. One whose init fails. One that is bounded. */
static void ignore_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    (void)state, (void)view, (void)instance, (void)by;
}

static uint32_t pick_none(void *state, const clo_view *view, uint32_t executor)
{
    (void)state, (void)view, (void)executor;
    return CLO_NONE;
}

static uint32_t pick_first(void *state, const clo_view *view, uint32_t executor)
{
    (void)state;
    for (uint32_t i = clo_view_ready_first(view); i != CLO_NONE && clo_view_step(view);
         i = clo_view_ready_next(view, i))
        if (clo_view_execution_ns(view, i, executor) != CLO_TIME_NEVER)
            return i;
    return CLO_NONE;
}

static clo_status fail_init(void *state, const clo_view *view)
{
    (void)state, (void)view;
    return CLO_ERR_LIMIT;
}

static size_t some_bytes(const clo_graph *graph, const clo_platform *platform)
{
    return clo_graph_instances(graph) + clo_platform_executors(platform);
}

const clo_policy *draw_policy(thread *t)
{
    static const clo_policy own[] = {
        {.name = "lazy", .summary = "", .ready = ignore_ready, .pick = pick_none},
        {.name = "broken",
         .summary = "",
         .state_bytes = some_bytes,
         .init = fail_init,
         .ready = ignore_ready,
         .pick = pick_first},
        {.name = "first", .summary = "", .state_bytes = some_bytes, .ready = ignore_ready, .pick = pick_first},
    };
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    if (chance(t, 30))
        return &own[chance(t, 80) ? 2 : with(WITH_failing_init) ? below(t, 2) : 0];
    while (clo_registry_entry("policies", count, &entry))
        count++;
    (void)clo_registry_entry("policies", below(t, count), &entry);
    return clo_policy_find(entry.name);
}
