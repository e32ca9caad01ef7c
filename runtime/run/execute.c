/* execute.c - one entry: gate, inputs, body, and whom it released.
 *
 * An entry of a stopped job (cancelled, or some task failed) goes through the same steps without its body, so a job
 * always ends by the same path and nothing has to be hunted down in the queues. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/status.h"
#include "run/run.h"

#include <sched.h>
#include <time.h>

#define SLEEP_SLACK_NS 60000

static int64_t job_now_ns(const clo_job *job)
{
    return clo_clock_ns() - job->submit_ns;
}

/* Spins until the job's time has come. With more workers than CPUs the others must run meanwhile: this one sleeps,
 * but for the last SLEEP_SLACK_NS, which a timer cannot hit. */
static void wait_until(const clo_job *job, int64_t when_ns)
{
    for (int64_t left_ns; (left_ns = when_ns - job_now_ns(job)) > 0;) { /* time passes */
        if (!job->runtime->is_oversubscribed) {
            clo_relax();
        } else if (left_ns > SLEEP_SLACK_NS) {
            struct timespec pause = {0, (long)(left_ns < 500000000 ? left_ns - SLEEP_SLACK_NS : 500000000)};
            nanosleep(&pause, NULL);
        } else {
            sched_yield();
        }
    }
}

static void fail_job(clo_job *job, uint32_t entry, int code)
{
    uint64_t none = 0;
    uint64_t failure = ((uint64_t)clo_program_task(job->program, entry) + 1) << 32 | (uint32_t)code;

    /* Release pairs with the acquire in clo_job_wait; the first error wins. */
    atomic_compare_exchange_strong_explicit(&job->failure, &none, failure, memory_order_release, memory_order_relaxed);
    atomic_store_explicit(&job->stop, 1, memory_order_relaxed);
}

static void call_body(clo_worker *worker, clo_job *job, uint32_t entry, int64_t expected_ns)
{
    int code = clo_engine_call(job->engine, entry, worker->index, expected_ns, &job->scratch[worker->index],
                               &job->stats[worker->index]);
    if (code != 0)
        fail_job(job, entry, code);
}

/* Real clock: the body takes what it takes. */
static void run_real(clo_worker *worker, clo_job *job, uint32_t entry, int64_t *start_ns, int64_t *finish_ns)
{
    uint32_t task = clo_program_task(job->program, entry);
    bool is_timed = job->events != NULL || job->engine->is_timed;
    int64_t expected_ns = clo_cost_time(job->program->cost, task, worker->index);

    *start_ns = is_timed ? job_now_ns(job) : 0;
    call_body(worker, job, entry, expected_ns);
    *finish_ns = is_timed ? job_now_ns(job) : 0;
}

/* Padded clock: not before the inputs would have arrived, not shorter than the cost model says. */
static void run_padded(clo_worker *worker, clo_job *job, uint32_t entry, int64_t *start_ns, int64_t *finish_ns)
{
    clo_engine_stats *stats = &job->stats[worker->index];
    uint32_t task = clo_program_task(job->program, entry);
    int64_t wanted_ns = clo_cost_time(job->program->cost, task, worker->index);

    wait_until(job, clo_engine_arrival_ns(job->engine, entry, worker->index, job_now_ns(job)));
    *start_ns = job_now_ns(job);
    call_body(worker, job, entry, 0);
    wait_until(job, *start_ns + wanted_ns);
    *finish_ns = job_now_ns(job);
    stats->wanted_ns += wanted_ns;
    stats->missed_ns += *finish_ns - *start_ns - wanted_ns;
}

/* Virtual clock (replay): times follow from the plan's order and the cost model alone. */
static void run_virtual(clo_worker *worker, clo_job *job, uint32_t entry, int64_t *start_ns, int64_t *finish_ns)
{
    int64_t free_ns = job->virtual_free_ns[worker->index];
    uint32_t task = clo_program_task(job->program, entry);

    *start_ns = clo_engine_arrival_ns(job->engine, entry, worker->index, free_ns);
    *finish_ns = *start_ns + clo_cost_time(job->program->cost, task, worker->index);
    job->virtual_free_ns[worker->index] = *finish_ns;
    call_body(worker, job, entry, 0);
}

static void record(clo_worker *worker, clo_job *job, uint32_t entry, int64_t before_ns, int64_t start_ns,
                   int64_t finish_ns)
{
    uint32_t instance = clo_program_instance(job->program, entry), task = job->program->graph->task_of[instance];

    job->stats[worker->index].busy_ns += finish_ns - start_ns;
    job->events[entry] = (clo_trace_event){
        .task = task,
        .instance = instance - job->program->graph->first_instance[task],
        .executor = worker->index,
        .is_replica = entry >= job->program->instances,
        .start_ns = start_ns,
        .finish_ns = finish_ns,
        .transfer_ns = start_ns - before_ns,
        /* Before the successors are released, so that the numbers respect the edges. */
        .sequence = job->dispatch != NULL ? 0 : atomic_fetch_add_explicit(&job->sequence, 1, memory_order_relaxed),
    };
}

static void run_entry(clo_worker *worker, clo_job *job, uint32_t entry)
{
    clo_runtime *runtime = worker->runtime;
    int64_t start_ns = 0, finish_ns = 0;

    if (atomic_load_explicit(&job->stop, memory_order_relaxed) != 0) {
        if (!job->program->is_replay)
            job->engine->ran_on[entry] = worker->index;
        if (job->engine->is_timed)
            job->engine->finish_ns[entry] = job->virtual_free_ns[worker->index];
        return;
    }
    int64_t before_ns = runtime->clock == CLO_CLOCK_PADDED && job->events != NULL ? job_now_ns(job) : -1;
    if (runtime->clock == CLO_CLOCK_PADDED)
        run_padded(worker, job, entry, &start_ns, &finish_ns);
    else if (runtime->clock == CLO_CLOCK_VIRTUAL)
        run_virtual(worker, job, entry, &start_ns, &finish_ns);
    else
        run_real(worker, job, entry, &start_ns, &finish_ns);
    if (job->engine->is_timed)
        job->engine->finish_ns[entry] = finish_ns;
    if (job->events != NULL)
        record(worker, job, entry, before_ns < 0 ? start_ns : before_ns, start_ns, finish_ns);
}

static void finish_exit(clo_job *job)
{
    /* acq_rel: the last one publishes everybody's results to the waiter. */
    if (atomic_fetch_sub_explicit(&job->exits_left, 1, memory_order_acq_rel) == 1)
        clo_job_run_ended(job);
}

/* The worker that shall run an entry which only some may: the fastest, in turn where several are. */
static uint32_t home_of(const clo_job *job, uint32_t entry)
{
    const clo_program *program = job->program;
    uint32_t workers = job->runtime->workers_count, best = CLO_NONE;
    int64_t best_ns = CLO_TIME_NEVER;

    if (program->is_replay)
        return program->executor[entry];
    for (uint32_t i = 0; i < workers; i++) {
        uint32_t w = (entry + i) % workers;
        int64_t execution_ns = clo_cost_execution_ns(program->cost, clo_program_task(program, entry), w);
        if (execution_ns < best_ns) {
            best_ns = execution_ns;
            best = w;
        }
    }
    return best;
}

/* Hands on what `entry` released; one of them comes back to be run next, without any queue. */
static uint64_t release(clo_worker *worker, clo_job *job, uint32_t entry)
{
    clo_runtime *runtime = worker->runtime;
    const clo_program *program = job->program;
    const uint32_t *row = &program->succ[program->succ_first[entry]];
    uint32_t count = program->succ_first[entry + 1] - program->succ_first[entry];
    bool is_pinned = clo_job_is_pinned(job);
    uint64_t bypass = CLO_ITEM_NONE, *links = job->links;
    clo_engine *engine = job->engine;
    uint32_t cursor = 0, released, offered = 0;

    if (count == 0)
        return finish_exit(job), CLO_ITEM_NONE;
    while ((released = clo_engine_released(engine, row, count, &cursor)) != CLO_NONE) {
        /* While we hold a released item the job cannot end, so `job` is safe in here; once the last item is given
         * away it may be gone, so the loop's own condition reads locals only. */
        uint64_t item = clo_item(job, released);
        uint32_t home = is_pinned ? home_of(job, released) : worker->index;
        if (home != worker->index) {
            clo_worker_give(runtime, home, item, &links[released]);
        } else if (bypass == CLO_ITEM_NONE) {
            bypass = item;
        } else if (is_pinned) {
            clo_stack_push(&worker->inbox, item, &links[released]);
        } else {
            clo_worker_offer(worker, bypass, &links[(uint32_t)bypass]);
            bypass = item;
            offered++;
        }
    }
    if (offered > 0)
        clo_runtime_wake_one(runtime);
    return bypass;
}

/* Policy dispatch. The caller holds the turn: gives out decisions until there are none. */
static uint64_t hand_out(clo_worker *worker, clo_job *job)
{
    uint64_t mine = CLO_ITEM_NONE;
    uint32_t entry, executor;

    for (int64_t before_ns = clo_clock_ns(), now_ns; clo_dispatch_next(job->dispatch, &entry, &executor);
         before_ns = now_ns) {
        now_ns = clo_clock_ns();
        clo_histogram_record(job->decision_ns, now_ns - before_ns);
        if (worker != NULL && executor == worker->index && mine == CLO_ITEM_NONE)
            mine = clo_item(job, entry);
        else
            clo_worker_give(job->runtime, executor, clo_item(job, entry), &job->links[entry]);
    }
    return mine;
}

static void handle_completion(clo_job *job, uint32_t entry)
{
    clo_engine *engine = job->engine;

    if (job->events != NULL)
        job->events[entry].sequence = job->dispatch->finished;
    clo_dispatch_finish(job->dispatch, entry, engine->ran_on[entry], engine->finish_ns[entry]);
}

/* The chain of completions, oldest first. */
static uint64_t take_completions(clo_job *job)
{
    uint64_t chain = clo_stack_take(&job->completions), oldest = CLO_ITEM_NONE;

    while (chain != CLO_ITEM_NONE) {
        uint64_t next = job->links[(uint32_t)chain];
        job->links[(uint32_t)chain] = oldest;
        oldest = chain;
        chain = next;
    }
    return oldest;
}

/* Takes in completions until none is left; then the turn is free. `handled` counts in job->turn.
 *
 * A worker pushes its completion, then adds one to the turn; the add is its last touch of the job. While the turn is
 * held it only grows: subtracting what is handled would let it pass through 0 when an add comes late, and the next to
 * complete would be a second holder. So it goes back to 0 in one step, when exactly as many have been handled as were
 * added; a holder that was quicker than an add goes round until it arrives, two instructions later. Only then may the
 * job end. */
static uint64_t hold_turn(clo_worker *worker, clo_job *job, uint32_t handled)
{
    uint64_t mine = CLO_ITEM_NONE;

    for (;;) {
        uint64_t chain = take_completions(job);
        if (chain == CLO_ITEM_NONE)
            clo_relax();
        while (chain != CLO_ITEM_NONE) {
            uint32_t entry = (uint32_t)chain;
            chain = job->links[entry];
            handle_completion(job, entry);
            uint64_t item = hand_out(worker, job);
            if (item != CLO_ITEM_NONE)
                mine = item; /* at most one: the policy sees us busy from then on */
            handled++;
        }
        bool is_over = clo_dispatch_is_over(job->dispatch);
        uint32_t added = handled;
        /* acq_rel: carries the dispatcher's state from one turn to the next, and each completion to its handler. */
        if (atomic_compare_exchange_strong_explicit(&job->turn, &added, 0, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            if (is_over)
                clo_job_run_ended(job);
            return mine;
        }
    }
}

static uint64_t complete(clo_worker *worker, clo_job *job, uint32_t entry)
{
    clo_stack_push(&job->completions, clo_item(job, entry), &job->links[entry]);
    if (atomic_fetch_add_explicit(&job->turn, 1, memory_order_acq_rel) != 0)
        return CLO_ITEM_NONE; /* somebody holds the turn and will see it */
    return hold_turn(worker, job, 0);
}

/* Puts those that waited for capacity back to their workers. */
static void requeue(clo_runtime *runtime, uint64_t chain)
{
    while (chain != CLO_ITEM_NONE) {
        clo_job *job = clo_item_job(runtime, chain);
        uint32_t entry = (uint32_t)chain;
        uint64_t next = job->links[entry];
        uint32_t home = job->dispatch != NULL ? job->engine->ran_on[entry] : home_of(job, entry);
        clo_worker_give(runtime, home, chain, &job->links[entry]);
        chain = next;
    }
}

uint64_t clo_worker_execute(clo_worker *worker, uint64_t item)
{
    clo_runtime *runtime = worker->runtime;
    clo_job *job = clo_item_job(runtime, item);
    uint32_t entry = (uint32_t)item;
    clo_gate *gate = NULL;
    int64_t demand[CLO_RESOURCES_MAX];

    if (job->program->graph->has_demands) {
        gate = &runtime->gates[runtime->platform->executors[worker->index].machine];
        clo_program_demand(job->program, clo_program_task(job->program, entry), demand);
        if (job->dispatch != NULL)
            job->engine->ran_on[entry] = worker->index; /* where to come back to */
        if (!clo_gate_enter(gate, demand, item, &job->links[entry]))
            return CLO_ITEM_NONE;
    }
    run_entry(worker, job, entry);
    if (gate != NULL)
        requeue(runtime, clo_gate_leave(gate, demand));
    return job->dispatch != NULL ? complete(worker, job, entry) : release(worker, job, entry);
}

/* Deals the first items round the workers' spills, or to their homes. The job may end before this returns, but its
 * owner, who is in clo_job_submit, cannot free it yet. */
static void deal_roots(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    const clo_program *program = job->program;
    uint32_t workers = runtime->workers_count, dealt = 0, entries = program->entries;
    bool is_pinned = clo_job_is_pinned(job);

    for (uint32_t entry = 0; entry < entries; entry++) {
        if (clo_program_needs(program, entry) != 0)
            continue;
        uint32_t home = is_pinned ? home_of(job, entry) : dealt % workers;
        dealt++;
        clo_stack *stack = is_pinned ? &runtime->workers[home].inbox : &runtime->workers[home].spill;
        clo_stack_push(stack, clo_item(job, entry), &job->links[entry]);
    }
}

void clo_job_start(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (job->dispatch != NULL) {
        (void)clo_dispatch_begin(job->dispatch); /* its status is seen by clo_dispatch_is_over */
        (void)hand_out(NULL, job);
        (void)hold_turn(NULL, job, 1);
        return;
    }
    deal_roots(job);
    clo_barrier_light(&runtime->barrier);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) > 0)
        for (uint32_t w = 0; w < runtime->workers_count; w++)
            if (clo_parker_is_asleep(&runtime->workers[w].parker))
                (void)clo_parker_wake(&runtime->workers[w].parker);
}
