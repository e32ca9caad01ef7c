/* run/scheduler/combining.h - the scheduler's turn: one thread at a time is the combiner, and handles what all others
 * have posted. */
#ifndef CLO_RUN_SCHEDULER_COMBINING_H
#define CLO_RUN_SCHEDULER_COMBINING_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Bits of clo_job_policy.asks. BUSY: the combiner is at it. */
enum { CLO_ASK_ARRIVE = 1, CLO_ASK_CANCEL = 2, CLO_ASK_BUSY = 4 };

/* Bits of clo_scheduling.asks. */
enum {
    CLO_ASK_REQUESTS = 1,
    CLO_ASK_TIMER = 2,
    CLO_ASK_SWAP = 4,
    CLO_ASK_CAPACITY = 8,
    CLO_ASK_END_LOG = 16,
    CLO_ASK_TIME = 32
};

/* A policy on its way to the scheduler; lies with the thread that swaps, and waits. */
typedef struct clo_swap {
    /* In: the new one; out: the one to free. */
    clo_policy_use use;
    clo_status status;
    char error[192];
    /* Futex word. */
    _Atomic uint32_t is_done;
} clo_swap;

/* Starts a run of a job with a policy, or (CLO_ASK_CANCEL) makes the scheduler look whether it was stopped; any thread.
 * The job may have ended when this returns, and with CLO_ASK_ARRIVE be gone. */
void clo_job_ask(clo_job *job, uint32_t what);

/* The same for the scheduler as a whole: CLO_ASK_TIMER, CLO_ASK_SWAP, CLO_ASK_CAPACITY, CLO_ASK_END_LOG, and
 * CLO_ASK_TIME: virtual time goes on. */
void clo_scheduling_ask(clo_runtime *runtime, uint32_t what);

/* Posts that the worker has run what the scheduler gave it, and when. Takes the turn if nobody has it. Returns the next
 * item for this worker, or CLO_ITEM_NONE. The job may be gone afterwards. */
uint64_t clo_worker_complete(clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span);

/* The turn, where it is vacant: for a worker that has nothing else to do, with its next item or CLO_ITEM_NONE; and for
 * a thread that waits for the combiner (true: it had the turn). */
uint64_t clo_worker_take_turn(clo_worker *worker);
bool clo_scheduling_take_turn(clo_runtime *runtime);

/* Now, on the scheduler's clock. */
int64_t clo_scheduling_now_ns(const clo_runtime *runtime);

/* The watchdog: asks for the timer if its time has come, and takes a turn that nobody takes. Returns when to look
 * again; INT64_MAX: once the eventcount is rung. */
int64_t clo_scheduling_look(clo_runtime *runtime, int64_t now_ns);

#endif
