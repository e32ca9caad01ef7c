/* alone.c - see alone.h. */
#define _GNU_SOURCE
#include "alone.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 30000000, ROUNDS = 5 };

typedef struct cpus {
    uint32_t count, *of; /* [count] */
} cpus;

static clo_status list_cpus(cpus *out)
{
    clo_platform *native = NULL;
    clo_status status = clo_platform_open("native", &native);

    *out = (cpus){0};
    if (status != CLO_OK)
        return status;
    out->of = calloc(clo_platform_executors(native), sizeof *out->of);
    for (uint32_t e = 0; out->of != NULL && e < clo_platform_executors(native); e++)
        out->of[out->count++] = (uint32_t)clo_platform_executor(native, e)->os_index;
    clo_platform_destroy(native);
    return out->of != NULL ? CLO_OK : CLO_ERR_MEMORY;
}

/* Streams that have begun to read. */
static clo_status start(const uint32_t *of, uint32_t count, clo_streams **streams)
{
    clo_status status = clo_streams_start(of, count, streams);

    if (status == CLO_OK)
        (void)clo_streams_mbps(*streams, LOOK_NS / 10); /* waits for them */
    return status;
}

static clo_status rate_of(const uint32_t *of, uint32_t count, uint32_t *mbps)
{
    clo_streams *streams;
    clo_status status = clo_streams_start(of, count, &streams);

    if (status != CLO_OK)
        return status;
    *mbps = clo_streams_mbps(streams, LOOK_NS);
    clo_streams_stop(streams);
    return CLO_OK;
}

static clo_status rates_of(const cpus *all, memory_rates *out)
{
    clo_status status = CLO_OK;

    *out = (memory_rates){0};
    if (all->count > 1)
        status = rate_of(all->of, 1, &out->one);
    if (status == CLO_OK && all->count > 1)
        status = rate_of(all->of, all->count, &out->all);
    return status;
}

clo_status alone_rates(memory_rates *out)
{
    cpus all;
    clo_status status = list_cpus(&all);

    if (status == CLO_OK)
        status = rates_of(&all, out);
    free(all.of);
    return status;
}

static clo_status run_all(bed_opener open, const void *context, uint32_t count, clo_profile *profile)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        clo_trace *trace = NULL;
        bed b = {0};
        status = open(context, i, &b);
        if (status == CLO_OK)
            status = bed_start(&b, true);
        if (status == CLO_OK)
            status = bed_run(&b, NULL); /* caches and pages */
        if (status == CLO_OK)
            status = bed_run(&b, NULL);
        if (status == CLO_OK)
            status = clo_job_trace(b.job, &trace);
        if (status == CLO_OK)
            status = clo_profile_learn_trace(profile, b.cost, trace, NULL);
        clo_trace_destroy(trace);
        bed_close(&b);
    }
    return status;
}

/* In each round what the memory moves is read anew: it changes within seconds where other guests share it. */
static clo_status learn(bed_opener open, const void *context, uint32_t count, const cpus *all, clo_profile *both[2],
                        memory_rates *rates)
{
    double one[ROUNDS], together[ROUNDS];
    clo_status status = CLO_OK;

    for (int round = 0; round < ROUNDS && status == CLO_OK; round++) {
        clo_streams *streams = NULL;
        memory_rates now = {0};
        status = rates_of(all, &now);
        one[round] = now.one;
        together[round] = now.all;
        if (status == CLO_OK)
            status = run_all(open, context, count, both[0]);
        if (status == CLO_OK)
            status = start(all->of + 1, all->count - 1, &streams);
        if (status == CLO_OK)
            status = run_all(open, context, count, both[1]);
        clo_streams_stop(streams);
    }
    for (int i = 0; i < 2 && status == CLO_OK; i++)
        status = clo_profile_publish(both[i]);
    if (status == CLO_OK)
        *rates = (memory_rates){(uint32_t)bench_summarise(one, ROUNDS).median,
                                (uint32_t)bench_summarise(together, ROUNDS).median};
    return status;
}

/* The parts of what was learned alone. */
static clo_status add_parts(clo_profile *both[2], const memory_rates *rates, uint32_t beside)
{
    clo_profile_entry alone, slowed;
    clo_status status = CLO_OK;

    for (uint32_t i = 0; status == CLO_OK && clo_profile_entry_at(both[0], i, &alone) == CLO_OK; i++)
        for (uint32_t k = 0; status == CLO_OK && clo_profile_entry_at(both[1], k, &slowed) == CLO_OK; k++)
            if (strcmp(alone.codelet, slowed.codelet) == 0) {
                clo_memory_part part =
                    clo_memory_part_of(alone.location_ns, slowed.location_ns, rates->one, beside, rates->all);
                status = clo_profile_add_memory_part(both[0], &alone, &part);
            }
    return status == CLO_OK ? clo_profile_publish(both[0]) : status;
}

clo_status alone_learn(bed_opener open, const void *context, uint32_t count, const char *path, memory_rates *rates)
{
    clo_profile *both[2] = {NULL, NULL};
    cpu_set_t before, first;
    cpus all;
    clo_status status = list_cpus(&all);

    *rates = (memory_rates){0};
    for (int i = 0; i < 2 && status == CLO_OK; i++)
        status = clo_profile_create(0, &both[i]);
    if (status == CLO_OK && all.count > 1 && sched_getaffinity(0, sizeof before, &before) == 0) {
        CPU_ZERO(&first);
        CPU_SET(all.of[0], &first);
        sched_setaffinity(0, sizeof first, &first);
        status = learn(open, context, count, &all, both, rates);
        sched_setaffinity(0, sizeof before, &before);
        if (status == CLO_OK)
            status = add_parts(both, rates, rates->one * (all.count - 1));
    }
    if (status == CLO_OK)
        status = clo_profile_save(both[0], path);
    clo_profile_destroy(both[0]);
    clo_profile_destroy(both[1]);
    free(all.of);
    return status;
}

/* The platform, and what its memory moves. */
static clo_status with_memory(const clo_platform *from, int64_t capacity_mbps, clo_platform **out)
{
    static const char *const names[CLO_RESOURCES_MAX] = {CLO_MEMORY_RESOURCE};
    const int64_t capacities[CLO_RESOURCES_MAX] = {capacity_mbps, -1, -1, -1, -1, -1, -1, -1};
    uint32_t executors = clo_platform_executors(from), kinds = clo_platform_kinds(from);
    clo_executor *list = calloc(executors, sizeof *list);
    const char **kind_names = calloc(kinds, sizeof *kind_names);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_status status = CLO_ERR_MEMORY;

    for (uint32_t e = 0; list != NULL && e < executors; e++)
        list[e] = *clo_platform_executor(from, e);
    for (uint32_t k = 0; kind_names != NULL && k < kinds; k++)
        kind_names[k] = clo_platform_kind_name(from, k);
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = kinds;
    desc.kind_names = kind_names;
    desc.capacities = capacities;
    desc.resource_names = names;
    desc.coherent = 1;
    if (list != NULL && kind_names != NULL)
        status = clo_platform_create(&desc, out);
    free(list);
    free(kind_names);
    return status;
}

static clo_status predict_on(const clo_platform *platform, const bed *b, const clo_profile *profile, int64_t *median_ns)
{
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_prediction prediction = CLO_PREDICTION_INIT;
    clo_cost *cost = NULL;
    clo_status status = clo_cost_create_measured(b->graph, platform, profile, NULL, &cost);

    sim.plan = b->plan;
    if (status == CLO_OK)
        status = clo_profile_predict(profile, cost, &sim, &prediction);
    *median_ns = prediction.median_ns;
    clo_cost_destroy(cost);
    return status;
}

clo_status alone_predict(const bed *b, const char *path, uint32_t capacity_mbps, int64_t *apart_ns, int64_t *shared_ns)
{
    clo_profile *profile = NULL;
    clo_platform *platform = NULL;
    clo_status status = clo_profile_create(0, &profile);

    if (status == CLO_OK)
        status = clo_profile_load(profile, path, 0);
    if (status == CLO_OK)
        status = with_memory(b->platform, capacity_mbps > 0 ? (int64_t)capacity_mbps : -1, &platform);
    if (status == CLO_OK)
        status = predict_on(b->platform, b, profile, apart_ns);
    if (status == CLO_OK)
        status = predict_on(platform, b, profile, shared_ns);
    clo_platform_destroy(platform);
    clo_profile_destroy(profile);
    return status;
}
