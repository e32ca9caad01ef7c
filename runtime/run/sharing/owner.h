/* run/sharing/owner.h - which worker runs an execution that only one, or only some, may run. */
#ifndef CLO_RUN_SHARING_OWNER_H
#define CLO_RUN_SHARING_OWNER_H

#include "run/state/job.h"

/* The fastest worker for an execution; where several are, each in turn. */
uint32_t clo_job_fastest(const clo_job *job, uint32_t execution);

/* The worker for an item of a pinned job without a policy. */
static inline uint32_t clo_job_owner(const clo_job *job, uint32_t execution)
{
    return job->program->is_replay ? job->program->executor[execution] : clo_job_fastest(job, execution);
}

#endif
