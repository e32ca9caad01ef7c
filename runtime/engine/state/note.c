/* note.c - tells what happens: the log, if there is one, and the policy.
 *
 * A sum of all inputs so far follows every 64th of them or so, and comes before the end. Two inputs may be swapped and
 * lead to the same decisions; they do not lead to the same sum. */
#include "engine/state/note.h"

#include "trace/log_kinds.h"

#define SUM_EVERY 64u

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static void add_to_sum(clo_scheduler *scheduler, const clo_log_record *record)
{
    uint64_t sum = mix(scheduler->sum, (uint64_t)record->now_ns);

    sum = mix(sum, record->job);
    sum = mix(sum, (uint64_t)record->what << 32 | record->stage);
    sum = mix(sum, (uint64_t)record->instance << 32 | record->executor);
    scheduler->sum = mix(sum, (uint64_t)record->value);
    scheduler->sum_inputs++;
}

void clo_note_record(clo_scheduler *scheduler, const clo_log_record *record)
{
    if (scheduler->log == NULL)
        return;
    (void)clo_log_append(scheduler->log, record);
    if (record->what < CLO_LOG_OUTPUTS)
        add_to_sum(scheduler, record);
}

void clo_note_now(clo_scheduler *scheduler, uint32_t what, const clo_scheduler_job *job, uint32_t stage,
                  uint32_t instance, uint32_t executor, int64_t value)
{
    clo_note_record(scheduler, &(clo_log_record){
                                   .now_ns = scheduler->now_ns,
                                   .job = job != NULL ? job->live.id : CLO_LOG_NO_JOB,
                                   .what = what,
                                   .stage = stage,
                                   .instance = instance,
                                   .executor = executor,
                                   .value = value,
                               });
}

void clo_note_sum(clo_scheduler *scheduler)
{
    clo_note(scheduler, CLO_LOG_SUM, NULL, CLO_NONE, CLO_NONE, CLO_NONE, (int64_t)scheduler->sum);
    scheduler->sum_inputs = 0;
}

void clo_note_drained(clo_scheduler *scheduler)
{
    if (scheduler->sum_inputs >= SUM_EVERY)
        clo_note_sum(scheduler);
}

void clo_note_begin(clo_scheduler *scheduler, bool was_drained)
{
    if (!was_drained)
        clo_note(scheduler, CLO_LOG_TOGETHER, NULL, CLO_NONE, CLO_NONE, CLO_NONE, 0);
}

void clo_note_policy(clo_scheduler *scheduler, const clo_policy *policy)
{
    for (const char *c = policy->name; scheduler->log != NULL && c != NULL && *c != '\0'; c++)
        scheduler->sum = mix(scheduler->sum, (unsigned char)*c);
}

void clo_note_known(clo_scheduler *scheduler, uint32_t job)
{
    clo_scheduler_job *live = scheduler->jobs[job];

    if (live->mark == scheduler->showing.mark)
        return;
    live->mark = scheduler->showing.mark;
    clo_note_event(scheduler, CLO_EVENT_ARRIVE, job, CLO_NONE, CLO_NONE, 0);
}
