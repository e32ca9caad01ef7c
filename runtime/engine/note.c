/* note.c - tells what happens: the log, if there is one, and the policy. */
#include "engine/books.h"

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

void clo_view_tell(clo_scheduler *scheduler, clo_event_kind kind, uint32_t job, uint32_t stage, uint32_t executor,
                   uint32_t count)
{
    const clo_policy *policy = scheduler->use.policy;
    clo_event event = {kind, job, stage, executor, count};

    scheduler->turn_steps++;
    if (policy->event == NULL)
        return;
    scheduler->steps = 0;
    policy->event(scheduler->use.state, scheduler, &event);
    scheduler->turn_steps += scheduler->steps;
}
