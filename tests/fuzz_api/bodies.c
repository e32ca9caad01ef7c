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
    if (with(WITH_pending) && chance(t, 12))
        trait.pends = 1 + below(t, 2);
    return trait;
}

/* What a body does with handles: `sum` is what it has read so far. */
static uint64_t use_handles(const clo_call *call, bool is_kept, uint64_t sum)
{
    for (uint32_t i = 0; i < call->data_count; i++) {
        const unsigned char *bytes = call->data[i];
        uint32_t mode = call->data_modes[i];
        size_t first = 0, count = call->data_bytes[i];
        if (mode & CLO_ACCESS_PARTS) {
            count /= call->instances;
            first = call->instance * count;
        }
        uint64_t seen = 0;
        for (size_t at = first; (mode & CLO_ACCESS_READ) && at + 8 <= first + count; at += 8) {
            uint64_t word;
            memcpy(&word, bytes + at, sizeof word);
            seen = clo_mix64(seen + word);
        }
        sum = is_kept ? sum : clo_mix64(sum + seen);
    }
    for (uint32_t i = 0; i < call->data_count; i++) {
        uint32_t mode = call->data_modes[i];
        size_t first = 0, count = call->data_bytes[i];
        if (mode & CLO_ACCESS_PARTS) {
            count /= call->instances;
            first = call->instance * count;
        }
        for (size_t at = first; (mode & CLO_ACCESS_WRITE) && at + 8 <= first + count; at += 8)
            memcpy((char *)call->data[i] + at, &sum, sizeof sum);
    }
    return sum;
}

/* By what it has read, and a loop no more than it may. */
static void choose_arm(const clo_call *call, const body_trait *trait, uint64_t sum)
{
    if (call->arm == NULL || trait->arms == 0)
        return;
    *call->arm = (uint32_t)(sum % trait->arms);
    if (trait->bound > 0 && (call->task - trait->first) / 3 + 1 >= trait->bound)
        *call->arm = CLO_LOOP_DONE;
}

/* Bytes that depend on the task, the instance and the inputs only; where no task has outputs those are not shown. */
void fuzz_compute(const clo_call *call, const body_trait *trait)
{
    uint64_t sum = ((uint64_t)call->task << 32) + call->instance;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        uint64_t value = 0;
        if (call->inputs[i] != NULL)
            memcpy(&value, call->inputs[i], sizeof value);
        sum = clo_mix64(sum * 31 + value + call->inputs_bytes[i]);
    }
    sum = use_handles(call, trait->keeps, sum);
    choose_arm(call, trait, sum);
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
        if (!runtime_use(slot->runtime, &runtime))
            return;
        (void)expect(clo_runtime_swap_policy(runtime, clo_policy_find("steal"), NULL), CLO_OK, CLO_ERR_MEMORY,
                     CLO_ERR_LIMIT, CLO_ERR_STATE);
        use_end(&w.runtimes[slot->runtime].object, USE_RUNTIME);
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

static int act(const clo_call *call)
{
    const body_trait *trait = call->argument;

    fuzz_compute(call, trait);
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

int fuzz_body(const clo_call *call)
{
    const body_trait *trait = call->argument;
    int code = act(call);

    return !is_quiet && trait->pends > 0 && pending_begin(call, trait->pends, code) ? CLO_PENDING : code;
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

/* A policy that never decides and one that chooses what it may not: the scheduler must refuse, and decide itself. One
 * whose init fails. One that is bounded. */
static bool decide_none(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state, (void)view, (void)choice;
    return false;
}

static bool decide_wrongly(void *state, const clo_view *view, clo_choice *choice)
{
    unsigned char *turn = state;

    choice->job = *turn % 3 == 0 ? *turn : clo_view_first_job(view);
    choice->stage = *turn % 5;
    choice->executor = *turn % 4 == 0 ? CLO_NONE : *turn % 7;
    choice->duplicate = *turn % 6 == 0 ? 0 : CLO_NONE;
    choice->count = *turn;
    choice->limit = *turn % 11 == 0 ? 1 : *turn % 11 == 5 ? CLO_NONE : 0;
    choice->wake_ns = *turn % 13 == 0 ? clo_view_now_ns(view) + 1000 : 0;
    ++*turn;
    return *turn % 17 != 0;
}

static bool decide_first(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        choice->job = at.job;
        choice->stage = at.stage;
        choice->executor = clo_view_free_for(view, at.job, at.stage);
        if (choice->executor != CLO_NONE)
            return true;
    }
    return false;
}

static clo_status fail_init(void *state, const clo_view *view)
{
    (void)state, (void)view;
    return CLO_ERR_LIMIT;
}

static size_t some_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return limits->jobs + limits->executors;
}

static size_t some_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_graph_instances(clo_cost_graph(cost));
}

#define OWN(policy, ...)                                                                      \
    {                                                                                         \
        .size = sizeof(clo_policy), .name = policy, .summary = "", .state_bytes = some_bytes, \
        .job_bytes = some_job_bytes, __VA_ARGS__                                              \
    }

const clo_policy *draw_policy(thread *t)
{
    static const clo_policy own[] = {
        OWN("lazy", .decide = decide_none),
        OWN("wrong", .decide = decide_wrongly, .commits = 1),
        OWN("early", .decide = decide_wrongly, .commits = 1, .readiness = CLO_READY_ASSIGNED),
        OWN("first", .decide = decide_first),
        OWN("broken", .init = fail_init, .decide = decide_first),
    };
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    if (chance(t, 10))
        return &curious;
    if (chance(t, 30))
        return &own[below(t, with(WITH_failing_init) && chance(t, 20) ? 5 : 4)];
    while (clo_registry_entry("policies", count, &entry))
        count++;
    (void)clo_registry_entry("policies", below(t, count), &entry);
    return clo_policy_find(entry.name);
}
