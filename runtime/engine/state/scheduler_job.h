/* engine/state/scheduler_job.h - a job as the scheduler keeps it: a row for each stage. Made by its submitter; from its
 * arrival to its end the scheduler's. */
#ifndef CLO_ENGINE_STATE_SCHEDULER_JOB_H
#define CLO_ENGINE_STATE_SCHEDULER_JOB_H

#include "base/arena.h"
#include "cost/cost.h"
#include "engine/program/control_flow.h"
#include "engine/state/least.h"
#include "library.h"

#include <clotho/policy.h>

/* A policy in use: with its argument and its state. */
typedef struct clo_policy_use {
    const clo_policy *policy;
    const void *argument;
    void *state;
    size_t bytes;
    uint32_t place; /* in the header of the log */
} clo_policy_use;

/* What a function of a policy ("prepare", "init") has returned. A policy of the caller's cannot store a text for
 * clo_last_error: where none was stored since clo_fail_texts was `texts`, one is that names the policy. */
clo_status clo_policy_returned(const clo_policy *policy, const char *function, size_t texts, clo_status status);

/* The outputs of a stage that lie, or will lie, in one source of data (clo_platform.source_of). The times are of the
 * last of them; of a stage of one instance, whose executions are all alike, of the first. A stage that can fill
 * every source has its places in order of the sources, any other one in order of use. */
typedef struct clo_data_placement {
    uint32_t executor;   /* one of the source */
    uint32_t count;      /* executions; 0: the place is not in use */
    uint32_t left;       /* of these, not finished */
    uint32_t replica_at; /* 1 + the executor of the replica there; 0: there is none */
    int64_t finish_ns, expected_ns;
} clo_data_placement;

typedef struct clo_stage_row {
    clo_live_stage live;
    uint32_t next_instance;
    uint32_t original_at;           /* of one instance: 1 + its executor; 0: it has none yet */
    uint32_t places_count;          /* in use, where they are in order of use */
    clo_ready_stage next, previous; /* in the list of its band */
    bool is_listed;
    bool is_skipped; /* all edges into it are settled, and it does not run (control_flow.h) */
    bool mark;       /* listed: clo_showing.mark if the policy was told */
} clo_stage_row;

typedef struct clo_scheduler_job {
    clo_live_job live;
    uint32_t slot; /* CLO_NONE: not live */
    uint32_t tasks;
    uint32_t unbegun; /* instances that have not begun to run; replicas do not count */
    bool is_cancelled;
    bool has_failed;            /* and is cancelled for that */
    bool mark;                  /* clo_showing.mark if the policy was told of it */
    clo_stage_row *stages;      /* [tasks] */
    uint32_t *place_first;      /* [tasks + 1] */
    clo_data_placement *places; /* [place_first[tasks]] */
    uint32_t *roots;            /* [roots_count] stages without predecessors, in order */
    uint32_t roots_count;
    uint32_t entered;                      /* of these; see enter.c */
    uint32_t leaving;                      /* cancelled: the first stage that is still listed; CLO_NONE: none */
    uint32_t previous_piece, next_piece;   /* slots, while it enters or leaves in pieces */
    int64_t (*demands)[CLO_RESOURCES_MAX]; /* [tasks] in the platform's order; NULL: nobody demands anything */
    uint32_t listed;                       /* with demands: stages of its own list (live.first_ready) */
    clo_least least;                       /* that they demand */
    int64_t work_ns;                       /* live.remaining_ns at arrival */
    void *next_state;                      /* for the next policy, see clo_scheduler_swap */
    uint32_t version, next_version;        /* which policy live.state and next_state are for */
    struct clo_scheduler_job *next_ended;
    clo_control_flow *control_flow; /* the driver's; NULL: the graph has no branches */
    int64_t tag;                    /* for the log; negative: none */
    void *owner;                    /* the driver's */
} clo_scheduler_job;

/* What a job brings along. */
typedef struct clo_scheduler_job_config {
    int64_t deadline_ns; /* on the scheduler's clock; CLO_TIME_NEVER: none */
    uint32_t weight;     /* >= 1 */
    uint32_t band, group;
    uint32_t limit; /* CLO_NONE: none */
} clo_scheduler_job_config;

/* Everything lies in `arena`. Calls the policy's prepare. Returns CLO_OK, CLO_ERR_MEMORY, CLO_ERR_INVALID (a task that
 * fits no machine) or what prepare returned. */
CLO_INTERNAL clo_status clo_scheduler_job_create(const clo_cost *cost, const clo_scheduler_job_config *config,
                                                 const clo_policy_use *use, clo_arena *arena, clo_scheduler_job **out);

/* Makes the job's state for another policy, the scheduler's `version`-th. Not while the scheduler swaps. */
CLO_INTERNAL clo_status clo_scheduler_job_prepare(clo_scheduler_job *job, const clo_policy_use *use, uint32_t version,
                                                  clo_arena *arena);

/* Makes it as new: before each arrival but the first. Not while it is live. Leaves `slot` alone: another thread may ask
 * meanwhile whether the job is live. O(tasks). */
void clo_scheduler_job_arm(clo_scheduler_job *job);

/* A replica of the stage is to run on `executor`; see clo_view_may_duplicate. */
bool clo_data_placement_may_replicate(const clo_scheduler_job *job, uint32_t stage, uint32_t executor);
void clo_data_placement_replicate(clo_scheduler_job *job, uint32_t stage, uint32_t executor);

/* When all outputs of the stage's predecessors can be in the memory of `executor`, transfers beginning no earlier than
 * decided_ns: as far as is known now. */
int64_t clo_data_placement_arrival_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                      int64_t decided_ns);

/* As clo_data_placement_arrival_ns, of the stage's k-th predecessor alone. */
int64_t clo_data_placement_input_arrival_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t k, uint32_t executor,
                                            int64_t decided_ns);

/* Puts the state that was prepared last in the place of the one in use, which is next_state then. */
void clo_scheduler_job_exchange(clo_scheduler_job *job);

/* Bytes of the state of a job under a policy. */
size_t clo_policy_job_bytes(const clo_policy_use *use, const clo_cost *cost);

/* Memory for the state of a job under a policy, filled by prepare. */
clo_status clo_policy_job_state(const clo_policy_use *use, const clo_cost *cost, clo_arena *arena, void **out);

#endif
