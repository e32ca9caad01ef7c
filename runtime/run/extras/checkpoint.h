/* run/extras/checkpoint.h - instances of a job that are done before it runs (clo_job_config.done).
 *
 * They pass through the same queues as all others, in their place of the plan or as the policy says, but without a body
 * and without what they demand. So what waits for them is released in one way only. */
#ifndef CLO_RUN_EXTRAS_CHECKPOINT_H
#define CLO_RUN_EXTRAS_CHECKPOINT_H

#include "run/state/job.h"

/* Takes what the config says, if anything. Everything lies in `arena`. */
clo_status clo_checkpoint_create(clo_job *job, const clo_job_config *config, clo_arena *arena);

/* Their outputs go from where the caller, or the plan before, has them into the job's buffers. */
void clo_checkpoint_fill(clo_job *job, const void *const *outputs);
void clo_checkpoint_carry(clo_job *job, const clo_engine *from);

/* The execution, for which clo_checkpoint_has is true, is passed by on `executor`: a replica gets the original's
 * output. */
void clo_checkpoint_pass(clo_job *job, uint32_t execution, uint32_t executor);

static inline bool clo_checkpoint_has(const clo_job *job, uint32_t execution)
{
    if (job->done == NULL)
        return false;
    uint32_t instance = clo_program_instance(job->program, execution);
    return (job->done[instance / 64] >> instance % 64 & 1) != 0;
}

#endif
