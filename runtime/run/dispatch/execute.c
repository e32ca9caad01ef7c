/* execute.c - one execution: capacities, inputs, body, and whom it released.
 *
 * An execution of a stopped job (cancelled, or some task failed) goes through the same steps without its body, so a job
 * always ends by the same path and nothing has to be hunted down in the queues. */
#define _POSIX_C_SOURCE 200809L
#include "run/dispatch/execute.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/dispatch/fast_path.h"
#include "run/dispatch/hedge.h"
#include "run/dispatch/pipeline.h"
#include "run/dispatch/virtual.h"
#include "run/extras/capacity.h"
#include "run/extras/checkpoint.h"
#include "run/extras/overrun.h"
#include "run/extras/pending.h"
#include "run/job/cut.h"
#include "run/records/recorder.h"
#include "run/scheduler/combining.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/series.h"

#include <sched.h>
#include <time.h>

#define SLEEP_SLACK_NS 60000
#define SLEEP_LONGEST_NS 50000000 /* of a stretched wait in one piece: a job that is stopped ends soon */

/* Since the run began, in the job's time: stretched where the clock is. */
static int64_t job_now_ns(const clo_job *job)
{
    int64_t passed_ns = clo_clock_ns() - job->run_ns;

    return job->runtime->dilate > 1 ? passed_ns / (int64_t)job->runtime->dilate : passed_ns;
}

/* The moment of the job's time on CLOCK_MONOTONIC. */
static int64_t wall_ns(const clo_job *job, int64_t when_ns)
{
    int64_t dilate = (int64_t)job->runtime->dilate, most_ns = (INT64_MAX - job->run_ns) / dilate;

    return job->run_ns + (when_ns < most_ns ? when_ns : most_ns) * dilate;
}

/* Sleeps until then, to the timer's precision; wakes up early only if the job is stopped. */
static void sleep_until(const clo_job *job, int64_t wall_until_ns)
{
    for (int64_t now_ns; (now_ns = clo_clock_ns()) < wall_until_ns;) { /* time passes */
        int64_t left_ns = wall_until_ns - now_ns;
        int64_t until_ns = now_ns + (left_ns < SLEEP_LONGEST_NS ? left_ns : SLEEP_LONGEST_NS);
        struct timespec at = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
        if (clo_stop_is_set(&job->stop))
            return;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
}

/* Spins until the job's time has come. With more workers than CPUs the others must run meanwhile: this one sleeps,
 * but for the last SLEEP_SLACK_NS, which a timer cannot hit. Stretched time makes that slack small: it sleeps to the
 * end. */
static void wait_until(const clo_job *job, int64_t when_ns)
{
    if (job->runtime->dilate > 1) {
        sleep_until(job, wall_ns(job, when_ns));
        return;
    }
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

/* The body has failed; of a pair the other one may yet do well. */
static __attribute__((noinline, cold)) void fail(clo_worker *worker, clo_job *job, uint32_t execution, int code)
{
    if (clo_pair_has(job, execution))
        worker->pair_code = code;
    else
        clo_job_fail(job, execution, code);
}

/* The body is left out, or dropped. */
static __attribute__((noinline, cold)) void leave_out(clo_worker *worker, clo_job *job, uint32_t execution)
{
    if (clo_pair_has(job, execution))
        worker->pair_is_cut = true;
    else
        clo_job_cut(job);
}

static void end_body(clo_worker *worker, clo_job *job, uint32_t execution, int code)
{
    if (job->series != NULL && job->series->poll_ns > 0)
        clo_overrun_end(worker, job);
    if (code != 0)
        fail(worker, job, execution, code);
}

/* What is left of a body that was pending. Returns its code. */
static int end_pending(clo_worker *worker, clo_job *job, uint32_t execution, clo_pending_state state, int code)
{
    if (worker->was_told && clo_pair_is_lost(job, execution))
        job->stats[worker->index].hedges_cancelled++;
    if (state == CLO_PENDING_CUT)
        return leave_out(worker, job, execution), 0;
    clo_counter_add(&job->stats[worker->index].executed, 1);
    return code;
}

/* After a body that may finish later and has returned `code`. Of a slot it may be left pending: worker->is_held. */
static void after_body(clo_worker *worker, clo_job *job, uint32_t execution, int code)
{
    if (clo_pending_end(worker, code)) {
        bool is_slot = worker->slot_thread != NULL;
        clo_pending_state state =
            is_slot ? clo_pending_look(worker, job, execution, &code) : clo_pending_wait(worker, job, execution, &code);
        worker->is_held = state == CLO_PENDING_OPEN;
        if (worker->is_held)
            return;
        code = end_pending(worker, job, execution, state, code);
    }
    end_body(worker, job, execution, code);
}

static void call_body(clo_worker *worker, clo_job *job, uint32_t execution, int64_t expected_ns)
{
    bool is_limited = job->series != NULL && job->series->poll_ns > 0;
    bool has_extras = job->has_extras, may_pend = has_extras && clo_pending_may(job, execution);

    if (is_limited)
        clo_overrun_begin(worker, job, execution);
    if (may_pend)
        clo_pending_begin(worker);
    if (has_extras && clo_pair_has(job, execution) && !clo_pair_is_hedge(job, execution))
        clo_hedge_arm(worker, job, execution);
    int code = clo_engine_call(job->engine, execution, worker->index, expected_ns, &job->scratch[worker->scratch],
                               &job->stats[worker->index]);
    if (may_pend) {
        after_body(worker, job, execution, code);
        return;
    }
    if (is_limited)
        clo_overrun_end(worker, job);
    if (code != 0)
        fail(worker, job, execution, code);
}

/* Somebody wants to know when things happen. */
static bool keeps_clock(const clo_worker *worker, const clo_job *job)
{
    return job->events != NULL || job->engine->is_timed || worker->recorder.slots != NULL;
}

/* Real clock: the body takes what it takes. */
static void run_real(clo_worker *worker, clo_job *job, uint32_t execution, int64_t *start_ns, int64_t *finish_ns)
{
    uint32_t task = clo_program_task(job->program, execution);
    bool is_timed = keeps_clock(worker, job);
    int64_t expected_ns = clo_cost_time(job->program->cost, task, worker->index);

    *start_ns = is_timed ? job_now_ns(job) : 0;
    call_body(worker, job, execution, expected_ns);
    *finish_ns = is_timed ? job_now_ns(job) : 0;
}

/* When the inputs of an execution are there, not before now_ns; the clock follows the cost model. */
static int64_t arrival_ns(const clo_worker *worker, const clo_job *job, uint32_t execution, int64_t now_ns)
{
    int64_t alone_ns = clo_engine_arrival_ns(job->engine, execution, worker->index, now_ns);
    int64_t shared_ns = job->ports_ready_ns != NULL ? job->ports_ready_ns[execution] : 0;

    return shared_ns > alone_ns ? shared_ns : alone_ns;
}

/* Padded clock: not before the inputs would have arrived, not shorter than the cost model says. */
static void run_padded(clo_worker *worker, clo_job *job, uint32_t execution, int64_t *start_ns, int64_t *finish_ns)
{
    clo_engine_stats *stats = &job->stats[worker->index];
    uint32_t task = clo_program_task(job->program, execution);
    int64_t wanted_ns = clo_cost_time(job->program->cost, task, worker->index);

    wait_until(job, arrival_ns(worker, job, execution, job_now_ns(job)));
    *start_ns = job_now_ns(job);
    call_body(worker, job, execution, 0);
    wait_until(job, clo_time_add(*start_ns, wanted_ns));
    *finish_ns = job_now_ns(job);
    stats->wanted_ns += wanted_ns;
    stats->missed_ns += *finish_ns - *start_ns - wanted_ns;
}

static bool keeps_times(const clo_job *job)
{
    return job->runtime->dilate > 1 && job->program->is_replay && !job->program->graph->has_demands;
}

/* Stretched clock, replay: start and end are the moments that the order of the plan and the inputs allow, and the timer
 * is set to them. What a worker wakes up late counts as missed, but what follows keeps its moments and catches up; a
 * job that never does ends late by the clock. A body that takes longer than its task takes that long. Where machines
 * have capacities or a policy decides, moments are as they happened (run_padded): a task may not start before others
 * let it. */
static void run_stretched(clo_worker *worker, clo_job *job, uint32_t execution, int64_t *start_ns, int64_t *finish_ns)
{
    clo_engine_stats *stats = &job->stats[worker->index];
    int64_t dilate = (int64_t)job->runtime->dilate, free_ns = worker->padded_until_ns - job->run_ns;
    int64_t wanted_ns = clo_cost_time(job->program->cost, clo_program_task(job->program, execution), worker->index);

    free_ns = free_ns > 0 ? (free_ns - 1) / dilate + 1 : 0; /* rounded up: another job's time may be in between */
    *start_ns = arrival_ns(worker, job, execution, free_ns);
    *finish_ns = clo_time_add(*start_ns, wanted_ns);
    wait_until(job, *start_ns);
    int64_t begun_ns = clo_clock_ns();
    call_body(worker, job, execution, 0);
    int64_t took_ns = (clo_clock_ns() - begun_ns + dilate - 1) / dilate;
    if (took_ns > wanted_ns)
        *finish_ns = *start_ns + took_ns;
    worker->padded_until_ns = wall_ns(job, *finish_ns);
    wait_until(job, *finish_ns);
    stats->wanted_ns += wanted_ns;
    stats->missed_ns += job_now_ns(job) - *start_ns - wanted_ns;
}

static void record(clo_worker *worker, clo_job *job, uint32_t execution, int64_t before_ns, int64_t start_ns,
                   int64_t finish_ns)
{
    job->stats[worker->index].busy += finish_ns - start_ns;
    job->events[execution] = clo_engine_event(job->engine, execution, start_ns, finish_ns);
    job->events[execution].transfer_ns = start_ns - before_ns;
}

/* When an execution ran, in the job's time. */
typedef struct execution_span {
    int64_t start_ns, finish_ns;
} execution_span;

/* Of a job that stops: no body is called. What was decided in virtual time holds its executor all the same. */
static execution_span cut_execution(clo_worker *worker, clo_job *job, uint32_t execution)
{
    leave_out(worker, job, execution);
    if (!job->program->is_replay)
        job->engine->ran_on[execution] = worker->index;
    if (job->start_ns != NULL)
        return (execution_span){job->start_ns[execution], job->engine->finish_ns[execution]};
    int64_t now_ns = job->scheduled != NULL ? job_now_ns(job) : 0;
    if (job->engine->is_timed)
        job->engine->finish_ns[execution] = now_ns;
    return (execution_span){now_ns, now_ns};
}

/* It has run; its worker was ready for it at before_ns. Inline: each ordinary body pays for it. */
static inline __attribute__((always_inline)) execution_span note_execution(clo_worker *worker, clo_job *job,
                                                                           uint32_t execution, int64_t before_ns,
                                                                           execution_span span)
{
    const clo_runtime *runtime = worker->runtime;

    if (job->engine->is_timed)
        job->engine->finish_ns[execution] = span.finish_ns;
    if (worker->recorder.slots != NULL)
        clo_recorder_add(worker, job, execution, clo_time_mul(span.start_ns, runtime->dilate),
                         clo_time_mul(span.finish_ns, runtime->dilate));
    if (job->events != NULL)
        record(worker, job, execution, before_ns < 0 || before_ns > span.start_ns ? span.start_ns : before_ns,
               span.start_ns, span.finish_ns);
    return span;
}

/* Nothing is left to be done: it takes no time. */
static execution_span pass_execution(clo_worker *worker, clo_job *job, uint32_t execution)
{
    int64_t now_ns = keeps_clock(worker, job) ? job_now_ns(job) : 0;

    clo_checkpoint_pass(job, execution, worker->index);
    return note_execution(worker, job, execution, -1, (execution_span){now_ns, now_ns});
}

/* All edges into its task are settled, unless what is ahead of it was left out (then the outcome is there): it does not
 * run, also where the job is stopped by now. */
static bool is_skipped(const clo_job *job, uint32_t execution)
{
    clo_control_flow *control_flow = &job->engine->control_flow;

    return control_flow->graph != NULL && (!clo_stop_is_set(&job->stop) || clo_outcome_is_open(&job->outcome)) &&
           clo_control_flow_settle(control_flow, clo_program_task(job->program, execution));
}

/* Its moment: it takes no time, and nothing has to arrive. */
static int64_t skip_ns(clo_worker *worker, const clo_job *job, uint32_t execution)
{
    const clo_runtime *runtime = worker->runtime;

    if (job->start_ns != NULL)
        return job->start_ns[execution];
    if (runtime->clock == CLO_CLOCK_PADDED && keeps_times(job)) {
        int64_t dilate = (int64_t)runtime->dilate, left_ns = worker->padded_until_ns - job->run_ns;
        return clo_engine_arrival_ns(job->engine, execution, worker->index,
                                     left_ns > 0 ? (left_ns - 1) / dilate + 1 : 0);
    }
    return keeps_clock(worker, job) ? job_now_ns(job) : 0;
}

/* Another arm was chosen. */
static __attribute__((noinline, cold)) execution_span skip_execution(clo_worker *worker, clo_job *job,
                                                                     uint32_t execution)
{
    if (!job->program->is_replay)
        job->engine->ran_on[execution] = worker->index;
    int64_t at_ns = skip_ns(worker, job, execution);
    job->stats[worker->index].skipped++;
    if (job->engine->is_timed)
        job->engine->finish_ns[execution] = at_ns;
    if (job->events != NULL)
        record(worker, job, execution, at_ns, at_ns, at_ns);
    return (execution_span){at_ns, at_ns};
}

static execution_span run_execution(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_runtime *runtime = worker->runtime;
    int64_t start_ns = 0, finish_ns = 0;

    if (clo_stop_is_set(&job->stop))
        return cut_execution(worker, job, execution);
    int64_t before_ns = runtime->clock == CLO_CLOCK_PADDED && job->events != NULL ? job_now_ns(job) : -1;
    if (job->start_ns != NULL) { /* virtual clock: decided before we got it */
        start_ns = job->start_ns[execution];
        finish_ns = job->engine->finish_ns[execution];
        call_body(worker, job, execution, 0);
    } else if (runtime->clock == CLO_CLOCK_PADDED && keeps_times(job)) {
        run_stretched(worker, job, execution, &start_ns, &finish_ns);
    } else if (runtime->clock == CLO_CLOCK_PADDED) {
        run_padded(worker, job, execution, &start_ns, &finish_ns);
    } else {
        run_real(worker, job, execution, &start_ns, &finish_ns);
    }
    if (job->has_extras && worker->is_held)
        return (execution_span){start_ns, start_ns};
    return note_execution(worker, job, execution, before_ns, (execution_span){start_ns, finish_ns});
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

/* Those whose turn to ask for capacities has come go to their workers. */
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
        clo_worker_count_end(job);
    return next;
}

/* The execution is over: whom it held up goes on. */
static uint64_t leave(clo_worker *worker, clo_job *job, uint32_t execution, bool holds, execution_span span)
{
    if (holds)
        clo_capacity_leave(worker, job, execution);
    if (clo_pair_has(job, execution))
        return leave_pair(worker, job, execution);
    if (job->virtual_time != NULL)
        return clo_virtual_complete(worker, job, execution);
    return job->scheduled != NULL ? clo_worker_complete(worker, job, execution, span.start_ns, span.finish_ns)
                                  : clo_worker_release(worker, job, execution);
}

/* The slot's body is pending: the rest comes with clo_worker_resume. */
static uint64_t hold(clo_worker *slot, uint64_t item, bool holds, execution_span span)
{
    slot->kept = item;
    slot->keeps_room = holds;
    slot->kept_start_ns = span.start_ns;
    return CLO_ITEM_NONE;
}

uint64_t clo_worker_execute(clo_worker *worker, uint64_t item)
{
    clo_job *job = clo_item_job(worker->runtime, item);
    uint32_t execution = (uint32_t)item;
    bool holds = false;

    if (job->series != NULL && atomic_load_explicit(&job->series->is_first, memory_order_relaxed) != 0)
        note_first(job->series);
    if (job->is_fast)
        return clo_worker_run_fast(worker, job, execution);
    if (job->pipeline != NULL)
        return clo_worker_run_pipeline(worker, job, execution);
    bool waits = job->tickets != NULL && !clo_pair_is_hedge(job, execution), has_extras = job->has_extras;
    bool skips = has_extras && is_skipped(job, execution);
    if (waits && !skips && !clo_checkpoint_has(job, execution) && !clo_capacity_enter(worker, item, &holds))
        return CLO_ITEM_NONE;
    if (waits)
        let_ask(worker, job, execution);
    if (skips)
        return leave(worker, job, execution, false, skip_execution(worker, job, execution));
    uint32_t task = clo_program_task(job->program, execution);
    atomic_store_explicit(&worker->current, clo_task_shown(job, task), memory_order_relaxed);
    clo_worker_look_up(worker, job->program->graph->rows[task].work_ns);
    if (has_extras && clo_pair_has(job, execution) && !clo_hedge_begin(worker, job, execution, &holds))
        return leave(worker, job, execution, holds, (execution_span){0, 0});
    bool is_checkpoint = has_extras && clo_checkpoint_has(job, execution);
    execution_span span =
        is_checkpoint ? pass_execution(worker, job, execution) : run_execution(worker, job, execution);
    worker->bypasses++;
    if (has_extras && worker->is_held)
        return hold(worker, item, holds, span);
    return leave(worker, job, execution, holds, span);
}

uint64_t clo_worker_resume(clo_worker *slot, clo_pending_state state, int code)
{
    clo_job *job = clo_item_job(slot->runtime, slot->kept);
    uint32_t execution = (uint32_t)slot->kept;
    execution_span span = {slot->kept_start_ns, keeps_clock(slot, job) ? job_now_ns(job) : 0};

    slot->is_held = false;
    end_body(slot, job, execution, end_pending(slot, job, execution, state, code));
    (void)note_execution(slot, job, execution, -1, span);
    return leave(slot, job, execution, slot->keeps_room, span);
}
