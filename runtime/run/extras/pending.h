/* run/extras/pending.h - bodies that finish later (clotho/token.h), as the worker sees them.
 *
 * An executor runs one body at a time, a deep slot a few, so each worker has so many completions
 * (sync/protocol/completion.h), and a token names the worker, the completion and the number of the opening. Whoever
 * settles the completion then calls the worker. One with a thread of its own waits in place, as if the body still ran:
 * its eventcount is rung. A slot is called through its slot thread (wake.h). */
#ifndef CLO_RUN_EXTRAS_PENDING_H
#define CLO_RUN_EXTRAS_PENDING_H

#include "run/state/job.h"
#include "run/state/worker.h"

typedef enum clo_pending_state {
    /* Somebody has yet to complete the token. */
    CLO_PENDING_OPEN,
    /* The body has ended, with its code. */
    CLO_PENDING_DONE,
    /* It was left out when its run was cut short, or the other one of its pair won. */
    CLO_PENDING_CUT
} clo_pending_state;

/* The execution's body may take a token. */
static inline bool clo_pending_may(const clo_job *job, uint32_t execution)
{
    const clo_graph *graph = job->program->graph;

    return graph->may_pend && graph->rows[clo_program_task(job->program, execution)].may_pend;
}

/* Before such a body. */
void clo_pending_begin(clo_worker *worker);

/* After it, with what it returned: true if it is pending. Else a token that it took is stale. */
bool clo_pending_end(clo_worker *worker, int code);

/* How it is with what is pending; *code with CLO_PENDING_DONE. Tells the body's cancel function when the job was
 * stopped, or the other one of a pair has won, once. The worker's own. */
clo_pending_state clo_pending_look(clo_worker *worker, const clo_job *job, uint32_t execution, int *code);

/* The same, right after the body: a worker with a thread of its own sleeps until it is no more open. So only that of a
 * slot may still be. */
clo_pending_state clo_pending_settle(clo_worker *worker, const clo_job *job, uint32_t execution, int *code);

/* What is pending on the executor is to look. Any thread. */
void clo_pending_call(clo_runtime *runtime, uint32_t executor);

/* The job has been stopped: what is pending of it is to look. Any thread. */
void clo_pending_let_go(const clo_job *job);

#endif
