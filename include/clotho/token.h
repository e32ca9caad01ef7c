/* token.h - bodies that finish later: a call to another process, a timer, a file.
 *
 * A task with clo_task.may_pend has a body that may start something, return CLO_PENDING, and leave the rest to whoever
 * sees the end of it, say one thread of the application with epoll, the *driver*. Before it returns, the body takes a
 * *token* (clo_token_take) and gives it to the driver. The driver completes the token once (clo_token_complete), and
 * that ends the execution, with the code as the body's result.
 *
 * Until then the execution runs, in every respect: it keeps its executor and what it demands of its machine, its
 * successors wait, deadlines and limits hold for it, monitors and timeouts name it, and traces and logs show it from
 * the start of the body to the completion. No CPU time is spent on it: its worker sleeps, or serves other slots
 * (clo_runtime_config.slot_workers). Memory that call->output and the entries of call->inputs point to stays valid
 * until the completion. The call itself, and its two arrays, go when the body returns.
 *
 * A run may be cut short: by clo_job_cancel, by CLO_MISS_ABORT, by another body's failure, by clo_runtime_close. What
 * is pending then depends on the token:
 *   with a cancel function  it is called, once, on a worker. The token stays open, and the run goes on until somebody
 *                           completes it: so the driver can end what it has begun before memory goes.
 *   without one             the execution ends at once, its token is stale, and nothing may use its memory any more.
 *
 * The same happens to a pending execution whose hedge has won, or to a hedge that has lost (job.h), while the run goes
 * on: it tells both apart by clo_call.is_replica.
 *
 * A body that returns something else than CLO_PENDING ends as any other; a token that it took is stale then.
 * CLO_PENDING without a token, or of a task without may_pend, is a failure with that code. */
#ifndef CLOTHO_TOKEN_H
#define CLOTHO_TOKEN_H

#include <clotho/graph.h>
#include <clotho/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The right to complete one execution. Plain values that may be copied and sent; the fields are the library's. Zeros
 * are no token. */
typedef struct clo_token {
    clo_runtime *runtime;

    /* No two executions on one executor have the same. */
    uint64_t number;

    uint32_t executor;
} clo_token;

/* Told that the run of a pending execution is cut short, or that it has lost against its hedge or as one. Must be
 * short, as a task body on a slot: another one may wait for its thread. It may complete the token. It may come beside a
 * completion, before that or after; `argument` must live until the run has ended. */
typedef void (*clo_cancel_fn)(void *argument);

/* Takes the token of the execution whose body calls.
 *
 *   call      what the body was given.
 *   cancel    NULL: none.
 *   argument  handed to `cancel`.
 *   out       receives the token, which is good at once: it may be completed before the body returns.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or
 *   CLO_ERR_STATE  not in the body of a task with may_pend on a worker (clo_simulate has none), or the body has taken
 *                  its token already, or this is a process that was forked from the one with the workers
 *
 * Threads: the one that runs the body. Real time: yes, O(1), wait-free. */
CLO_API CLO_NODISCARD clo_status clo_token_take(const clo_call *call, clo_cancel_fn cancel, void *argument,
                                                clo_token *out);

/* Ends the execution. What this thread has written before, such as the output, is there for the successors.
 *
 *   code  the body's result: 0, or another value to fail the job. Of a run that was cut short any value but 0 counts as
 *         left out, and is no failure. Not CLO_PENDING.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the token is zeros or was never made, code is CLO_PENDING
 *   CLO_ERR_STATE     the token is stale: it was completed before, the body did not return CLO_PENDING, or the run was
 *                     cut short. So of many completions exactly one succeeds, also where the job is gone. Or the
 *                     process was forked from the one with the workers: complete it there.
 *
 * Threads: any, between clo_runtime_create and clo_runtime_destroy, also in a task body, a cancel function or a miss
 * handler. Not in a signal handler. Real time: yes, lock-free, O(1), and at most one system call.
 *
 * The end of the runtime. A token with a cancel function keeps it, so its completion may come beside
 * clo_runtime_destroy or clo_runtime_close, which wait for that. Whoever may complete one without a cancel function has
 * to be stopped before. Once the runtime is freed nothing can be checked any more: the token points to memory that is
 * gone. Only where another runtime lies there by then it is stale as any other. */
CLO_API CLO_NODISCARD clo_status clo_token_complete(clo_token token, int code);

#ifdef __cplusplus
}
#endif
#endif
