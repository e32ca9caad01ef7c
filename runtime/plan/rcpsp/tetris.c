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
 * What is ready lies in a tree by demands (boxes.h), so that a look at each task is rare: sums come from whole boxes
 * that fit, and a box that cannot have a higher score is passed. A task without edges is a job of its own, whose work
 * belongs to it; otherwise tasks of a job that the same machines can run are a group.
 *
 * O(events * machines * (groups + log tasks)) with one resource; more of them make it more, up to all ready tasks for
 * each event and machine. Where the problem is no packing: dispatched by the clock, largest dot product with an empty
 * machine first, where it ends first. */
#include "plan/rcpsp/boxes.h"
#include "plan/rcpsp/priority.h"
#include "plan/schedule/planner.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { SHARE_BITS = CLO_BOX_SHARE_BITS, SUMS_MAX = 1 << 23 /* 64 MiB */ };

typedef struct tetris {
    const clo_rcpsp *problem;
    uint64_t *free;    /* [machines * words]                                                     */
    uint32_t *job_of;  /* [tasks] an instance that stands for the job                            */
    uint8_t *ran;      /* [tasks of the graph * machines] some instance ran there                */
    uint32_t *left;    /* [tasks of the graph] instances that have not ended                     */
    uint32_t *waiting; /* [tasks of the graph] producing tasks of which some instance has not    */
    clo_boxes ready;   /* tasks                                                                  */
    uint32_t *next;    /* [tasks of the graph] the first instance that has not started           */
    uint8_t *ways;     /* [machines] scratch: CLO_BOX_FAR where no producer of a task ran        */
    uint64_t *work;    /* [tasks] of what has not started, by job                                 */
    uint64_t *share;   /* [tasks] what an instance adds to that: scaled so that all sums fit 62 bits */
    clo_heap running;
    uint64_t looks; /* at boxes                                                               */
    void *block;
} tetris;

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

/* CLO_NONE: the task has no edges, so each instance is a job of its own. */
static uint32_t shared_job(const tetris *t, uint32_t task)
{
    const clo_graph *graph = t->problem->graph;
    bool has_edges =
        graph->in_first[task] < graph->in_first[task + 1] || graph->out_first[task] < graph->out_first[task + 1];

    return has_edges ? t->job_of[graph->first_instance[task]] : CLO_NONE;
}

static bool is_alike(const void *context, uint32_t a, uint32_t b)
{
    const tetris *t = context;
    const clo_rcpsp *problem = t->problem;
    uint32_t v = problem->graph->first_instance[a], u = problem->graph->first_instance[b];

    if (shared_job(t, a) != shared_job(t, b))
        return false;
    for (uint32_t m = 0; m < problem->machines; m++)
        if (length_of(t, v, m) != length_of(t, u, m))
            return false;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const void *context, uint32_t task)
{
    const tetris *t = context;
    uint64_t hash = mix(0, shared_job(t, task));

    for (uint32_t m = 0; m < t->problem->machines; m++)
        hash = mix(hash, (uint64_t)length_of(t, t->problem->graph->first_instance[task], m));
    return hash;
}

static void make_ready(tetris *t, uint32_t task)
{
    uint32_t v = t->problem->graph->first_instance[task];

    t->next[task] = v;
    for (uint32_t m = 0; m < t->problem->machines; m++)
        t->ways[m] = is_remote(t, task, m) ? CLO_BOX_FAR : CLO_BOX_NEAR;
    clo_boxes_add(&t->ready, task, t->ways, shared_job(t, task) == CLO_NONE ? t->work[t->job_of[v]] : 0);
}

/* A task that could start now on a machine. */
typedef struct pair {
    uint32_t task, machine;
} pair;

/* A machine as it is, and what is looked for. */
typedef struct search {
    uint32_t machine, lanes;
    const uint64_t *free;
    uint64_t share[CLO_RCPSP_WORDS_MAX * 4]; /* [lanes] free, as a share of the machine */
    clo_u128 work, epsilon;                  /* of all that fits somewhere; see epsilon_q64 */
} search;

static search search_on(const tetris *t, uint32_t m, clo_u128 work, clo_u128 epsilon)
{
    const clo_rcpsp *problem = t->problem;
    size_t at = (size_t)m * problem->words;
    search s = {
        .machine = m, .lanes = clo_rcpsp_lanes(problem), .free = &t->free[at], .work = work, .epsilon = epsilon};

    for (uint32_t l = 0; l < s.lanes; l++)
        s.share[l] =
            clo_box_share(clo_rcpsp_lane(problem, s.free, l), clo_rcpsp_lane(problem, &problem->capacity[at], l));
    return s;
}

static bool fits(const tetris *t, const search *s, const uint64_t *demand)
{
    uint64_t guards = t->problem->guards;

    for (uint32_t w = 0; w < t->problem->words; w++)
        guards &= s->free[w] - demand[w];
    return guards == t->problem->guards;
}

/* What of a node could start on the machine, as far as its own figures tell. */
typedef enum range { RANGE_NONE, RANGE_SOME, RANGE_ALL } range;

static range range_of(const tetris *t, const search *s, uint32_t node)
{
    const clo_box *box = &t->ready.nodes[node];
    size_t words = t->problem->words;

    if (box->count == 0)
        return RANGE_NONE;
    if (box->group == CLO_NONE)
        return RANGE_SOME;
    int length = length_of(t, t->problem->graph->first_instance[box->first], s->machine);
    if (length != 2)
        return length == 0 ? RANGE_ALL : RANGE_NONE;
    if (fits(t, s, &t->ready.most[node * words]))
        return RANGE_ALL;
    return fits(t, s, &t->ready.least[node * words]) ? RANGE_SOME : RANGE_NONE;
}

/* Remaining work of the jobs of a group, without what belongs to its tasks. */
static uint64_t work_of(const tetris *t, const clo_box *box)
{
    uint32_t job = shared_job(t, box->first);

    return job == CLO_NONE ? 0 : t->work[job];
}

/* Adds what fits on a machine: alignment, the dot product of demand and free, Q24; and work. */
static bool add_up(tetris *t, const search *s, clo_u128 *aligned, clo_u128 *work)
{
    bool any = false;

    for (uint32_t node = 1, next; node > 0; node = next) { /* ends: see clo_boxes_after */
        range what = range_of(t, s, node);
        const clo_box *box = &t->ready.nodes[node];
        if (what == RANGE_ALL && !clo_boxes_has_sums(&t->ready, node))
            what = RANGE_SOME;
        next = what == RANGE_SOME ? 2 * node + 1 : clo_boxes_after(node);
        t->looks++;
        if (what != RANGE_ALL)
            continue;
        for (uint32_t l = 0; l < s->lanes; l++)
            *aligned += (clo_u128)clo_boxes_sum(&t->ready, node, t->ready.shape_of[s->machine], l) * s->share[l];
        *work += (clo_u128)work_of(t, box) * box->count + box->all_work;
        any = true;
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

/* The score on the machine of what demands the most, of what fits, has the least work and is near, if any is, below the
 * node, which is of one group: no task has a higher one; the only task has it. INT64_MIN: none fits, as each has more
 * work than all that do. */
static int64_t score_of(const tetris *t, const search *s, uint32_t node)
{
    const clo_rcpsp *problem = t->problem;
    const clo_box *box = &t->ready.nodes[node];
    const uint64_t *most = &t->ready.most[(size_t)node * problem->words];
    const uint64_t *capacity = &problem->capacity[(size_t)s->machine * problem->words];
    bool is_any = length_of(t, problem->graph->first_instance[box->first], s->machine) == 0;
    uint64_t work = work_of(t, box) + box->work;
    int64_t here = 0;

    if (work > s->work)
        return INT64_MIN;
    for (uint32_t l = 0; l < s->lanes; l++) {
        int64_t demand = clo_rcpsp_lane(problem, most, l), free = clo_rcpsp_lane(problem, s->free, l);
        if (demand > 0)
            here += (int64_t)(clo_box_share(!is_any && demand > free ? free : demand,
                                            clo_rcpsp_lane(problem, capacity, l)) *
                              s->share[l]);
    }
    if (t->ready.ways[(size_t)node * problem->machines + s->machine] == CLO_BOX_FAR)
        here -= here / 10;
    return here - (int64_t)(work * s->epsilon >> 64);
}

/* The task with the highest score on the machine, the lowest of these, if it is better than what was found: *highest
 * and best->task, CLO_NONE: nothing. */
static void choose_on(tetris *t, const search *s, int64_t *highest, pair *best)
{
    for (uint32_t node = 1, next; node > 0; node = next) { /* ends: see clo_boxes_after */
        const clo_box *box = &t->ready.nodes[node];
        range what = range_of(t, s, node);
        next = clo_boxes_after(node);
        t->looks++;
        if (what == RANGE_NONE)
            continue;
        if (box->group != CLO_NONE && best->task != CLO_NONE) {
            int64_t score = score_of(t, s, node);
            if (score < *highest || (score == *highest && box->first >= best->task))
                continue;
        }
        if (!box->is_uniform) {
            next = 2 * node + 1;
            continue;
        }
        *highest = score_of(t, s, node);
        *best = (pair){box->first, s->machine};
    }
}

/* The pair with the highest score; false if nothing fits. */
static bool choose(tetris *t, pair *best)
{
    clo_u128 aligned = 0, work = 0;
    int64_t highest = 0;
    bool any = false;

    for (uint32_t m = 0; m < t->problem->machines; m++) {
        search s = search_on(t, m, 0, 0);
        any = add_up(t, &s, &aligned, &work) || any;
    }
    *best = (pair){CLO_NONE, 0};
    for (uint32_t m = 0; m < t->problem->machines && any; m++) {
        search s = search_on(t, m, work, epsilon_q64(aligned, work));
        choose_on(t, &s, &highest, best);
    }
    return any;
}

static void start(tetris *t, const pair *p, int64_t now_ns, clo_packing *out)
{
    const clo_rcpsp *problem = t->problem;
    uint32_t task = p->task, v = t->next[task]++;
    int64_t time = problem->time_ns[(size_t)p->machine * problem->tasks + v];

    if (t->next[task] == problem->graph->first_instance[task + 1])
        clo_boxes_take(&t->ready, task);
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

    while (t->ready.nodes[1].count > 0 || t->running.count > 0) {
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
    clo_boxes_begin(&t->ready);
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
    clo_carve(&block, &t->ways, problem->machines);
    clo_boxes_carve(&t->ready, problem, SUMS_MAX, &block);
    clo_carve(&block, &t->ran, tasks * problem->machines);
    clo_carve(&block, &t->running.items, n);
    t->block = clo_block_allocate(&block);
    if (t->block == NULL)
        return clo_fail_memory("a plan");
    t->ready.is_alike = is_alike;
    t->ready.hash_of = hash_of;
    t->ready.context = t;
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
        if (schedule->occupancies != NULL && schedule->occupancies[0].looks != NULL)
            *schedule->occupancies[0].looks += t.looks;
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

const clo_planner clo_planner_tetris = {
    .name = "tetris",
    .summary = "packing: the best match of demand and what is free, short jobs first (Grandl et al. 2014)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
