/* run/records/running.h - which tasks run now, for messages. */
#ifndef CLO_RUN_RECORDS_RUNNING_H
#define CLO_RUN_RECORDS_RUNNING_H

#include "run/state/job.h"

/* Writes what of the job (NULL: of any) runs now: "task 'x' on executor 1, task 'y' on executor 3". */
void clo_runtime_name_running(const clo_runtime *runtime, const clo_job *only, char *text, size_t bytes);

#endif
