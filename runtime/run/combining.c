/* combining.c - policy dispatch: whoever completes an execution while nobody decides becomes the combiner
 * (sync/combining.h), reads what has completed, asks the policy, and hands out what it says. Starting a run and changing
 * the policy are news like a completion, so all that concerns the policy happens in the combiner, whosever thread that
 * is. */
#include "run/combining.h"

#include "base/clock.h"
#include "base/status.h"
#include "run/end.h"
#include "run/item.h"
#include "run/open.h"
#include "run/real_time.h"
#include "run/wake.h"

#include <stdio.h>

/* Bits of clo_job.asks. */
enum { ASK_START = 1, ASK_SWAP = 2 };

/* A policy on its way into a job; lies with the thread that swaps, and waits. */
typedef struct clo_swap {
    /* In: the new one; out: the one to free. */
    clo_policy_instance next;
    clo_status status;
    char error[192];
    /* Futex word. */
    _Atomic uint32_t is_done;
} clo_swap;

/* Gives out decisions until there are none; the one for `worker` (NULL: a thread that is no worker) stays in *mine. */
static void hand_out(clo_worker *worker, clo_job *job, uint64_t *mine)
{
    uint32_t execution, executor;

    for (int64_t before_ns = clo_clock_ns(), now_ns; clo_dispatch_next(job->dispatch, &execution, &executor);
         before_ns = now_ns) {
        now_ns = clo_clock_ns();
        clo_histogram_record(job->decision_ns, now_ns - before_ns);
        if (worker != NULL && executor == worker->index)
            *mine = clo_item(job, execution); /* at most one each time: the policy sees us busy from then on */
        else
            clo_worker_give(job->runtime, executor, clo_item(job, execution), &job->links[execution]);
    }
}

static void handle_completion(clo_job *job, uint32_t execution)
{
    clo_engine *engine = job->engine;

    if (job->events != NULL)
        job->events[execution].sequence = job->dispatch->finished;
    clo_dispatch_finish(job->dispatch, execution, engine->ran_on[execution], engine->finish_ns[execution]);
}

static void swap_policy(clo_job *job)
{
    clo_swap *swap = atomic_load_explicit(&job->swap, memory_order_relaxed); /* came with the post on the combining */

    swap->status = clo_dispatch_swap(job->dispatch, &swap->next, job->is_deciding);
    if (swap->status != CLO_OK)
        snprintf(swap->error, sizeof swap->error, "%s", clo_last_error());
    atomic_store_explicit(&swap->is_done, 1, memory_order_release); /* pairs with the acquire in clo_job_swap_policy */
    clo_futex_wake_all(&swap->is_done);
}

static void handle_asks(clo_job *job)
{
    uint32_t asks = atomic_exchange_explicit(&job->asks, 0, memory_order_acq_rel);

    if (asks & ASK_SWAP)
        swap_policy(job);
    if (asks & ASK_START) {
        (void)clo_dispatch_begin(job->dispatch); /* its status is seen by clo_dispatch_is_over */
        job->is_deciding = true;
    }
}

/* The workers' slots that have news, earliest finish first, into job->news; returns their number. Insertion: there are
 * at most as many as workers, and mostly one. */
static uint32_t read_records(clo_job *job)
{
    const int64_t *finish_ns = job->engine->finish_ns;
    uint32_t count = 0;

    for (uint32_t w = 0; w < job->runtime->workers_count; w++) {
        uint32_t execution = clo_combining_read(&job->combining, w), at = count;
        if (execution == CLO_COMBINING_EMPTY)
            continue;
        for (; at > 0 && finish_ns[job->news[at - 1]] > finish_ns[execution]; at--)
            job->news[at] = job->news[at - 1];
        job->news[at] = execution;
        count++;
    }
    return count;
}

/* One round over the combining; returns the posts handled, and in *mine what our own worker shall run. */
static uint32_t handle_records(clo_worker *worker, clo_job *job, uint64_t *mine)
{
    uint32_t count = read_records(job), handled = count;

    if (clo_combining_read(&job->combining, job->runtime->workers_count) != CLO_COMBINING_EMPTY) {
        handled++;
        handle_asks(job);
        if (job->is_deciding)
            hand_out(worker, job, mine);
    }
    for (uint32_t i = 0; i < count; i++) {
        handle_completion(job, job->news[i]);
        hand_out(worker, job, mine);
    }
    return handled;
}

/* Until nothing is posted any more; then, and if the run is over, the job may be gone. */
static uint64_t combine(clo_worker *worker, clo_job *job)
{
    uint64_t mine = CLO_ITEM_NONE;
    uint32_t handled = 0;
    bool has_ended = false;

    for (;;) { /* ends once all posts are handled; each has its add on the way */
        uint32_t now = handle_records(worker, job, &mine);
        handled += now;
        if (job->is_deciding && clo_dispatch_is_over(job->dispatch)) {
            job->is_deciding = false;
            has_ended = true;
        }
        if (clo_combining_leave(&job->combining, handled)) {
            if (has_ended)
                clo_job_run_ended(job);
            return mine;
        }
        if (now == 0)
            clo_relax();
    }
}

uint64_t clo_worker_complete(clo_worker *worker, clo_job *job, uint32_t execution)
{
    return clo_combining_post(&job->combining, worker->index, execution) ? combine(worker, job) : CLO_ITEM_NONE;
}

/* One control thread at a time posts for a job (clo_job_submit, the watchdog's release, a swap): `asks` gathers what
 * they want, and only the first of them since it was last emptied posts. */
static void ask(clo_job *job, uint32_t what)
{
    /* acq_rel, here and in handle_asks: carries what the asker has prepared one way, and the emptied slot the other. */
    if (atomic_fetch_or_explicit(&job->asks, what, memory_order_acq_rel) == 0 &&
        clo_combining_post(&job->combining, job->runtime->workers_count, what))
        (void)combine(NULL, job);
}

void clo_job_start_turn(clo_job *job)
{
    ask(job, ASK_START);
}

/* The caller owns job->swap. */
static clo_status replace_policy(clo_job *job, const clo_policy *policy, clo_swap *swap)
{
    clo_arena arena;

    clo_arena_open(&arena, NULL, 0);
    clo_status status = clo_policy_instance_create(job->engine, policy, &arena, &swap->next);
    if (status != CLO_OK)
        return status;
    ask(job, ASK_SWAP);
    while (atomic_load_explicit(&swap->is_done, memory_order_acquire) == 0) /* the combiner will come to it */
        clo_futex_wait(&swap->is_done, 0);
    if (swap->status != CLO_OK)
        return clo_arena_close(&arena), clo_fail(swap->status, "%s", swap->error);
    clo_arena_close(&job->policy_arena); /* of the one that is out */
    job->policy_arena = arena;
    return CLO_OK;
}

clo_status clo_job_swap_policy(clo_job *job, const clo_policy *policy)
{
    if (job == NULL || policy == NULL)
        return clo_fail_null("clo_job_swap_policy", "job or policy");
    clo_swap swap = {.status = CLO_OK};

    if (job->dispatch == NULL || policy == NULL || policy->ready == NULL || policy->pick == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the job has no policy to be replaced, or the new one lacks a function");
    if (job->arena.memory != NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the job lies in clo_job_config.memory, which has no room for a second policy");
    if (clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not swap policies");
    if (clo_runtime_is_forked(job->runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (clo_thread_is_worker(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not swap policies: the combiner may be its own worker");
    if (job->virtual_time != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "under the virtual clock a job keeps its policy");
    clo_swap *nobody = NULL;
    /* cppcheck-suppress autoVariables ; nobody looks at it any more when is_done is set, for which we wait */
    if (!atomic_compare_exchange_strong_explicit(&job->swap, &nobody, &swap, memory_order_acquire,
                                                 memory_order_relaxed))
        return clo_fail(CLO_ERR_STATE, "another thread swaps the job's policy");
    clo_status status = replace_policy(job, policy, &swap);
    atomic_store_explicit(&job->swap, NULL, memory_order_release); /* pairs with the exchange above */
    return status;
}
