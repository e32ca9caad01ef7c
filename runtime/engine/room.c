/* room.c - capacities as the scheduler sees them: all or nothing, for as long as a body runs. What waits for capacity
 * holds nothing, no executor either, and what fits may pass it; after CLO_OVERTAKES_MAX starts of others on the machine
 * what it demands is kept for it.
 *
 * What is left lies in the machines' ledgers (sync/ledger.h), which others may use too (scheduler->room). Then whatever is
 * refused here registers there, so that the driver hears of what comes back; the machine's waiter does so with a ticket,
 * so that starts of others count. In ledgers of our own nobody registers. The log hears of every waiter, of the moment
 * from which on its demand is kept, and of its end (CLO_LOG_KEEP): the judge of a log cannot guess these. */
#include "engine/books.h"

static uint32_t machine_of(const clo_scheduler *scheduler, uint32_t executor)
{
    return scheduler->platform->executors[executor].machine;
}

/* NULL: nothing that is counted on the machine. */
static const int64_t *demand_of(const clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage,
                                uint32_t machine)
{
    if (job->demands == NULL)
        return NULL;
    for (uint32_t r = 0; r < scheduler->ledgers[machine]->resources; r++)
        if (job->demands[stage][r] != 0)
            return job->demands[stage];
    return NULL;
}

static bool is_waiter(const clo_capacity_waiter *waiter, const clo_scheduler_job *job, uint32_t stage)
{
    return waiter->who.job == job->slot && waiter->who.stage == stage;
}

/* Tells the log who waits on the machine (job CLO_NONE: nobody), and how many starts have passed it. */
static void note_waiter(clo_scheduler *scheduler, uint32_t machine)
{
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    bool is_there = waiter->who.job != CLO_NONE;

    clo_note(scheduler, CLO_LOG_KEEP, is_there ? scheduler->jobs[waiter->who.job] : NULL,
             is_there ? waiter->who.stage : CLO_NONE, CLO_NONE, machine, is_there ? waiter->overtaken : 0);
}

static void set_waiter(clo_scheduler *scheduler, uint32_t machine, clo_ready_stage who)
{
    scheduler->waiters[machine] = (clo_capacity_waiter){.who = who, .ticket = CLO_LEDGER_NEW};
}

/* A start of another one has passed the waiter. */
static void pass_waiter(clo_scheduler *scheduler, uint32_t machine)
{
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];

    if (waiter->who.job != CLO_NONE && waiter->overtaken < CLO_OVERTAKES_MAX)
        waiter->is_untold = ++waiter->overtaken == CLO_OVERTAKES_MAX;
}

/* Jobs of others have passed it too: the ledger counts them, and keeps its demand already. */
static void see_ledger(clo_scheduler *scheduler, uint32_t machine, const clo_ledger_state *state)
{
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];

    if (waiter->who.job == CLO_NONE || waiter->overtaken == CLO_OVERTAKES_MAX || waiter->ticket == CLO_LEDGER_NEW ||
        state->oldest != waiter->ticket || state->overtakes < CLO_OVERTAKES_MAX)
        return;
    waiter->overtaken = CLO_OVERTAKES_MAX;
    note_waiter(scheduler, machine);
}

/* What is kept for the machine's waiter; NULL: nothing. */
static const int64_t *kept_for(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter)
{
    if (waiter->who.job == CLO_NONE || waiter->overtaken < CLO_OVERTAKES_MAX)
        return NULL;
    return scheduler->jobs[waiter->who.job]->demands[waiter->who.stage];
}

/* Nothing is kept from higher bands. */
static bool is_above(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter, const clo_scheduler_job *job)
{
    return waiter->who.job != CLO_NONE && job->live.band < scheduler->jobs[waiter->who.job]->live.band;
}

/* How old the stage is to the ledger. */
static uint64_t ticket_of(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter,
                          const clo_scheduler_job *job, uint32_t stage)
{
    if (waiter->who.job == CLO_NONE || waiter->ticket == CLO_LEDGER_NEW)
        return CLO_LEDGER_NEW;
    if (is_waiter(waiter, job, stage))
        return waiter->ticket;
    return is_above(scheduler, waiter, job) ? clo_ledger_before(waiter->ticket) : CLO_LEDGER_NEW;
}

/* Registers what the ledger has refused. True: it would not refuse it any more. */
static bool watch(clo_scheduler *scheduler, uint32_t machine, const int64_t *demand, uint64_t *ticket)
{
    const clo_scheduler_room *room = scheduler->room;
    clo_ledger *ledger = scheduler->ledgers[machine];

    scheduler->is_short = true;
    room->refused(room->driver, machine);
    return ticket != NULL ? clo_ledger_watch(ledger, demand, ticket, room->thread)
                          : clo_ledger_listen(ledger, demand, room->thread);
}

bool clo_room_fits(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);
    clo_ledger *ledger = scheduler->ledgers[machine];
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *demand = demand_of(scheduler, job, stage, machine);
    clo_ledger_state state;

    if (demand == NULL)
        return true;
    for (;;) { /* another turn only if another thread has changed the ledger */
        (void)clo_ledger_read(ledger, &state);
        see_ledger(scheduler, machine, &state);
        bool is_free = is_waiter(waiter, job, stage) || is_above(scheduler, waiter, job);
        if (clo_ledger_fits(ledger, &state, demand, ticket_of(scheduler, waiter, job, stage))) {
            const int64_t *kept = is_free ? NULL : kept_for(scheduler, waiter);
            for (uint32_t r = 0; kept != NULL && r < ledger->resources; r++)
                if (demand[r] > 0 && kept[r] > state.available[r] - demand[r])
                    return false;
            return true;
        }
        if (waiter->who.job == CLO_NONE) {
            set_waiter(scheduler, machine, (clo_ready_stage){job->slot, stage});
            note_waiter(scheduler, machine);
        }
        if (scheduler->room == NULL ||
            !watch(scheduler, machine, demand, is_waiter(waiter, job, stage) ? &waiter->ticket : NULL))
            return false;
    }
}

bool clo_room_take(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *demand = demand_of(scheduler, job, stage, machine);

    if (demand == NULL)
        return true;
    uint32_t thread = scheduler->room != NULL ? scheduler->room->thread : 0;
    while (!clo_ledger_take_as(scheduler->ledgers[machine], demand, ticket_of(scheduler, waiter, job, stage), thread))
        if (!clo_room_fits(scheduler, job, stage, executor)) /* another thread was quicker */
            return false;
    if (is_waiter(waiter, job, stage)) {
        set_waiter(scheduler, machine, (clo_ready_stage){CLO_NONE, CLO_NONE});
        waiter->is_untold = true;
    } else {
        pass_waiter(scheduler, machine);
    }
    return true;
}

void clo_room_tell(clo_scheduler *scheduler, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);

    if (scheduler->waiters[machine].is_untold)
        note_waiter(scheduler, machine);
    scheduler->waiters[machine].is_untold = false;
}

void clo_room_give(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_room *room = scheduler->room;
    uint32_t machine = machine_of(scheduler, executor);
    const int64_t *demand = demand_of(scheduler, job, stage, machine);

    if (demand != NULL && clo_ledger_give(scheduler->ledgers[machine], demand, room != NULL ? room->thread : 0) &&
        room != NULL)
        room->report(room->driver, machine, false);
}

void clo_room_forget(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    const clo_scheduler_room *room = scheduler->room;

    for (uint32_t m = 0; m < scheduler->platform->machines_count && job->demands != NULL; m++) {
        clo_capacity_waiter *waiter = &scheduler->waiters[m];
        if (waiter->who.job != job->slot || (stage != CLO_NONE && waiter->who.stage != stage))
            continue;
        uint64_t ticket = waiter->ticket;
        set_waiter(scheduler, m, (clo_ready_stage){CLO_NONE, CLO_NONE});
        note_waiter(scheduler, m);
        if (room != NULL && clo_ledger_forget(scheduler->ledgers[m], ticket, room->thread))
            room->report(room->driver, m, true);
    }
}

bool clo_room_is_due(const clo_scheduler *scheduler, uint32_t machine)
{
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    clo_ledger_state state;

    if (waiter->who.job == CLO_NONE)
        return false;
    if (waiter->overtaken >= CLO_OVERTAKES_MAX)
        return true;
    if (scheduler->room == NULL || waiter->ticket == CLO_LEDGER_NEW)
        return false;
    (void)clo_ledger_read(scheduler->ledgers[machine], &state);
    return state.oldest == waiter->ticket && state.overtakes >= CLO_OVERTAKES_MAX;
}
