/* room.c - capacities as the scheduler sees them: all or nothing, for as long as a body runs. What waits for capacity
 * holds nothing, no executor either, and what fits may pass it; after CLO_OVERTAKES_MAX starts of others on the machine
 * what it demands is kept for it. */
#include "engine/books.h"

static uint32_t machine_of(const clo_scheduler *scheduler, uint32_t executor)
{
    return scheduler->platform->executors[executor].machine;
}

static bool is_waiter(const clo_capacity_waiter *waiter, const clo_scheduler_job *job, uint32_t stage)
{
    return waiter->who.job == job->slot && waiter->who.stage == stage;
}

/* What is kept for the machine's waiter; NULL: nothing. */
static const int64_t *kept_for(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter)
{
    if (waiter->who.job == CLO_NONE || waiter->overtaken <= CLO_OVERTAKES_MAX)
        return NULL;
    return scheduler->jobs[waiter->who.job]->demands[waiter->who.stage];
}

bool clo_room_fits(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    if (job->demands == NULL)
        return true;
    uint32_t machine = machine_of(scheduler, executor);
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *available = &scheduler->available[(size_t)machine * CLO_RESOURCES_MAX];
    const int64_t *demand = job->demands[stage], *kept = kept_for(scheduler, waiter);
    bool fits = true;

    /* Nothing is kept from the waiter itself, nor from higher bands. */
    if (kept != NULL && (is_waiter(waiter, job, stage) ||
                         job->live.band < scheduler->jobs[waiter->who.job]->live.band))
        kept = NULL;
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        fits = fits &&
               (demand[r] == 0 || (demand[r] <= available[r] && (kept == NULL || kept[r] <= available[r] - demand[r])));
    if (!fits && waiter->who.job == CLO_NONE)
        *waiter = (clo_capacity_waiter){{job->slot, stage}, 0};
    return fits;
}

void clo_room_take(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    if (job->demands == NULL)
        return;
    uint32_t machine = machine_of(scheduler, executor);
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    int64_t *available = &scheduler->available[(size_t)machine * CLO_RESOURCES_MAX], demanded = 0;

    for (int r = 0; r < CLO_RESOURCES_MAX; r++) {
        demanded |= job->demands[stage][r];
        if (available[r] != INT64_MAX)
            available[r] -= job->demands[stage][r];
    }
    if (is_waiter(waiter, job, stage))
        waiter->who.job = CLO_NONE;
    else if (demanded != 0 && waiter->who.job != CLO_NONE && waiter->overtaken <= CLO_OVERTAKES_MAX)
        waiter->overtaken++;
}

void clo_room_give(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    if (job->demands == NULL)
        return;
    int64_t *available = &scheduler->available[(size_t)machine_of(scheduler, executor) * CLO_RESOURCES_MAX];

    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        if (available[r] != INT64_MAX)
            available[r] += job->demands[stage][r];
}

void clo_room_forget(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    for (uint32_t m = 0; m < scheduler->platform->machines_count && job->demands != NULL; m++) {
        clo_ready_stage *who = &scheduler->waiters[m].who;
        if (who->job == job->slot && (stage == CLO_NONE || who->stage == stage))
            who->job = CLO_NONE;
    }
}
