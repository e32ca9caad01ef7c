/* engine/state/order.h - what a scheduler gives out. */
#ifndef CLO_ENGINE_STATE_ORDER_H
#define CLO_ENGINE_STATE_ORDER_H

#include "engine/state/scheduler_job.h"
#include "sync/structure/semaphore.h"
#include "trace/log_kinds.h"

typedef struct clo_view clo_scheduler;

/* What is to be started: an instance (or replica) on an executor that is free. Its inputs are there at arrival_ns, if
 * transfers begin at decided_ns, when it was chosen, or when its sources have finished. Stage CLO_STAGE_MOVE: the
 * executor goes to the job, and clo_scheduler_moved is called when it is there; only for a driver that said so. */
typedef struct clo_order {
    clo_scheduler_job *job;
    uint32_t stage, instance, executor;
    bool is_replica, is_skipped; /* skipped: it ends when it starts */
    int64_t arrival_ns, decided_ns;
    uint32_t last_stage; /* clo_live_executor.last_stage before; CLO_NONE also if it was bound to another job */
    bool is_bound;       /* the executor was bound to the job before */
} clo_order;

typedef struct clo_scheduler_counts {
    uint64_t decisions; /* instances that were given an executor */
    uint64_t calls;     /* of decide */
    uint64_t refused;   /* impossible choices, and executors left idle with work to do */
    uint64_t fallbacks; /* instances that the scheduler's own rule placed */
    uint64_t looks;     /* at what is left on a machine, for a stage that demands something */
    uint64_t partial;   /* choices made without a look at everything, see clo_view_partial */
    uint32_t most_steps, most_turn_steps;
} clo_scheduler_counts;

/* Capacities that the scheduler shares with others. It takes what an execution demands when it starts, and gives it
 * back when it has finished. */
typedef struct clo_scheduler_room {
    clo_semaphore **semaphores; /* [machines] */
    uint32_t thread;            /* the scheduler's number there */
    void *driver;
    /* Something does not fit on the machine, and registers next: reports of its semaphore are to reach
     * clo_scheduler_capacity. */
    void (*refused)(void *driver, uint32_t machine);
    /* The semaphore reports to all who wait there, `again`: to the scheduler too. */
    void (*report)(void *driver, uint32_t machine, bool again);
} clo_scheduler_room;

/* In place of semaphores that others use: what those said in a run that is repeated (CLO_LOG_ROOM). */
typedef struct clo_scheduler_script {
    void *driver;
    /* The answer to the question of this number since the input; `expected`: what our own executions alone give. */
    uint32_t (*answer)(void *driver, uint32_t machine, uint32_t question, uint32_t expected);
} clo_scheduler_script;

#endif
