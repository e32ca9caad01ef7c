/* run/state/runtime.h - the struct of a runtime: what its workers, its jobs and its watchdog share.
 *
 * Made and closed in runtime_create.c. After clo_runtime_create and clo_job_create nothing in run/ allocates, and the
 * only locks are those of control, with priority inheritance (sync/sleep/lock.h), taken in this order: that of swaps
 * (clo_scheduling.swapping), that of the jobs with a policy (clo_scheduling.coming), that of the job slots (`control`),
 * and the watchdog's. */
#ifndef CLO_RUN_STATE_RUNTIME_H
#define CLO_RUN_STATE_RUNTIME_H

#include "base/clock.h"
#include "run/state/machine.h"
#include "run/state/scheduling.h"
#include "run/state/watchdog.h"
#include "sync/protocol/rcu.h"
#include "sync/protocol/visit.h"
#include "sync/sleep/park.h"

#include <clotho/runtime.h>

#include <pthread.h>

struct clo_runtime {
    /* Constant. */

    const clo_platform *platform;
    /* NULL: the runtime lacks it (features.h). */
    struct {
        const struct clo_policy_functions *policies;
        const struct clo_pipeline_functions *pipelines;
        const struct clo_clock_functions *clocks;
    } features;
    clo_clock clock;
    bool traces;
    bool copies;
    bool pins;
    /* More workers than CPUs. */
    bool is_oversubscribed;
    /* At least 1: a ns of emulated time takes so many ns. Above 1 with the padded clock only. */
    uint32_t dilate;
    int64_t spin_ns;
    /* Threads that wait for a job help (help.h). */
    bool helps;
    /* All executors are of one kind and speed. */
    bool is_uniform;
    int32_t fifo_priority;
    clo_real_time real_time;
    /* The CPUs that its creator could use, and those of its workers: a cpu_set_t. */
    unsigned long cpus[1024 / (8 * sizeof(unsigned long))];
    /* All of this, and the stacks if they are ours: one piece of block_bytes, which begins here. */
    clo_arena arena;
    size_t block_bytes;
    size_t stack_bytes;
    /* [workers + 1] of stack_bytes; NULL: the system's. */
    char *stacks;
    bool names_signals;
    uint32_t recorder_events;
    /* Its first moment: the start. */
    clo_tick_line line;
    /* As long as clo_ticks_are_steady; 0: they are not. */
    int64_t ticks_in_us;
    /* For clo_runtime_report. */
    char report[512];
    /* As many as executors. */
    uint32_t workers_count;
    /* Workers from here on are slots, served by slot threads; workers_count: none is. */
    uint32_t first_slot;
    uint32_t slot_threads_count;
    /* [slot_threads_count] */
    struct clo_slot_thread *slot_threads;
    uint32_t jobs_max;
    /* [workers_count] */
    struct clo_worker *workers;
    /* [machines] */
    clo_machine *machines;
    /* Of the machines' semaphores, for all workers and whoever controls jobs. */
    clo_semaphore_page *pages;

    /* Job slots; changed under `control`, which is never held while another thread is waited for. */

    /* [jobs_max] the job in each slot; NULL: none. */
    clo_job **jobs;
    /* [jobs_max] the same for monitors (monitor.h), of clo_job. */
    clo_rcu_pointer *monitored;
    /* 1: a monitor has looked into them, or is about to. */
    clo_visits *visits;
    uint32_t *free_slots;
    uint32_t free_count;
    pthread_mutex_t control;
    uint64_t jobs_made;

    clo_watchdog watchdog;
    clo_scheduling scheduling;
    clo_fence fence;
    /* Of the process, when the runtime was created. */
    uint32_t forks;
    /* 1: clo_runtime_close was called; no new jobs or submits. */
    _Atomic uint32_t closing;

    /* Workers that sleep or are about to. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t sleepers;
    _Atomic uint32_t stopping;

    /* Futex word: some job ended. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t done_epoch;
    _Atomic uint32_t waiters;
    /* Futex word: workers past their set-up. */
    _Atomic uint32_t started;
    /* Futex word: threads within clo_token_complete. */
    _Atomic uint32_t completers;
};

/* Threads of workers and slot threads. */
static inline uint32_t clo_runtime_threads(const clo_runtime *runtime)
{
    return runtime->first_slot + runtime->slot_threads_count;
}

#endif
