/* check_releases.c - the checker of what happened to releases in flight. It shares no code with engine/releases, and
 * knows nothing of its slots, counters and order of capacities: it compares moments, as clotho/pipeline.h describes
 * them.
 *
 * The trace is put into a table of instance and release; then every rule is a comparison of two cells. */
#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "plan/check/check_holds.h"
#include "plan/plan.h"
#include "trace/trace.h"

#include <clotho/pipeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
    const clo_trace *trace;
    const clo_plan *plan;
    const clo_cost *cost;
    const clo_graph *graph;
    int64_t interval_ns;
    uint64_t releases;
    uint32_t in_flight;
    int64_t period_ns;             /* 0: none */
    const clo_placement **planned; /* [instances] */
    const clo_trace_event **at;    /* [releases * instances] */
    uint32_t *depths;              /* [instances] */
} checker;

enum { LABEL_BYTES = 200 };

/* "task 'x' instance 2 of release 7 on executor 'e0' from 5 to 9 ns" */
static const char *label(const checker *check, const clo_trace_event *event, char *text)
{
    char scratch[16];

    snprintf(text, LABEL_BYTES, "task '%.40s' instance %u of release %llu on executor '%.32s' from %lld to %lld ns",
             clo_graph_task_name(check->graph, event->task, scratch), event->instance,
             (unsigned long long)event->release,
             clo_platform_executor_name(clo_cost_platform(check->cost), event->executor), (long long)event->start_ns,
             (long long)event->finish_ns);
    return text;
}

static clo_status violation(const checker *check, const clo_trace_event *event, const char *what)
{
    char text[LABEL_BYTES];

    return clo_fail(CLO_ERR_INVALID, "%s: %s", label(check, event, text), what);
}

static clo_status clash(const checker *check, const clo_trace_event *event, const clo_trace_event *other,
                        const char *what)
{
    char text[LABEL_BYTES], theirs[LABEL_BYTES];

    return clo_fail(CLO_ERR_INVALID, "%s: %s %s", label(check, event, text), what, label(check, other, theirs));
}

static uint32_t instance_of(const checker *check, const clo_trace_event *event)
{
    return check->graph->first_instance[event->task] + event->instance;
}

static const clo_trace_event *cell(const checker *check, uint64_t release, uint32_t instance)
{
    return check->at[release * check->graph->instances + instance];
}

static clo_status check_event(const checker *check, const clo_trace_event *event)
{
    int64_t length_ns = clo_cost_execution_ns(check->cost, event->task, event->executor);

    if (event->is_replica != 0 || event->is_lost != 0 || event->is_skipped != 0)
        return violation(check, event, "it is a replica, has lost or was skipped; a pipeline has none of these");
    if (event->start_ns < 0 || event->finish_ns < event->start_ns)
        return violation(check, event, "it ends before it starts, or starts before 0");
    if (event->executor != check->planned[instance_of(check, event)]->executor)
        return violation(check, event, "the plan has it on another executor");
    if (check->trace->is_emulated && event->finish_ns == INT64_MAX) /* where emulated times stop */
        return violation(check, event, "it ends beyond all times (292 years), where nothing can be judged");
    if (check->trace->is_emulated && event->finish_ns - event->start_ns != length_ns)
        return violation(check, event, "it does not take the time that it costs");
    return CLO_OK;
}

/* Every instance once in each release. */
static clo_status fill_cells(checker *check)
{
    size_t count = check->trace->count, instances = check->graph->instances;

    if (instances == 0 ? count > 0 : count % instances != 0)
        return clo_fail(CLO_ERR_INVALID, "the trace has %zu executions, and a release has %zu: some are missing", count,
                        instances);
    check->releases = instances > 0 ? count / instances : 0;
    for (size_t i = 0; i < count; i++) {
        const clo_trace_event *event = &check->trace->events[i];
        if (event->release >= check->releases)
            return violation(check, event, "executions of releases before it are missing");
        const clo_trace_event **own = &check->at[event->release * instances + instance_of(check, event)];
        if (*own != NULL)
            return violation(check, event, "it is executed twice in this release, and another one is missing");
        *own = event;
        clo_status status = check_event(check, event);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* All instances of each task before it have ended, and what they put out has arrived. */
static clo_status check_inputs(const checker *check, const clo_trace_event *event)
{
    const clo_graph *graph = check->graph;

    for (uint32_t k = graph->in_first[event->task]; k < graph->in_first[event->task + 1]; k++) {
        uint64_t bytes = clo_graph_in_bytes(graph, k);
        uint32_t from = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++) {
            const clo_trace_event *source = cell(check, event->release, i);
            int64_t way_ns = check->trace->is_emulated ? clo_platform_transfer_ns(clo_cost_platform(check->cost), bytes,
                                                                                  source->executor, event->executor)
                                                       : 0;
            if (source->finish_ns > event->start_ns || event->start_ns - source->finish_ns < way_ns)
                return clash(check, event, source, "it begins before it has the data of");
        }
    }
    return CLO_OK;
}

/* No output is written over before the last consumer of the one in its place has ended. A task of several instances may
 * keep as many outputs as releases may be in flight. */
static clo_status check_buffer(const checker *check, const clo_trace_event *event)
{
    const clo_graph *graph = check->graph;
    uint64_t depth = check->depths[instance_of(check, event)];

    if (clo_graph_output(graph, event->task) == 0)
        return CLO_OK;
    if (depth > check->in_flight || graph->rows[event->task].instances > 1)
        depth = check->in_flight;
    for (uint32_t k = graph->out_first[event->task]; k < graph->out_first[event->task + 1] && event->release >= depth;
         k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++) {
            const clo_trace_event *reader = cell(check, event->release - depth, i);
            if (reader->finish_ns > event->start_ns)
                return clash(check, event, reader, "it writes over what is still read by");
        }
    return CLO_OK;
}

/* Where an event stands among those of its executor, as planned: the interval in which it is to begin, and the offset
 * there. What has no length may stand on either side of its like; then what happened decides. */
typedef struct place {
    uint64_t turn;
    int64_t offset_ns, length_ns;
    uint32_t row; /* its executor, or a resource of its machine */
    const clo_trace_event *event;
} place;

static int by_place(const void *left, const void *right)
{
    const place *a = left, *b = right;
    const int64_t mine[] = {a->offset_ns, a->length_ns, a->event->start_ns, a->event->finish_ns};
    const int64_t theirs[] = {b->offset_ns, b->length_ns, b->event->start_ns, b->event->finish_ns};

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        if (mine[i] != theirs[i])
            return mine[i] < theirs[i] ? -1 : 1;
    return 0;
}

static place place_of(const checker *check, const clo_trace_event *event, uint32_t row)
{
    const clo_placement *p = check->planned[instance_of(check, event)];

    return (place){event->release + (uint64_t)(p->start_ns / check->interval_ns), p->start_ns % check->interval_ns,
                   p->finish_ns - p->start_ns, row, event};
}

static clo_status check_order(const checker *check)
{
    size_t count = check->trace->count;
    place *places = clo_allocate(count, sizeof *places);
    clo_status status = CLO_OK;

    if (places == NULL)
        return clo_fail_memory("the check of a trace");
    for (size_t i = 0; i < count; i++)
        places[i] = place_of(check, &check->trace->events[i], check->trace->events[i].executor);
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 1; i < count && status == CLO_OK; i++)
        if (places[i].row == places[i - 1].row && places[i].event->start_ns < places[i - 1].event->finish_ns)
            status = clash(check, places[i].event, places[i - 1].event,
                           "it begins before the end of what the plan has before it:");
    clo_free(places);
    return status;
}

/* Those that demand resource r, k of the platform, begin in the order of the plan on each machine. `places` has room
 * for all events. */
static clo_status check_queue(const checker *check, uint32_t r, uint32_t k, place *places)
{
    const clo_platform *platform = clo_cost_platform(check->cost);
    size_t count = 0;

    for (size_t i = 0; i < check->trace->count; i++) {
        const clo_trace_event *event = &check->trace->events[i];
        uint32_t machine = clo_platform_executor(platform, event->executor)->machine;
        if (clo_graph_demand(check->graph, event->task)[r] > 0 && clo_platform_capacity(platform, machine, k) >= 0)
            places[count++] = place_of(check, event, machine);
    }
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 1; i < count; i++)
        if (places[i].row == places[i - 1].row && places[i].event->start_ns < places[i - 1].event->start_ns)
            return clash(check, places[i].event, places[i - 1].event,
                         "it takes capacity before what the plan has before it:");
    return CLO_OK;
}

static clo_status check_queues(const checker *check)
{
    place *places = clo_allocate(check->trace->count, sizeof *places);
    uint32_t of[CLO_RESOURCES_MAX];
    clo_status status = places != NULL ? CLO_OK : clo_fail_memory("the check of a trace");

    clo_check_resources(check->graph, clo_cost_platform(check->cost), of);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && status == CLO_OK; r++)
        if (of[r] != CLO_NONE)
            status = check_queue(check, r, of[r], places);
    clo_free(places);
    return status;
}

/* What all releases hold of the machines at once. */
static clo_status check_capacities(const checker *check)
{
    size_t count = check->trace->count;
    clo_hold *holds = clo_allocate(count, sizeof *holds);
    clo_hold_fault fault = {0};
    char text[CLO_HOLD_TEXT];

    if (holds == NULL)
        return clo_fail_memory("the check of a trace");
    for (size_t i = 0; i < count; i++) {
        const clo_trace_event *event = &check->trace->events[i];
        holds[i] = (clo_hold){event->start_ns, event->finish_ns, event->task, event->executor, i};
    }
    clo_status status = clo_check_holds(check->cost, holds, count, &fault);
    clo_free(holds);
    if (status != CLO_ERR_INVALID)
        return status;
    clo_hold_fault_text(check->graph, &fault, text);
    return violation(check, &check->trace->events[fault.index], text);
}

/* Release k begins k periods after the first one at the earliest. */
static clo_status check_period(const checker *check)
{
    for (size_t i = 0; i < check->trace->count && check->period_ns > 0; i++) {
        const clo_trace_event *event = &check->trace->events[i];
        if (event->start_ns / check->period_ns < (int64_t)event->release)
            return violation(check, event, "it begins before its release is due");
    }
    return CLO_OK;
}

/* Release k begins when release k - in_flight has ended. */
static clo_status check_gates(const checker *check)
{
    uint32_t instances = check->graph->instances;

    for (uint64_t release = check->in_flight; release < check->releases; release++) {
        const clo_trace_event *first = cell(check, release, 0), *last = cell(check, release - check->in_flight, 0);
        for (uint32_t i = 1; i < instances; i++) {
            const clo_trace_event *mine = cell(check, release, i), *old = cell(check, release - check->in_flight, i);
            first = mine->start_ns < first->start_ns ? mine : first;
            last = old->finish_ns > last->finish_ns ? old : last;
        }
        if (first->start_ns < last->finish_ns)
            return clash(check, first, last, "it begins a release while too many are in flight, with");
    }
    return CLO_OK;
}

static clo_status check_all(checker *check)
{
    clo_status status = fill_cells(check);

    for (size_t i = 0; i < check->trace->count && status == CLO_OK; i++) {
        status = check_inputs(check, &check->trace->events[i]);
        if (status == CLO_OK)
            status = check_buffer(check, &check->trace->events[i]);
    }
    if (status == CLO_OK)
        status = check_gates(check);
    if (status == CLO_OK)
        status = check_period(check);
    if (status == CLO_OK)
        status = check_order(check);
    if (status == CLO_OK && check->graph->has_demands)
        status = check_capacities(check);
    /* The moments of a real run are written down after the capacity was taken, by several threads. */
    return status == CLO_OK && check->graph->has_demands && check->trace->is_emulated ? check_queues(check) : status;
}

static clo_status open_check(checker *check)
{
    size_t count;
    const clo_placement *placements = clo_plan_placements(check->plan, &count);
    int64_t interval_ns = clo_plan_interval_ns(check->plan), makespan_ns = clo_plan_makespan_ns(check->plan);

    check->interval_ns = interval_ns > 0 ? interval_ns : makespan_ns > 0 ? makespan_ns : 1;
    check->planned = clo_allocate(check->graph->instances, sizeof *check->planned);
    check->depths = clo_allocate(check->graph->instances, sizeof *check->depths);
    check->at = clo_allocate(check->trace->count, sizeof *check->at);
    if (check->planned == NULL || check->depths == NULL || check->at == NULL)
        return clo_fail_memory("the check of a trace");
    clo_status status = clo_plan_buffer_depths(check->plan, check->cost, check->depths); /* each instance once */
    for (size_t i = 0; i < count && status == CLO_OK; i++)
        check->planned[check->graph->first_instance[placements[i].task] + placements[i].instance] = &placements[i];
    return status;
}

static clo_status judge(const char *name, checker *check)
{
    if (check->trace == NULL || check->plan == NULL || check->cost == NULL)
        return clo_fail_null(name, "trace, plan or cost");
    if (check->in_flight == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "%s: releases_in_flight is 0; use 1 or more", name);
    if (check->period_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "%s: period_ns is negative; use 0 for none", name);
    check->graph = clo_cost_graph(check->cost);
    clo_status status = clo_trace_matches(check->trace, check->cost);
    if (status == CLO_OK)
        status = open_check(check);
    if (status == CLO_OK)
        status = check_all(check);
    clo_free(check->planned);
    clo_free(check->depths);
    clo_free(check->at);
    return status;
}

clo_status clo_pipeline_check_period(const clo_trace *trace, const clo_plan *plan, const clo_cost *cost,
                                     uint32_t releases_in_flight, int64_t period_ns)
{
    checker check = {
        .trace = trace, .plan = plan, .cost = cost, .in_flight = releases_in_flight, .period_ns = period_ns};

    return judge("clo_pipeline_check_period", &check);
}
