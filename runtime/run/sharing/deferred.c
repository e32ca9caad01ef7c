/* deferred.c - see deferred.h. */
#include "run/sharing/deferred.h"

#include "run/sharing/borrow.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

#define LEAVE_TRIES 32u
#define SEEN_MAX 16u /* then it is taken, even if jobs end all the time */

uint64_t clo_deferred_ends(const clo_runtime *runtime)
{
    uint64_t ends = atomic_load_explicit(&runtime->done_epoch, memory_order_relaxed);

    for (uint32_t w = 0; w < runtime->first_slot; w++)
        ends += clo_counter_read(&runtime->workers[w].ended);
    return ends;
}

/* The roots of the job of a note that is ours, on the shared pool of that worker. */
static void publish(clo_runtime *runtime, uint32_t w, uint32_t note)
{
    clo_job *job = runtime->jobs[note - 1];
    const clo_program *program = job->program;
    uint32_t roots = program->roots_count;

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

/* Wakes some other sleeper than the one with the note, so that who waits still finds that one; rather not on the CPU of
 * the calling thread, where it would take its place. The one with the note if there is no other. */
static void wake_for_left(clo_runtime *runtime, uint32_t place)
{
    int32_t here = clo_borrow_cpu();

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t w = 0; w < runtime->first_slot; w++) {
            clo_worker *worker = &runtime->workers[w];
            if (w != place && (turn == 1 || worker->cpu != here) && clo_parker_is_away(&worker->parker) &&
                clo_parker_wake(&worker->parker))
                return;
        }
    (void)clo_parker_wake(&runtime->workers[place].parker);
}

static bool somebody_looks(const clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++)
        if (clo_searching_looks(&runtime->workers[w].searching))
            return true;
    return false;
}

/* With a worker that sleeps or is idle; one that looks for work is idle again in a moment. CLO_NONE: with none. */
static uint32_t leave(clo_runtime *runtime, clo_job *job)
{
    uint32_t place = atomic_load_explicit(&job->deferred_at, memory_order_relaxed);

    for (uint32_t i = 0; i < LEAVE_TRIES; i++) {
        place = clo_borrow_place(runtime, place);
        atomic_store_explicit(&job->deferred_at, place, memory_order_relaxed);
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
    uint32_t roots = job->program->roots_count, place = leave(runtime, job);

    if (place == CLO_NONE) {
        publish(runtime, atomic_load_explicit(&job->deferred_at, memory_order_relaxed), job->slot + 1);
        (void)clo_runtime_call(runtime, roots, 1);
        return;
    }
    /* From here on the job may be over. */
    if (!will_look(runtime))
        wake_for_left(runtime, place);
}

clo_worker *clo_deferred_claim(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    uint32_t place = atomic_load_explicit(&job->deferred_at, memory_order_relaxed);
    clo_worker *worker = &runtime->workers[place];

    if (!clo_borrow_suits(runtime, worker) || !clo_parker_claim(&worker->parker, job->slot + 1))
        return NULL;
    return worker;
}

uint64_t clo_deferred_unpack(clo_worker *worker, uint32_t note)
{
    clo_job *job = worker->runtime->jobs[note - 1];
    const clo_program *program = job->program;

    for (uint32_t i = program->roots_count; i-- > 1;)
        clo_worker_push(worker, clo_item(job, program->roots[i]));
    return clo_item(job, program->roots[0]);
}

/* True: it has been seen before, and no job has ended since; or it is time. */
static bool is_due(clo_worker *worker, uint32_t note)
{
    uint64_t ends = clo_deferred_ends(worker->runtime);
    bool is_same = worker->seen_deferred == note && worker->seen_ends == ends;

    worker->seen_deferred = note;
    worker->seen_ends = ends;
    return is_same || ++worker->seen >= SEEN_MAX;
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
        worker->seen = 0;
        runtime->jobs[note - 1]->stats[worker->index].steals += i != 0;
        return clo_deferred_unpack(worker, note);
    }
    worker->seen = 0;
    worker->seen_deferred = 0;
    return CLO_ITEM_NONE;
}
