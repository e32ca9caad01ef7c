/* scenes.c - see scenes.h. Integers only, so that a seed gives the same workload everywhere. */
#include "synch/scenes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MACHINES = 10, EXECUTORS = 16, MEMORY = 1000, CORES = 96, TASKS_MAX = 200 };

void scene_close(scene *s)
{
    clo_workload_destroy(s->workload);
    clo_workload_destroy(s->source);
    clo_platform_destroy(s->platform);
    *s = (scene){0};
}

/* Machines of equal executors, each machine a kind of its own. */
static clo_platform *make_platform(uint32_t machines, uint32_t executors, const int64_t *capacity,
                                   const char *const *resources)
{
    clo_executor *list = calloc((size_t)machines * executors, sizeof *list);
    int64_t *capacities = calloc((size_t)machines * CLO_RESOURCES_MAX, sizeof *capacities);
    clo_platform *platform = NULL;

    for (uint32_t e = 0; e < machines * executors && list != NULL; e++)
        list[e] = (clo_executor){.kind = e / executors,
                                 .machine = e / executors,
                                 .os_index = -1,
                                 .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX && capacities != NULL; i++)
        capacities[i] = capacity[i % CLO_RESOURCES_MAX];
    clo_platform_desc desc = {.size = sizeof desc,
                              .executors_count = machines * executors,
                              .executors = list,
                              .kinds_count = machines,
                              .machines_count = machines,
                              .capacities = capacities,
                              .resource_names = resources};
    if (list == NULL || capacities == NULL || clo_platform_create(&desc, &platform) != CLO_OK)
        bench_fail("cannot make a platform");
    free(list);
    free(capacities);
    return platform;
}

/* 1 .. most, heavy-tailed: twice as large with a probability of `again` thousandths, and so on. */
static uint32_t heavy(uint64_t *random, uint32_t most, uint32_t again)
{
    uint32_t x = 1;

    while (x < most && bench_random_below(random, 1000) < again) /* doubles */
        x *= 2;
    x += bench_random_below(random, x);
    return x < most ? x : most;
}

/* The block's times: its machines in a random order, the first `local` of them at time_ns, the next at twice that. */
static clo_status set_times(clo_graph *graph, uint32_t task, int64_t time_ns, bool is_bound, uint64_t *random)
{
    uint32_t order[MACHINES], local = is_bound ? 1 : 3, all = is_bound ? 1 : 6;
    clo_status status = CLO_OK;

    for (uint32_t m = 0; m < MACHINES; m++)
        order[m] = m;
    bench_shuffle(order, MACHINES, random);
    for (uint32_t i = 0; i < MACHINES && status == CLO_OK; i++) {
        char name[16];
        uint32_t kind;
        snprintf(name, sizeof name, "k%u", order[i]);
        status = clo_graph_kind(graph, name, &kind);
        if (status == CLO_OK)
            status = clo_graph_set_time(graph, task, kind,
                                        i < local ? time_ns
                                        : i < all ? 2 * time_ns
                                                  : CLO_TIME_NEVER);
    }
    return status;
}

static clo_status google_graph(clo_graph **out, bool is_bound, uint64_t *random)
{
    uint32_t tasks = heavy(random, TASKS_MAX, 800), blocks = tasks < 4 ? tasks : 4;
    int64_t time_ns = (int64_t)heavy(random, 256, 600) * 1000000000 + bench_random_below(random, 1000000000);
    int64_t memory = 10 * heavy(random, 60, 700);
    clo_status status = clo_graph_create("google-like", out);

    if (status == CLO_OK)
        status = clo_graph_set_resource(*out, 0, "memory");
    for (uint32_t b = 0; b < blocks && status == CLO_OK; b++) {
        clo_task task = {.work_ns = time_ns, .instances = tasks / blocks + (b < tasks % blocks)};
        uint32_t id;
        task.demand[0] = memory;
        status = clo_graph_add_task(*out, &task, &id);
        if (status == CLO_OK)
            status = set_times(*out, id, time_ns, is_bound, random);
    }
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status google_job(clo_workload *workload, bool is_bound, uint64_t *random)
{
    clo_graph *graph = NULL;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_status status = google_graph(&graph, is_bound, random);

    if (status == CLO_OK)
        status = clo_workload_adopt(workload, graph);
    if (status != CLO_OK) {
        clo_graph_destroy(graph);
        return status;
    }
    job.graph = graph;
    job.weight = 1 + bench_random_below(random, 12);
    return clo_workload_add(workload, &job);
}

bool scene_google(scene *out, uint32_t jobs, uint64_t seed, bool is_bound, int64_t mean_gap_ns)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"memory"};
    const int64_t capacity[CLO_RESOURCES_MAX] = {MEMORY, -1, -1, -1, -1, -1, -1, -1};
    uint64_t random = seed;
    clo_status status;

    *out = (scene){.platform = make_platform(MACHINES, EXECUTORS, capacity, names)};
    status = out->platform != NULL ? clo_workload_create("google-like", &out->workload) : CLO_ERR_MEMORY;
    for (uint32_t j = 0; j < jobs && status == CLO_OK; j++)
        status = google_job(out->workload, is_bound, &random);
    if (status == CLO_OK && mean_gap_ns > 0) {
        const clo_arrivals_config arrivals = {
            .size = sizeof arrivals, .kind = CLO_ARRIVALS_POISSON, .mean_ns = mean_gap_ns, .seed = seed};
        out->source = out->workload;
        out->workload = NULL;
        status = clo_workload_arrivals(out->source, &arrivals, &out->workload);
    }
    return status == CLO_OK || bench_fail("cannot make a workload");
}

/* The trace's jobs have up to thousands of instances on 1300 machines: a tenth of them is kept for a few machines. */
static clo_status alibaba_graph(const clo_graph *from, clo_graph **out)
{
    clo_status status = clo_graph_create(clo_graph_name(from), out);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && status == CLO_OK; r++)
        if (clo_graph_resource_name(from, r) != NULL)
            status = clo_graph_set_resource(*out, r, clo_graph_resource_name(from, r));
    for (uint32_t t = 0; t < clo_graph_tasks(from) && status == CLO_OK; t++) {
        clo_task task;
        status = clo_graph_task(from, t, &task);
        task.instances = (task.instances + 9) / 10;
        task.executors_mask = 0;
        if (status == CLO_OK)
            status = clo_graph_add_task(*out, &task, NULL);
    }
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status alibaba_job(scene *s, uint32_t index, uint64_t *random)
{
    clo_graph *graph = NULL;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_status status = alibaba_graph(clo_workload_get(s->source, index)->graph, &graph);

    if (status == CLO_OK)
        status = clo_workload_adopt(s->workload, graph);
    if (status != CLO_OK) {
        clo_graph_destroy(graph);
        return status;
    }
    job.graph = graph;
    job.weight = 1 + bench_random_below(random, 12);
    return clo_workload_add(s->workload, &job);
}

bool scene_alibaba(scene *out, const char *path, uint32_t jobs, uint64_t seed, uint32_t machines)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    int64_t capacity[CLO_RESOURCES_MAX];
    const char *names[CLO_RESOURCES_MAX];
    uint64_t random = seed;
    clo_status status;

    *out = (scene){0};
    if (clo_workload_load(path, &config, &out->source) != CLO_OK ||
        clo_workload_create("alibaba-2017", &out->workload) != CLO_OK)
        return bench_fail(path);
    const clo_platform *own = clo_workload_platform(out->source);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        capacity[r] = clo_platform_capacity(own, 0, r);
        names[r] = clo_platform_resource_name(own, r);
    }
    out->platform = make_platform(machines, CORES, capacity, names);
    if (out->platform == NULL)
        return false;
    uint32_t first = bench_random_below(&random, clo_workload_jobs(out->source) - jobs);
    status = CLO_OK;
    for (uint32_t j = 0; j < jobs && status == CLO_OK; j++)
        status = alibaba_job(out, first + j, &random);
    return status == CLO_OK || bench_fail("cannot make a workload");
}
