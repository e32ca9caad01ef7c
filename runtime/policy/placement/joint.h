/* policy/placement/joint.h - one plan of the unfinished rest of all live jobs, made inside an event of a policy: in
 * memory of its state, counted in steps, from what the view says alone. So it is the same whenever its log is repeated.
 *
 * A list schedule in which each executor, as it becomes free, takes the ready stage with the smallest key (Graham
 * 1969), once for each of several ways to give keys; the best one is kept. `best` itself plans each job alone
 * beforehand, and the stages of a job keep that order; what is searched here is the order among jobs. Transfers are not
 * looked at: where a stage runs is decided when it is ready. */
#ifndef CLO_POLICY_PLACEMENT_JOINT_H
#define CLO_POLICY_PLACEMENT_JOINT_H

#include "base/order/heap.h"

#include <clotho/policy.h>

typedef enum clo_joint_goal {
    /* The weighted sum of completion times. */
    CLO_JOINT_COMPLETION = 0,
    CLO_JOINT_MAKESPAN = 1
} clo_joint_goal;

/* A stage that is not finished. Those of a job stand together, in the order of its own plan. */
typedef struct clo_joint_row {
    uint32_t job, stage;
    /* Index into clo_joint.jobs. */
    uint32_t owner;
    /* Of the schedule in progress: predecessors with something left; instances to be placed, in pieces of `piece`. */
    uint32_t waits, left, piece;
    int64_t ready_ns, start_ns, finish_ns, key;
    /* Start in the best schedule so far. */
    int64_t best_ns;
} clo_joint_row;

typedef struct clo_joint_job {
    uint32_t slot;
    int64_t finish_ns;
} clo_joint_job;

typedef struct clo_joint {
    uint32_t executors, stages_max, rows_count, jobs_count;
    clo_joint_row *rows;  /* [stages_max] */
    clo_joint_job *jobs;  /* [stages_max] */
    clo_heap ready;       /* [stages_max] rows that may be placed, by key */
    clo_heap later;       /* [stages_max] rows whose inputs are there at `key` */
    clo_heap_item *aside; /* [stages_max] rows passed over by one executor */
    int64_t *free_ns;     /* [executors] */
    const clo_view *view; /* during a call */
} clo_joint;

/* Of a job, in its state. */
typedef struct clo_joint_own {
    /* [tasks] its own plan: starts, and the stages in order of these. */
    int64_t *start_ns;
    uint32_t *order;
    /* [tasks] of stages in the plan in progress. */
    uint32_t *row;
} clo_joint_own;

size_t clo_joint_bytes(uint32_t executors, uint32_t stages_max);
void clo_joint_open(clo_joint *joint, void *memory, uint32_t executors, uint32_t stages_max);

typedef struct clo_joint_request {
    /* Schedules that are tried, at least 1. */
    uint32_t schedules;
    clo_joint_goal goal;
    /* Of the job in a slot; NULL: it is not planned. */
    const clo_joint_own *(*own)(const clo_view *view, uint32_t slot);
} clo_joint_request;

/* Plans. True: rows[0 .. rows_count - 1].best_ns are the starts. False: one job lives, a job has more
 * stages than there is room for or all unfinished ones are more, or the bound of steps was reached before the first
 * schedule was whole. */
bool clo_joint_plan(clo_joint *joint, const clo_view *view, const clo_joint_request *request);

#endif
