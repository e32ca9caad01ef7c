/* occasions.c - the workloads of the scenes, and what they are drawn from. */
#include "online/online.h"

#include <clotho/io.h>
#include <math.h>
#include <stdio.h>

enum { RESOURCES = 4 };

double online_work_s(const clo_graph *graph)
{
    double sum = 0;
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK)
            sum += (double)task.work_ns * 1e-9 * (task.instances > 0 ? task.instances : 1);
    return sum;
}

/* The seconds that all of the platform needs for a mean job of the pool: by executors, or by the resource that is the
 * scarcest. */
double online_mean_need_s(const clo_workload *pool, const clo_platform *platform)
{
    uint32_t jobs = clo_workload_jobs(pool);
    double need[CLO_RESOURCES_MAX + 1] = {0}, most = 0;

    for (uint32_t j = 0; j < jobs; j++) {
        const clo_graph *graph = clo_workload_get(pool, j)->graph;
        for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
            clo_task task;
            if (clo_graph_task(graph, t, &task) != CLO_OK)
                continue;
            double work_s = (double)task.work_ns * 1e-9 * (task.instances > 0 ? task.instances : 1);
            need[CLO_RESOURCES_MAX] += work_s / clo_platform_executors(platform);
            for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
                int64_t capacity = clo_platform_capacity(platform, 0, r);
                if (capacity > 0)
                    need[r] += work_s * (double)task.demand[r] / (double)capacity;
            }
        }
    }
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX; r++)
        most = need[r] > most ? need[r] : most;
    return jobs > 0 ? most / jobs : 0;
}

/* Draws jobs from a pool. gap_s 0: all at once. */
bool online_draw(const clo_workload *pool, uint32_t jobs, double gap_s, uint64_t seed, clo_workload **out)
{
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;

    config.kind = gap_s > 0 ? CLO_ARRIVALS_POISSON : CLO_ARRIVALS_BATCH;
    config.mean_ns = (int64_t)(gap_s * 1e9);
    config.shuffled = 1;
    config.seed = seed;
    config.jobs = jobs;
    return clo_workload_arrivals(pool, &config, out) == CLO_OK || bench_fail("arrivals");
}

uint32_t online_jobs(const online *o, uint32_t all, uint32_t quick)
{
    uint32_t jobs = o->options.quick ? quick : all;

    return o->jobs_max > 0 && o->jobs_max < jobs ? o->jobs_max : jobs;
}

double online_load(const online *o, const scene *s)
{
    return o->load_percent > 0 ? o->load_percent / 100.0 : s->load > 0 ? s->load : ONLINE_LOAD;
}

bool online_make_batch(const online *o, uint32_t jobs, uint64_t seed, occasion *out)
{
    out->platform = o->uniform50;
    return online_draw(o->decima_pool, online_jobs(o, jobs, jobs), 0, seed, &out->workload);
}

bool online_make_decima_batch(const online *o, uint64_t seed, occasion *out)
{
    return online_make_batch(o, o->options.quick ? 8 : 20, seed, out);
}

bool online_make_decima_stream(const online *o, uint64_t seed, occasion *out)
{
    out->platform = o->uniform50;
    return online_draw(o->decima_pool, online_jobs(o, 1000, 40),
                       online_mean_need_s(o->decima_pool, o->uniform50) / online_load(o, out->scene), seed,
                       &out->workload);
}

bool online_pool_add(clo_workload **pool, clo_graph *graph, clo_workload_job *job)
{
    bool is_adopted = graph != NULL && clo_workload_adopt(*pool, graph) == CLO_OK;

    job->size = sizeof *job;
    job->graph = graph;
    if (is_adopted && clo_workload_add(*pool, job) == CLO_OK)
        return true;
    if (!is_adopted)
        clo_graph_destroy(graph);
    clo_workload_destroy(*pool);
    *pool = NULL;
    return bench_fail("a pool of jobs");
}

/* A pool of `count` TPC-H queries after the mix, a graph each; job i is of group hash(i) mod ONLINE_GROUPS. */
clo_workload *online_tpch_pool(const online *o, const tpch_mix *mix, uint32_t count, uint64_t seed)
{
    clo_workload *pool = NULL;

    if (clo_workload_create("tpch", &pool) != CLO_OK)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t state = seed + i;
        clo_graph *graph = tpch_graph(o->tpch, mix, bench_random(&state));
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

        job.group = bench_random_below(&state, ONLINE_GROUPS);
        if (!online_pool_add(&pool, graph, &job))
            return NULL;
    }
    return pool;
}

/* Each job of the pool once, in turn. */
bool online_stream(const clo_workload *pool, double gap_s, uint64_t seed, clo_workload **out)
{
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;

    config.kind = CLO_ARRIVALS_POISSON;
    config.mean_ns = (int64_t)(gap_s * 1e9);
    config.seed = seed;
    return clo_workload_arrivals(pool, &config, out) == CLO_OK || bench_fail("arrivals");
}

bool online_make_lachesis_stream(const online *o, uint64_t seed, occasion *out)
{
    const scene *s = out->scene;
    const tpch_mix mix = {.jobs = 1, .has_work_of_stage = true, .ccr = s->ccr};

    out->own = tpch_cluster(seed);
    out->platform = out->own;
    out->base = online_tpch_pool(o, &mix, online_jobs(o, s->jobs > 0 ? s->jobs : 100, 10), seed);
    if (out->own == NULL || out->base == NULL)
        return false;
    double gap_s = s->gap_s > 0 ? s->gap_s : online_mean_need_s(out->base, out->own) / online_load(o, s);
    return online_stream(out->base, gap_s, seed, &out->workload);
}

bool online_make_packing(const online *o, uint64_t seed, occasion *out)
{
    const tpch_mix mix = {.jobs = 1, .resources = RESOURCES, .demand_max = 0.5};

    out->groups = ONLINE_GROUPS;
    out->base = online_tpch_pool(o, &mix, online_jobs(o, 200, 20), seed);
    out->own = out->base != NULL ? tpch_machine(clo_workload_get(out->base, 0)->graph, RESOURCES) : NULL;
    out->platform = out->own;
    return out->own != NULL &&
           online_stream(out->base, online_mean_need_s(out->base, out->own) / online_load(o, out->scene), seed,
                         &out->workload);
}

static bool read_jobs(const online *o, const char *file, clo_workload **out)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", o->data, file);
    return clo_workload_load(path, NULL, out) == CLO_OK || bench_fail(path);
}

/* All jobs of `from` with at most so much work again, without arrivals, in groups. */
static bool add_rows(clo_workload *pool, const clo_workload *from, double work_max_s)
{
    for (uint32_t i = 0; i < clo_workload_jobs(from); i++) {
        clo_workload_job job = *clo_workload_get(from, i);
        uint64_t state = i;

        if (online_work_s(job.graph) > work_max_s)
            continue;
        job.size = sizeof job;
        job.arrival_ns = 0;
        job.group = bench_random_below(&state, ONLINE_GROUPS);
        if (clo_workload_add(pool, &job) != CLO_OK)
            return bench_fail("a pool of jobs");
    }
    return true;
}

bool online_data_open(online *o)
{
    static const char *const sizes[] = {"2g", "5g", "10g", "20g", "50g", "100g"};
    const char *why;
    char file[64];

    o->tpch = tpch_open(o->data, &why);
    if (o->tpch == NULL) {
        o->skipped = why;
        return true;
    }
    bool is_good = clo_platform_open("uniform:50", &o->uniform50) == CLO_OK &&
                   clo_workload_create("tpch", &o->decima_pool) == CLO_OK &&
                   clo_workload_create("alibaba", &o->alibaba) == CLO_OK &&
                   clo_workload_create("alibaba-short", &o->alibaba_short) == CLO_OK;
    for (uint32_t i = 0; i < DECIMA_SIZES && is_good; i++) {
        snprintf(file, sizeof file, "tpch/tpch_%s.jsonl", sizes[i]);
        is_good = read_jobs(o, file, &o->decima_files[i]) && add_rows(o->decima_pool, o->decima_files[i], INFINITY);
    }
    return is_good && read_jobs(o, "alibaba/v2018_dag_sample6600.jsonl", &o->alibaba_file) &&
           add_rows(o->alibaba, o->alibaba_file, INFINITY) &&
           add_rows(o->alibaba_short, o->alibaba_file,
                    3600.0 * clo_platform_executors(clo_workload_platform(o->alibaba_file)));
}

void online_data_close(online *o)
{
    clo_workload_destroy(o->decima_pool);
    clo_workload_destroy(o->alibaba);
    clo_workload_destroy(o->alibaba_short);
    clo_workload_destroy(o->alibaba_file);
    for (uint32_t i = 0; i < DECIMA_SIZES; i++)
        clo_workload_destroy(o->decima_files[i]);
    clo_platform_destroy(o->uniform50);
    if (o->tpch != NULL)
        tpch_close(o->tpch);
}
