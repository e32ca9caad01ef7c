/* token.h - bodies that finish later: a call to another process, a timer, a file.
 *
 * The body of a task with clo_task.may_pend may start an operation, return CLO_PENDING, and leave the rest to the
 * *driver*: code of the application that learns when the operation ends, such as one thread with epoll. Before it
 * returns, the body takes a *token* (clo_token_take) and gives it to the driver. The driver completes the token once
 * (clo_token_complete), and that ends the execution, with the code as the body's result.
 *
 * Until then the execution counts as running, in every respect: it keeps its executor and what it demands of its
 * machine, its successors wait, deadlines and limits hold for it, monitors and timeouts name it, and traces and logs
 * show it from the start of the body to the completion. No CPU time is spent on it: its worker sleeps, or serves other
 * slots (clo_runtime_config.slot_workers). Memory that call->output and the entries of call->inputs point to stays
 * valid until the completion. The call itself, and its two arrays, go when the body returns.
 *
 * A run may be cut short: by clo_job_cancel, by CLO_MISS_ABORT, by another body's failure, by clo_runtime_close. What
 * happens to a pending execution then depends on its token:
 *   with a cancel function  the function is called, once, on a worker. The token stays valid, and the run goes on until
 *                           the token is completed. So the driver can end its operation before memory is freed.
 *   without one             the execution ends at once, its token is stale, and nothing may use its memory any more.
 *
 * The same happens to a pending execution whose hedge has won, or to a hedge that has lost (job.h), while the run goes
 * on; clo_call.is_replica tells the two apart.
 *
 * A body that returns anything but CLO_PENDING ends like any other body; a token that it took is then stale.
 * CLO_PENDING without a token, or from a task without may_pend, is a failure with that code.
 *
 * Library: libclotho. */
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

/* Called if the run of a pending execution is cut short, or if the execution has lost against its hedge, or lost as a
 * hedge. Must be short, like a task body on a slot: another body may wait for the thread. It may complete the token. It
 * may be called before, during or after a completion; `argument` must live until the run has ended. */
typedef void (*clo_cancel_fn)(void *argument);

/* Takes the token of the execution whose body calls.
 *
 *   call      what the body was given.
 *   cancel    NULL: none.
 *   argument  handed to `cancel`.
 *   out       receives the token, which is good at once: it may be completed before the body returns.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL), or
 *   CLO_ERR_STATE  not called in the body of a task with may_pend on a worker (clo_simulate has no workers), or the
 *                  body has taken its token already, or this process was forked from the one with the workers
 *
 * Threads: the one that runs the body. Real time: yes, O(1), wait-free. */
CLO_API CLO_NODISCARD clo_status clo_token_take(const clo_call *call, clo_cancel_fn cancel, void *argument,
                                                clo_token *out);

/* Ends the execution. What this thread has written before, such as the output, is visible to the successors.
 *
 *   code  the body's result: 0, or another value to fail the job. In a run that was cut short, any value but 0 means
 *         that the execution was left out, and is no failure. Not CLO_PENDING.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the token is zeros or was never made, code is CLO_PENDING
 *   CLO_ERR_STATE     the token is stale: it was completed before, the body did not return CLO_PENDING, or the run was
 *                     cut short. So of many completions exactly one succeeds, also if the job is gone. Or the process
 *                     was forked from the one with the workers: complete it there.
 *
 * Threads: any, between clo_runtime_create and clo_runtime_destroy, also in a task body, a cancel function or a miss
 * handler. Not in a signal handler. Real time: yes, lock-free, O(1), and at most one system call.
 *
 * The end of the runtime. A token with a cancel function, of a body that returns CLO_PENDING, keeps the runtime until
 * it is completed, so that may happen beside clo_runtime_destroy or clo_runtime_close, which wait for it. Before these
 * calls, stop every thread that may complete another token: one without a cancel function, or one that is stale. Once
 * the runtime is freed, its tokens cannot be checked any more: they point to freed memory. Only if another runtime is
 * at the same address by then is such a token found to be stale. */
CLO_API CLO_NODISCARD clo_status clo_token_complete(clo_token token, int code);

#ifdef __cplusplus
}
#endif
#endif
