/* run/scheduling.h - the runtime's scheduler and what leads to it: the posts of workers, the requests of other threads.
 *
 * The scheduler is made for the first job with a policy (clo_job_config.policy), and owns the decisions of all of them.
 * It is single-threaded by contract: whoever posts while nobody decides becomes the combiner (combining.c). */
#ifndef CLO_RUN_SCHEDULING_H
#define CLO_RUN_SCHEDULING_H

#include "engine/scheduler.h"
#include "sync/combining.h"
#include "sync/stack.h"

#include <clotho/runtime.h>

typedef struct clo_scheduling {
    /* NULL: no job with a policy was made yet. Changed under the runtime's `control`, while no such job exists. */
    clo_scheduler *scheduler;
    clo_arena arena;
    /* Jobs with a policy that exist; under `control`. */
    uint32_t jobs;
    const clo_policy *policy;
    const void *argument;
    /* Of the policy in use, and of the jobs under it, if it came by a swap. */
    clo_arena policy_arena;
    /* How many swaps there were. */
    uint32_t swaps;

    /* Worker w posts in slot w, everybody else in the last one. */
    clo_combining combining;
    /* [workers] the combiner's. */
    uint32_t *news;
    /* What control wants of the combiner; bits in combining.h. */
    _Atomic uint32_t asks;
    /* Jobs with requests (clo_job.asks). */
    clo_stack requests;
    /* The capacities of the runtime's machines, which other jobs use too. */
    clo_scheduler_room room;
    /* How the scheduler is told that they may fit again; constant once there is a scheduler. */
    void (*call)(struct clo_runtime *runtime);
    /* Threads that may be about to do so. */
    _Atomic uint32_t callers;
    /* A policy on its way in; whoever wants that waits for it. */
    struct clo_swap *_Atomic swap;
    /* When the policy wants to be asked again, on the scheduler's clock; CLO_TIME_NEVER: no wish. For the watchdog. */
    _Atomic int64_t wake_ns;
    /* What the scheduler writes to, or (with log_waits) the next one will; NULL: nothing. Under `control`. */
    clo_log *log;
    bool log_waits;
    /* 1: the combiner has ended the log. Futex word. */
    _Atomic uint32_t log_is_over;
    /* CLOCK_MONOTONIC at the scheduler's time 0. */
    int64_t origin_ns;
} clo_scheduling;

#endif
