/* reservation.c - capacities as the scheduler sees them: all or nothing, for as long as a body runs. What waits for
 * capacity holds nothing, no executor either, and what fits may pass it; after CLO_OVERTAKES_MAX starts of others on
 * the machine what it demands is kept for it.
 *
 * What is left lies in the machines' semaphores (sync/structure/semaphore.h), which others may use too
 * (scheduler->room). Then whatever is refused here registers there, so that the driver hears of what comes back; the
 * machine's waiter does so with a ticket, so that starts of others count. In semaphores of our own nobody registers.
 * The log hears of every waiter, of the moment from which on its demand is kept, and of its end (CLO_LOG_KEEP): the
 * judge of a log cannot guess these.
 *
 * What semaphores say that others use is an input, as far as it cannot be computed from our own executions: each
 * question has a number, and an unexpected answer goes into the log (CLO_LOG_ROOM). Where a run is repeated
 * (scheduler->script) the answers come from there, and no semaphore is touched. */
#include "engine/scheduler/reservation.h"

#include "engine/state/note.h"
#include "trace/log_kinds.h"

/* What a machine says to a demand; in the log too. */
enum { FITS = 0, KEPT = 1, REFUSED = 2 };

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
    for (uint32_t r = 0; r < scheduler->semaphores[machine]->resources; r++)
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
    scheduler->waiters[machine] = (clo_capacity_waiter){.who = who, .ticket = CLO_SEMAPHORE_NEW};
}

/* A start of another one has passed the waiter. */
static void pass_waiter(clo_scheduler *scheduler, uint32_t machine)
{
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];

    if (waiter->who.job != CLO_NONE && waiter->overtaken < CLO_OVERTAKES_MAX)
        waiter->is_untold = ++waiter->overtaken == CLO_OVERTAKES_MAX;
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

/* How old the stage is to the semaphore. */
static uint64_t ticket_of(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter,
                          const clo_scheduler_job *job, uint32_t stage)
{
    if (waiter->who.job == CLO_NONE || waiter->ticket == CLO_SEMAPHORE_NEW)
        return CLO_SEMAPHORE_NEW;
    if (is_waiter(waiter, job, stage))
        return waiter->ticket;
    return is_above(scheduler, waiter, job) ? clo_semaphore_before(waiter->ticket) : CLO_SEMAPHORE_NEW;
}

static bool is_shared(const clo_scheduler *scheduler)
{
    return scheduler->room != NULL || scheduler->script != NULL;
}

/* The answer to a question about capacities that others use too; `expected` if it follows from what we hold
 * ourselves. */
static uint32_t settle(clo_scheduler *scheduler, uint32_t machine, uint32_t expected, uint32_t said)
{
    const clo_scheduler_script *script = scheduler->script;
    uint32_t question = scheduler->questions++;

    if (script != NULL)
        said = script->answer(script->driver, machine, question, expected);
    if (said != expected)
        clo_note(scheduler, CLO_LOG_ROOM, NULL, CLO_NONE, question, machine, said);
    return said;
}

/* Registers what the semaphore has refused. True: it would not refuse it any more. */
static bool watch(clo_scheduler *scheduler, uint32_t machine, const int64_t *demand, uint64_t *ticket)
{
    const clo_scheduler_room *room = scheduler->room;
    clo_semaphore *semaphore = scheduler->semaphores[machine];
    bool fits = false;

    scheduler->is_short = true;
    if (room != NULL) {
        room->refused(room->driver, machine);
        fits = ticket != NULL ? clo_semaphore_watch(semaphore, demand, ticket, room->thread)
                              : clo_semaphore_listen(semaphore, demand, room->thread);
    }
    return scheduler->settles ? settle(scheduler, machine, false, fits) != 0 : fits;
}

/* FITS or KEPT for what has got past the semaphore, where so much is available. */
static uint32_t beside_kept(const clo_scheduler *scheduler, const clo_capacity_waiter *waiter, bool is_free,
                            const int64_t *demand, const int64_t *available, uint32_t resources)
{
    const int64_t *kept = is_free ? NULL : kept_for(scheduler, waiter);

    for (uint32_t r = 0; kept != NULL && r < resources; r++)
        if (demand[r] > 0 && available[r] != INT64_MAX && kept[r] > available[r] - demand[r])
            return KEPT;
    return FITS;
}

/* FITS, KEPT or REFUSED. */
static uint32_t look(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t machine)
{
    clo_semaphore *semaphore = scheduler->semaphores[machine];
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *demand = demand_of(scheduler, job, stage, machine);
    bool is_free = is_waiter(waiter, job, stage) || is_above(scheduler, waiter, job);
    uint32_t said = REFUSED, expected = FITS;
    clo_semaphore_state state;

    if (scheduler->script == NULL) {
        (void)clo_semaphore_read(semaphore, &state);
        if (clo_semaphore_fits(semaphore, &state, demand, ticket_of(scheduler, waiter, job, stage)))
            said = beside_kept(scheduler, waiter, is_free, demand, state.available, semaphore->resources);
    }
    if (!scheduler->settles)
        return said;
    const int64_t *own = scheduler->own[machine];
    for (uint32_t r = 0; r < semaphore->resources; r++)
        if (demand[r] > 0 && demand[r] > own[r])
            expected = REFUSED;
    if (expected == FITS)
        expected = beside_kept(scheduler, waiter, is_free, demand, own, semaphore->resources);
    return settle(scheduler, machine, expected, said);
}

bool clo_reserve_fits_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *demand = demand_of(scheduler, job, stage, machine);

    if (demand == NULL)
        return true;
    scheduler->counts.looks++;
    for (;;) { /* another turn only if another thread has changed the semaphore */
        uint32_t said = look(scheduler, job, stage, machine);
        if (said != REFUSED)
            return said == FITS;
        if (waiter->who.job == CLO_NONE) {
            set_waiter(scheduler, machine, (clo_ready_stage){job->slot, stage});
            note_waiter(scheduler, machine);
        }
        if (!is_shared(scheduler) ||
            !watch(scheduler, machine, demand, is_waiter(waiter, job, stage) ? &waiter->ticket : NULL))
            return false;
    }
}

/* Our own executions, and what is kept for who waits, leave the waiter no room. */
static bool waiter_lacks(const clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t machine)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (job->demands[stage][r] > scheduler->own[machine][r])
            return true;
    return false;
}

/* What others give back cannot help while our own executions and what is kept hold too much, and their end is an input.
 * So in a semaphore that others use nobody need register but who waits, for its age. */
bool clo_reserve_lacks(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *kept = is_above(scheduler, waiter, job) ? NULL : kept_for(scheduler, waiter);
    bool is_ours = waiter->who.job == job->slot, lacks = false;

    if (waiter->who.job == CLO_NONE ||
        (kept != NULL && is_ours && !waiter_lacks(scheduler, job, waiter->who.stage, machine)))
        return false;
    for (uint32_t c = 0; c < job->least.columns && !lacks; c++) {
        uint32_t r = job->least.resource[c];
        int64_t least = clo_least_of(&job->least, c), own = scheduler->own[machine][r];
        lacks = least > own || (kept != NULL && least > 0 && own != INT64_MAX && least > own - kept[r]);
    }
    if (lacks && is_shared(scheduler) && is_ours)
        (void)clo_reserve_fits_demand(scheduler, job, waiter->who.stage, executor);
    return lacks;
}

static bool take(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t machine)
{
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    bool is_taken = true;

    if (scheduler->script == NULL)
        is_taken = clo_semaphore_acquire_as(scheduler->semaphores[machine], job->demands[stage],
                                            ticket_of(scheduler, waiter, job, stage),
                                            scheduler->room != NULL ? scheduler->room->thread : 0);
    return scheduler->settles ? settle(scheduler, machine, true, is_taken) != 0 : is_taken;
}

/* Of what our own executions leave; `sign` 1: gives back, -1: takes. */
static void count_own(clo_scheduler *scheduler, uint32_t machine, const int64_t *demand, int sign)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (scheduler->own[machine][r] != INT64_MAX)
            scheduler->own[machine][r] += sign * demand[r];
}

bool clo_reserve_take_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    const int64_t *demand = demand_of(scheduler, job, stage, machine);

    if (demand == NULL)
        return true;
    while (!take(scheduler, job, stage, machine))
        if (!clo_reserve_fits(scheduler, job, stage, executor)) /* another thread was quicker */
            return false;
    count_own(scheduler, machine, demand, -1);
    if (is_waiter(waiter, job, stage)) {
        set_waiter(scheduler, machine, (clo_ready_stage){CLO_NONE, CLO_NONE});
        waiter->is_untold = true;
    } else {
        pass_waiter(scheduler, machine);
    }
    return true;
}

void clo_reserve_tell_waiter(clo_scheduler *scheduler, uint32_t executor)
{
    uint32_t machine = machine_of(scheduler, executor);

    if (scheduler->waiters[machine].is_untold)
        note_waiter(scheduler, machine);
    scheduler->waiters[machine].is_untold = false;
}

void clo_reserve_open(clo_scheduler *scheduler)
{
    const clo_platform *platform = scheduler->platform;

    for (uint32_t m = 0; m < platform->machines_count; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t capacity = platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            scheduler->own[m][r] = capacity < 0 ? INT64_MAX : capacity;
        }
}

void clo_reserve_give_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_room *room = scheduler->room;
    uint32_t machine = machine_of(scheduler, executor);
    const int64_t *demand = demand_of(scheduler, job, stage, machine);

    if (demand == NULL)
        return;
    count_own(scheduler, machine, demand, 1);
    if (scheduler->script == NULL &&
        clo_semaphore_release(scheduler->semaphores[machine], demand, room != NULL ? room->thread : 0) && room != NULL)
        room->report(room->driver, machine, false);
}

void clo_reserve_forget_waiter(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    const clo_scheduler_room *room = scheduler->room;

    for (uint32_t m = 0; m < scheduler->platform->machines_count; m++) {
        clo_capacity_waiter *waiter = &scheduler->waiters[m];
        if (waiter->who.job != job->slot || (stage != CLO_NONE && waiter->who.stage != stage))
            continue;
        uint64_t ticket = waiter->ticket;
        set_waiter(scheduler, m, (clo_ready_stage){CLO_NONE, CLO_NONE});
        note_waiter(scheduler, m);
        if (room != NULL && clo_semaphore_forget(scheduler->semaphores[m], ticket, room->thread))
            room->report(room->driver, m, true);
    }
}

/* The semaphore keeps its capacity for the waiter. */
static bool is_oldest(clo_scheduler *scheduler, uint32_t machine)
{
    const clo_capacity_waiter *waiter = &scheduler->waiters[machine];
    bool is_so = false;
    clo_semaphore_state state;

    if (scheduler->room != NULL && waiter->ticket != CLO_SEMAPHORE_NEW) {
        (void)clo_semaphore_read(scheduler->semaphores[machine], &state);
        is_so = state.oldest == waiter->ticket && state.overtakes >= CLO_OVERTAKES_MAX;
    }
    return scheduler->settles ? settle(scheduler, machine, false, is_so) != 0 : is_so;
}

bool clo_reserve_is_due(clo_scheduler *scheduler, uint32_t machine)
{
    clo_capacity_waiter *waiter = &scheduler->waiters[machine];

    if (waiter->who.job == CLO_NONE)
        return false;
    if (waiter->overtaken >= CLO_OVERTAKES_MAX)
        return true;
    if (!is_shared(scheduler) || !is_oldest(scheduler, machine))
        return false;
    waiter->overtaken = CLO_OVERTAKES_MAX; /* by jobs of others too: the semaphore has counted them */
    note_waiter(scheduler, machine);
    return true;
}
