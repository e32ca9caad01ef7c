/* run/control/job_create.h - what the runtime does with jobs that their owners have left behind. */
#ifndef CLO_RUN_CONTROL_JOB_CREATE_H
#define CLO_RUN_CONTROL_JOB_CREATE_H

#include "run/state/job.h"

/* In a forked process: gives back its slot and its memory, but what might be half changed stays as it is (job.h). */
void clo_job_leave(clo_job *job);

#endif
