/* trace.c - what a real run took becomes samples: of its trace, or of the flight recorder while it goes on. */

#include "trace/trace.h"
#include "base/memory.h"
#include "base/status.h"
#include "cost/cost.h"
#include "platform/model/platform.h"
#include "profile/codelet.h"
#include "profile/table.h"

/* One execution. */
typedef struct sample {
    uint32_t task, instance, executor;
    int64_t ns;
} sample;

/* The sizes of all tasks, once: [tasks]. NULL without memory. */
static uint64_t *sizes_of(const clo_graph *graph)
{
    uint64_t *bytes = clo_allocate(graph->tasks, sizeof *bytes);

    for (uint32_t t = 0; bytes != NULL && t < graph->tasks; t++)
        bytes[t] = clo_profile_bytes_of(graph, t);
    return bytes;
}

/* Executions of a last range that is shorter say nothing about a whole one. */
static bool is_whole(const clo_graph *graph, const sample *s)
{
    clo_graph_grain grain = clo_graph_grain_of(graph, s->task);

    return clo_graph_items_of(grain, s->instance) == grain.size;
}

/* Under the lock. Returns CLO_OK or CLO_ERR_MEMORY. */
static clo_status learn(clo_profile *profile, const clo_cost *cost, const uint64_t *bytes, const sample *s,
                        size_t *learned)
{
    const clo_platform *platform = cost->platform;
    const char *kind = platform->kind_names[platform->executors[s->executor].kind];
    clo_profile_entry key = {.bytes = bytes[s->task]};
    char scratch[CLO_PROFILE_SCRATCH];

    if (!is_whole(cost->graph, s) || !clo_profile_codelet_of(cost->graph, s->task, kind, scratch, &key))
        return CLO_OK;
    clo_profile_row *row = clo_profile_row_of(profile, &key);
    if (row == NULL)
        return clo_fail_memory("an entry of a profile");
    clo_profile_row_learn(row, s->ns);
    ++*learned;
    return CLO_OK;
}

clo_status clo_profile_learn_trace(clo_profile *profile, const clo_cost *cost, const clo_trace *trace, size_t *learned)
{
    if (profile == NULL || cost == NULL || trace == NULL)
        return clo_fail_null("clo_profile_learn_trace", "profile, cost or trace");
    clo_status status = clo_trace_matches(trace, cost);
    size_t count = 0;

    if (status != CLO_OK)
        return status;
    if (trace->is_emulated)
        return clo_fail(CLO_ERR_STATE, "a profile learns from the real clock; the times of this trace are emulated");
    uint64_t *bytes = sizes_of(cost->graph);
    if (bytes == NULL)
        return clo_fail_memory("the sizes of tasks");
    pthread_mutex_lock(&profile->lock);
    for (size_t i = 0; i < trace->count && status == CLO_OK; i++) {
        const clo_trace_event *event = &trace->events[i];
        const sample s = {event->task, event->instance, event->executor, event->finish_ns - event->start_ns};
        if (!event->is_lost && !event->is_skipped)
            status = learn(profile, cost, bytes, &s, &count);
    }
    pthread_mutex_unlock(&profile->lock);
    clo_free(bytes);
    if (learned != NULL && status == CLO_OK)
        *learned = count;
    return status;
}

/* The record can be of the job. */
static clo_status check_record(const clo_cost *cost, const clo_record *record)
{
    const clo_graph *graph = cost->graph;

    if (record->task < graph->tasks && record->instance < clo_graph_instances_of(graph, record->task) &&
        record->executor < cost->platform->executors_count && record->finish_ns >= record->start_ns)
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT,
                    "task %u, instance %u on executor %u: the record is of another graph or platform than the cost",
                    record->task, record->instance, record->executor);
}

clo_status clo_profile_learn_records(clo_profile *profile, const clo_cost *cost, uint64_t job,
                                     const clo_record *records, size_t count, size_t *learned)
{
    if (profile == NULL || cost == NULL || (records == NULL && count > 0))
        return clo_fail_null("clo_profile_learn_records", "profile, cost or records");
    uint64_t *bytes = sizes_of(cost->graph);
    clo_status status = CLO_OK;
    size_t taken = 0;

    if (bytes == NULL)
        return clo_fail_memory("the sizes of tasks");
    pthread_mutex_lock(&profile->lock);
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        const clo_record *record = &records[i];
        if (record->job != job)
            continue;
        const sample s = {record->task, record->instance, record->executor, record->finish_ns - record->start_ns};
        status = check_record(cost, record);
        if (status == CLO_OK)
            status = learn(profile, cost, bytes, &s, &taken);
    }
    pthread_mutex_unlock(&profile->lock);
    clo_free(bytes);
    if (learned != NULL && status == CLO_OK)
        *learned = taken;
    return status;
}
