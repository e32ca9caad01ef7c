/* online_bound.c - what no schedule of a stream is below, where all executors are alike and data cost nothing.
 *
 * A *pool* is a capacity that jobs share: the executors; a resource of all machines; or a resource of those machines
 * that have more of it than c, for the tasks that demand more than c, which run nowhere else: the executors of such
 * machines. A job that needs w of a pool keeps all of it for w / capacity, so every schedule of the jobs is one of a
 * single preemptive machine. There
 *   - shortest remaining time first has the least sum of completion times (Schrage 1968); jobs left out of the machine
 *     only make it less, and take as long as their longest path, or as all of a pool would;
 *   - the same sum is bounded by mean busy times, which know more of the graphs (busy_time.h);
 *   - what arrives from job k on cannot be done earlier than arrival k + all of its work.
 * Times of stages with waves depend on more than the costs: then there is no bound, nor where executors are unlike or
 * data cost something. */
#include "online/busy_time.h"
#include "online/online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS_MAX = 1 + CLO_RESOURCES_MAX * 5, PARTS = 6 };

typedef struct pool {
    uint32_t resource; /* CLO_RESOURCES_MAX: executors */
    int64_t above;     /* counts tasks that demand more than this, by their time; -1: all tasks, by what they demand */
    double capacity;
} pool;

typedef struct job_row {
    double arrival_s, alone_s; /* alone_s: what the job takes at least, with all to itself */
    double need_s, left_s;     /* of the pool that is looked at; left_s < 0: the job is not there */
} job_row;

typedef struct bounds {
    const occasion *at;
    pool pools[POOLS_MAX];
    job_row *jobs; /* by arrival */
    double *needs; /* [pools * jobs] */
    uint32_t pools_count, jobs_count;
    busy_job *busy;             /* [jobs] */
    busy_task *tasks, *needing; /* [tasks of all jobs]; of these, those that need the pool that is looked at */
    uint32_t tasks_count;
} bounds;

static void add_pool(bounds *b, pool p)
{
    if (b->pools_count < POOLS_MAX && p.capacity > 0)
        b->pools[b->pools_count++] = p;
}

/* The executors of machines that have more than `above` of a resource, where others have not. */
static void add_class(bounds *b, uint32_t resource, int64_t above)
{
    const clo_platform *platform = b->at->platform;
    uint32_t executors = 0, all = clo_platform_executors(platform);

    for (uint32_t i = 0; i < b->pools_count; i++)
        if (b->pools[i].resource == resource && b->pools[i].above == above)
            return;
    for (uint32_t e = 0; e < all; e++)
        executors += clo_platform_capacity(platform, clo_platform_executor(platform, e)->machine, resource) > above;
    if (executors < all)
        add_pool(b, (pool){resource, above, executors});
}

static void find_pools(bounds *b)
{
    const clo_platform *platform = b->at->platform;

    add_pool(b, (pool){CLO_RESOURCES_MAX, -1, clo_platform_executors(platform)});
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        double sum = 0;
        for (uint32_t m = 0; m < clo_platform_machines(platform) && sum >= 0; m++) {
            int64_t capacity = clo_platform_capacity(platform, m, r);
            sum = capacity < 0 ? -1 : sum + (double)capacity;
        }
        add_pool(b, (pool){r, -1, sum});
        for (uint32_t m = 0; m < clo_platform_machines(platform) && sum >= 0; m++)
            add_class(b, r, clo_platform_capacity(platform, m, r));
    }
}

static double need_of(const clo_task *task, const pool *p)
{
    double work_s = (double)task->work_ns * 1e-9 * (task->instances > 0 ? task->instances : 1);

    if (p->resource == CLO_RESOURCES_MAX)
        return work_s / p->capacity;
    if (p->above >= 0)
        return task->demand[p->resource] > p->above ? work_s / p->capacity : 0;
    return work_s * (double)task->demand[p->resource] / p->capacity;
}

static double need_of_job(const clo_graph *graph, const pool *p)
{
    double sum = 0;
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK)
            sum += need_of(&task, p);
    return sum;
}

static bool has_waves(const clo_graph *graph)
{
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_wave_levels(graph, t) > 0)
            return true;
    return false;
}

/* Every executor as fast as every other one, for all classes. */
static bool is_uniform(const clo_platform *platform)
{
    const clo_executor *first = clo_platform_executor(platform, 0);

    for (uint32_t e = 1; e < clo_platform_executors(platform); e++)
        if (memcmp(clo_platform_executor(platform, e)->speed_q16, first->speed_q16, sizeof first->speed_q16) != 0)
            return false;
    return true;
}

static bool data_cost_nothing(const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    clo_edge edge;

    for (uint32_t i = 0; i < clo_graph_edges(graph); i++)
        if (clo_graph_edge(graph, i, &edge) != CLO_OK || clo_cost_mean_transfer_ns(cost, edge.bytes) > 0)
            return false;
    return true;
}

/* Heads, tails and times of a job's tasks, into out[tasks]. Returns the longest path; negative where it is no bound. */
static double fill_tasks(const clo_graph *graph, const clo_platform *platform, busy_task *out)
{
    uint32_t tasks = clo_graph_tasks(graph);
    int64_t *ranks = calloc(2 * (size_t)tasks + 1, sizeof *ranks);
    clo_cost *cost = NULL;
    bool is_good = ranks != NULL && !has_waves(graph) && clo_cost_create(graph, platform, &cost) == CLO_OK &&
                   data_cost_nothing(cost);
    double longest_s = 0;
    clo_task task;

    if (is_good) {
        clo_cost_rank_u(cost, ranks);
        clo_cost_rank_d(cost, ranks + tasks);
    }
    for (uint32_t t = 0; t < tasks && is_good; t++) {
        is_good = clo_graph_task(graph, t, &task) == CLO_OK;
        out[t].duration_s = (double)task.work_ns * 1e-9;
        out[t].head_s = (double)ranks[tasks + t] * 1e-9;
        out[t].tail_s = fmax(0, (double)ranks[t] * 1e-9 - out[t].duration_s);
        longest_s = fmax(longest_s, (double)ranks[t] * 1e-9);
    }
    clo_cost_destroy(cost);
    free(ranks);
    return is_good ? longest_s : -1;
}

/* Shortest remaining time first until `until_s`: the sum of completion times of what ends. */
static double run_until(job_row *jobs, uint32_t count, double now_s, double until_s)
{
    double sum = 0;

    while (now_s < until_s) { /* each round ends a job, or the time */
        job_row *least = NULL;
        for (uint32_t j = 0; j < count; j++)
            if (jobs[j].left_s >= 0 && (least == NULL || jobs[j].left_s < least->left_s))
                least = &jobs[j];
        if (least == NULL)
            return sum;
        double step_s = least->left_s <= until_s - now_s ? least->left_s : until_s - now_s;
        bool has_ended = step_s >= least->left_s;
        now_s += step_s;
        sum += has_ended ? now_s - least->arrival_s : 0;
        least->left_s = has_ended ? -1 : least->left_s - step_s;
    }
    return sum;
}

/* The sum over all jobs: those that need `part` of their own bound and more on the pool, the others by their bound. */
static double sum_s(bounds *b, double part)
{
    double sum = 0;

    for (uint32_t j = 0; j < b->jobs_count; j++)
        b->jobs[j].left_s = -1;
    for (uint32_t j = 0; j < b->jobs_count; j++) {
        job_row *job = &b->jobs[j];
        if (job->need_s >= part * job->alone_s)
            job->left_s = job->need_s;
        else
            sum += job->alone_s;
        sum += run_until(b->jobs, j + 1, job->arrival_s, j + 1 < b->jobs_count ? job[1].arrival_s : INFINITY);
    }
    return sum;
}

static bool fill_jobs(bounds *b)
{
    uint32_t tasks = 0;

    for (uint32_t j = 0; j < b->jobs_count; j++) {
        const clo_workload_job *job = clo_workload_get(b->at->workload, j);
        b->jobs[j].arrival_s = (double)job->arrival_ns * 1e-9;
        b->jobs[j].alone_s = fill_tasks(job->graph, b->at->platform, &b->tasks[tasks]);
        tasks += clo_graph_tasks(job->graph);
        if (b->jobs[j].alone_s < 0)
            return false;
        for (uint32_t p = 0; p < b->pools_count; p++) {
            double *need_s = &b->needs[(size_t)p * b->jobs_count + j];
            *need_s = need_of_job(job->graph, &b->pools[p]);
            b->jobs[j].alone_s = fmax(b->jobs[j].alone_s, *need_s);
        }
    }
    return true;
}

/* By the mean busy times of all that the pool is needed for. */
static double busy_sum_s(bounds *b, const pool *p)
{
    uint32_t first = 0, used = 0;
    clo_task task;

    for (uint32_t j = 0; j < b->jobs_count; j++) {
        const clo_graph *graph = clo_workload_get(b->at->workload, j)->graph;
        b->busy[j] = (busy_job){b->jobs[j].arrival_s, b->jobs[j].alone_s, used, used};
        for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
            double need_s = clo_graph_task(graph, t, &task) == CLO_OK ? need_of(&task, p) : 0;
            if (!(need_s > 0))
                continue;
            b->needing[used] = b->tasks[first + t];
            b->needing[used++].need_s = need_s;
        }
        b->busy[j].end_task = used;
        first += clo_graph_tasks(graph);
    }
    return busy_time_sum_s(b->busy, b->jobs_count, b->needing);
}

static void bound_pool(bounds *b, uint32_t index, outcome *out)
{
    static const double parts[PARTS] = {0, 0.1, 0.3, 0.5, 0.7, 0.95};
    double behind_s = 0;

    for (uint32_t j = 0; j < b->jobs_count; j++)
        b->jobs[j].need_s = b->needs[(size_t)index * b->jobs_count + j];
    for (uint32_t k = 0; k < PARTS; k++)
        out->bound_s = fmax(out->bound_s, sum_s(b, parts[k]) / b->jobs_count);
    out->bound_s = fmax(out->bound_s, busy_sum_s(b, &b->pools[index]) / b->jobs_count);
    for (uint32_t j = b->jobs_count; j-- > 0;) {
        behind_s += b->jobs[j].need_s;
        double end_s = b->jobs[j].arrival_s + fmax(behind_s, b->jobs[j].alone_s);
        out->makespan_bound_s = fmax(out->makespan_bound_s, end_s - b->jobs[0].arrival_s);
    }
}

bool online_bound(const occasion *at, outcome *out)
{
    bounds b = {.at = at, .jobs_count = clo_workload_jobs(at->workload)};

    find_pools(&b);
    b.jobs = calloc(b.jobs_count, sizeof *b.jobs);
    b.needs = calloc((size_t)b.jobs_count * b.pools_count, sizeof *b.needs);
    b.busy = calloc(b.jobs_count, sizeof *b.busy);
    for (uint32_t j = 0; j < b.jobs_count; j++)
        b.tasks_count += clo_graph_tasks(clo_workload_get(at->workload, j)->graph);
    b.tasks = calloc((size_t)b.tasks_count + 1, sizeof *b.tasks);
    b.needing = calloc((size_t)b.tasks_count + 1, sizeof *b.needing);
    bool has_memory = b.jobs != NULL && b.needs != NULL && b.busy != NULL && b.tasks != NULL && b.needing != NULL;
    out->makespan_bound_s = 0;
    if (has_memory && is_uniform(at->platform) && fill_jobs(&b)) {
        double alone = 0;
        for (uint32_t j = 0; j < b.jobs_count; j++)
            alone += b.jobs[j].alone_s / b.jobs_count;
        out->bound_s = fmax(out->bound_s, alone);
        for (uint32_t p = 0; p < b.pools_count; p++)
            bound_pool(&b, p, out);
    }
    free(b.jobs);
    free(b.needs);
    free(b.busy);
    free(b.tasks);
    free(b.needing);
    return has_memory || bench_fail("no memory for a bound");
}
