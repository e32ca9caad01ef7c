/* left.c - see left.h. */
#include "run/left.h"

#include "run/item.h"
#include "run/loan.h"
#include "run/share.h"
#include "run/wake.h"

#define SEEN_MAX 16u /* then it is taken, even if jobs end all the time */

void clo_left_publish(clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->first_slot; w++) {
        clo_worker *worker = &runtime->workers[w];
        uint64_t chain = clo_stack_take(&worker->left);
        if (chain != CLO_ITEM_NONE)
            clo_worker_put_back(worker, &worker->public_list, chain);
    }
}

void clo_left_put(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    const clo_program *program = job->program;
    uint32_t roots = program->roots_count;

    for (uint32_t i = 0; i + 1 < roots; i++)
        job->links[program->roots[i]] = clo_item(job, program->roots[i + 1]);
    clo_stack_push(&runtime->workers[clo_loan_place(runtime)].left, clo_item(job, program->roots[0]),
                   &job->links[program->roots[roots - 1]]);
    /* From here on the job may be over. */
    if (clo_runtime_call(runtime, roots, 1))
        return;
    clo_left_publish(runtime); /* all are busy; whoever goes to sleep just now sees it, or is woken */
    clo_runtime_wake_one(runtime);
}

/* True: what lies there has been seen before, and no job has ended since; or it is time. */
static bool is_due(clo_worker *worker, uint64_t item)
{
    uint32_t epoch = atomic_load_explicit(&worker->runtime->done_epoch, memory_order_relaxed);
    bool is_same = worker->seen_left == item && worker->seen_epoch == epoch;

    worker->seen_left = item;
    worker->seen_epoch = epoch;
    return is_same || ++worker->seen >= SEEN_MAX;
}

static uint64_t take_chain(clo_worker *worker, clo_worker *owner)
{
    uint64_t first = clo_stack_take(&owner->left);

    if (first == CLO_ITEM_NONE)
        return first;
    uint64_t rest = *clo_item_link(worker->runtime, first);
    if (rest != CLO_ITEM_NONE) {
        clo_worker_put_back(worker, &worker->public_list, rest);
        clo_runtime_wake_one(worker->runtime);
    }
    return first;
}

uint64_t clo_left_take(clo_worker *worker, bool now)
{
    clo_runtime *runtime = worker->runtime;

    for (uint32_t i = 0; i < runtime->first_slot; i++) {
        clo_worker *owner = &runtime->workers[(worker->index + i) % runtime->first_slot];
        uint64_t head = atomic_load_explicit(&owner->left.head, memory_order_relaxed);
        if (head == CLO_ITEM_NONE)
            continue;
        if (!now && !is_due(worker, head))
            return CLO_ITEM_NONE;
        uint64_t item = take_chain(worker, owner);
        if (item == CLO_ITEM_NONE)
            continue;
        worker->seen = 0;
        clo_item_job(runtime, item)->stats[worker->index].steals += i != 0;
        return item;
    }
    worker->seen = 0;
    worker->seen_left = CLO_ITEM_NONE;
    return CLO_ITEM_NONE;
}
