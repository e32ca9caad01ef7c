/* run/state/scheduling.h - the runtime's scheduler and what leads to it: the posts of workers, the requests of other
 * threads.
 *
 * The scheduler is made for the first job with a policy (clo_job_config.policy), and owns the decisions of all of them.
 * It is single-threaded by contract: whoever posts while nobody decides becomes the combiner (combining.c). */
#ifndef CLO_RUN_STATE_SCHEDULING_H
#define CLO_RUN_STATE_SCHEDULING_H

#include "base/order/heap.h"
#include "engine/scheduler/scheduler.h"
#include "sim/time/stream_time.h"
#include "sync/protocol/rcu.h"
#include "sync/structure/combining.h"
#include "sync/structure/stack.h"

#include <clotho/runtime.h>

#include <pthread.h>

typedef struct clo_scheduling {
    /* Held while a job with a policy comes or goes, and through a swap: so what follows is changed under it. */
    pthread_mutex_t coming;
    /* NULL: no job with a policy was made yet. Changed while no such job exists. */
    clo_scheduler *scheduler;
    /* What it is made of, part of the runtime's block: [memory_bytes]. */
    char *memory;
    size_t memory_bytes;
    /* Two places for the states of a policy, of policy_bytes each; NULL: they come from the heap. */
    char *places;
    size_t policy_bytes;
    /* The place in use. */
    uint32_t place;
    /* Jobs with a policy that exist, or are being made. */
    uint32_t jobs;
    /* [jobs_max] those with a slot, by slot. */
    struct clo_job **followers;
    const clo_policy *policy;
    const void *argument;
    /* The same policy for monitors, of clo_policy. */
    clo_rcu_pointer monitored;
    /* The state of the policy in use, and, if it came by a swap, those of the jobs. */
    clo_arena policy_arena;
    /* How many swaps there were. */
    uint32_t swaps;
    /* Futex words: threads that make a job under the policy of an even and of an odd number of swaps. Counted up under
     * `coming`. */
    _Atomic uint32_t makers[2];
    /* One swap at a time, until its makers are gone: so the next one's are counted apart from them. */
    pthread_mutex_t swapping;

    /* Worker w posts in slot w, everybody else in the last one. */
    clo_combining combining;
    /* [workers] the combiner's. */
    uint32_t *news;
    /* What control wants of the combiner; bits in combining.h. */
    _Atomic uint32_t asks;
    /* Jobs with requests (clo_job_policy.asks). */
    clo_stack requests;
    /* The capacities of the runtime's machines, which other jobs use too. */
    clo_scheduler_room room;
    /* How the scheduler is told that they may fit again; constant once there is a scheduler. */
    void (*call)(struct clo_runtime *runtime);
    /* Threads that may be about to do so. */
    _Atomic uint32_t callers;
    /* A policy on its way in; whoever wants that waits for it. */
    struct clo_swap *_Atomic swap;
    /* That policy is in place, and is being shown what lives; NULL: none is. The combiner's. */
    struct clo_swap *shown;
    /* When the watchdog saw that the turn is vacant; 0: it was not. The watchdog's. */
    int64_t vacant_ns;
    /* When the policy wants to be asked again, on the scheduler's clock; CLO_TIME_NEVER: no wish. For the watchdog. */
    _Atomic int64_t wake_ns;
    /* What the scheduler writes to, or (with log_waits) the next one will; NULL: nothing. Under `coming`. */
    clo_log *log;
    bool log_waits;
    /* 1: the combiner has ended the log. Futex word. */
    _Atomic uint32_t log_is_over;
    /* Virtual clock: the scheduler's time, jobs by arrival, and how many have come so far. The combiner's. */
    bool is_virtual;
    clo_stream_time time;
    clo_heap arrivals;
    uint32_t submitted;
    /* 1: virtual time stands still (clo_runtime_hold_time). */
    _Atomic uint32_t is_held;
    /* CLOCK_MONOTONIC at the scheduler's time 0. */
    int64_t origin_ns;
} clo_scheduling;

#endif
