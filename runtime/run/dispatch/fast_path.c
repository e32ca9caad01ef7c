/* fast_path.c - the fast path: jobs whose executions need nothing but their bodies called, in the order of the graph,
 * on the real clock. What a task costs here beside its body: a row of the graph, a row of successors, one counter for
 * each, and mostly no atomic instruction; the first released successor is run next without any queue. */
#include "run/dispatch/fast_path.h"

#include "base/clock.h"
#include "engine/execution/body.h"
#include "run/dispatch/dispatches.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/records/recorder.h"
#include "run/sharing/owner.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

#define ASKED_MAX 4u    /* counters asked for ahead of a body */
#define GATHERED_MIN 8u /* a join of at least as many is hit for several predecessors at once */

static void finish_exits(clo_worker *worker, clo_job *job, uint32_t count)
{
    /* acq_rel: the last one publishes everybody's results to the waiter. */
    if (atomic_fetch_sub_explicit(&job->exits_left, count, memory_order_acq_rel) == count)
        clo_job_run_ended_here(worker, job);
}

/* Hands a released item of a pinned job to its worker; true if that is us and we keep it. */
static void send_pinned(clo_worker *worker, clo_job *job, uint32_t execution, uint64_t *bypass)
{
    uint32_t home = clo_job_owner(job, execution);
    uint64_t item = clo_item(job, execution);

    if (home != worker->index) {
        clo_worker_send(worker->runtime, home, item, &job->links[execution]);
    } else if (*bypass == CLO_ITEM_NONE) {
        *bypass = item;
    } else {
        job->links[execution] = worker->local;
        worker->local = item;
    }
}

/* Which of two released successors to run next while the other is given away. */
static bool prefers(const clo_worker *worker, uint32_t execution, uint64_t kept, uint32_t successor)
{
    return clo_share_prefers(worker->affinity.stride, worker->affinity.keeps_last, execution, (uint32_t)kept,
                             successor);
}

/* Hands on a released item; the first of them is kept in *bypass, to be run next. */
static inline void hand_on(clo_worker *worker, clo_job *job, uint32_t execution, uint32_t successor, uint64_t *bypass)
{
    if (job->is_pinned) {
        send_pinned(worker, job, successor, bypass);
    } else if (*bypass == CLO_ITEM_NONE) {
        *bypass = clo_item(job, successor);
    } else if (worker->affinity.is_on && prefers(worker, execution, *bypass, successor)) {
        clo_worker_push(worker, *bypass);
        *bypass = clo_item(job, successor);
    } else {
        clo_worker_push(worker, clo_item(job, successor));
    }
}

/* Hands on what the execution of this row released; the first of them comes back to be run next. While we hold a
 * released item the job cannot end; once the last one is given away it may be gone, so the loop's own condition reads
 * locals only. */
static inline uint64_t release_row(clo_worker *worker, clo_job *job, uint32_t execution, const uint32_t *row,
                                   uint32_t count)
{
    clo_countdown *pending = job->engine->pending;
    uint64_t bypass = CLO_ITEM_NONE;

    for (uint32_t i = 0; i < count; i++)
        if (clo_countdown_hit(&pending[row[i]]))
            hand_on(worker, job, execution, row[i], &bypass);
    if (worker->affinity.is_on && bypass != CLO_ITEM_NONE)
        worker->affinity.stride = (uint32_t)bypass - execution;
    return bypass;
}

/* The same where the row may hold barriers. `from`: the execution, or a barrier that it has just hit for the last
 * time. */
static uint64_t release_stages(clo_worker *worker, clo_job *job, uint32_t execution, uint32_t from)
{
    clo_engine *engine = job->engine;
    clo_release release = clo_engine_release(engine, from);
    uint64_t bypass = CLO_ITEM_NONE;

    for (uint32_t successor; (successor = clo_engine_released(engine, &release)) != CLO_NONE;)
        hand_on(worker, job, execution, successor, &bypass);
    if (worker->affinity.is_on && bypass != CLO_ITEM_NONE)
        worker->affinity.stride = (uint32_t)bypass - execution;
    return bypass;
}

uint64_t clo_worker_release(clo_worker *worker, clo_job *job, uint32_t execution)
{
    const clo_program *program = job->program;

    if (program->succ_first[execution] == program->succ_first[execution + 1])
        return finish_exits(worker, job, 1), CLO_ITEM_NONE;
    if (program->barriers > 0)
        return release_stages(worker, job, execution, execution);
    uint32_t first = program->succ_first[execution];
    return release_row(worker, job, execution, &program->succ[first], program->succ_first[execution + 1] - first);
}

/* Where an execution reports if nowhere else: the job's end, or a join of many; a hit there moves a line that many
 * want. */
static inline bool gathers(const clo_program *program, uint32_t execution, uint32_t *at)
{
    uint32_t first = program->succ_first[execution], count = program->succ_first[execution + 1] - first;

    *at = count == 0 ? CLO_NONE : program->succ[first];
    return count == 0 || (count == 1 && clo_program_needs(program, *at) >= GATHERED_MIN);
}

/* The next item of our deque, if it will report to the same place as the one that has just been run: then its own
 * report can wait for that one's, since nothing can come of it before. */
static inline uint64_t take_same(clo_worker *worker, const clo_job *job, uint32_t at)
{
    uint64_t item = clo_deque_peek(&worker->deque);
    uint32_t next_at;

    if (item == CLO_ITEM_NONE || item >> 32 != job->slot || worker->turns.bypasses >= CLO_BYPASSES_MAX ||
        !gathers(job->program, (uint32_t)item, &next_at) || next_at != at)
        return CLO_ITEM_NONE;
    return clo_deque_pop(&worker->deque);
}

static uint64_t report(clo_worker *worker, clo_job *job, uint32_t execution, uint32_t at, uint32_t hits)
{
    if (at == CLO_NONE)
        return finish_exits(worker, job, hits), CLO_ITEM_NONE;
    uint64_t item = clo_item(job, at);
    if (!clo_countdown_hit_many(&job->engine->pending[at], hits))
        return CLO_ITEM_NONE;
    if (at < job->program->executions)
        return item;
    clo_engine_pass(job->engine, at - job->program->executions);
    return release_stages(worker, job, execution, at);
}

/* For the trace and the flight recorder. */
static void note(clo_worker *worker, clo_job *job, uint32_t execution, int64_t start_ticks, bool is_recorded)
{
    int64_t finish_ticks = clo_ticks();

    if (is_recorded)
        clo_recorder_add(worker, job, execution, start_ticks, finish_ticks);
    if (job->ticked == NULL)
        return;
    job->stats[worker->index].busy += finish_ticks - start_ticks;
    /* Not worker->call.instance: the body of a range sees the first of its instances there. */
    const clo_program *program = job->program;
    uint32_t task = clo_program_task(program, execution);
    job->ticked[execution] = (clo_ticked){.task = task,
                                          .instance = execution - program->graph->first_instance[task],
                                          .executor = worker->index,
                                          .start_ticks = start_ticks,
                                          .finish_ticks = finish_ticks};
}

/* `is_plain`: of the job; a constant, so that plain jobs pay for no look at what others have. */
static inline __attribute__((always_inline)) void call_body(clo_worker *worker, clo_job *job, uint32_t execution,
                                                            bool has_no_extras)
{
    const clo_program *program = job->program;
    const clo_cost *cost = program->cost;
    uint32_t task = clo_program_task(program, execution);
    const clo_graph_task_row *row = &program->graph->rows[task];
    clo_call *call = &worker->call;

    atomic_store_explicit(&worker->current, clo_task_shown(job, task), memory_order_relaxed);
    clo_worker_look_up(worker, row->work_ns);
    if (clo_stop_is_set(&job->stop)) {
        clo_job_cut(job);
        return;
    }
    call->argument = row->argument;
    call->task = task;
    if (has_no_extras) {
        call->instance = execution - program->graph->first_instance[task];
        call->instances = row->instances;
        call->count = 1;
    } else
        clo_graph_serve(program->graph, task, execution - program->graph->first_instance[task], call);
    call->expected_ns = cost->time_ns[(size_t)task * cost->columns + cost->column_of[worker->index]]; /* may run here */
    bool is_recorded = !has_no_extras && clo_recorder_takes(worker);
    bool is_noted = is_recorded || (!has_no_extras && job->ticked != NULL);
    int64_t start_ticks = is_noted ? clo_ticks() : 0;
    bool has_data = !has_no_extras && program->graph->data != NULL;
    if (has_data)
        clo_handles_show(&job->engine->data.handles, task, worker->index, call);
    int code = row->body != NULL ? clo_body_call(row->body, call) : 0;
    if (has_data) /* the next job may have none */
        call->data_count = 0;
    clo_counter_add(&job->stats[worker->index].executed, 1);
    if (is_noted)
        note(worker, job, execution, start_ticks, is_recorded);
    if (code != 0)
        clo_job_fail(job, execution, code);
}

/* Asks for the counters that the execution will hit, while its body runs: other workers mostly had them last, and each
 * hit would wait for its own line. A single one is left alone: it is often a join that many report to together. Tiny
 * bodies leave no time for a store to the line, which their hits would have to wait for. */
static inline __attribute__((always_inline)) void ask_for_counters(const clo_job *job, const clo_program *program,
                                                                   uint32_t execution, bool is_tiny)
{
    uint32_t first = program->succ_first[execution], end = program->succ_first[execution + 1];
    clo_countdown *pending = job->engine->pending;

    if (end - first < 2)
        return;
    if (end - first > ASKED_MAX)
        end = first + ASKED_MAX;
    for (uint32_t i = first; i < end; i++) {
        uint32_t successor = program->succ[i];
        if (is_tiny)
            __builtin_prefetch(&pending[successor], 1);
        else
            clo_countdown_reach(&pending[successor], clo_program_needs(program, successor));
    }
}

/* `is_plain`, `is_tiny`: constants, so that each kind of body has a loop of its own and pays for no look at what
 * others have. */
static inline __attribute__((always_inline)) uint64_t run(clo_worker *worker, clo_job *job, uint32_t execution,
                                                          bool has_no_extras, bool is_tiny)
{
    const clo_program *program = job->program;
    bool has_barriers = program->barriers > 0;
    uint32_t hits = 0, at;

    for (;;) { /* each turn runs one execution of this job */
        uint64_t next;

        ask_for_counters(job, program, execution, is_tiny);
        call_body(worker, job, execution, has_no_extras);
        worker->turns.bypasses++;
        if (gathers(program, execution, &at)) {
            hits++;
            next = take_same(worker, job, at);
            if (next == CLO_ITEM_NONE) {
                next = report(worker, job, execution, at, hits);
                hits = 0;
            }
        } else if (has_barriers) {
            next = release_stages(worker, job, execution, execution);
        } else {
            uint32_t first = program->succ_first[execution];
            next =
                release_row(worker, job, execution, &program->succ[first], program->succ_first[execution + 1] - first);
        }
        if (hits == 0 && (next == CLO_ITEM_NONE || worker->turns.bypasses >= CLO_BYPASSES_MAX))
            return next;
        execution = (uint32_t)next;
    }
}

static __attribute__((noinline)) uint64_t run_worth(clo_worker *worker, clo_job *job, uint32_t execution)
{
    return run(worker, job, execution, true, false);
}

static uint64_t run_fast(clo_worker *worker, clo_job *job, uint32_t execution)
{
    if (!job->has_no_extras)
        return run(worker, job, execution, false, true);
    if (!clo_share_is_tiny(worker->pace.task_time_ns))
        return run_worth(worker, job, execution);
    return run(worker, job, execution, true, true);
}

const clo_dispatch clo_dispatch_fast = {.run = run_fast, .is_ticked = true, .is_helped = true};
