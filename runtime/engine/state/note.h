/* engine/state/note.h - tells what happens: the log, if there is one, and the policy. For the scheduler's own files. */
#ifndef CLO_ENGINE_STATE_NOTE_H
#define CLO_ENGINE_STATE_NOTE_H

#include "engine/state/scheduler_state.h"

/* Into the log, if there is one. */
void clo_note_record(clo_scheduler *scheduler, const clo_log_record *record);
/* The same of what happens now; `job` NULL, CLO_NONE: none. */
void clo_note_now(clo_scheduler *scheduler, uint32_t what, const clo_scheduler_job *job, uint32_t stage,
                  uint32_t instance, uint32_t executor, int64_t value);
static inline void clo_note(clo_scheduler *scheduler, uint32_t what, const clo_scheduler_job *job, uint32_t stage,
                            uint32_t instance, uint32_t executor, int64_t value)
{
    if (scheduler->log != NULL)
        clo_note_now(scheduler, what, job, stage, instance, executor, value);
}
/* What the log says of an input before its own record. */
void clo_note_begin(clo_scheduler *scheduler, bool was_drained);
/* Nothing is left to be decided. */
void clo_note_drained(clo_scheduler *scheduler);
void clo_note_sum(clo_scheduler *scheduler);
/* The inputs from here on are for this policy. */
void clo_note_policy(clo_scheduler *scheduler, const clo_policy *policy);

/* The policy is told, which knows the job. */
static inline void clo_note_event(clo_scheduler *scheduler, clo_event_kind kind, uint32_t job, uint32_t stage,
                                  uint32_t executor, uint32_t count)
{
    const clo_policy *policy = scheduler->use.policy;
    const clo_event event = {kind, job, stage, executor, count};

    scheduler->turn_steps++;
    if (policy->event == NULL)
        return;
    scheduler->steps = 0;
    policy->event(scheduler->use.state, scheduler, &event);
    scheduler->turn_steps += scheduler->steps;
}

/* A new policy hears of the job, if it has not yet (show.c). */
void clo_note_known(clo_scheduler *scheduler, uint32_t job);

/* The policy is told. */
static inline void clo_view_tell(clo_scheduler *scheduler, clo_event_kind kind, uint32_t job, uint32_t stage,
                                 uint32_t executor, uint32_t count)
{
    if (scheduler->showing.phase != CLO_SHOW_OVER && job != CLO_NONE)
        clo_note_known(scheduler, job);
    clo_note_event(scheduler, kind, job, stage, executor, count);
}

/* The stage is listed, `by` what has happened on that executor. */
static inline void clo_tell_ready(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t by)
{
    job->stages[stage].mark = scheduler->showing.mark;
    clo_view_tell(scheduler, CLO_EVENT_READY, job->slot, stage, by, job->stages[stage].live.unstarted);
}

#endif
