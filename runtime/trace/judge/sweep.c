/* sweep.c - see sweep.h. Both sort the bodies by time and go through them once. */
#include "trace/judge/sweep.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <stdlib.h>

typedef struct body {
    int64_t start_ns, finish_ns;
    uint32_t executor, execution;
} body;

static int by_executor(const void *left, const void *right)
{
    const body *a = left, *b = right;

    if (a->executor != b->executor)
        return a->executor < b->executor ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    return a->execution < b->execution ? -1 : a->execution > b->execution;
}

static bool is_whole(const clo_judge_execution *x)
{
    return x->finish_record != CLO_NONE && x->finish_ns >= x->start_ns;
}

/* `latest`: of the bodies before on this executor, the one that ends last. */
static void sweep_executors(clo_judge *judge, const body *bodies, size_t count)
{
    size_t latest = 0;
    char mine[CLO_JUDGE_LABEL_BYTES], theirs[CLO_JUDGE_LABEL_BYTES];

    for (size_t i = 1; i < count; i++) {
        if (bodies[i].executor != bodies[latest].executor) {
            latest = i;
            continue;
        }
        if (bodies[latest].finish_ns > bodies[i].start_ns) {
            const clo_judge_execution *x = &judge->executions[bodies[i].execution];
            clo_judge_fault(judge, CLO_STREAM_OVERLAP, x->record, "%s: it overlaps %s",
                            clo_judge_label_times(judge, x, mine),
                            clo_judge_label_times(judge, &judge->executions[bodies[latest].execution], theirs));
        }
        if (bodies[i].finish_ns >= bodies[latest].finish_ns)
            latest = i;
    }
}

clo_status clo_judge_overlaps(clo_judge *judge)
{
    body *bodies = clo_allocate(judge->executions_count, sizeof *bodies);
    size_t count = 0;

    if (bodies == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t i = 0; i < judge->executions_count; i++) {
        const clo_judge_execution *x = &judge->executions[i];
        if (is_whole(x))
            bodies[count++] = (body){x->start_ns, x->finish_ns, x->executor, i};
    }
    qsort(bodies, count, sizeof bodies[0], by_executor);
    sweep_executors(judge, bodies, count);
    clo_free(bodies);
    return CLO_OK;
}

/* What a machine gives at one moment, or takes back. */
typedef struct event {
    int64_t time_ns;
    uint32_t begins; /* ends come first: a capacity freed now can be taken now */
    uint32_t execution;
} event;

static int by_event_time(const void *left, const void *right)
{
    const event *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->begins != b->begins)
        return a->begins < b->begins ? -1 : 1;
    return a->execution < b->execution ? -1 : a->execution > b->execution;
}

static const int64_t *demand_of(const clo_judge *judge, const clo_judge_execution *x)
{
    return clo_judge_demand_of(judge, x);
}

static void over_capacity(clo_judge *judge, const clo_judge_execution *x, uint32_t r, int64_t used, int64_t limit)
{
    const char *name = clo_platform_resource_name(judge->platform, r);
    char text[CLO_JUDGE_LABEL_BYTES];

    clo_judge_fault(judge, CLO_STREAM_CAPACITY, x->record,
                    "%s: it needs %lld of resource %u (%.24s), and %lld of %lld are in use",
                    clo_judge_label_times(judge, x, text), (long long)demand_of(judge, x)[r], r,
                    name != NULL ? name : "no name", (long long)used, (long long)limit);
}

static void sweep_machines(clo_judge *judge, const event *events, size_t count, int64_t *used)
{
    for (size_t i = 0; i < count; i++) {
        const clo_judge_execution *x = &judge->executions[events[i].execution];
        uint32_t machine = clo_platform_executor(judge->platform, x->executor)->machine;
        const int64_t *demand = demand_of(judge, x);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t *held = &used[(size_t)machine * CLO_RESOURCES_MAX + r];
            int64_t limit = clo_platform_capacity(judge->platform, machine, r);
            if (limit < 0 || demand[r] == 0)
                continue;
            if (events[i].begins && demand[r] > limit - *held)
                over_capacity(judge, x, r, *held, limit);
            *held = events[i].begins ? clo_time_add(*held, demand[r]) : *held - demand[r];
        }
    }
}

clo_status clo_judge_capacities(clo_judge *judge)
{
    size_t count = 0, places = 0;

    for (uint32_t i = 0; i < judge->executions_count; i++)
        places += demand_of(judge, &judge->executions[i]) != NULL;
    if (places == 0)
        return CLO_OK;
    event *events = clo_allocate(places, 2 * sizeof *events);
    int64_t *used = clo_allocate(judge->machines, CLO_RESOURCES_MAX * sizeof *used);
    clo_status status = events != NULL && used != NULL ? CLO_OK : clo_fail_memory("the check of a log");
    for (uint32_t i = 0; status == CLO_OK && i < judge->executions_count; i++) {
        const clo_judge_execution *x = &judge->executions[i];
        int64_t from_ns = clo_judge_held_from(judge, x);
        if (!is_whole(x) || x->finish_ns == from_ns || demand_of(judge, x) == NULL)
            continue; /* it holds nothing for any time */
        events[count++] = (event){from_ns, 1, i};
        events[count++] = (event){x->finish_ns, 0, i};
    }
    if (status == CLO_OK) {
        qsort(events, count, sizeof events[0], by_event_time);
        sweep_machines(judge, events, count, used);
    }
    clo_free(events);
    clo_free(used);
    return status;
}
