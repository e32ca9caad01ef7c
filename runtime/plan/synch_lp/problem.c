/* problem.c - see problem.h. Executors are told apart by a hash of all times on them; what is then taken for one group
 * is compared time by time, so that a collision is an error and never a wrong plan. */
#include "plan/synch_lp/problem.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/status.h"
#include "cost/cost.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX (UINT32_C(1) << 24)

/* A bin has levels above 0 only where their sums cannot overflow. */
#define LEVEL_CAPACITY_MAX (INT64_C(1) << 40)

int64_t clo_synch_ratio(int64_t a, int64_t b, int64_t c)
{
    assert(a >= 0 && b >= 0 && c > 0);
    clo_u128 ratio = (clo_u128)a * (clo_u128)b / (clo_u128)c;
    return ratio > (clo_u128)INT64_MAX ? INT64_MAX : (int64_t)ratio;
}

int64_t clo_synch_load(const clo_synch_problem *p, uint32_t kind, uint32_t group, uint32_t bin, uint32_t count)
{
    int64_t all, use = clo_synch_use(p, kind, bin);

    if (use == 0)
        return 0;
    if (__builtin_mul_overflow(clo_synch_time(p, kind, group), (int64_t)count, &all))
        return INT64_MAX;
    return clo_synch_ratio(all, use, p->capacity[bin]);
}

static int64_t largest_load(const clo_synch_problem *p, uint32_t kind, uint32_t group, uint32_t levels)
{
    int64_t largest = 0;

    for (uint32_t i = p->bin_first[group]; i < p->bin_first[group + 1]; i++) {
        int64_t load = p->level[p->bin_of[i]] <= levels ? clo_synch_load(p, kind, group, p->bin_of[i], 1) : 0;
        largest = load > largest ? load : largest;
    }
    return largest;
}

int64_t clo_synch_largest_load(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    return largest_load(p, kind, group, CLO_SYNCH_LEVELS);
}

int64_t clo_synch_plain_load(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    return largest_load(p, kind, group, 0);
}

uint32_t clo_synch_fastest(const clo_synch_problem *p, uint32_t kind)
{
    uint32_t best = 0;

    for (uint32_t g = 1; g < p->groups; g++)
        if (clo_synch_time(p, kind, g) < clo_synch_time(p, kind, best))
            best = g;
    return best;
}

/* What is needed while a problem is made. */
typedef struct maker {
    clo_synch_problem *p;
    clo_cost **costs; /* [jobs]; a job with the graph of the job before it has its cost */
    uint64_t *hash;   /* [executors] */
    uint32_t *group;  /* [executors] */
    uint32_t executors, rows;
} maker;

static clo_status refuse(uint32_t index, const clo_workload_job *job, const char *what)
{
    return clo_fail(CLO_ERR_INVALID, "job %u \"%s\" %s", index, job->name, what);
}

static clo_status check_job(const clo_workload *workload, uint32_t index)
{
    const clo_workload_job *job = clo_workload_get(workload, index);

    if (clo_graph_edges(job->graph) > 0)
        return refuse(index, job, "has edges: SynchPack plans tasks without precedence");
    if (job->period_ns > 0)
        return refuse(index, job, "is periodic: SynchPack plans jobs that run once");
    if (job->limit > 0)
        return refuse(index, job, "has a limit of executors, which SynchPack does not know");
    if (job->band != clo_workload_get(workload, 0)->band)
        return refuse(index, job, "is of another band than job 0; SynchPack knows weights only");
    return CLO_OK;
}

static clo_status open_costs(maker *m, const clo_workload *workload, const clo_platform *platform)
{
    uint64_t tasks = 0;

    for (uint32_t j = 0; j < m->p->jobs; j++) {
        const clo_graph *graph = clo_workload_get(workload, j)->graph;
        clo_status status = check_job(workload, j);
        if (status != CLO_OK)
            return status;
        tasks += clo_graph_instances(graph);
        m->rows += clo_graph_tasks(graph);
        if (tasks > TASKS_MAX)
            return clo_fail(CLO_ERR_LIMIT, "the jobs have more than %u tasks", TASKS_MAX);
        if (j > 0 && clo_cost_graph(m->costs[j - 1]) == graph) {
            m->costs[j] = m->costs[j - 1];
            continue;
        }
        if ((status = clo_cost_create(graph, platform, &m->costs[j])) != CLO_OK)
            return status;
        for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
            for (uint32_t e = 0; e < m->executors; e++)
                m->hash[e] = clo_mix64(m->hash[e] ^ (uint64_t)clo_cost_time(m->costs[j], t, e));
    }
    m->p->tasks = (uint32_t)tasks;
    return CLO_OK;
}

static void close_costs(maker *m)
{
    for (uint32_t j = 0; j < m->p->jobs; j++)
        if (j == 0 || m->costs[j] != m->costs[j - 1])
            clo_cost_destroy(m->costs[j]);
}

/* Gives each executor its group: the first before it on the same machine with the same hash, or a new one. */
static void find_groups(maker *m, const clo_platform *platform)
{
    m->p->groups = 0;
    for (uint32_t e = 0; e < m->executors; e++) {
        uint32_t same = 0;
        while (same < e && (m->hash[same] != m->hash[e] || clo_platform_executor(platform, same)->machine !=
                                                               clo_platform_executor(platform, e)->machine))
            same++;
        m->group[e] = same < e ? m->group[same] : m->p->groups++;
    }
}

static uint32_t levels_of(int64_t capacity)
{
    return capacity <= LEVEL_CAPACITY_MAX ? CLO_SYNCH_LEVELS : 0;
}

static uint32_t count_resource_bins(const clo_platform *platform)
{
    uint32_t bins = 0;

    for (uint32_t i = 0; i < clo_platform_machines(platform); i++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            bins +=
                clo_platform_capacity(platform, i, r) > 0 ? 1 + levels_of(clo_platform_capacity(platform, i, r)) : 0;
    return bins;
}

static bool take_memory(maker *m)
{
    clo_synch_problem *p = m->p;
    clo_block block = {0};

    p->bins = p->groups + count_resource_bins(p->platform);
    clo_carve(&block, &p->weight, p->jobs);
    clo_carve(&block, &p->arrival, p->jobs);
    clo_carve(&block, &p->kind_first, p->jobs + 1);
    clo_carve(&block, &p->job_of, m->rows);
    clo_carve(&block, &p->count, m->rows);
    clo_carve(&block, &p->member_first, m->rows + 1);
    clo_carve(&block, &p->member_task, m->rows);
    clo_carve(&block, &p->demand, (size_t)m->rows * CLO_RESOURCES_MAX);
    clo_carve(&block, &p->time, (size_t)m->rows * p->groups);
    clo_carve(&block, &p->machine_of, p->groups);
    clo_carve(&block, &p->group_first, p->groups + 1);
    clo_carve(&block, &p->group_executor, m->executors);
    clo_carve(&block, &p->capacity, p->bins);
    clo_carve(&block, &p->resource, p->bins);
    clo_carve(&block, &p->level, p->bins);
    clo_carve(&block, &p->bin_machine, p->bins);
    clo_carve(&block, &p->bin_first, p->groups + 1);
    clo_carve(&block, &p->bin_of, (size_t)p->groups * (1 + (1 + CLO_SYNCH_LEVELS) * CLO_RESOURCES_MAX));
    p->block = clo_block_allocate(&block);
    return p->block != NULL;
}

static void fill_groups(maker *m)
{
    clo_synch_problem *p = m->p;
    uint32_t at = 0;

    for (uint32_t g = 0; g < p->groups; g++) {
        p->group_first[g] = at;
        for (uint32_t e = 0; e < m->executors; e++)
            if (m->group[e] == g)
                p->group_executor[at++] = e;
        p->machine_of[g] = clo_platform_executor(p->platform, p->group_executor[p->group_first[g]])->machine;
        p->capacity[g] = at - p->group_first[g];
        p->resource[g] = CLO_NONE;
        p->bin_machine[g] = p->machine_of[g];
    }
    p->group_first[p->groups] = at;
}

static void fill_bins(clo_synch_problem *p)
{
    uint32_t bin = p->groups, at = 0;

    for (uint32_t i = 0; i < clo_platform_machines(p->platform); i++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t capacity = clo_platform_capacity(p->platform, i, r);
            for (uint32_t level = 0; capacity > 0 && level <= levels_of(capacity); level++) {
                p->capacity[bin] = level > 0 ? capacity * level : capacity;
                p->resource[bin] = r;
                p->level[bin] = level;
                p->bin_machine[bin++] = i;
            }
        }
    for (uint32_t g = 0; g < p->groups; g++) {
        p->bin_first[g] = at;
        p->bin_of[at++] = g;
        for (uint32_t b = p->groups; b < p->bins; b++)
            if (p->bin_machine[b] == p->machine_of[g])
                p->bin_of[at++] = b;
    }
    p->bin_first[p->groups] = at;
}

/* Reads task `t` into the row of kind `k`. */
static clo_status read_row(maker *m, uint32_t k, uint32_t j, uint32_t t)
{
    clo_synch_problem *p = m->p;
    const clo_cost *cost = m->costs[j];
    clo_task task;

    if (clo_graph_task(clo_cost_graph(cost), t, &task) != CLO_OK)
        return clo_fail(CLO_ERR_ARGUMENT, "job %u has no task %u", j, t);
    memset(&p->demand[(size_t)k * CLO_RESOURCES_MAX], 0, CLO_RESOURCES_MAX * sizeof *p->demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (task.demand[r] > 0 && cost->resource_of[r] != CLO_NONE)
            p->demand[(size_t)k * CLO_RESOURCES_MAX + cost->resource_of[r]] = task.demand[r];
    for (uint32_t g = 0; g < p->groups; g++)
        p->time[(size_t)k * p->groups + g] = clo_cost_time(cost, t, p->group_executor[p->group_first[g]]);
    for (uint32_t e = 0; e < m->executors; e++)
        if (clo_synch_time(p, k, m->group[e]) != clo_cost_time(cost, t, e))
            return clo_fail(CLO_ERR_LIMIT, "executors %u and %u cannot be told apart by a hash", e,
                            p->group_executor[p->group_first[m->group[e]]]);
    p->job_of[k] = j;
    p->count[k] = clo_graph_ranges(clo_cost_graph(cost), t);
    return CLO_OK;
}

static bool are_equal(const clo_synch_problem *p, uint32_t a, uint32_t b)
{
    const int64_t *x = &p->demand[(size_t)a * CLO_RESOURCES_MAX], *y = &p->demand[(size_t)b * CLO_RESOURCES_MAX];

    return memcmp(x, y, CLO_RESOURCES_MAX * sizeof *x) == 0 &&
           memcmp(&p->time[(size_t)a * p->groups], &p->time[(size_t)b * p->groups], p->groups * sizeof *p->time) == 0;
}

/* Adds task `t`, whose row is read behind the last kind, to the kind that it is of. of[t] receives that kind. */
static void add_to_kind(clo_synch_problem *p, uint32_t j, uint32_t t, uint32_t *of)
{
    uint32_t k = p->kind_first[j];

    while (!are_equal(p, k, p->kinds)) /* it equals itself */
        k++;
    of[t] = k;
    if (k == p->kinds)
        p->kinds++;
    else
        p->count[k] += p->count[p->kinds];
}

static clo_status read_kinds(maker *m, uint32_t *of)
{
    clo_synch_problem *p = m->p;
    uint32_t at = 0;

    for (uint32_t j = 0; j < p->jobs; j++) {
        const clo_workload_job *job = clo_workload_get(p->workload, j);
        uint32_t tasks = clo_graph_tasks(job->graph);
        p->kind_first[j] = p->kinds;
        p->weight[j] = job->weight;
        p->arrival[j] = job->arrival_ns;
        for (uint32_t t = 0; t < tasks; t++) {
            clo_status status = read_row(m, p->kinds, j, t);
            if (status != CLO_OK)
                return status;
            add_to_kind(p, j, t, of);
        }
        for (uint32_t k = p->kind_first[j]; k < p->kinds; k++) {
            p->member_first[k] = at;
            for (uint32_t t = 0; t < tasks; t++)
                if (of[t] == k)
                    p->member_task[at++] = t;
        }
    }
    p->kind_first[p->jobs] = p->kinds;
    p->member_first[p->kinds] = at;
    return CLO_OK;
}

/* Weights times the longest time that any reasonable schedule takes must fit. */
static clo_status check_sums(const clo_synch_problem *p)
{
    int64_t all = 0, last = 0, weights = 0, product;
    bool is_too_large = false;

    for (uint32_t k = 0; k < p->kinds; k++) {
        int64_t longest = 0;
        for (uint32_t g = 0; g < p->groups; g++)
            if (clo_synch_time(p, k, g) != CLO_TIME_NEVER && clo_synch_time(p, k, g) > longest)
                longest = clo_synch_time(p, k, g);
        is_too_large |= __builtin_mul_overflow(longest + 1, (int64_t)p->count[k], &product);
        is_too_large |= __builtin_add_overflow(all, product, &all);
    }
    for (uint32_t j = 0; j < p->jobs; j++) {
        last = p->arrival[j] > last ? p->arrival[j] : last;
        is_too_large |= __builtin_add_overflow(weights, p->weight[j], &weights);
    }
    is_too_large |= __builtin_add_overflow(all, last, &all);
    is_too_large = is_too_large || __builtin_mul_overflow(all, weights, &product) || product > CLO_WORKLOAD_TIME_MAX;
    return is_too_large ? clo_fail(CLO_ERR_LIMIT, "the sum of weights times the sum of all times is beyond 2^62")
                        : CLO_OK;
}

static clo_status make(maker *m)
{
    clo_status status = open_costs(m, m->p->workload, m->p->platform);
    uint32_t *of;

    if (status != CLO_OK)
        return status;
    find_groups(m, m->p->platform);
    of = clo_allocate(m->rows, sizeof *of);
    if (of == NULL || !take_memory(m)) {
        clo_free(of);
        return clo_fail_memory("a workload's tasks");
    }
    fill_groups(m);
    fill_bins(m->p);
    status = read_kinds(m, of);
    clo_free(of);
    return status == CLO_OK ? check_sums(m->p) : status;
}

clo_status clo_synch_problem_create(const clo_workload *workload, const clo_platform *platform, clo_synch_problem *out)
{
    clo_synch_problem p = {.workload = workload, .platform = platform, .jobs = clo_workload_jobs(workload)};
    maker m = {.p = &p, .executors = clo_platform_executors(platform)};
    clo_status status;

    m.costs = clo_allocate(p.jobs, sizeof *m.costs);
    m.hash = clo_allocate(m.executors, sizeof *m.hash);
    m.group = clo_allocate(m.executors, sizeof *m.group);
    if (m.costs == NULL || m.hash == NULL || m.group == NULL)
        status = clo_fail_memory("a workload's tasks");
    else
        status = make(&m);
    if (m.costs != NULL)
        close_costs(&m);
    clo_free(m.costs);
    clo_free(m.hash);
    clo_free(m.group);
    if (status == CLO_OK)
        *out = p;
    else
        clo_synch_problem_destroy(&p);
    return status;
}

void clo_synch_problem_destroy(clo_synch_problem *problem)
{
    clo_free(problem->block);
    problem->block = NULL;
}
