/* engine/dispatch.h - policy dispatch: feeds completions to a policy and asks it for decisions.
 *
 * Used by one thread at a time: in run/ whoever holds the scheduling turn, in sim/ the event loop. All that a policy
 * can see follows from the sequence of (completion, its finish time), so a recorded sequence reproduces every
 * decision. */
#ifndef CLO_ENGINE_DISPATCH_H
#define CLO_ENGINE_DISPATCH_H

#include "engine/engine.h"

#include <clotho/policy.h>

struct clo_view {
    clo_engine *engine;
    int64_t now_ns;
    uint32_t *running;   /* [executors] execution, CLO_NONE: free          */
    int64_t *busy_until; /* [executors] expected                       */
    uint8_t *state;      /* [instances] 0 waiting, 1 ready, 2 started, 3 finished */
    const uint32_t *ready_first, *ready_next;
    uint32_t *steps;    /* taken by the decision in progress          */
    uint32_t steps_max; /* 0: no bound                                */
};

/* A policy with its state for one job. */
typedef struct clo_policy_instance {
    const clo_policy *policy;
    void *state;
    size_t bytes;
} clo_policy_instance;

typedef struct clo_dispatch {
    clo_view view;
    clo_policy_instance instance;
    uint32_t finished, started;
    uint32_t next_executor;    /* where clo_dispatch_next goes on looking            */
    uint32_t *previous, *next; /* [instances] the ready ones in order of arrival     */
    uint32_t ready_first, ready_last;
    uint32_t steps, most_steps; /* of the decision in progress, and of any in this run */
    uint64_t fallbacks;         /* decisions that the runtime took, the bound being reached */
    clo_status status;          /* the first error of the policy           */
    char error[192];            /* its text, for whichever thread waits    */
    uint64_t decisions;
} clo_dispatch;

clo_status clo_policy_instance_create(const clo_engine *engine, const clo_policy *policy, clo_arena *arena,
                                      clo_policy_instance *out);

/* The engine must be timed. Everything lies in `arena`.
 *   steps_max  see clo_job_config. */
clo_status clo_dispatch_create(clo_engine *engine, const clo_policy *policy, uint32_t steps_max, clo_arena *arena,
                               clo_dispatch **out);

/* Starts a run: initialises the policy and shows it the executions that wait for nothing. */
clo_status clo_dispatch_begin(clo_dispatch *dispatch);

/* Puts *instance in place of the policy and leaves the old one in it. In the middle of a run the new one is
 * initialised and shown what is ready, oldest first. Returns what its init returned; then nothing has changed. */
clo_status clo_dispatch_swap(clo_dispatch *dispatch, clo_policy_instance *instance, bool is_running);

/* `execution` has finished on `executor` at finish_ns (time never runs backwards: an earlier value counts as now). */
void clo_dispatch_finish(clo_dispatch *dispatch, uint32_t execution, uint32_t executor, int64_t finish_ns);

/* The next decision, or false when there is none now. After begin and after each finish, call until false. */
bool clo_dispatch_next(clo_dispatch *dispatch, uint32_t *execution, uint32_t *executor);

/* True once nothing runs and nothing will: all done, or the policy failed (status). */
bool clo_dispatch_is_over(const clo_dispatch *dispatch);

#endif
