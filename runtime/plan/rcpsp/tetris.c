/* plan/rcpsp/tetris.c - Tetris: Grandl et al., "Multi-resource packing for cluster schedulers", SIGCOMM 2014, section
 * 3.
 *
 * By a clock: whenever something ended, of all that is ready and all machines where it fits the pair with the highest
 * score starts, until nothing fits. The score is
 *   alignment  the dot product of what the instance demands and what the machine has free, each as a share of the
 *              machine, less a tenth where none of its producers ran on that machine (remote penalty)
 *   - epsilon * remaining work of the job (SRPT): epsilon = mean alignment / mean remaining work of what is ready
 *              and fits.
 *
 * Our reading: the jobs of a graph are its connected parts, remaining work is the time * share of their instances that
 * have not started; resources that are never scarce do not count (problem.h leaves them out). The graph as a
 * single job gives every instance the same remaining work, which then decides nothing. Barrier hints and fairness
 * are for a cluster with users and left out. Integers only: shares in Q12. Ties: the lower instance, then machine.
 *
 * Ready tasks of equal demands, job and machines with inputs have equal scores: the lowest of such a group stands for
 * all (alike.h).
 *
 * O(events * groups * machines). Where the problem is no packing: dispatched by the clock, largest dot product with an
 * empty machine first, where it ends first. */
#include "plan/rcpsp/alike.h"
#include "plan/rcpsp/planners.h"
#include "plan/rcpsp/priority.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { SHARE_BITS = 12 };

typedef struct tetris {
    const clo_rcpsp *problem;
    uint64_t *free;    /* [machines * words]                                                     */
    uint32_t *job_of;  /* [tasks] an instance that stands for the job                            */
    uint8_t *ran;      /* [tasks of the graph * machines] some instance ran there                */
    uint32_t *left;    /* [tasks of the graph] instances that have not ended                     */
    uint32_t *waiting; /* [tasks of the graph] producing tasks of which some instance has not    */
    clo_alike ready;   /* tasks                                                                  */
    uint32_t *next;    /* [tasks of the graph] the first instance that has not started           */
    uint8_t *remote;   /* [tasks of the graph * machines] of a ready task: no producer ran there */
    uint64_t *work;    /* [tasks] of what has not started, by job                                 */
    uint64_t *share;   /* [tasks] what an instance adds to that: scaled so that all sums fit 62 bits */
    clo_heap running;
    void *block;
} tetris;

/* Demand . free on machine m, Q24. */
static int64_t alignment(const tetris *t, uint32_t v, uint32_t m)
{
    const clo_rcpsp *problem = t->problem;
    const uint64_t *whole = &problem->capacity[(size_t)m * problem->words],
                   *free = &t->free[(size_t)m * problem->words];
    int64_t sum = 0;

    for (uint32_t l = 0; l < clo_rcpsp_lanes(problem); l++) {
        int64_t capacity = clo_rcpsp_lane(problem, whole, l);
        int64_t demand = clo_rcpsp_lane(problem, &problem->demand[(size_t)v * problem->words], l);
        if (capacity > 0 && demand > 0)
            sum += (demand << SHARE_BITS) / capacity * ((clo_rcpsp_lane(problem, free, l) << SHARE_BITS) / capacity);
    }
    return sum;
}

static bool fits(const tetris *t, uint32_t v, uint32_t m)
{
    const clo_rcpsp *problem = t->problem;
    int64_t time = problem->time_ns[(size_t)m * problem->tasks + v];
    uint64_t guards = problem->guards;

    if (time == CLO_TIME_NEVER)
        return false;
    for (uint32_t w = 0; w < problem->words && time > 0; w++)
        guards &= t->free[(size_t)m * problem->words + w] - problem->demand[(size_t)v * problem->words + w];
    return guards == problem->guards;
}

/* All producers have ended, so this is final. */
static bool is_remote(const tetris *t, uint32_t task, uint32_t m)
{
    const clo_graph *graph = t->problem->graph;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
        if (t->ran[(size_t)clo_graph_source(graph, edge) * t->problem->machines + m])
            return false;
    return graph->in_first[task] < graph->in_first[task + 1];
}

/* What the score of a task and its fit depend on, but for times: 0, more, or never. */
static int length_of(const tetris *t, uint32_t v, uint32_t m)
{
    int64_t time = t->problem->time_ns[(size_t)m * t->problem->tasks + v];

    return time == 0 ? 0 : time == CLO_TIME_NEVER ? 1 : 2;
}

static bool is_alike(const void *context, uint32_t a, uint32_t b)
{
    const tetris *t = context;
    const clo_rcpsp *problem = t->problem;
    uint32_t v = problem->graph->first_instance[a], u = problem->graph->first_instance[b];
    size_t machines = problem->machines, bytes = problem->words * sizeof *problem->demand;

    if (t->job_of[v] != t->job_of[u] || memcmp(t->remote + a * machines, t->remote + b * machines, machines) != 0 ||
        memcmp(problem->demand + (size_t)v * problem->words, problem->demand + (size_t)u * problem->words, bytes) != 0)
        return false;
    for (uint32_t m = 0; m < machines; m++)
        if (length_of(t, v, m) != length_of(t, u, m))
            return false;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void make_ready(tetris *t, uint32_t task)
{
    const clo_rcpsp *problem = t->problem;
    uint32_t v = problem->graph->first_instance[task];
    uint64_t hash = mix(0, t->job_of[v]);

    t->next[task] = v;
    for (uint32_t w = 0; w < problem->words; w++)
        hash = mix(hash, problem->demand[(size_t)v * problem->words + w]);
    for (uint32_t m = 0; m < problem->machines; m++) {
        bool is_far = is_remote(t, task, m);
        t->remote[(size_t)task * problem->machines + m] = is_far;
        hash = mix(hash, (uint64_t)length_of(t, v, m) << 1 | is_far);
    }
    clo_alike_add(&t->ready, task, hash);
}

/* The group filled[at] on a machine could start now. */
typedef struct pair {
    uint32_t at, machine;
} pair;

static const clo_alike_group *group_at(const tetris *t, uint32_t at)
{
    return &t->ready.groups[t->ready.filled[at]];
}

/* Sums over all pairs of tasks and machines that fit, for the means; false if there is none. */
static bool add_up(const tetris *t, clo_u128 *aligned, clo_u128 *work)
{
    bool any = false;

    *aligned = *work = 0;
    for (uint32_t at = 0; at < t->ready.filled_count; at++) {
        const clo_alike_group *group = group_at(t, at);
        uint32_t v = t->next[group->first];
        for (uint32_t m = 0; m < t->problem->machines; m++)
            if (fits(t, v, m)) {
                *aligned += (clo_u128)(uint64_t)alignment(t, v, m) * group->count;
                *work += (clo_u128)t->work[t->job_of[v]] * group->count;
                any = true;
            }
    }
    return any;
}

/* epsilon in Q64. Both means are over the same pairs, so their number falls out. Times the work of one of these jobs,
 * which is part of `work`, it has at most 126 bits. */
static clo_u128 epsilon_q64(clo_u128 aligned, clo_u128 work)
{
    if (aligned >> 62 != 0)
        aligned = (1ull << 62) - 1;
    return work == 0 ? 0 : (aligned << 64) / work;
}

/* The pair with the highest score; false if nothing fits. */
static bool choose(const tetris *t, pair *best)
{
    clo_u128 aligned, work;
    int64_t highest = 0;
    uint32_t chosen = CLO_NONE; /* instance */

    if (!add_up(t, &aligned, &work))
        return false;
    clo_u128 epsilon = epsilon_q64(aligned, work);
    for (uint32_t at = 0; at < t->ready.filled_count; at++) {
        uint32_t task = group_at(t, at)->first, v = t->next[task];
        int64_t srpt = (int64_t)(t->work[t->job_of[v]] * epsilon >> 64);
        for (uint32_t m = 0; m < t->problem->machines; m++) {
            if (!fits(t, v, m))
                continue;
            int64_t here = alignment(t, v, m);
            bool is_far = t->remote[(size_t)task * t->problem->machines + m];
            int64_t score = (is_far ? here - here / 10 : here) - srpt;
            if (chosen != CLO_NONE && (score < highest || (score == highest && v >= chosen)))
                continue;
            highest = score;
            chosen = v;
            *best = (pair){at, m};
        }
    }
    return chosen != CLO_NONE;
}

static void start(tetris *t, const pair *p, int64_t now_ns, clo_packing *out)
{
    const clo_rcpsp *problem = t->problem;
    uint32_t task = group_at(t, p->at)->first, v = t->next[task]++;
    int64_t time = problem->time_ns[(size_t)p->machine * problem->tasks + v];

    if (t->next[task] == problem->graph->first_instance[task + 1])
        clo_alike_take(&t->ready, p->at);
    t->ran[(size_t)task * problem->machines + p->machine] = 1;
    for (uint32_t w = 0; w < problem->words && time > 0; w++)
        t->free[(size_t)p->machine * problem->words + w] -= problem->demand[(size_t)v * problem->words + w];
    t->work[t->job_of[v]] -= t->share[v];
    out->start_ns[v] = now_ns;
    out->machine[v] = p->machine;
    clo_heap_push(&t->running, now_ns + time, v);
}

static void end(tetris *t, uint32_t v, const clo_packing *out)
{
    const clo_rcpsp *problem = t->problem;
    const clo_graph *graph = problem->graph;
    uint32_t m = out->machine[v], task = graph->task_of[v];

    for (uint32_t w = 0; w < problem->words && problem->time_ns[(size_t)m * problem->tasks + v] > 0; w++)
        t->free[(size_t)m * problem->words + w] += problem->demand[(size_t)v * problem->words + w];
    if (--t->left[task] > 0)
        return;
    for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1]; at++)
        if (--t->waiting[graph->out[at]] == 0)
            make_ready(t, graph->out[at]);
}

/* Each round starts or ends something: an empty machine fits any. */
static void run(tetris *t, clo_packing *out)
{
    int64_t now = 0;
    pair next = {0};

    while (t->ready.filled_count > 0 || t->running.count > 0) {
        while (choose(t, &next))
            start(t, &next, now, out);
        assert(t->running.count > 0);
        now = t->running.items[0].key;
        while (t->running.count > 0 && t->running.items[0].key == now)
            end(t, (uint32_t)clo_heap_pop(&t->running).id, out);
    }
    out->makespan_ns = now;
}

/* Jobs: every task is joined with its producers (union by the lowest, paths halved). Without any edge an instance is a
 * job of its own. */
static uint32_t job_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) { /* parents have lower numbers: falls */
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void find_jobs(tetris *t)
{
    const clo_graph *graph = t->problem->graph;

    for (uint32_t v = 0; v < graph->instances; v++)
        t->job_of[v] = v;
    for (uint32_t u = 0; u < graph->tasks; u++)
        for (uint32_t edge = graph->in_first[u]; edge < graph->in_first[u + 1]; edge++) {
            uint32_t a = job_of(t->job_of, graph->first_instance[u]);
            uint32_t b = job_of(t->job_of, graph->first_instance[clo_graph_source(graph, edge)]);
            t->job_of[a > b ? a : b] = a > b ? b : a;
        }
    for (uint32_t u = 0; u < graph->tasks; u++) {
        bool has_edges = graph->in_first[u] < graph->in_first[u + 1] || graph->out_first[u] < graph->out_first[u + 1];
        uint32_t job = job_of(t->job_of, graph->first_instance[u]);
        for (uint32_t v = graph->first_instance[u]; v < graph->first_instance[u + 1] && has_edges; v++)
            t->job_of[v] = job;
    }
}

static void begin(tetris *t)
{
    const clo_rcpsp *problem = t->problem;
    clo_u128 total = 0;
    uint32_t shift = 0;

    memcpy(t->free, problem->capacity, (size_t)problem->machines * problem->words * sizeof *t->free);
    find_jobs(t);
    for (uint32_t v = 0; v < problem->tasks; v++)
        total += (clo_u128)(uint64_t)clo_rcpsp_fastest_ns(problem, v) * problem->weight[v];
    while (total >> shift >> 62 != 0)
        shift++;
    for (uint32_t v = 0; v < problem->tasks; v++) {
        t->share[v] = (uint64_t)((clo_u128)(uint64_t)clo_rcpsp_fastest_ns(problem, v) * problem->weight[v] >> shift);
        t->work[t->job_of[v]] += t->share[v];
    }
    for (uint32_t u = 0; u < problem->graph->tasks; u++) {
        t->left[u] = clo_graph_instances_of(problem->graph, u);
        t->waiting[u] = problem->graph->in_first[u + 1] - problem->graph->in_first[u];
        if (t->waiting[u] == 0)
            make_ready(t, u);
    }
}

static clo_status open(tetris *t, const clo_rcpsp *problem)
{
    size_t n = problem->tasks, tasks = problem->graph->tasks;
    clo_block block = {0};

    *t = (tetris){.problem = problem, .running = {.capacity = n}};
    clo_carve(&block, &t->free, (size_t)problem->machines * problem->words);
    clo_carve(&block, &t->work, n);
    clo_carve(&block, &t->share, n);
    clo_carve(&block, &t->job_of, n);
    clo_carve(&block, &t->left, tasks);
    clo_carve(&block, &t->waiting, tasks);
    clo_carve(&block, &t->next, tasks);
    clo_carve(&block, &t->remote, tasks * problem->machines);
    clo_alike_carve(&t->ready, &block, problem->graph->tasks);
    clo_carve(&block, &t->ran, tasks * problem->machines);
    clo_carve(&block, &t->running.items, n);
    t->block = clo_block_allocate(&block);
    if (t->block == NULL)
        return clo_fail_memory("a plan");
    t->ready.is_alike = is_alike;
    t->ready.context = t;
    clo_alike_begin(&t->ready);
    begin(t);
    return CLO_OK;
}

static clo_status pack(const clo_rcpsp *problem, clo_schedule *schedule)
{
    tetris t;
    clo_packing packing;
    clo_status status = open(&t, problem);

    if (status != CLO_OK)
        return status;
    status = clo_packing_open(&packing, problem);
    if (status == CLO_OK) {
        run(&t, &packing);
        status = clo_rcpsp_realise(problem, &packing, CLO_RCPSP_FORWARD, schedule);
        clo_packing_close(&packing);
    }
    clo_free(t.block);
    return status;
}

/* The sum of the shares of the largest machine, falling. */
static clo_status dispatch(clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    int64_t *keys = clo_allocate(graph->instances, sizeof *keys), largest[CLO_RESOURCES_MAX] = {0};

    if (keys == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        for (uint32_t m = 0; m < schedule->platform->machines_count; m++)
            if (clo_cost_capacity(schedule->cost, m, r) > largest[r])
                largest[r] = clo_cost_capacity(schedule->cost, m, r);
    for (uint32_t i = 0; i < graph->instances; i++) {
        const int64_t *demand = clo_graph_demand(graph, graph->task_of[i]);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (largest[r] > 0)
                keys[i] -= (int64_t)(((clo_u128)(uint64_t)demand[r] << SHARE_BITS) / (uint64_t)largest[r]);
    }
    clo_status status = clo_priority_dispatch(schedule, keys, true);
    clo_free(keys);
    return status;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_rcpsp problem;
    clo_status status = clo_rcpsp_open(&problem, schedule->cost);

    (void)config;
    if (status == CLO_OK)
        status = pack(&problem, schedule);
    else if (status == CLO_ERR_UNSUPPORTED)
        status = dispatch(schedule);
    clo_rcpsp_close(&problem);
    return status;
}

const clo_planner_desc clo_planner_tetris = {
    .name = "tetris",
    .summary = "packing: the best match of demand and what is free, short jobs first (Grandl et al. 2014)",
    .executions_each = 1,
    .fill = fill,
};
