/* enter.c - jobs enter the scheduler, in pieces.
 *
 * Of a job with many stages that are ready at once each input lists CLO_LOG_PIECE of them at most: the arrival the
 * first ones, and clo_scheduler_enter the next ones. A driver feeds other inputs in between, so nothing waits for a
 * whole job to enter. Invariant: of a job's `roots`, in order, the first `entered` are known to the lists and to the
 * policy, and nothing of the others can be chosen. Those jobs that are not whole stand in a list for each band, in
 * order of arrival: the oldest of the highest band goes on. */
#include "engine/books.h"
#include "engine/note.h"

#include <assert.h>

static void append(clo_scheduler *s, clo_scheduler_job *job)
{
    uint32_t band = job->live.band, last = s->last_entering[band];

    job->previous_entering = last;
    job->next_entering = CLO_NONE;
    if (last == CLO_NONE)
        s->first_entering[band] = job->slot;
    else
        s->jobs[last]->next_entering = job->slot;
    s->last_entering[band] = job->slot;
    s->entering_bands |= 1u << band;
}

static void take_off(clo_scheduler *s, const clo_scheduler_job *job)
{
    uint32_t band = job->live.band, previous = job->previous_entering, next = job->next_entering;

    if (previous == CLO_NONE)
        s->first_entering[band] = next;
    else
        s->jobs[previous]->next_entering = next;
    if (next == CLO_NONE)
        s->last_entering[band] = previous;
    else
        s->jobs[next]->previous_entering = previous;
    if (s->first_entering[band] == CLO_NONE)
        s->entering_bands &= ~(1u << band);
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
        clo_view_tell(s, CLO_EVENT_READY, job->slot, stage, CLO_NONE, job->stages[stage].live.unstarted);
    }
}

void clo_enter_begin(clo_scheduler *s, clo_scheduler_job *job)
{
    enter_piece(s, job);
    if (job->entered < job->roots_count)
        append(s, job);
}

bool clo_enter_go_on(clo_scheduler *s)
{
    assert(s->entering_bands != 0);
    clo_scheduler_job *job = s->jobs[s->first_entering[__builtin_ctz(s->entering_bands)]];
    assert(job->entered < job->roots_count);
    uint32_t outside = job->roots_count - job->entered - piece_of(job);
    clo_note(s, CLO_LOG_ENTER, job, CLO_NONE, CLO_NONE, CLO_NONE, outside);
    enter_piece(s, job);
    if (outside == 0)
        take_off(s, job);
    return outside == 0;
}

void clo_enter_drop(clo_scheduler *s, clo_scheduler_job *job)
{
    if (job->entered == job->roots_count)
        return;
    take_off(s, job);
    job->entered = job->roots_count;
}
