/* show.c - a new policy is shown what lives, in pieces.
 *
 * Where its readiness is another one than the last policy's, every stage is looked at and listed as it wants; then it
 * is told of all jobs, in order of arrival, and of all ready stages, band by band, in the order in which they became
 * ready. A piece is CLO_LOG_PIECE of these steps: the swap makes the first one, and clo_scheduler_go_on the next ones.
 * A driver feeds other inputs in between. Until the last piece the policy is not asked, and the rule decides. What
 * happens meanwhile to a job or a stage that the policy does not know yet makes it known first (clo_note_known,
 * clo_show_stage); what is marked is known, and passed over here. */
#include "engine/state/note.h"
#include "engine/state/scheduler_state.h"
#include "trace/log_kinds.h"

#include <assert.h>

/* A stage that has not entered yet. */
static bool is_outside(const clo_scheduler_job *job, uint32_t stage)
{
    const clo_graph *graph = job->live.cost->graph;

    return job->entered < job->roots_count && stage >= job->roots[job->entered] &&
           graph->in_first[stage] == graph->in_first[stage + 1];
}

/* In or out of the lists, as the new policy's readiness wants it. */
static void list_anew(clo_scheduler *s, clo_scheduler_job *job, uint32_t stage)
{
    clo_stage_row *row = &job->stages[stage];
    bool is_finished = s->use.policy->readiness == CLO_READY_FINISHED;
    uint32_t waits = is_finished ? row->live.parents_left : row->live.parents_unassigned;
    bool is_wanted = waits == 0 && row->live.unstarted > 0 && !is_outside(job, stage);

    if (is_wanted && !row->is_listed) {
        clo_lists_add_stage(s, job, stage);
        row->mark = !s->showing.mark;
    } else if (!is_wanted && row->is_listed) {
        clo_lists_remove_stage(s, job, stage);
    }
}

static void step_lists(clo_scheduler *s)
{
    clo_showing *showing = &s->showing;
    clo_scheduler_job *job = clo_view_live(s, showing->job);

    if (job == NULL) {
        showing->phase = CLO_SHOW_JOBS;
        showing->job = s->first_job;
    } else if (job->is_cancelled || showing->task == job->tasks) {
        showing->job = job->live.next;
        showing->task = 0;
    } else {
        list_anew(s, job, showing->task++);
    }
}

static void step_jobs(clo_scheduler *s)
{
    clo_showing *showing = &s->showing;
    uint32_t slot = showing->job;

    if (slot == CLO_NONE) {
        showing->phase = CLO_SHOW_STAGES;
        showing->band = 0;
        showing->at = s->first[0];
        return;
    }
    showing->job = s->jobs[slot]->live.next;
    clo_note_known(s, slot);
}

static void step_stages(clo_scheduler *s)
{
    clo_showing *showing = &s->showing;
    clo_ready_stage at = showing->at;

    if (at.job != CLO_NONE) {
        clo_scheduler_job *job = s->jobs[at.job];
        showing->at = job->stages[at.stage].next;
        if (!job->is_cancelled)
            clo_show_stage(s, job, at.stage);
    } else if (++showing->band < CLO_BANDS_MAX) {
        showing->at = s->first[showing->band];
    } else {
        showing->phase = CLO_SHOW_OVER;
    }
}

static void show_piece(clo_scheduler *s)
{
    for (uint32_t i = 0; i < CLO_LOG_PIECE && s->showing.phase != CLO_SHOW_OVER; i++) {
        s->turn_steps++;
        if (s->showing.phase == CLO_SHOW_LISTS)
            step_lists(s);
        else if (s->showing.phase == CLO_SHOW_JOBS)
            step_jobs(s);
        else
            step_stages(s);
    }
}

void clo_show_begin(clo_scheduler *s, bool relists)
{
    assert(s->showing.phase == CLO_SHOW_OVER);
    s->showing.mark = !s->showing.mark;
    s->showing.phase = relists ? CLO_SHOW_LISTS : CLO_SHOW_JOBS;
    s->showing.job = s->first_job;
    s->showing.task = 0;
    show_piece(s);
}

bool clo_show_go_on(clo_scheduler *s)
{
    clo_note(s, CLO_LOG_MORE, NULL, CLO_NONE, CLO_NONE, CLO_NONE, 0);
    show_piece(s);
    return s->showing.phase == CLO_SHOW_OVER;
}

void clo_show_stage(clo_scheduler *s, clo_scheduler_job *job, uint32_t stage)
{
    if (job->stages[stage].is_listed && job->stages[stage].mark != s->showing.mark)
        clo_tell_ready(s, job, stage, CLO_NONE);
}
