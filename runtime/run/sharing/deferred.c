/* deferred.c - see deferred.h. */
#include "run/sharing/deferred.h"

#include "run/sharing/borrow.h"
#include "run/sharing/owner.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/local.h"

#define LEAVE_TRIES 32u
#define SEEN_MAX 16u /* then it is taken, even if jobs end all the time */

uint64_t clo_deferred_ends(const clo_runtime *runtime)
{
    uint64_t ends = atomic_load_explicit(&runtime->done_epoch, memory_order_relaxed);

    for (uint32_t w = 0; w < runtime->first_slot; w++)
        ends += clo_counter_read(&runtime->workers[w].ended);
    return ends;
}

void clo_deferred_send_roots(clo_job *job)
{
    const clo_program *program = job->program;

    for (uint32_t i = 0, count = program->roots_count; i < count; i++) { /* the last one may end the job */
        uint32_t execution = program->roots[i];
        clo_worker_send(job->runtime, clo_job_owner(job, execution), clo_item(job, execution), &job->links[execution]);
    }
}

/* The roots of the job of a note that is ours: on the shared pool of that worker, or where the plan has them. */
static void publish(clo_runtime *runtime, uint32_t w, uint32_t note)
{
    clo_job *job = runtime->jobs[note - 1];
    const clo_program *program = job->program;
    uint32_t roots = program->roots_count;

    if (job->is_pinned) {
        clo_deferred_send_roots(job);
        return;
    }
    for (uint32_t i = 0; i + 1 < roots; i++)
        job->links[program->roots[i]] = clo_item(job, program->roots[i + 1]);
    clo_stack_push(&runtime->workers[w].shared_pool, clo_item(job, program->roots[0]),
                   &job->links[program->roots[roots - 1]]);
}

void clo_deferred_publish(clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++) {
        uint32_t note = clo_parker_lift(&runtime->workers[w].parker);
        if (note != 0)
            publish(runtime, w, note);
    }
}

/* After a note was left: some worker will look. */
static bool will_look(clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (clo_searching_trust_seen(&runtime->workers[w].searching))
            return true;
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (clo_parker_is_woken(&runtime->workers[w].parker))
            return true;
    return false;
}

static bool has(const clo_serial_plan *plan, uint32_t worker)
{
    for (uint32_t k = 0; k < plan->workers_count; k++)
        if (plan->workers[k] == worker)
            return true;
    return false;
}

/* Wakes some other sleeper than those that who waits will borrow; rather not on the CPU of the calling thread, where it
 * would take its place. False: there is none. */
static bool wake_another(clo_runtime *runtime, const clo_serial_plan *wanted)
{
    int32_t here = clo_borrow_cpu();

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t w = 0; w < runtime->first_slot; w++) {
            clo_worker *worker = &runtime->workers[w];
            if (!has(wanted, w) && (turn == 1 || worker->cpu != here) && clo_parker_is_away(&worker->parker) &&
                clo_parker_wake(&worker->parker))
                return true;
        }
    return false;
}

/* Nobody else can be woken for the note there: its own worker is, or, where others of the plan would have to be, they
 * all run it. */
static void call_off(clo_runtime *runtime, uint32_t place, bool is_pinned)
{
    uint32_t note = is_pinned ? clo_parker_lift(&runtime->workers[place].parker) : 0;

    if (note != 0) /* still there, so its job has not begun */
        publish(runtime, place, note);
    else
        (void)clo_parker_wake(&runtime->workers[place].parker);
}

static bool somebody_looks(const clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (clo_searching_looks(&runtime->workers[w].searching))
            return true;
    return false;
}

/* A planned job is best left with a worker that the plan uses. */
static uint32_t place_for(const clo_job *job, uint32_t lately)
{
    return job->is_pinned ? job->waiting.serial_plan->workers[0] : clo_borrow_place(job->runtime, lately);
}

/* With a worker that sleeps or is idle; one that looks for work is idle again in a moment. CLO_NONE: with none. */
static uint32_t leave(clo_runtime *runtime, clo_job *job)
{
    uint32_t place = atomic_load_explicit(&job->waiting.deferred_at, memory_order_relaxed);

    for (uint32_t i = 0; i < LEAVE_TRIES; i++) {
        place = place_for(job, place);
        atomic_store_explicit(&job->waiting.deferred_at, place, memory_order_relaxed);
        if (clo_parker_leave(&runtime->workers[place].parker, job->slot + 1))
            return place;
        if (!somebody_looks(runtime))
            break;
        clo_relax();
    }
    return CLO_NONE;
}

void clo_deferred_put(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    bool is_pinned = job->is_pinned;
    uint32_t roots = job->program->roots_count, place;
    clo_serial_plan wanted = {.workers_count = 1};

    if (is_pinned) /* a copy: the job may be gone when it is read */
        wanted = *job->waiting.serial_plan;
    place = leave(runtime, job);
    if (place == CLO_NONE) {
        publish(runtime, atomic_load_explicit(&job->waiting.deferred_at, memory_order_relaxed), job->slot + 1);
        if (!is_pinned) /* else whoever has a root was woken */
            (void)clo_runtime_call(runtime, roots, 1);
        return;
    }
    /* From here on the job may be over. */
    if (!is_pinned)
        wanted.workers[0] = place;
    if (!will_look(runtime) && !wake_another(runtime, &wanted))
        call_off(runtime, place, is_pinned);
}

clo_worker *clo_deferred_claim(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    uint32_t place = atomic_load_explicit(&job->waiting.deferred_at, memory_order_relaxed);
    clo_worker *worker = &runtime->workers[place];

    if (!clo_borrow_suits(runtime, worker) || !clo_parker_claim(&worker->parker, job->slot + 1))
        return NULL;
    return worker;
}

uint64_t clo_deferred_unpack(clo_worker *worker, uint32_t note)
{
    clo_job *job = worker->runtime->jobs[note - 1];
    const clo_program *program = job->program;

    if (job->is_pinned) {
        clo_deferred_send_roots(job);
        return clo_worker_take_local(worker);
    }
    for (uint32_t i = program->roots_count; i-- > 1;)
        clo_worker_push(worker, clo_item(job, program->roots[i]));
    return clo_item(job, program->roots[0]);
}

/* True: it has been seen before, and no job has ended since; or it is time. */
static bool is_due(clo_worker *worker, uint32_t note)
{
    uint64_t ends = clo_deferred_ends(worker->runtime);
    bool is_same = worker->deferred.note == note && worker->deferred.ends == ends;

    worker->deferred.note = note;
    worker->deferred.ends = ends;
    return is_same || ++worker->deferred.count >= SEEN_MAX;
}

/* The note with a worker: ours is taken in one step with the worker, another's needs us awake. */
static uint32_t take_note(clo_worker *worker, clo_worker *owner, bool *is_lent)
{
    uint32_t note;

    if (owner == worker) {
        note = *is_lent ? clo_parker_take(&worker->parker) : 0;
        if (note != 0)
            *is_lent = false;
        return note;
    }
    note = clo_parker_lift(&owner->parker);
    if (note == 0 || !*is_lent)
        return note;
    publish(worker->runtime, owner->index, note); /* we have no deque to put it in */
    clo_runtime_wake_one(worker->runtime);
    return 0;
}

uint64_t clo_deferred_take(clo_worker *worker, bool now, bool *is_lent)
{
    clo_runtime *runtime = worker->runtime;

    for (uint32_t i = 0; i < runtime->first_slot; i++) {
        clo_worker *owner = &runtime->workers[(worker->index + i) % runtime->first_slot];
        uint32_t note = clo_parker_note(&owner->parker);
        if (note == 0)
            continue;
        bool is_wanted = owner == worker && !clo_stack_is_empty(&worker->inbox); /* nobody may keep us waiting */
        if (!now && !is_wanted && !is_due(worker, note))
            return CLO_ITEM_NONE;
        note = take_note(worker, owner, is_lent);
        if (note == 0)
            continue;
        worker->deferred.count = 0;
        clo_job *job = runtime->jobs[note - 1];
        job->stats[worker->index].steals += i != 0 && !job->is_pinned;
        uint64_t item = clo_deferred_unpack(worker, note);
        if (item != CLO_ITEM_NONE)
            return item;
    }
    worker->deferred.count = 0;
    worker->deferred.note = 0;
    return CLO_ITEM_NONE;
}
