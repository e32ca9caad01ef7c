/* execute.c - one execution: capacities, inputs, body, and whom it released; for all jobs but those of the fast path
 * and those with releases in flight.
 *
 * An execution of a stopped job (cancelled, or some task failed) goes through the same steps without its body, so a job
 * always ends by the same path and nothing has to be hunted down in the queues. */
#include "run/dispatch/execute.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/body/body.h"
#include "run/body/hedge.h"
#include "run/body/job_clock.h"
#include "run/dispatch/dispatches.h"
#include "run/dispatch/fast_path.h"
#include "run/dispatch/launch.h"
#include "run/extras/capacity.h"
#include "run/extras/checkpoint.h"
#include "run/job/begin.h"
#include "run/job/end.h"
#include "run/records/recorder.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/series.h"

static void record(clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span)
{
    job->stats[worker->index].busy += span->finish_ns - span->start_ns;
    job->events[execution] = clo_engine_event(job->engine, execution, span->start_ns, span->finish_ns);
    job->events[execution].transfer_ns = span->start_ns - span->ready_ns;
}

/* It has run. Inline: each ordinary body pays for it. */
static inline __attribute__((always_inline)) void note_execution(clo_worker *worker, clo_job *job, uint32_t execution,
                                                                 const clo_span *span)
{
    const clo_runtime *runtime = worker->runtime;

    if (job->engine->is_timed)
        job->engine->finish_ns[execution] = span->finish_ns;
    if (clo_recorder_takes(worker))
        clo_recorder_add(worker, job, execution, clo_time_mul(span->start_ns, runtime->dilate),
                         clo_time_mul(span->finish_ns, runtime->dilate));
    if (job->events != NULL)
        record(worker, job, execution, span);
}

/* No body is called. */
static clo_span pass_execution(const clo_worker *worker, clo_job *job, uint32_t execution)
{
    if (!job->program->is_replay)
        job->engine->ran_on[execution] = worker->index;
    clo_span span = job->pacing->pass(worker, job, execution);
    if (job->engine->is_timed)
        job->engine->finish_ns[execution] = span.finish_ns;
    return span;
}

/* Of a job that stops. */
static clo_span cut_execution(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_body_leave_out(worker, job, execution);
    return pass_execution(worker, job, execution);
}

/* Nothing is left to be done: it was done before the run. */
static clo_span find_execution_done(const clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_checkpoint_pass(job, execution, worker->index);
    return job->pacing->pass(worker, job, execution);
}

/* All edges into its task are settled, unless what is ahead of it was left out (then the outcome is there): it does not
 * run, also where the job is stopped by now. */
static bool is_skipped(const clo_job *job, uint32_t execution)
{
    clo_control_flow *control_flow = &job->engine->control_flow;

    return control_flow->graph != NULL && (!clo_stop_is_set(&job->stop) || clo_outcome_is_open(&job->outcome)) &&
           clo_control_flow_settle(control_flow, clo_program_task(job->program, execution));
}

/* Another arm was chosen. */
static __attribute__((noinline, cold)) clo_span skip_execution(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_span span = pass_execution(worker, job, execution);

    job->stats[worker->index].skipped++;
    if (job->events != NULL)
        record(worker, job, execution, &span);
    return span;
}

/* The first body of a run begins, unless another worker was quicker. */
static void note_first(clo_series *series)
{
    if (atomic_exchange_explicit(&series->is_first, 0, memory_order_relaxed) != 0)
        clo_histogram_record(
            &series->start_ns,
            clo_time_sub(clo_clock_ns(),
                         clo_series_due_ns(series, atomic_load_explicit(&series->current, memory_order_relaxed))));
}

/* Those whose turn to ask for capacities, or to begin on a deep slot, has come go to their workers. */
static void let_ask(clo_worker *worker, clo_job *job, uint32_t execution)
{
    uint32_t cursor = 0, next;

    while ((next = clo_engine_let_ask(job->engine, execution, &cursor)) != CLO_NONE)
        clo_worker_send(worker->runtime, job->program->executor[next], clo_item(job, next), &job->links[next]);
}

/* The same of a pair: whom the instance held up goes on once. */
static __attribute__((noinline)) uint64_t leave_pair(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_hedge_end end = clo_hedge_finish(worker, job, execution);
    uint64_t next = end.releases ? clo_worker_release(worker, job, end.first) : CLO_ITEM_NONE;

    if (end.is_last)
        clo_job_count_end(job);
    return next;
}

/* The execution is over: whom it held up goes on. */
static uint64_t leave(clo_worker *worker, clo_job *job, uint32_t execution, bool holds, const clo_span *span)
{
    if (holds)
        clo_capacity_leave(worker, job, execution);
    return clo_pair_has(job, execution) ? leave_pair(worker, job, execution)
                                        : job->kind->complete(worker, job, execution, span);
}

/* The slot's body is pending: the rest comes with clo_worker_resume_general. */
static uint64_t hold(clo_worker *slot, uint64_t item, bool holds, const clo_span *span)
{
    slot->pending.item = item;
    slot->pending.keeps_room = holds;
    slot->pending.start_ns = span->start_ns;
    return CLO_ITEM_NONE;
}

uint64_t clo_worker_run_general(clo_worker *worker, clo_job *job, uint32_t execution)
{
    bool waits = job->tickets != NULL && !clo_pair_is_hedge(job, execution), has_extras = job->has_extras;
    bool skips = has_extras && is_skipped(job, execution), holds = false;
    uint64_t item = clo_item(job, execution);
    clo_span span = {0};

    if (waits && !skips && !clo_checkpoint_has(job, execution) && !clo_capacity_enter(worker, item, &holds))
        return CLO_ITEM_NONE;
    if (waits || job->program->is_deep) /* in virtual time others see to it */
        let_ask(worker, job, execution);
    if (skips) {
        span = skip_execution(worker, job, execution);
        return leave(worker, job, execution, false, &span);
    }
    uint32_t task = clo_program_task(job->program, execution);
    atomic_store_explicit(&worker->current, clo_task_shown(job, task), memory_order_relaxed);
    clo_worker_look_up(worker, job->program->graph->rows[task].work_ns);
    if (has_extras && clo_pair_has(job, execution) && !clo_hedge_begin(worker, job, execution, &holds))
        return leave(worker, job, execution, holds, &span);
    worker->turns.bypasses++;
    bool is_done = has_extras && clo_checkpoint_has(job, execution);
    if (!is_done && clo_stop_is_set(&job->stop)) {
        span = cut_execution(worker, job, execution);
        return leave(worker, job, execution, holds, &span);
    }
    span = is_done ? find_execution_done(worker, job, execution) : job->pacing->run(worker, job, execution);
    if (has_extras && worker->pending.is_held)
        return hold(worker, item, holds, &span);
    note_execution(worker, job, execution, &span);
    return leave(worker, job, execution, holds, &span);
}

uint64_t clo_worker_execute(clo_worker *worker, uint64_t item)
{
    clo_job *job = clo_item_job(worker->runtime, item);

    if (job->series != NULL && atomic_load_explicit(&job->series->is_first, memory_order_relaxed) != 0)
        note_first(job->series);
    return job->dispatch->run(worker, job, (uint32_t)item);
}

uint64_t clo_worker_resume_general(clo_worker *slot, clo_job *job, bool is_cut, int code)
{
    uint32_t execution = (uint32_t)slot->pending.item;
    clo_span span = {slot->pending.start_ns, slot->pending.start_ns, clo_job_moment_ns(slot, job)};

    clo_body_end_held(slot, job, execution, is_cut, code);
    note_execution(slot, job, execution, &span);
    return leave(slot, job, execution, slot->pending.keeps_room, &span);
}

uint64_t clo_worker_resume(clo_worker *slot, bool is_cut, int code)
{
    clo_job *job = clo_item_job(slot->runtime, slot->pending.item);

    return job->kind->resume(slot, job, is_cut, code);
}

int clo_worker_call(clo_worker *worker, clo_job *job, uint32_t item, int64_t expected_ns)
{
    return clo_engine_call(job->engine, item, worker->index, expected_ns, &job->scratch[worker->scratch],
                           &job->stats[worker->index]);
}

uint64_t clo_job_current_release(const clo_job *job, uint32_t item)
{
    (void)item;
    return atomic_load_explicit(&job->series->current, memory_order_relaxed);
}

/* Items that anybody may run, or a plan on the real or the padded clock. */
static uint64_t complete(clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span)
{
    (void)span;
    return clo_worker_release(worker, job, execution);
}

const clo_dispatch clo_dispatch_general = {
    .run = clo_worker_run_general,
    .call = clo_worker_call,
    .release_of = clo_job_current_release,
    .fast = &clo_dispatch_fast,
    .complete = complete,
    .resume = clo_worker_resume_general,
    .start = clo_job_run_distribute,
    .open = clo_job_open,
    .release = clo_job_release,
    .close = clo_job_close,
};
