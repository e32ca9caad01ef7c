/* record.c - from what the workers noted of a run to its trace.
 *
 * The fast path notes ticks of the CPU's counter, cheaper than the clock, which become times here. The order in which
 * executions completed is not counted at run time either, where all workers would want one word: it follows from the
 * finish times, since whoever was released by an execution finishes no earlier; of those that finish at one time the
 * first to begin was first, and executions of no length keep the order in which they are released. */
#include "run/records/record.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "run/state/pair.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/system/real_time.h"
#include "trace/trace.h"

#include <stdlib.h>

typedef struct numbered {
    int64_t finish_ns, start_ns;
    uint64_t release;
    uint32_t position, event; /* in the graph's order; in the list */
} numbered;

static int by_finish(const void *a, const void *b)
{
    const numbered *x = a, *y = b;

    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->release != y->release)
        return x->release < y->release ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* [executions], by instance in the graph's order, or under a plan by execution in the plan's; to be freed. NULL without
 * memory. */
static uint32_t *positions(const clo_program *program)
{
    uint32_t *position = clo_allocate(program->executions, sizeof *position);
    const uint32_t *order = program->is_replay ? program->order : program->graph->order;
    uint32_t count = program->is_replay ? program->first_hedge : program->instances;

    for (uint32_t i = 0; i < count && position != NULL; i++)
        position[order[i]] = i;
    for (uint32_t hedge = count; hedge < program->executions && program->is_replay && position != NULL; hedge++)
        position[hedge] = position[program->twin[hedge]];
    return position;
}

/* execution: [count] of each event. */
static clo_status number(const clo_job *job, clo_trace_event *events, const uint32_t *execution, size_t count)
{
    const clo_graph *graph = job->program->graph;
    numbered *list = clo_allocate(count, sizeof *list);
    uint32_t *position = positions(job->program);

    for (uint32_t i = 0; i < count && position != NULL && list != NULL; i++) {
        uint32_t of =
            job->program->is_replay ? execution[i] : graph->first_instance[events[i].task] + events[i].instance;
        list[i] = (numbered){events[i].finish_ns, events[i].start_ns, events[i].release, position[of], i};
    }
    bool has_all = position != NULL && list != NULL;
    clo_free(position);
    if (has_all)
        qsort(list, count, sizeof *list, by_finish);
    for (uint32_t i = 0; i < count && has_all; i++)
        events[list[i].event].sequence = i;
    clo_free(list);
    return has_all ? CLO_OK : clo_fail_memory("a trace");
}

int64_t clo_job_busy_ns(const clo_job *job, int64_t busy)
{
    if (!job->dispatch->is_ticked)
        return busy;
    return job->ticked != NULL ? clo_tick_line_ns(&job->times.line, job->times.line.ticks + busy) - job->times.line.ns
                               : 0;
}

static clo_trace_event event_of(const clo_job *job, const clo_ticked *ticked)
{
    return (clo_trace_event){.task = ticked->task,
                             .instance = ticked->instance,
                             .executor = ticked->executor,
                             .start_ns = clo_tick_line_ns(&job->times.line, ticked->start_ticks),
                             .finish_ns = clo_tick_line_ns(&job->times.line, ticked->finish_ticks)};
}

/* So many releases of a series. */
static uint32_t traced(const clo_job *job)
{
    return job->series != NULL ? job->series->traced : 1;
}

size_t clo_job_events(const clo_job *job)
{
    return job->events == NULL ? 0 : (size_t)job->program->executions * traced(job);
}

static uint64_t newest_release(const clo_job *job)
{
    uint64_t newest = 0;

    for (size_t i = 0, all = clo_job_events(job); i < all; i++)
        if (job->events[i].executor != CLO_NONE && job->events[i].release > newest)
            newest = job->events[i].release;
    return newest;
}

/* made: receives the execution of each event. Where the last releases were cut short, what lies there of older ones is
 * left out. */
static size_t copy_events(const clo_job *job, clo_trace_event *events, uint32_t *made)
{
    uint64_t newest = newest_release(job);
    size_t count = 0;

    for (size_t i = 0, all = clo_job_events(job); i < all; i++) {
        const clo_trace_event *event = &job->events[i];
        if (event->executor == CLO_NONE || newest - event->release >= traced(job))
            continue;
        made[count] = (uint32_t)(i % job->program->executions);
        events[count] = *event;
        events[count].is_lost = clo_pair_is_lost(job, made[count]);
        count++;
    }
    return count;
}

/* The same of the fast path. */
static size_t copy_ticked(const clo_job *job, clo_trace_event *events, uint32_t *made)
{
    size_t count = 0;

    for (uint32_t execution = 0; execution < job->program->executions; execution++)
        if (job->ticked[execution].executor != CLO_NONE) {
            made[count] = execution;
            events[count++] = event_of(job, &job->ticked[execution]);
        }
    return count;
}

static clo_status read_trace(const clo_job *job, clo_trace **out)
{
    clo_trace_event *events = clo_allocate(clo_job_events(job), sizeof *events);
    uint32_t *made = clo_allocate(clo_job_events(job) + 1, sizeof *made);
    if (events == NULL || made == NULL) {
        clo_free(events);
        clo_free(made);
        return clo_fail_memory("a trace");
    }
    size_t count = job->dispatch->is_ticked ? copy_ticked(job, events, made) : copy_events(job, events, made);
    clo_status status = job->kind->numbers_events ? CLO_OK : number(job, events, made, count);
    if (status == CLO_OK)
        status = clo_trace_create(job->cost, job->pacing->is_emulated, events, count, out);
    clo_free(events);
    clo_free(made);
    return status;
}

clo_status clo_job_trace(const clo_job *job, clo_trace **out)
{
    if (job == NULL || out == NULL)
        return clo_fail_null("clo_job_trace", "job or out");
    if (clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not copy a trace: that takes memory");
    if (!job->runtime->traces)
        return clo_fail(CLO_ERR_STATE, "the runtime keeps no trace; set clo_runtime_config.trace");
    /* The phase is a lock for readers; nothing that the caller can see changes. */
    clo_phase *phase = (clo_phase *)(uintptr_t)&job->phase;
    if (!clo_phase_read_begin(phase))
        return clo_fail(CLO_ERR_STATE, "the job has not run to its end; wait for it first");
    clo_status status = read_trace(job, out);
    clo_phase_read_end(phase);
    return status;
}
