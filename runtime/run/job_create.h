/* run/job_create.h - what the runtime does with jobs that their owners have left behind. */
#ifndef CLO_RUN_JOB_CREATE_H
#define CLO_RUN_JOB_CREATE_H

#include "run/job.h"

/* Gives back its slot and its memory, without a lock; nobody runs it, or looks for it. */
void clo_job_leave(clo_job *job);

#endif
