/* virtual.c - see virtual.h. The events are those of sim/sim.c. */
#include "run/dispatch/virtual.h"

#include "base/numbers/saturate.h"
#include "run/job/end.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

#include <string.h>

/* Event ids: execution for its end, START_BIT | execution for its start. Ends come first at one instant. */
#define START_BIT (1ull << 32)

/* Whose turn it is. */
typedef struct turn {
    clo_job *job;
    clo_virtual *time;
    /* NULL: a thread that is no worker. */
    clo_worker *worker;
    /* What that worker shall run. */
    uint64_t mine;
} turn;

/* It may start when its inputs have arrived there. */
static void assign(turn *t, uint32_t execution, uint32_t executor)
{
    (void)clo_control_flow_settle(&t->job->engine->control_flow, clo_program_task(t->job->program, execution));
    clo_heap_push(&t->time->heap, clo_engine_arrival_ns(t->job->engine, execution, executor, t->time->now_ns),
                  START_BIT | execution);
}

static bool skips(const turn *t, uint32_t execution)
{
    return clo_control_flow_skips(&t->job->engine->control_flow, clo_program_task(t->job->program, execution));
}

static void start(turn *t, uint32_t execution)
{
    clo_job *job = t->job;
    uint32_t cursor = 0, next, executor = job->engine->ran_on[execution],
             task = clo_program_task(job->program, execution);
    int64_t time_ns = skips(t, execution) ? 0 : clo_cost_execution_ns(job->program->cost, task, executor);
    int64_t finish_ns = clo_time_add(t->time->now_ns, time_ns);

    t->time->start_ns[execution] = t->time->now_ns;
    job->engine->finish_ns[execution] = finish_ns;
    clo_heap_push(&t->time->heap, finish_ns, execution);
    while ((next = clo_engine_let_ask(job->engine, execution, &cursor)) != CLO_NONE)
        assign(t, next, job->program->executor[next]);
    if (t->worker != NULL && executor == t->worker->index)
        t->mine = clo_item(job, execution); /* the only one: an executor's next one starts after this one has ended */
    else
        clo_worker_send(job->runtime, executor, clo_item(job, execution), &job->links[execution]);
}

static void begin(turn *t)
{
    const clo_program *program = t->job->program;
    clo_virtual *time = t->time;

    time->heap.count = 0;
    time->now_ns = 0;
    time->finished = 0;
    time->is_running = true;
    memset(time->has_run, 0, program->executions);
    clo_line_begin(&time->line);
    for (uint32_t i = 0; i < program->roots_count; i++)
        assign(t, program->roots[i], program->executor[program->roots[i]]);
}

/* Whom the end of `execution` releases. */
static void release(turn *t, uint32_t execution)
{
    clo_engine *engine = t->job->engine;
    clo_release released_by = clo_engine_release(engine, execution);
    uint32_t released;

    while ((released = clo_engine_released(engine, &released_by)) != CLO_NONE)
        assign(t, released, t->job->program->executor[released]);
}

static void end(turn *t, uint32_t execution)
{
    clo_job *job = t->job;
    uint32_t executor = job->engine->ran_on[execution], cursor = 0, next;

    if (job->events != NULL)
        job->events[execution].sequence = t->time->finished;
    t->time->finished++;
    release(t, execution);
    if (skips(t, execution) || !clo_line_give(&t->time->line, execution, executor))
        return;
    while ((next = clo_line_next(&t->time->line, executor, &cursor)) != CLO_NONE)
        start(t, next);
}

/* Handles events up to the first end of a body that still runs. */
static void advance(turn *t)
{
    clo_virtual *time = t->time;

    while (time->heap.count > 0) { /* each execution is pushed twice at most */
        uint64_t id = time->heap.items[0].id;
        uint32_t execution = (uint32_t)id;
        bool is_start = (id & START_BIT) != 0;
        if (!is_start && time->has_run[execution] == 0)
            return;
        time->now_ns = clo_heap_pop(&time->heap).key;
        if (!is_start)
            end(t, execution);
        else if (skips(t, execution) || clo_line_take(&time->line, execution, t->job->engine->ran_on[execution]))
            start(t, execution);
    }
}

static bool is_over(const clo_job *job)
{
    return job->virtual_time->finished == job->program->executions;
}

/* Returns the number of posts. */
static uint32_t read_posts(turn *t)
{
    clo_job *job = t->job;
    uint32_t workers = job->runtime->workers_count, count = 0;

    for (uint32_t w = 0; w < workers; w++) {
        uint32_t execution = clo_combining_read(&job->virtual_time->combining, w);
        if (execution == CLO_COMBINING_EMPTY)
            continue;
        t->time->has_run[execution] = 1;
        count++;
    }
    if (clo_combining_read(&job->virtual_time->combining, workers) != CLO_COMBINING_EMPTY) {
        begin(t);
        count++;
    }
    return count;
}

/* Until nothing is posted any more; then, and if the run is over, the job may be gone. */
static uint64_t combine(clo_worker *worker, clo_job *job)
{
    turn t = {.job = job, .time = job->virtual_time, .worker = worker, .mine = CLO_ITEM_NONE};
    uint32_t handled = 0;
    bool has_ended = false;

    for (;;) { /* ends once all posts are handled; each has its add on the way */
        uint32_t now = read_posts(&t);
        handled += now;
        if (t.time->is_running) {
            advance(&t);
            if (is_over(job)) {
                t.time->is_running = false;
                has_ended = true;
            }
        }
        if (clo_combining_leave(&job->virtual_time->combining, handled)) {
            if (has_ended)
                clo_job_run_ended(job);
            return t.mine;
        }
        if (now == 0)
            clo_relax();
    }
}

void clo_virtual_start(clo_job *job)
{
    if (clo_combining_post(&job->virtual_time->combining, job->runtime->workers_count, 0))
        (void)combine(NULL, job);
}

uint64_t clo_virtual_complete(clo_worker *worker, clo_job *job, uint32_t execution)
{
    return clo_combining_post(&job->virtual_time->combining, worker->index, execution) ? combine(worker, job)
                                                                                       : CLO_ITEM_NONE;
}
