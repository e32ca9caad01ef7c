/* engine/scheduler/scheduler.h - the scheduler: owns every decision at run time, for all jobs that were given to it.
 *
 * It knows neither threads nor wall clocks. A driver (run/ with workers, sim/ with an event heap) feeds it *inputs* and
 * takes *orders* out, one thread at a time:
 *
 *     clo_scheduler_arrive | finish | timer | cancel | capacity | swap | moved | go_on      one input
 *     while (clo_scheduler_next(scheduler, &order)) ...                     what to start, and where
 *     while ((job = clo_scheduler_ended(scheduler)) != NULL) ...            who is done
 *
 * All that it decides follows from the sequence of inputs. It keeps no more than a row for each stage of a live job:
 * instances are counted, not listed, and an edge between stages of n and m instances is one counter.
 *
 * Steps: an input costs its out-degree (an arrival, a cancellation and a swap: CLO_LOG_PIECE jobs and stages at most,
 * the rest follows with clo_scheduler_go_on; a swap also exchanges a pointer of each live job), the executors where
 * queues have to be looked at, and the decisions that follow. A decision costs at most steps_max steps of the policy,
 * as many of the rule that replaces it, a look at each executor, and the inputs and successors of what is started.
 * Decisions are no more than free executors, entries in their queues, and one for each band. `most_turn_steps` is the
 * most that one input has cost with all that followed. It counts each stage, executor, machine, queue entry, input and
 * successor that is looked at, each call of the policy, and each step that the policy itself counts (clo_view_step).
 */
#ifndef CLO_ENGINE_SCHEDULER_SCHEDULER_H
#define CLO_ENGINE_SCHEDULER_SCHEDULER_H

#include "base/arena.h"
#include "engine/state/order.h"
#include "library.h"

#include <clotho/log.h>

typedef struct clo_scheduler_config {
    const clo_platform *platform;
    const clo_policy *policy;
    const void *argument;
    uint32_t jobs_max;
    uint32_t steps_max;                 /* of one decision; 0: no bound */
    uint32_t queue_max;                 /* entries in the queues of all executors; 0: 64 for each executor */
    clo_log *log;                       /* inputs and decisions go there; NULL: nowhere */
    bool has_moves;                     /* moves are orders, clo_scheduler_moved ends them; else they take no time */
    int64_t moving_ns;                  /* how long they take, for policies to see */
    bool keeps_stages;                  /* an executor goes on with its stage */
    bool passes_duplicates;             /* a choice's `duplicate` is passed over */
    const clo_scheduler_room *room;     /* lives as long as the scheduler; NULL: nobody else uses the machines */
    const clo_scheduler_script *script; /* likewise, in place of `room`: a run with one is repeated */
    clo_arena *states;                  /* the policy's state goes there; NULL: to the rest */
} clo_scheduler_config;

/* What clo_scheduler_create takes of `arena` in one piece, beside the policy's state: the policy is not looked at. */
size_t clo_scheduler_bytes(const clo_scheduler_config *config);

/* What a policy sees of the sizes, and what its state takes then. */
clo_limits clo_scheduler_limits(const clo_scheduler_config *config);
size_t clo_policy_state_bytes(const clo_policy_use *use, const clo_limits *limits);

CLO_INTERNAL clo_status clo_scheduler_create(const clo_scheduler_config *config, clo_arena *arena, clo_scheduler **out);

/* The job, made for this scheduler's policy, is live from now on. CLO_ERR_LIMIT: jobs_max live jobs. The job stays with
 * the scheduler until clo_scheduler_ended returns it. Where more than CLO_LOG_PIECE of its stages are ready at once,
 * the others follow with clo_scheduler_go_on. */
CLO_INTERNAL clo_status clo_scheduler_arrive(clo_scheduler *scheduler, clo_scheduler_job *job, int64_t now_ns);

/* There is more to do of what inputs have begun: a job has not entered as a whole, one that was cancelled has not left,
 * or a new policy has not been shown all that lives. */
CLO_INTERNAL bool clo_scheduler_has_more(const clo_scheduler *scheduler);

/* The last of these: the policy is not asked until then, and the scheduler's own rule decides. */
CLO_INTERNAL bool clo_scheduler_is_showing(const clo_scheduler *scheduler);

/* Then: the next piece, of a new policy first, then of a job that leaves, then of one that enters; of jobs the oldest
 * of the highest band. True: now that is whole. A driver calls it until clo_scheduler_has_more is false, with other
 * inputs in between if there are any. It asks for orders when something is whole, and after those other inputs, not
 * after each piece: so a job that arrives alone has entered before anything is decided about it. While a job leaves,
 * only bands above its own are decided about. The time stays that of the input before. */
CLO_INTERNAL bool clo_scheduler_go_on(clo_scheduler *scheduler);

/* All of these pieces, for a driver that nobody else waits for. */
CLO_INTERNAL void clo_scheduler_go_on_to_end(clo_scheduler *scheduler);

/* What runs on `executor`, since start_ns, has ended. Time never runs backwards: an earlier now_ns counts as the last
 * one. */
CLO_INTERNAL void clo_scheduler_finish(clo_scheduler *scheduler, uint32_t executor, int64_t start_ns, int64_t now_ns);

/* The time clo_scheduler_wake_ns has come. */
CLO_INTERNAL void clo_scheduler_timer(clo_scheduler *scheduler, int64_t now_ns);

/* Nothing more of the job is started, because it was cancelled or a body of it has failed; no effect on one that has
 * ended. */
CLO_INTERNAL void clo_scheduler_cancel(clo_scheduler *scheduler, clo_scheduler_job *job, bool has_failed,
                                       int64_t now_ns);

/* Capacity that others held is free again. */
CLO_INTERNAL void clo_scheduler_capacity(clo_scheduler *scheduler, uint32_t machine, int64_t now_ns);

/* `executor` has come to the job that it set out to at start_ns. */
CLO_INTERNAL void clo_scheduler_moved(clo_scheduler *scheduler, uint32_t executor, int64_t start_ns, int64_t now_ns);

/* Puts *use in place of the policy, and leaves the old one in it. Every live job must have the state for the new policy
 * in next_state (clo_scheduler_job_prepare); it is exchanged with its state, of other jobs when they arrive. `version`
 * is the number of the swap, from 1; use->place names the policy in the log. Of many jobs and stages the policy is
 * shown the first ones, and the others with clo_scheduler_go_on. Returns CLO_OK, CLO_ERR_STATE (the last policy is
 * still being shown) or what init returned; then nothing has changed. */
CLO_INTERNAL clo_status clo_scheduler_swap(clo_scheduler *scheduler, clo_policy_use *use, uint32_t version,
                                           int64_t now_ns);

/* The first and the last record of the log. After the last one the log is left alone. */
CLO_INTERNAL void clo_scheduler_begin_log(clo_scheduler *scheduler);
CLO_INTERNAL void clo_scheduler_end_log(clo_scheduler *scheduler, int64_t now_ns);

/* The next order; false: there is none until the next input. */
CLO_INTERNAL bool clo_scheduler_next(clo_scheduler *scheduler, clo_order *order);

/* The next job that has ended since it was asked last; NULL: none. */
CLO_INTERNAL clo_scheduler_job *clo_scheduler_ended(clo_scheduler *scheduler);

/* When clo_scheduler_timer is wanted; CLO_TIME_NEVER: no wish. */
CLO_INTERNAL int64_t clo_scheduler_wake_ns(const clo_scheduler *scheduler);

/* True while no more than `jobs_max - 1` jobs live. */
CLO_INTERNAL bool clo_scheduler_has_room(const clo_scheduler *scheduler);

/* The policy in use, and its argument. */
CLO_INTERNAL const clo_policy *clo_scheduler_policy(const clo_scheduler *scheduler, const void **argument);

CLO_INTERNAL const clo_scheduler_counts *clo_scheduler_counts_of(const clo_scheduler *scheduler);

/* The first refusal, in one line; "": none. */
CLO_INTERNAL const char *clo_scheduler_refusal(const clo_scheduler *scheduler);

#endif
