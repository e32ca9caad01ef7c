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
#include "run/system/real_time.h"
#include "trace/trace.h"

#include <stdlib.h>

typedef struct numbered {
    int64_t finish_ns, start_ns;
    uint32_t position, event; /* in the graph's order; in the list */
} numbered;

static int by_finish(const void *a, const void *b)
{
    const numbered *x = a, *y = b;

    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* By instance: the graph's order. */
static void order_by_graph(const clo_program *program, uint32_t *position)
{
    for (uint32_t i = 0; i < program->graph->instances; i++)
        position[program->graph->order[i]] = i;
}

/* By execution: whoever is released by another one stands behind it, by an edge or as the next one of its executor
 * (Kahn 1962). left, queue: [executions + barriers] scratch. */
static void order_by_release(const clo_program *program, uint32_t *position, uint32_t *left, uint32_t *queue)
{
    uint32_t rows = program->executions + program->barriers, head = 0, tail = 0;

    for (uint32_t k = 0; k < program->succ_first[rows]; k++)
        left[program->succ[k]]++;
    for (uint32_t r = 0; r < rows; r++)
        if (left[r] == 0)
            queue[tail++] = r;
    while (head < tail) { /* each row enters once */
        uint32_t r = queue[head];
        if (r < program->executions)
            position[r] = head;
        head++;
        for (uint32_t k = program->succ_first[r]; k < program->succ_first[r + 1]; k++)
            if (--left[program->succ[k]] == 0)
                queue[tail++] = program->succ[k];
    }
}

/* [executions], of instances or, under a plan, of executions; to be freed. NULL without memory. */
static uint32_t *positions(const clo_program *program)
{
    uint32_t *position = clo_allocate(program->executions, sizeof *position), *scratch = NULL;
    size_t rows = (size_t)program->executions + program->barriers;

    if (position != NULL && program->is_replay) {
        scratch = clo_allocate(rows, 2 * sizeof *scratch);
        if (scratch == NULL) {
            clo_free(position);
            return NULL;
        }
        order_by_release(program, position, scratch, scratch + rows);
    } else if (position != NULL) {
        order_by_graph(program, position);
    }
    clo_free(scratch);
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
        list[i] = (numbered){events[i].finish_ns, events[i].start_ns, position[of], i};
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
    if (job->is_fast && job->ticked == NULL)
        return 0;
    return job->is_fast ? clo_tick_line_ns(&job->line, job->line.ticks + busy) - job->line.ns : busy;
}

static clo_trace_event event_of(const clo_job *job, const clo_ticked *ticked)
{
    return (clo_trace_event){.task = ticked->task,
                             .instance = ticked->instance,
                             .executor = ticked->executor,
                             .start_ns = clo_tick_line_ns(&job->line, ticked->start_ticks),
                             .finish_ns = clo_tick_line_ns(&job->line, ticked->finish_ticks)};
}

/* made: receives the execution of each event. */
static size_t copy_events(const clo_job *job, clo_trace_event *events, uint32_t *made)
{
    size_t count = 0;

    for (uint32_t execution = 0; execution < job->program->executions; execution++) {
        made[count] = execution;
        if (job->is_fast && job->ticked[execution].executor != CLO_NONE) {
            events[count++] = event_of(job, &job->ticked[execution]);
        } else if (!job->is_fast && job->events[execution].executor != CLO_NONE) {
            events[count] = job->events[execution];
            events[count++].is_lost = clo_pair_is_lost(job, execution);
        }
    }
    return count;
}

static clo_status read_trace(const clo_job *job, clo_trace **out)
{
    clo_trace_event *events = clo_allocate(job->program->executions, sizeof *events);
    uint32_t *made = clo_allocate((size_t)job->program->executions + 1, sizeof *made);
    if (events == NULL || made == NULL) {
        clo_free(events);
        clo_free(made);
        return clo_fail_memory("a trace");
    }
    size_t count = copy_events(job, events, made);
    clo_status status = job->scheduled == NULL && job->virtual_time == NULL ? number(job, events, made, count) : CLO_OK;
    if (status == CLO_OK)
        status = clo_trace_create(job->cost, job->runtime->clock != CLO_CLOCK_REAL, events, count, out);
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
