/* scenes.c - see scenes.h. Integers only, so that a seed gives the same workload everywhere. */
#include "synch/scenes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MACHINES = 10, EXECUTORS = 16, MEMORY = 1000, CORES = 96, TASKS_MAX = 200 };

void scene_close(scene *s)
{
    clo_workload_destroy(s->workload);
    clo_workload_destroy(s->jobs);
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

/* On `all` of the machines, in a random order, a task may run: the first `local` of them at time_ns, the others at
 * percent / 100 of that. */
typedef struct placing {
    uint32_t machines, local, all, percent;
} placing;

static clo_status set_times(clo_graph *graph, uint32_t task, int64_t time_ns, placing on, uint64_t *random)
{
    uint32_t order[MACHINES];
    clo_status status = CLO_OK;

    for (uint32_t m = 0; m < on.machines; m++)
        order[m] = m;
    bench_shuffle(order, on.machines, random);
    for (uint32_t i = 0; i < on.machines && status == CLO_OK; i++) {
        char name[16];
        uint32_t kind;
        snprintf(name, sizeof name, "k%u", order[i]);
        status = clo_graph_kind(graph, name, &kind);
        if (status == CLO_OK)
            status = clo_graph_set_time(graph, task, kind,
                                        i < on.local ? time_ns
                                        : i < on.all ? time_ns / 100 * on.percent
                                                     : CLO_TIME_NEVER);
    }
    return status;
}

/* One draw, whatever the law is, so that all laws have the same jobs. */
static uint32_t draw_weight(scene_weights law, uint64_t *random)
{
    uint32_t drawn = bench_random_below(random, 12);

    return law == WEIGHTS_EQUAL ? 1 : law == WEIGHTS_CLASSES ? drawn < 6 ? 1 : drawn < 10 ? 4 : 10 : 1 + drawn;
}

static clo_status google_graph(clo_graph **out, placing on, uint64_t *random)
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
            status = set_times(*out, id, time_ns, on, random);
    }
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status google_job(clo_workload *workload, placing on, scene_weights weights, uint64_t *random)
{
    clo_graph *graph = NULL;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_status status = google_graph(&graph, on, random);

    if (status == CLO_OK)
        status = clo_workload_adopt(workload, graph);
    if (status != CLO_OK) {
        clo_graph_destroy(graph);
        return status;
    }
    job.graph = graph;
    job.weight = draw_weight(weights, random);
    return clo_workload_add(workload, &job);
}

/* The time that all machines need for a mean job, by executors or by the scarcest resource. */
static double mean_need_ns(const scene *s, const int64_t *capacity, double executors)
{
    double most = 0, needs[CLO_RESOURCES_MAX + 1] = {0};
    uint32_t machines = clo_platform_machines(s->platform);
    clo_task task;

    for (uint32_t j = 0; j < clo_workload_jobs(s->workload); j++) {
        const clo_graph *graph = clo_workload_get(s->workload, j)->graph;
        for (uint32_t t = 0; t < clo_graph_tasks(graph) && clo_graph_task(graph, t, &task) == CLO_OK; t++) {
            double work = (double)task.work_ns * (task.instances > 0 ? task.instances : 1);
            for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
                needs[r] += capacity[r] > 0 ? work * (double)task.demand[r] / (double)capacity[r] : 0;
            needs[CLO_RESOURCES_MAX] += work / executors;
        }
    }
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX; r++)
        most = needs[r] > most ? needs[r] : most;
    return most / clo_workload_jobs(s->workload) / machines;
}

/* The jobs come as a Poisson process. */
static clo_status spread(scene *s, int64_t mean_gap_ns, uint64_t seed)
{
    const clo_arrivals_config arrivals = {
        .size = sizeof arrivals, .kind = CLO_ARRIVALS_POISSON, .mean_ns = mean_gap_ns, .seed = seed};
    clo_workload *drawn = NULL;
    clo_status status = clo_workload_arrivals(s->workload, &arrivals, &drawn);

    if (status != CLO_OK)
        return status;
    s->jobs = s->workload;
    s->workload = drawn;
    return CLO_OK;
}

static const scene_law no_law;

bool scene_google(scene *out, uint32_t jobs, uint64_t seed, bool is_bound, int64_t mean_gap_ns, const scene_law *law)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"memory"};
    const int64_t capacity[CLO_RESOURCES_MAX] = {MEMORY, -1, -1, -1, -1, -1, -1, -1};
    uint64_t random = seed;
    clo_status status;

    law = law != NULL ? law : &no_law;
    placing on = {MACHINES, is_bound ? 1 : 3, is_bound ? 1 : 6, law->penalty_percent > 0 ? law->penalty_percent : 200};
    *out = (scene){.platform = make_platform(MACHINES, EXECUTORS, capacity, names)};
    status = out->platform != NULL ? clo_workload_create("google-like", &out->workload) : CLO_ERR_MEMORY;
    for (uint32_t j = 0; j < jobs && status == CLO_OK; j++)
        status = google_job(out->workload, on, law->weights, &random);
    if (status == CLO_OK && law->traffic_percent > 0)
        mean_gap_ns = (int64_t)(mean_need_ns(out, capacity, EXECUTORS) * 100 / law->traffic_percent) + 1;
    if (status == CLO_OK && mean_gap_ns > 0)
        status = spread(out, mean_gap_ns, seed);
    return status == CLO_OK || bench_fail("cannot make a workload");
}

/* The trace's jobs have up to thousands of instances on 1300 machines: a tenth of them is kept for a few machines. */
static clo_status alibaba_graph(const clo_graph *from, placing on, uint64_t *random, clo_graph **out)
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
        if (status == CLO_OK && on.percent > 0)
            status = set_times(*out, t, task.work_ns, on, random);
    }
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status alibaba_job(scene *s, uint32_t index, const scene_law *law, uint64_t *random)
{
    clo_graph *graph = NULL;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    uint32_t machines = clo_platform_machines(s->platform);
    placing on = {machines, 1, machines, law->penalty_percent};
    clo_status status = alibaba_graph(clo_workload_get(s->source, index)->graph, on, random, &graph);

    if (status == CLO_OK)
        status = clo_workload_adopt(s->workload, graph);
    if (status != CLO_OK) {
        clo_graph_destroy(graph);
        return status;
    }
    job.graph = graph;
    job.weight = draw_weight(law->weights, random);
    return clo_workload_add(s->workload, &job);
}

bool scene_alibaba(scene *out, const char *path, uint32_t jobs, uint64_t seed, uint32_t machines, const scene_law *law)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    int64_t capacity[CLO_RESOURCES_MAX];
    const char *names[CLO_RESOURCES_MAX];
    uint64_t random = seed;
    clo_status status;

    law = law != NULL ? law : &no_law;
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
        status = alibaba_job(out, first + j, law, &random);
    if (status == CLO_OK && law->traffic_percent > 0)
        status = spread(out, (int64_t)(mean_need_ns(out, capacity, CORES) * 100 / law->traffic_percent) + 1, seed);
    return status == CLO_OK || bench_fail("cannot make a workload");
}
