/* run/state/features.h - the tables behind clo_features.
 *
 * What run/ calls of a feature it calls through these, so that a program that is linked statically has the code of a
 * feature only if it names the feature. The runtime has pointers to the tables themselves: what a program names is often
 * its own copy (a copy relocation), as large as it was when the program was linked. */
#ifndef CLO_RUN_STATE_FEATURES_H
#define CLO_RUN_STATE_FEATURES_H

#include "run/state/dispatch.h"
#include "run/state/job.h"

#include <assert.h>

struct clo_job_body;

/* run/control/attach.c */
struct clo_policy_functions {
    const clo_dispatch *dispatch;
    /* One more job with this policy, the `*version`-th of the scheduler. Makes the scheduler if there is none.
     * CLO_ERR_STATE: it follows another policy, and other jobs follow it. From now on the caller makes the job, and a
     * swap waits for it until clo_scheduling_made. */
    clo_status (*attach)(clo_runtime *runtime, const clo_policy_use *use, uint32_t steps_max, uint32_t *version);
    /* The job's part of the scheduler. */
    clo_status (*make)(clo_job *job, const clo_job_config *config, clo_arena *arena);
    /* clo_runtime_end_log */
    void (*end_log)(clo_runtime *runtime);
    /* clo_worker_take_turn */
    uint64_t (*take_turn)(struct clo_worker *worker);
    /* clo_scheduling_look */
    int64_t (*look)(clo_runtime *runtime, int64_t now_ns);
};

/* run/dispatch/pipeline_run.c */
struct clo_pipeline_functions {
    const clo_dispatch *dispatch;
    /* clo_job_pipeline_check */
    clo_status (*check)(const clo_runtime *runtime, const clo_job_config *config);
    /* clo_job_pipeline_create */
    clo_status (*create)(clo_job *job, const clo_job_config *config, clo_arena *arena);
};

/* run/control/clocks.c */
struct clo_clock_functions {
    /* Of a plan under the virtual clock. */
    const clo_dispatch *dispatch;
    /* Whether the platform's ports go together with such a job. */
    clo_status (*check)(const clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config);
    /* What a job has of times that follow from the cost model. */
    clo_status (*prepare)(const clo_job *job, const clo_cost *cost, const clo_placement *placements, size_t count,
                          struct clo_job_body *body);
    const clo_pacing *(*pacing_of)(const clo_job *job);
};

struct clo_policy_feature {
    const struct clo_policy_functions *functions;
};

struct clo_pipeline_feature {
    const struct clo_pipeline_functions *functions;
};

struct clo_clock_feature {
    const struct clo_clock_functions *functions;
};

static_assert(sizeof(clo_policy_feature) == sizeof(void *) && sizeof(clo_pipeline_feature) == sizeof(void *) &&
                  sizeof(clo_clock_feature) == sizeof(void *),
              "programs have copies of them: their size is part of the binary interface");

#endif
