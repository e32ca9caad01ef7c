/* virtual.c - replay under the virtual clock.
 *
 * The bodies run on the workers, side by side. What happens when is the simulator's business (sim/time/timeline.h); one
 * thread at a time, the combiner (sync/structure/combining.h), drives it. An end is handled once its body has really
 * ended, and no event is handled before an earlier one. So times and waits for capacities are those of clo_simulate,
 * event for event. Each job has its own time and its own semaphores, as if it ran alone.
 *
 * A turn belongs to who adds the first one to `posts`, and lasts until all that was posted meanwhile has been seen, as
 * in run/dispatch/pipeline.c. Each execution is posted once, so a turn that has seen as many posts as there are
 * executions is the last: nobody touches the job any more but itself. It leaves `posts` as it is. */
#include "run/dispatch/dispatches.h"
#include "run/dispatch/execute.h"
#include "run/dispatch/launch.h"
#include "run/job/end.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/virtual_time.h"
#include "run/state/worker.h"

#include <assert.h>

/* Whose turn it is. */
typedef struct turn {
    clo_job *job;
    /* NULL: a thread that starts a run. */
    clo_worker *worker;
    /* What that worker shall run; for the other thread a chain of what it has to send. */
    uint64_t mine;
} turn;

static void start(void *driver, uint32_t execution, int64_t since_ns)
{
    turn *t = driver;
    clo_job *job = t->job;
    uint32_t executor = job->program->executor[execution];
    bool is_mine = t->worker == NULL || executor == t->worker->index;

    (void)since_ns;
    if (!is_mine) {
        clo_worker_send(job->runtime, executor, clo_item(job, execution), &job->links[execution]);
        return;
    }
    job->links[execution] = t->mine; /* of a worker the only one: the next one there starts after this one has ended */
    t->mine = clo_item(job, execution);
}

/* Handles events up to the first end of a body that still runs. */
static void advance(turn *t)
{
    clo_virtual *time = t->job->emulated.virtual_time;
    clo_timeline *timeline = &time->timeline;

    timeline->driver = t;
    for (uint32_t execution; (execution = clo_timeline_next(timeline)) != CLO_NONE;) { /* each one ends once */
        /* [B] acquire, pairs with [A]: what the body did is there for those that it releases. */
        if (atomic_load_explicit(&time->has_run[execution], memory_order_acquire) == 0)
            return;
        if (t->job->events != NULL)
            t->job->events[execution].sequence = timeline->finished;
        clo_timeline_end(timeline);
    }
}

/* Starts a run. */
static void begin(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    clo_virtual *time = job->emulated.virtual_time;
    turn t = {.job = job, .mine = CLO_ITEM_NONE};

    time->timeline.start = start;
    time->timeline.driver = &t;
    time->timeline.ready_ns = job->emulated.ports_ready_ns;
    time->posted = 0;
    /* Relaxed: the first item carries all of this. */
    atomic_store_explicit(&time->posts, 0, memory_order_relaxed);
    for (uint32_t execution = 0; execution < job->program->executions; execution++)
        atomic_store_explicit(&time->has_run[execution], 0, memory_order_relaxed);
    clo_timeline_begin(&time->timeline);
    (void)clo_timeline_next(&time->timeline);
    for (uint64_t item = t.mine, next; item != CLO_ITEM_NONE; item = next) { /* with the last one the job may be gone */
        uint64_t *link = &job->links[(uint32_t)item];
        next = *link;
        clo_worker_send(runtime, job->program->executor[(uint32_t)item], item, link);
    }
}

/* The worker has run the body of an execution. */
static uint64_t complete(clo_worker *worker, clo_job *job, uint32_t execution, const clo_span *span)
{
    clo_virtual *time = job->emulated.virtual_time;
    turn t = {.job = job, .worker = worker, .mine = CLO_ITEM_NONE};
    uint32_t seen;

    (void)span; /* decided before */
    /* [A] release */
    atomic_store_explicit(&time->has_run[execution], 1, memory_order_release);
    /* [C] acq_rel, pairs with itself and [D]: hands over what the last turn left. */
    if (atomic_fetch_add_explicit(&time->posts, 1, memory_order_acq_rel) != 0)
        return CLO_ITEM_NONE;
    do { /* each round sees new posts, of which there is one for each execution */
        seen = atomic_load_explicit(&time->posts, memory_order_acquire);
        time->posted += seen;
        advance(&t);
        if (time->posted == job->program->executions) {
            assert(time->timeline.finished == time->posted);
            job->emulated.last_ns = time->timeline.now_ns;
            clo_job_run_ended(job);
            return CLO_ITEM_NONE;
        }
        /* [D] */
    } while (atomic_fetch_sub_explicit(&time->posts, seen, memory_order_acq_rel) != seen);
    return t.mine;
}

const clo_dispatch clo_dispatch_virtual = {
    .run = clo_worker_run_general,
    .call = clo_worker_call,
    .release_of = clo_job_current_release,
    .numbers_events = true,
    .complete = complete,
    .start = begin,
    .open = clo_job_open,
};
