/* lists.c - the scheduler's lists: live jobs in order of arrival; ready stages of each job and of each band in order of
 * readiness. All doubly linked through the rows, so nothing is allocated and everything is O(1); with demands
 * O(log stages), for the least of them. */
#include "engine/state/scheduler_state.h"

void clo_lists_add_job(clo_scheduler *scheduler, clo_scheduler_job *job)
{
    job->slot = scheduler->free_slots[--scheduler->free_count];
    scheduler->jobs[job->slot] = job;
    scheduler->live_count++;
    scheduler->live[job->live.band]++;
    scheduler->live_bands |= 1u << job->live.band;
    job->live.previous = scheduler->last_job;
    job->live.next = CLO_NONE;
    if (scheduler->last_job == CLO_NONE)
        scheduler->first_job = job->slot;
    else
        scheduler->jobs[scheduler->last_job]->live.next = job->slot;
    scheduler->last_job = job->slot;
}

void clo_lists_remove_job(clo_scheduler *scheduler, clo_scheduler_job *job)
{
    uint32_t previous = job->live.previous, next = job->live.next;

    if (scheduler->showing.job == job->slot) {
        scheduler->showing.job = next;
        scheduler->showing.task = 0;
    }
    if (previous == CLO_NONE)
        scheduler->first_job = next;
    else
        scheduler->jobs[previous]->live.next = next;
    if (next == CLO_NONE)
        scheduler->last_job = previous;
    else
        scheduler->jobs[next]->live.previous = previous;
    scheduler->jobs[job->slot] = NULL;
    scheduler->free_slots[scheduler->free_count++] = job->slot;
    scheduler->live_count--;
    if (--scheduler->live[job->live.band] == 0)
        scheduler->live_bands &= ~(1u << job->live.band);
    job->slot = CLO_NONE;
}

static clo_stage_row *row_of(const clo_scheduler *scheduler, clo_ready_stage ready)
{
    return &scheduler->jobs[ready.job]->stages[ready.stage];
}

/* Into the job's own list, or out of it. */
static void count_listed(clo_scheduler_job *job, uint32_t stage, bool is_in)
{
    if (job->demands == NULL)
        return;
    job->listed += is_in ? 1 : UINT32_MAX;
    clo_least_set(&job->least, stage, is_in ? job->demands[stage] : NULL);
}

void clo_lists_add_stage(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage)
{
    clo_stage_row *row = &job->stages[stage];
    uint32_t band = job->live.band;
    clo_ready_stage self = {job->slot, stage};

    row->is_listed = true;
    row->live.ready_ns = scheduler->now_ns;
    job->live.startable += row->live.unstarted;
    count_listed(job, stage, true);
    row->live.previous_ready = job->live.last_ready;
    row->live.next_ready = CLO_NONE;
    if (job->live.last_ready == CLO_NONE)
        job->live.first_ready = stage;
    else
        job->stages[job->live.last_ready].live.next_ready = stage;
    job->live.last_ready = stage;

    row->previous = scheduler->last[band];
    row->next = (clo_ready_stage){CLO_NONE, CLO_NONE};
    if (row->previous.job == CLO_NONE)
        scheduler->first[band] = self;
    else
        row_of(scheduler, row->previous)->next = self;
    scheduler->last[band] = self;
    scheduler->listed_bands |= 1u << band;
}

/* Out of the list of the band. */
static void unlist(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage)
{
    clo_stage_row *row = &job->stages[stage];
    clo_ready_stage *shown = &scheduler->showing.at;
    uint32_t band = job->live.band;

    row->is_listed = false;
    row->live.previous_ready = row->live.next_ready = CLO_NONE;
    if (shown->job == job->slot && shown->stage == stage)
        *shown = row->next;
    if (row->previous.job == CLO_NONE)
        scheduler->first[band] = row->next;
    else
        row_of(scheduler, row->previous)->next = row->next;
    if (row->next.job == CLO_NONE)
        scheduler->last[band] = row->previous;
    else
        row_of(scheduler, row->next)->previous = row->previous;
    if (scheduler->first[band].job == CLO_NONE)
        scheduler->listed_bands &= ~(1u << band);
}

void clo_lists_remove_stage(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage)
{
    const clo_live_stage *row = &job->stages[stage].live;
    uint32_t previous = row->previous_ready, next = row->next_ready;

    job->live.startable -= row->unstarted;
    count_listed(job, stage, false);
    if (previous == CLO_NONE)
        job->live.first_ready = next;
    else
        job->stages[previous].live.next_ready = next;
    if (next == CLO_NONE)
        job->live.last_ready = previous;
    else
        job->stages[next].live.previous_ready = previous;
    unlist(scheduler, job, stage);
}

void clo_lists_close_job(clo_scheduler_job *job)
{
    job->leaving = job->live.first_ready;
    job->live.first_ready = job->live.last_ready = CLO_NONE;
    job->live.startable = job->listed = 0;
}

void clo_lists_remove_leaving(clo_scheduler *scheduler, clo_scheduler_job *job)
{
    uint32_t stage = job->leaving;

    job->leaving = job->stages[stage].live.next_ready;
    unlist(scheduler, job, stage);
}
