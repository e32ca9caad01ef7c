/* enter.c - jobs enter the scheduler, and cancelled ones leave it, in pieces.
 *
 * Of a job with many stages that are ready at once each input lists CLO_LOG_PIECE of them at most: the arrival the
 * first ones, and clo_scheduler_go_on the next ones. A driver feeds other inputs in between, so nothing waits for a
 * whole job to enter. Invariant: of a job's `roots`, in order, the first `entered` are known to the lists and to the
 * policy, and nothing of the others can be chosen. Those jobs that are not whole stand in a list for each band, in
 * order of arrival: the oldest of the highest band goes on.
 *
 * Of a cancelled job nothing is ready any more, at once: it has no list of ready stages, and the policy is told. Its
 * stages leave the list of their band in pieces, the oldest first. Invariant: while some of them still stand there,
 * nothing is decided about this band and those below (clo_choose), so nobody meets them; the job does not end before
 * they are gone. */
#include "engine/state/note.h"
#include "engine/state/scheduler_state.h"
#include "trace/log_kinds.h"

#include <assert.h>

void clo_enter_reset(clo_piece_list *list)
{
    list->bands = 0;
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++)
        list->first[b] = list->last[b] = CLO_NONE;
}

static void append(clo_scheduler *s, clo_piece_list *list, clo_scheduler_job *job)
{
    uint32_t band = job->live.band, last = list->last[band];

    job->previous_piece = last;
    job->next_piece = CLO_NONE;
    if (last == CLO_NONE)
        list->first[band] = job->slot;
    else
        s->jobs[last]->next_piece = job->slot;
    list->last[band] = job->slot;
    list->bands |= 1u << band;
}

static void take_off(clo_scheduler *s, clo_piece_list *list, const clo_scheduler_job *job)
{
    uint32_t band = job->live.band, previous = job->previous_piece, next = job->next_piece;

    if (previous == CLO_NONE)
        list->first[band] = next;
    else
        s->jobs[previous]->next_piece = next;
    if (next == CLO_NONE)
        list->last[band] = previous;
    else
        s->jobs[next]->previous_piece = previous;
    if (list->first[band] == CLO_NONE)
        list->bands &= ~(1u << band);
}

/* Of the highest band. */
static clo_scheduler_job *oldest(const clo_scheduler *s, const clo_piece_list *list)
{
    assert(list->bands != 0);
    return s->jobs[list->first[__builtin_ctz(list->bands)]];
}

/* How many stages of the job are to enter next. */
static uint32_t piece_of(const clo_scheduler_job *job)
{
    uint32_t left = job->roots_count - job->entered;

    return left < CLO_LOG_PIECE ? left : CLO_LOG_PIECE;
}

/* They may be chosen from now on. */
static void enter_piece(clo_scheduler *s, clo_scheduler_job *job)
{
    for (uint32_t end = job->entered + piece_of(job); job->entered < end;) {
        uint32_t stage = job->roots[job->entered++];
        s->turn_steps++;
        clo_lists_add_stage(s, job, stage);
        clo_tell_ready(s, job, stage, CLO_NONE);
    }
}

void clo_enter_begin(clo_scheduler *s, clo_scheduler_job *job)
{
    enter_piece(s, job);
    if (job->entered < job->roots_count)
        append(s, &s->entering, job);
}

bool clo_enter_go_on(clo_scheduler *s)
{
    clo_scheduler_job *job = oldest(s, &s->entering);
    assert(job->entered < job->roots_count);
    uint32_t outside = job->roots_count - job->entered - piece_of(job);
    clo_note(s, CLO_LOG_ENTER, job, CLO_NONE, CLO_NONE, CLO_NONE, outside);
    enter_piece(s, job);
    if (outside == 0)
        take_off(s, &s->entering, job);
    return outside == 0;
}

void clo_enter_drop(clo_scheduler *s, clo_scheduler_job *job)
{
    if (job->entered == job->roots_count)
        return;
    take_off(s, &s->entering, job);
    job->entered = job->roots_count;
}

static void leave_piece(clo_scheduler *s, clo_scheduler_job *job)
{
    for (uint32_t i = 0; i < CLO_LOG_PIECE && job->leaving != CLO_NONE; i++) {
        s->turn_steps++;
        clo_lists_remove_leaving(s, job);
    }
}

void clo_leave_begin(clo_scheduler *s, clo_scheduler_job *job)
{
    clo_lists_close_job(job);
    leave_piece(s, job);
    if (job->leaving != CLO_NONE)
        append(s, &s->leaving, job);
}

clo_scheduler_job *clo_leave_go_on(clo_scheduler *s)
{
    clo_scheduler_job *job = oldest(s, &s->leaving);

    assert(job->is_cancelled && job->leaving != CLO_NONE);
    clo_note(s, CLO_LOG_MORE, job, CLO_NONE, CLO_NONE, CLO_NONE, 0);
    leave_piece(s, job);
    if (job->leaving == CLO_NONE)
        take_off(s, &s->leaving, job);
    return job;
}
