/* body.c - see body.h. */
#include "run/body/body.h"

#include "run/body/hedge.h"
#include "run/extras/overrun.h"
#include "run/job/cut.h"
#include "run/state/series.h"

/* The body has failed; of a pair the other one may yet do well. */
static __attribute__((noinline, cold)) void fail(clo_worker *worker, clo_job *job, uint32_t execution, int code)
{
    if (clo_pair_has(job, execution))
        worker->pair.code = code;
    else
        clo_job_fail(job, execution, code);
}

__attribute__((cold)) void clo_body_leave_out(clo_worker *worker, clo_job *job, uint32_t execution)
{
    if (clo_pair_has(job, execution))
        worker->pair.is_cut = true;
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
static int end_pending(clo_worker *worker, clo_job *job, uint32_t execution, bool is_cut, int code)
{
    if (worker->pending.was_told && clo_pair_is_lost(job, execution))
        job->stats[worker->index].hedges_cancelled++;
    if (is_cut)
        return clo_body_leave_out(worker, job, execution), 0;
    clo_counter_add(&job->stats[worker->index].executed, 1);
    return code;
}

/* After a body that may finish later and has returned `code`. Of a slot it may be left pending:
 * worker->pending.is_held. */
static void after_body(clo_worker *worker, clo_job *job, uint32_t execution, int code)
{
    if (clo_pending_end(worker, code)) {
        clo_pending_state state = clo_pending_settle(worker, job, execution, &code);
        worker->pending.is_held = state == CLO_PENDING_OPEN;
        if (worker->pending.is_held)
            return;
        code = end_pending(worker, job, execution, state == CLO_PENDING_CUT, code);
    }
    end_body(worker, job, execution, code);
}

void clo_body_run(clo_worker *worker, clo_job *job, uint32_t item, uint32_t execution, int64_t expected_ns)
{
    bool is_limited = job->series != NULL && job->series->poll_ns > 0;
    bool has_extras = job->has_extras, may_pend = has_extras && clo_pending_may(job, execution);

    if (is_limited)
        clo_overrun_begin(worker, job, execution, job->kind->release_of(job, item));
    if (may_pend)
        clo_pending_begin(worker);
    if (has_extras && clo_pair_has(job, execution) && !clo_pair_is_hedge(job, execution))
        clo_hedge_arm(worker, job, execution);
    int code = job->kind->call(worker, job, item, expected_ns);
    if (may_pend) {
        after_body(worker, job, execution, code);
        return;
    }
    if (is_limited)
        clo_overrun_end(worker, job);
    if (code != 0)
        fail(worker, job, execution, code);
}

void clo_body_end_held(clo_worker *slot, clo_job *job, uint32_t execution, bool is_cut, int code)
{
    slot->pending.is_held = false;
    end_body(slot, job, execution, end_pending(slot, job, execution, is_cut, code));
}
