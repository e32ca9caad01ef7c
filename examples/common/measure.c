/* measure.c - how long each kernel takes here, measured where it matters: in runs of the application itself, so that
 * cache contents and the neighbours' memory traffic are what they will be. A median per kernel and kind of executor. */
#include "measure.h"

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
    bool by_mean;
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

static clo_status collect(const session *s, clo_profile *profile, samples *all)
{
    clo_trace *trace = NULL;
    clo_status status = clo_job_trace(s->job, &trace);
    if (status == CLO_OK && profile != NULL)
        status = clo_profile_learn_trace(profile, s->cost, trace, NULL);
    size_t count = 0;
    const clo_trace_event *events = status == CLO_OK ? clo_trace_events(trace, &count) : NULL;

    for (size_t i = 0; i < count && all->count < all->capacity; i++)
        all->items[all->count++] = (sample){.ns = events[i].finish_ns - events[i].start_ns,
                                            .kernel = s->graph.kernel_of[events[i].task],
                                            .kind = clo_platform_executor(s->platform, events[i].executor)->kind};
    clo_trace_destroy(trace);
    return status;
}

static int64_t mean_ns(const int64_t *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return count > 0 ? (int64_t)(sum / (double)count + 0.5) : 0;
}

/* Median or mean of one kernel, on one kind (CLO_NONE: any). */
static int64_t time_of(const samples *all, uint32_t kernel, uint32_t kind, int64_t *scratch)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].kernel == kernel && (kind == CLO_NONE || all->items[i].kind == kind))
            scratch[count++] = all->items[i].ns;
    return all->by_mean ? mean_ns(scratch, count) : median_ns(scratch, count);
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
        out->reference_ns[kernel] = time_of(all, kernel, CLO_NONE, scratch);
        for (uint32_t kind = 0; kind < out->kinds; kind++)
            out->ns[kernel][kind] = time_of(all, kernel, kind, scratch);
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

clo_status yardstick_open(yardstick *y, application *app, uint32_t workers)
{
    const dispatch steal = {.mode = "steal"};
    clo_device *device = app->device;

    app->device = NULL; /* one core alone */
    clo_status status = session_open(&y->one, app, "native", 1, NULL, NULL);
    app->device = device;
    if (status == CLO_OK)
        status = session_open(&y->all, app, "native", limit_to_machine(workers), NULL, NULL);
    if (status == CLO_OK)
        status = session_start(&y->one, CLO_CLOCK_REAL, &steal, false);
    if (status == CLO_OK)
        status = session_start(&y->all, CLO_CLOCK_REAL, &steal, true);
    if (status == CLO_OK)
        status = session_run(&y->all, app, NULL); /* both warm up */
    if (status == CLO_OK)
        status = session_run(&y->one, app, NULL);
    if (status == CLO_OK)
        y->hash = result_hash(app, y->one.job);
    return status;
}

void yardstick_close(yardstick *y)
{
    session_close(&y->one);
    session_close(&y->all);
}

clo_status yardstick_serial(yardstick *y, application *app, int64_t *serial_ns)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = session_run(&y->one, app, &result);

    *serial_ns = result.makespan_ns;
    return status;
}

clo_status session_learn(const session *s, clo_profile *profile)
{
    clo_trace *trace = NULL;
    clo_status status = clo_job_trace(s->job, &trace);

    if (status == CLO_OK)
        status = clo_profile_learn_trace(profile, s->cost, trace, NULL);
    clo_trace_destroy(trace);
    return status == CLO_OK ? clo_profile_publish(profile) : status;
}

clo_status yardstick_read(yardstick *y, application *app, uint32_t runs, int64_t *serial_ns, application_times *times)
{
    samples all = {.capacity = (size_t)y->all.graph.tasks * runs + 1, .by_mean = y->by_mean};
    int64_t *serial = calloc(runs, sizeof *serial);
    clo_status status = CLO_OK;

    all.items = calloc(all.capacity, sizeof *all.items);
    if (serial == NULL || all.items == NULL)
        status = CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < runs && status == CLO_OK; i++) {
        status = yardstick_serial(y, app, &serial[i]);
        if (status == CLO_OK)
            status = session_run(&y->all, app, NULL);
        if (status == CLO_OK)
            status = collect(&y->all, y->profile, &all);
    }
    if (status == CLO_OK && y->profile != NULL)
        status = clo_profile_publish(y->profile);
    if (status == CLO_OK)
        status = summarise(app, y->all.platform, &all, times);
    if (status == CLO_OK)
        *serial_ns = median_ns(serial, runs);
    free(serial);
    free(all.items);
    return status;
}
