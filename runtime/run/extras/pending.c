/* pending.c - see pending.h. */
#include "run/extras/pending.h"

#include "base/status.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/pair.h"
#include "run/state/runtime.h"
#include "run/system/open.h"

#include <clotho/token.h>

/* Whose body runs on this thread and may take a token; NULL: none. */
static _Thread_local clo_worker *runs_here;

void clo_pending_begin(clo_worker *worker)
{
    worker->pending.has_token = worker->pending.was_told = false;
    runs_here = worker;
}

static clo_completion *completion_of(clo_worker *worker)
{
    return &worker->completions[worker->pending.place];
}

/* The body that runs, or is looked at, ends here, unless its token was completed. */
static bool settle_here(clo_worker *worker)
{
    clo_completion *completion = completion_of(worker);

    return clo_completion_settle(completion, atomic_load_explicit(&completion->number, memory_order_relaxed), 0);
}

bool clo_pending_end(clo_worker *worker, int code)
{
    runs_here = NULL;
    if (!worker->pending.has_token)
        return false;
    if (code == CLO_PENDING)
        return true;
    (void)settle_here(worker); /* no: it was completed, which does not count */
    return false;
}

clo_pending_state clo_pending_look(clo_worker *worker, const clo_job *job, uint32_t execution, int *code)
{
    int32_t result;
    bool is_settled = clo_completion_read(completion_of(worker), &result);
    bool is_unwanted = clo_stop_is_set(&job->stop) || clo_pair_is_lost(job, execution);

    if (!is_settled && !worker->pending.was_told && is_unwanted) {
        worker->pending.was_told = true;
        if (worker->pending.cancel != NULL)
            worker->pending.cancel(worker->pending.argument);
        else if (settle_here(worker))
            return CLO_PENDING_CUT;
        is_settled = clo_completion_read(completion_of(worker), &result);
    }
    if (!is_settled)
        return CLO_PENDING_OPEN;
    if (worker->pending.was_told && result != 0)
        return CLO_PENDING_CUT;
    *code = result;
    return CLO_PENDING_DONE;
}

clo_pending_state clo_pending_settle(clo_worker *worker, const clo_job *job, uint32_t execution, int *code)
{
    if (worker->serving.thread != NULL)
        return clo_pending_look(worker, job, execution, code);
    clo_worker_share_all(worker);
    for (;;) { /* a turn for each ring: a completion, or the end of the job */
        uint32_t heard = clo_eventcount_hear(&worker->eventcount);
        clo_pending_state state = clo_pending_look(worker, job, execution, code);
        if (state != CLO_PENDING_OPEN)
            return state;
        clo_eventcount_wait_until(&worker->eventcount, heard, INT64_MAX);
    }
}

void clo_pending_call(clo_runtime *runtime, uint32_t executor)
{
    if (executor < runtime->first_slot)
        clo_eventcount_ring(&runtime->workers[executor].eventcount);
    else
        clo_slot_call(runtime, executor);
}

void clo_pending_let_go(const clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (!clo_cost_graph(job->cost)->may_pend)
        return;
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        clo_pending_call(runtime, w);
}

clo_status clo_token_take(const clo_call *call, clo_cancel_fn cancel, void *argument, clo_token *out)
{
    clo_worker *worker = runs_here;

    if (call == NULL || out == NULL)
        return clo_fail_null("clo_token_take", "call or out");
    if (worker == NULL || call->executor != worker->index)
        return clo_fail(CLO_ERR_STATE, "only the body of a task with clo_task.may_pend, on a worker, may take a token");
    if (worker->pending.has_token)
        return clo_fail(CLO_ERR_STATE, "the body has taken its token already");
    if (clo_runtime_is_forked(worker->runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    worker->pending.has_token = true;
    worker->pending.cancel = cancel;
    worker->pending.argument = argument;
    *out = (clo_token){worker->runtime,
                       clo_completion_open(completion_of(worker)) * CLO_SLOT_DEPTH_MAX + worker->pending.place,
                       worker->index};
    return CLO_OK;
}

clo_status clo_token_complete(clo_token token, int code)
{
    clo_runtime *runtime = token.runtime;

    if (runtime == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_token_complete: the token is zeros; take one with clo_token_take");
    if (code == CLO_PENDING)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_token_complete: CLO_PENDING is no result");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (token.executor >= runtime->workers_count)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_token_complete: the token names executor %u of %u", token.executor,
                        runtime->workers_count);
    /* Whoever frees the runtime waits for us: once the completion is settled the job may end, and all else with it. */
    atomic_fetch_add_explicit(&runtime->completers, 1, memory_order_relaxed);
    bool is_first =
        clo_completion_settle(&runtime->workers[token.executor].completions[token.number % CLO_SLOT_DEPTH_MAX],
                              token.number / CLO_SLOT_DEPTH_MAX, code);
    if (is_first)
        clo_pending_call(runtime, token.executor);
    atomic_fetch_sub_explicit(&runtime->completers, 1, memory_order_release);
    if (is_first)
        return CLO_OK;
    return clo_fail(CLO_ERR_STATE, "the token is stale: it was completed before, or its run was cut short");
}
