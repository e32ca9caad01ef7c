/* note.c - writes what happens into the log, if there is one. */
#include "engine/view.h"

void clo_note(clo_scheduler *scheduler, uint32_t what, const clo_scheduler_job *job, uint32_t stage, uint32_t instance,
              uint32_t executor, int64_t value)
{
    if (scheduler->log == NULL)
        return;
    (void)clo_log_append(scheduler->log, &(clo_log_record){
                                             .now_ns = scheduler->now_ns,
                                             .job = job != NULL ? job->live.id : CLO_LOG_NO_JOB,
                                             .what = what,
                                             .stage = stage,
                                             .instance = instance,
                                             .executor = executor,
                                             .value = value,
                                         });
}
