/* move.c - a policy sends an executor to a job, or makes it leave its stage. */
#include "engine/state/note.h"
#include "engine/state/scheduler_state.h"

/* On its way: bound to nobody, its place in the queue of orders is the one it would have for an instance. */
static void set_out(clo_scheduler *scheduler, uint32_t executor, clo_scheduler_job *job)
{
    clo_live_executor *row = &scheduler->executors[executor];

    clo_bind_none(scheduler, executor);
    row->home = job->live.id;
    row->job = job->slot;
    row->is_moving = 1;
    scheduler->moving++;
    clo_start_set_free(scheduler, executor, false);
    *clo_start_order(scheduler) = (clo_order){.job = job,
                                              .stage = CLO_STAGE_MOVE,
                                              .executor = executor,
                                              .arrival_ns = scheduler->now_ns,
                                              .last_stage = CLO_NONE};
}

const char *clo_move_choose(clo_scheduler *scheduler, clo_scheduler_job *job, const clo_choice *choice)
{
    uint32_t e = choice->executor;

    if (e >= scheduler->limits.executors || (scheduler->free_set[e / 64] >> e % 64 & 1) == 0 ||
        scheduler->executors[e].committed > 0)
        return "an executor that is not free cannot move";
    clo_live_executor *row = &scheduler->executors[e];
    if (choice->stage == CLO_STAGE_LEAVE) {
        if (!clo_bind_is(scheduler, e, job) || row->last_stage == CLO_NONE)
            return "the executor has no stage of that job to leave";
        row->last_stage = CLO_NONE;
        clo_note(scheduler, CLO_LOG_LEAVE, job, CLO_NONE, CLO_NONE, e, 0);
        return NULL;
    }
    if (!scheduler->has_moves && ++scheduler->moves_made > 2 * scheduler->limits.executors)
        return "executors move again and again, and nothing is started"; /* or it could go on for ever */
    clo_note(scheduler, CLO_LOG_MOVE, job, CLO_NONE, CLO_NONE, e, scheduler->has_moves);
    if (scheduler->has_moves) {
        set_out(scheduler, e, job);
        return NULL;
    }
    clo_bind(scheduler, e, job);
    clo_view_tell(scheduler, CLO_EVENT_MOVED, job->slot, CLO_NONE, e, 0);
    return NULL;
}
