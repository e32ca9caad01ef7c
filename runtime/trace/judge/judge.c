/* judge.c - faults, labels and the table of job numbers. */
#include "trace/judge/judge.h"

#include "base/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void clo_judge_fault(clo_judge *judge, uint32_t kind, uint32_t record, const char *format, ...)
{
    clo_stream_report *report = &judge->report;
    char text[CLO_STREAM_TEXT_BYTES];
    va_list arguments;

    if ((judge->stream->ignore >> kind & 1) != 0)
        return;
    report->by_kind[kind]++;
    bool is_first = report->faults++ == 0, has_room = report->faults_told < judge->stream->faults_max;
    if (!is_first && !has_room)
        return;
    size_t used = (size_t)snprintf(text, sizeof text, "%s: ", clo_stream_fault_name(kind));
    if (record != CLO_NONE)
        used += (size_t)snprintf(text + used, sizeof text - used, "record %u: ", record);
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    if (is_first)
        memcpy(judge->first_fault, text, sizeof text);
    if (!has_room)
        return;
    clo_stream_fault *fault = &judge->stream->faults[report->faults_told++];
    *fault = (clo_stream_fault){.record = record == CLO_NONE ? SIZE_MAX : record, .kind = kind};
    memcpy(fault->text, text, sizeof text);
}

const char *clo_judge_label(const clo_judge *judge, const clo_judge_execution *execution, char *text)
{
    const clo_judge_shape *shape = clo_judge_shape_of(judge, execution->job);
    char scratch[16], instance[32] = "";

    if (shape->first_instance[execution->stage + 1] - shape->first_instance[execution->stage] > 1)
        snprintf(instance, sizeof instance, " instance %u", execution->instance);
    snprintf(text, CLO_JUDGE_LABEL_BYTES, "job %llu: task '%.40s'%s on executor '%.32s'%s",
             clo_judge_number(judge, execution->job), clo_graph_task_name(shape->graph, execution->stage, scratch),
             instance, clo_platform_executor_name(judge->platform, execution->executor),
             clo_judge_is_replica(judge, execution) ? " (replica)" : "");
    return text;
}

const char *clo_judge_label_times(const clo_judge *judge, const clo_judge_execution *execution, char *text)
{
    size_t used = strlen(clo_judge_label(judge, execution, text));

    snprintf(text + used, CLO_JUDGE_LABEL_BYTES - used, ", from %lld to %lld ns", (long long)execution->start_ns,
             (long long)execution->finish_ns);
    return text;
}

uint32_t clo_judge_find_job(const clo_judge *judge, uint64_t number)
{
    clo_hash_key key = {judge->key[0], judge->key[1]};
    uint32_t at = (uint32_t)clo_hash(key, &number, sizeof number) & judge->job_mask;

    if (number < judge->jobs_count && judge->stream->jobs[number].job == number)
        return (uint32_t)number;               /* most workloads number their jobs from 0 */
    for (;; at = (at + 1) & judge->job_mask) { /* ends: the table has free places */
        uint32_t entry = judge->job_table[at];
        if (entry == 0)
            return CLO_NONE;
        if (judge->stream->jobs[entry - 1].job == number)
            return entry - 1;
    }
}

static const struct {
    const char *name, *meaning;
} faults[] = {
#define X(name, text, meaning) {text, meaning},
    CLO_STREAM_FAULTS(X)
#undef X
};

const char *clo_stream_fault_name(uint32_t kind)
{
    return kind < CLO_STREAM_FAULTS_COUNT ? faults[kind].name : "?";
}

const char *clo_stream_fault_meaning(uint32_t kind)
{
    return kind < CLO_STREAM_FAULTS_COUNT ? faults[kind].meaning : "?";
}
