/* measure.c - how long each kernel takes here, measured where it matters: in runs of the application itself, so that
 * cache contents and the neighbours' memory traffic are what they will be. A median per kernel and kind of executor. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One execution. */
typedef struct sample {
    int64_t ns;
    uint32_t kernel, kind;
} sample;

typedef struct samples {
    sample *items;
    size_t count, capacity;
} samples;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t median_ns(int64_t *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Runs of the whole application on one core; the first one warms up. */
static clo_status measure_serial(application *app, uint32_t repeat, measurement *out)
{
    const dispatch steal = {.mode = "steal"};
    int64_t *times = calloc(repeat + 1u, sizeof *times);
    session s = {0};
    clo_job_result result;
    clo_status status = times != NULL ? session_open(&s, app, "native", 1, NULL) : CLO_ERR_MEMORY;

    if (status == CLO_OK)
        status = session_start(&s, CLO_CLOCK_REAL, &steal, false);
    for (uint32_t i = 0; i <= repeat && status == CLO_OK; i++) {
        status = session_run(&s, app, &result);
        times[i] = result.makespan_ns;
    }
    if (status == CLO_OK) {
        out->serial_ns = median_ns(times + 1, repeat);
        out->hash = result_hash(app, s.job);
    }
    session_close(&s);
    free(times);
    return status;
}

static clo_status collect(const session *s, samples *all)
{
    clo_trace *trace = NULL;
    clo_status status = clo_job_trace(s->job, &trace);
    size_t count = 0;
    const clo_trace_event *events = status == CLO_OK ? clo_trace_events(trace, &count) : NULL;

    for (size_t i = 0; i < count && all->count < all->capacity; i++)
        all->items[all->count++] = (sample){.ns = events[i].finish_ns - events[i].start_ns,
                                            .kernel = s->graph.kernel_of[events[i].task],
                                            .kind = clo_platform_executor(s->platform, events[i].executor)->kind};
    clo_trace_destroy(trace);
    return status;
}

/* Median of one kernel, on one kind (CLO_NONE: any). */
static int64_t median_of(const samples *all, uint32_t kernel, uint32_t kind, int64_t *scratch)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].kernel == kernel && (kind == CLO_NONE || all->items[i].kind == kind))
            scratch[count++] = all->items[i].ns;
    return median_ns(scratch, count);
}

static clo_status summarise(const application *app, const clo_platform *platform, const samples *all,
                            application_times *out)
{
    int64_t *scratch = calloc(all->count + 1, sizeof *scratch);

    if (scratch == NULL)
        return CLO_ERR_MEMORY;
    out->kinds = clo_platform_kinds(platform);
    if (out->kinds > APPLICATION_KINDS_MAX)
        out->kinds = APPLICATION_KINDS_MAX;
    for (uint32_t kind = 0; kind < out->kinds; kind++)
        snprintf(out->kind_names[kind], sizeof out->kind_names[kind], "%s", clo_platform_kind_name(platform, kind));
    for (uint32_t kernel = 0; kernel < app->kernels_count; kernel++) {
        out->reference_ns[kernel] = median_of(all, kernel, CLO_NONE, scratch);
        for (uint32_t kind = 0; kind < out->kinds; kind++)
            out->ns[kernel][kind] = median_of(all, kernel, kind, scratch);
    }
    free(scratch);
    return CLO_OK;
}

/* How many workers can be pinned here; 0 where the machine cannot be read (the caller then fails with the reason). */
static uint32_t limit_to_machine(uint32_t workers)
{
    clo_platform *native = NULL;
    uint32_t cpus = clo_platform_open("native", &native) == CLO_OK ? clo_platform_executors(native) : 0;

    clo_platform_destroy(native);
    return workers == 0 || workers > cpus ? cpus : workers;
}

static clo_status measure_kernels(application *app, uint32_t workers, uint32_t repeat, measurement *out)
{
    const dispatch steal = {.mode = "steal"};
    samples all = {0};
    session s = {0};
    clo_status status = session_open(&s, app, "native", limit_to_machine(workers), NULL);

    if (status == CLO_OK) {
        all.capacity = (size_t)s.graph.tasks * repeat + 1;
        all.items = calloc(all.capacity, sizeof *all.items);
        status = all.items != NULL ? session_start(&s, CLO_CLOCK_REAL, &steal, true) : CLO_ERR_MEMORY;
    }
    for (uint32_t i = 0; i <= repeat && status == CLO_OK; i++) {
        status = session_run(&s, app, NULL);
        if (status == CLO_OK && i > 0)
            status = collect(&s, &all);
    }
    if (status == CLO_OK)
        status = summarise(app, s.platform, &all, &out->times);
    session_close(&s);
    free(all.items);
    return status;
}

clo_status measure(application *app, uint32_t workers, uint32_t repeat, measurement *out)
{
    clo_status status = measure_serial(app, repeat, out);

    return status == CLO_OK ? measure_kernels(app, workers, repeat, out) : status;
}
