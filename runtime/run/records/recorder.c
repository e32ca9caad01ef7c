/* recorder.c - the flight recorder: each worker's last executions, read by another thread while they go on. */
#include "run/records/recorder.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/state/runtime.h"

#include <string.h>

void clo_recorder_add(clo_worker *worker, const clo_job *job, uint32_t item, int64_t start, int64_t finish)
{
    const clo_program *program = job->program;
    /* Of releases in flight the items are numbered slot by slot (engine/releases); of others by execution. */
    uint32_t execution = item < program->executions ? item : item % program->executions;
    uint32_t instance = clo_program_instance(program, execution), task = clo_program_task(program, execution);
    bool is_ticked = job->dispatch->is_ticked;
    int64_t offset = is_ticked ? 0 : job->times.run_ns;
    const clo_record record = {.job = job->id,
                               .task = task,
                               .instance = instance - program->graph->first_instance[task],
                               .executor = worker->index,
                               .is_replica = execution >= program->instances,
                               .start_ns = clo_time_add(start, offset),
                               .finish_ns = clo_time_add(finish, offset)};
    uint64_t release = job->series != NULL ? job->kind->release_of(job, item) : 0;

    (void)clo_ring_put(&worker->recorder.ring, &(clo_recorded){{record, release}, is_ticked});
}

/* Where records go: [max], with or without their releases. */
typedef struct reader {
    char *records;
    size_t bytes, max;
} reader;

static size_t read_ring(clo_runtime *runtime, uint32_t index, reader to, uint64_t *dropped)
{
    size_t count = 0;
    clo_recorded next;

    if (runtime == NULL || (to.records == NULL && to.max > 0) || index >= runtime->workers_count ||
        runtime->recorder_events == 0)
        return 0;
    clo_ring *ring = &runtime->workers[index].recorder.ring;
    clo_tick_line line = runtime->line;
    clo_clock_pair(&line.ticks2, &line.ns2);
    int64_t slope = clo_tick_line_slope(&line);
    for (; count < to.max && clo_ring_take(ring, &next); count++) {
        clo_record *record = &next.noted.record;
        if (next.is_ticks) {
            record->start_ns = clo_tick_line_at(&line, slope, record->start_ns);
            record->finish_ns = clo_tick_line_at(&line, slope, record->finish_ns);
        }
        memcpy(to.records + count * to.bytes, &next.noted, to.bytes);
    }
    if (dropped != NULL)
        *dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
    return count;
}

size_t clo_runtime_record_read(clo_runtime *runtime, uint32_t index, clo_record *records, size_t max, uint64_t *dropped)
{
    return read_ring(runtime, index, (reader){(char *)records, sizeof *records, max}, dropped);
}

size_t clo_runtime_record_read_releases(clo_runtime *runtime, uint32_t index, clo_release_record *records, size_t max,
                                        uint64_t *dropped)
{
    return read_ring(runtime, index, (reader){(char *)records, sizeof *records, max}, dropped);
}
