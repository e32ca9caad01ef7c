/* job_body.c - a plan, compiled for a job, takes the place of another between two runs. */
#include "run/job/job_body.h"

#include "base/memory.h"
#include "base/status.h"
#include "engine/program/compile.h"
#include "plan/facts.h"
#include "run/extras/checkpoint.h"
#include "run/job/serial_plan.h"
#include "run/records/stamp.h"
#include "run/state/features.h"
#include "run/state/pair.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/state/virtual_time.h"
#include "run/system/real_time.h"

#include <string.h>

clo_status clo_job_body_build(const clo_job *job, const clo_cost *cost, const clo_placement *placements, size_t count,
                              bool is_timed, clo_job_body *body)
{
    const clo_runtime *runtime = job->runtime;
    size_t threads = clo_runtime_threads(runtime);
    clo_arena *arena = body->arena;
    bool is_real = runtime->clock == CLO_CLOCK_REAL, is_deep = is_real && body->slots == 0;
    clo_status status =
        body->has_policy ? clo_program_create_policy(cost, arena, &body->program)
        : is_deep        ? clo_program_create_real(cost, placements, count, job->hedges.after_ns, arena, &body->program)
                         : clo_program_create(cost, placements, count, job->hedges.after_ns, arena, &body->program);
    if (status == CLO_OK)
        status = clo_engine_create(body->program, runtime->copies, is_timed, arena, &body->engine);
    bool has_demands = status == CLO_OK && body->program->graph->has_demands;
    bool asks = has_demands && runtime->clock != CLO_CLOCK_VIRTUAL && !body->has_policy;
    if (status == CLO_OK && !is_real)
        status = runtime->features.clocks->prepare(job, cost, placements, count, body);
    if (status == CLO_OK)
        status = clo_serial_plan_create(runtime, body->program, arena, &body->serial_plan);
    if (status != CLO_OK)
        return status;

    size_t executions = body->program->executions, inputs = body->program->inputs_max;
    size_t items = executions * (body->slots > 0 ? body->slots : 1);
    bool shows_inputs = body->program->graph->has_outputs;
    body->links = clo_arena_take(arena, items, sizeof *body->links);
    body->tickets = asks ? clo_arena_take(arena, items, sizeof *body->tickets) : NULL;
    body->scratch = clo_arena_take(arena, threads, sizeof *body->scratch);
    bool has_hedges = body->program->twin != NULL;
    size_t hedges = executions - body->program->first_hedge;
    body->pairs = has_hedges ? clo_arena_take(arena, hedges, sizeof *body->pairs) : NULL;
    size_t events = executions * (body->traced > 0 ? body->traced : 1);
    if (events > UINT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_job_config.traced_releases is %u: more than 2^32 executions", body->traced);
    body->events = runtime->traces ? clo_arena_take(arena, events, sizeof *body->events) : NULL;
    const void **list = shows_inputs ? clo_arena_take(arena, threads * inputs, sizeof *list) : NULL;
    size_t *bytes = shows_inputs ? clo_arena_take(arena, threads * inputs, sizeof *bytes) : NULL;
    if (body->links == NULL || (asks && body->tickets == NULL) || body->scratch == NULL ||
        (has_hedges && body->pairs == NULL) || (runtime->traces && body->events == NULL) ||
        (shows_inputs && (list == NULL || bytes == NULL)))
        return clo_fail_memory("a job");
    if (asks)
        memset(body->tickets, 0xff, items * sizeof *body->tickets); /* CLO_SEMAPHORE_NEW */
    for (size_t t = 0; t < threads && shows_inputs; t++)
        body->scratch[t] = (clo_engine_scratch){list + t * inputs, bytes + t * inputs};
    return CLO_OK;
}

/* The fast path is for jobs of which nothing is timed by the clock, moved, held, decided or limited. */
static bool suits_fast_path(const clo_job *job, const clo_job_body *body)
{
    const clo_program *program = body->program;
    const clo_graph *graph = program->graph;
    bool has_kind_bodies = false;

    for (uint32_t t = 0; t < graph->tasks && !has_kind_bodies; t++)
        has_kind_bodies = graph->rows[t].has_kind_body != 0;
    return job->kind->fast != NULL && job->done == NULL && !body->engine->is_timed &&
           ((body->events == NULL && job->runtime->recorder_events == 0) || clo_ticks_are_steady()) &&
           (job->series == NULL || job->series->poll_ns == 0) && program->executions == program->instances &&
           !graph->has_demands && !graph->has_outputs && !graph->may_pend && graph->control_flow == NULL &&
           !program->crosses_memories && !has_kind_bodies;
}

void clo_job_body_exchange(clo_job *job, clo_job_body *body)
{
    clo_job_body old = {.program = job->program,
                        .engine = job->engine,
                        .links = job->links,
                        .tickets = job->tickets,
                        .virtual_time = job->emulated.virtual_time,
                        .ports_ready_ns = job->emulated.ports_ready_ns,
                        .scratch = job->scratch,
                        .events = job->events,
                        .pairs = job->hedges.pairs,
                        .serial_plan = job->waiting.serial_plan,
                        .own = job->plans.own};

    job->program = body->program;
    job->engine = body->engine;
    job->links = body->links;
    job->tickets = body->tickets;
    job->emulated.virtual_time = body->virtual_time;
    if (job->emulated.virtual_time != NULL)
        job->emulated.start_ns = job->emulated.virtual_time->timeline.start_ns;
    job->emulated.ports_ready_ns = body->ports_ready_ns;
    job->scratch = body->scratch;
    job->events = body->events;
    job->hedges.pairs = body->pairs;
    job->waiting.serial_plan = body->serial_plan;
    job->plans.own = body->own;
    bool is_fast = suits_fast_path(job, body);
    job->dispatch = is_fast ? job->kind->fast : job->kind;
    bool is_plain = is_fast && body->events == NULL && body->program->graph->data == NULL &&
                    body->program->graph->columns.of[CLO_COLUMN_GRAIN] == NULL;
    job->has_no_extras = is_plain && job->runtime->recorder_events == 0;
    bool counts_ticks = is_plain && job->series == NULL && job->runtime->ticks_in_us > 0;
    atomic_store_explicit(&job->times.counts_ticks, counts_ticks, memory_order_relaxed);
    job->has_extras = body->program->graph->may_pend || body->program->graph->control_flow != NULL ||
                      job->done != NULL || job->hedges.pairs != NULL;
    atomic_store_explicit(&job->executions, job->program->first_hedge, memory_order_relaxed);
    body->program = old.program;
    body->engine = old.engine;
    body->links = old.links;
    body->tickets = old.tickets;
    body->virtual_time = old.virtual_time;
    body->ports_ready_ns = old.ports_ready_ns;
    body->scratch = old.scratch;
    body->events = old.events;
    body->pairs = old.pairs;
    body->serial_plan = old.serial_plan;
    body->own = old.own;
}

static void free_body(clo_job_body *body)
{
    if (body != NULL)
        clo_arena_close(&body->own);
    clo_free(body);
}

static void free_retired(clo_job *job)
{
    /* Acquire pairs with the release in clo_job_adopt: whoever put it there does not look at it any more. */
    clo_job_body *body = atomic_exchange_explicit(&job->plans.retired, NULL, memory_order_acquire);

    while (body != NULL) { /* a list */
        clo_job_body *older = body->older;
        free_body(body);
        body = older;
    }
}

void clo_job_bodies_free(clo_job *job)
{
    free_retired(job);
    free_body(atomic_load_explicit(&job->plans.incoming, memory_order_acquire));
}

static clo_status check_swap(const clo_job *job, const clo_plan *plan)
{
    if (plan == NULL || job->mode != CLO_JOB_REPLAY)
        return clo_fail(CLO_ERR_ARGUMENT, "the job has no plan to be replaced; create it with clo_job_config.plan");
    if (job->pipeline != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the job has releases in flight, which follow one plan; make another job");
    if (clo_plan_matches(plan, job->cost) != CLO_OK)
        return CLO_ERR_ARGUMENT;
    if (job->arena.memory != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the job lies in clo_job_config.memory, which has no room for a second plan");
    if (clo_thread_is_worker(job->runtime) || clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a task body or a handler of misses may not swap plans: it allocates");
    return CLO_OK;
}

clo_status clo_job_swap_plan(clo_job *job, const clo_plan *plan)
{
    if (job == NULL || plan == NULL)
        return clo_fail_null("clo_job_swap_plan", "job or plan");
    size_t count;
    clo_status status = check_swap(job, plan);

    if (status != CLO_OK)
        return status;
    free_retired(job);
    clo_job_body *body = clo_allocate(1, sizeof *body);
    if (body == NULL)
        return clo_fail_memory("a plan");
    clo_arena_open(&body->own, NULL, 0);
    clo_arena_limit(&body->own, job->arena.limit);
    body->arena = &body->own;
    const clo_placement *placements = clo_plan_placements(plan, &count);
    status = clo_job_body_build(job, job->cost, placements, count, job->runtime->clock != CLO_CLOCK_REAL, body);
    status = clo_arena_explain(&body->own, status);
    if (status != CLO_OK)
        return free_body(body), status;
    /* acq_rel: hands the new one to the next start of a run; takes back one that none has wanted yet. */
    free_body(atomic_exchange_explicit(&job->plans.incoming, body, memory_order_acq_rel));
    return CLO_OK;
}

void clo_job_adopt(clo_job *job)
{
    if (atomic_load_explicit(&job->plans.incoming, memory_order_relaxed) == NULL)
        return;
    clo_job_body *body = atomic_exchange_explicit(&job->plans.incoming, NULL, memory_order_acq_rel);
    if (body == NULL)
        return;
    bool counted_ticks = clo_job_counts_ticks(job);
    clo_job_body_exchange(job, body);
    if (clo_job_counts_ticks(job) != counted_ticks)
        clo_stamp_submit(job); /* in the unit that its end will have */
    clo_checkpoint_carry(job, body->engine);
    job->engine->control_flow.seed = body->engine->control_flow.seed;
    clo_handles_carry(&job->engine->data.handles, &body->engine->data.handles);
    body->older = atomic_load_explicit(&job->plans.retired, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&job->plans.retired, &body->older, body, memory_order_release,
                                                  memory_order_relaxed))
        ;
}
