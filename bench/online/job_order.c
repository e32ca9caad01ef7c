/* job_order.c - branch and bound over the orders of a batch of jobs.
 *
 * An order is fixed only as far as somebody asked for it: a simulation goes on with the first k jobs of the order until
 * an executor is free that none of them can use. There it branches: any of the other jobs may be the next one. So all
 * orders that begin alike share what is simulated of them. Ends at one instant are taken one by one, in the order in
 * which they began, as the simulator of streams takes them in an environment; play.c compares the two.
 *
 * A branch is left when no schedule at all could finish it below the best order known. Sorted by their ends, the k-th
 * of the unfinished jobs ends after the k smallest amounts of remaining work, done by all executors without a gap, and
 * not before the k-th smallest of their remaining critical paths. */
#include "online/job_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_MAX = 256, CHILDREN_MAX = 512, EXECUTORS_MAX = 64, LOOK_EACH = 32 };

typedef struct stage {
    int64_t time_ns, rank_ns;
    uint32_t id, instances, job, parents, children_first, children_count;
} stage;

typedef struct problem {
    uint32_t jobs, executors, children_count;
    uint32_t first[ORDER_JOBS_MAX + 1]; /* stages of each job, in order of falling rank */
    uint32_t twin[ORDER_JOBS_MAX];      /* the last job before it with the same graph; CLO_NONE: none */
    stage stages[STAGES_MAX];
    uint32_t children[CHILDREN_MAX];
} problem;

/* Instances that began together. */
typedef struct group {
    int64_t finish_ns;
    uint32_t begun; /* number of the first one, in order of starts */
    uint16_t stage, count;
} group;

typedef struct moment {
    int64_t now_ns, ended_ns;             /* sum of the completion times of jobs that have ended */
    int64_t unstarted_ns[ORDER_JOBS_MAX]; /* work */
    uint32_t begun, free, groups_count, fixed, is_fixed, live;
    uint8_t order[ORDER_JOBS_MAX], stages_left[ORDER_JOBS_MAX];
    group groups[EXECUTORS_MAX]; /* the last one ends first */
    uint16_t unstarted[STAGES_MAX], unfinished[STAGES_MAX];
    uint8_t parents[STAGES_MAX];
} moment;

/* A moment at which the next job of the order is to be chosen. */
typedef struct frame {
    moment at;
    int64_t bound_ns;
    uint32_t candidates[ORDER_JOBS_MAX], count, next;
} frame;

typedef struct search {
    problem p;
    frame stack[ORDER_JOBS_MAX + 1];
    int64_t best_ns;
    uint64_t steps;
    uint8_t best[ORDER_JOBS_MAX];
} search;

typedef enum progress { ASKS, ENDED, HOPELESS } progress;

static int by_rank(const void *a, const void *b)
{
    const stage *x = a, *y = b;

    if (x->rank_ns != y->rank_ns)
        return x->rank_ns > y->rank_ns ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool link_stages(problem *p, const clo_graph *graph, uint32_t job)
{
    uint32_t from = p->first[job], until = p->first[job + 1];

    for (uint32_t s = from; s < until; s++) {
        p->stages[s].children_first = p->children_count;
        for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
            clo_edge edge;
            if (clo_graph_edge(graph, e, &edge) != CLO_OK || edge.from != p->stages[s].id)
                continue;
            for (uint32_t c = from; c < until && p->children_count < CHILDREN_MAX; c++)
                if (p->stages[c].id == edge.to) {
                    p->children[p->children_count++] = c;
                    p->stages[c].parents++;
                }
        }
        p->stages[s].children_count = p->children_count - p->stages[s].children_first;
    }
    return p->children_count < CHILDREN_MAX;
}

static bool add_job(problem *p, const clo_graph *graph, const clo_platform *platform)
{
    uint32_t job = p->jobs++, stages = clo_graph_tasks(graph);
    int64_t *ranks = calloc(stages > 0 ? stages : 1, sizeof *ranks);
    clo_cost *cost = NULL;

    p->first[job + 1] = p->first[job] + stages;
    bool is_good =
        ranks != NULL && p->first[job + 1] <= STAGES_MAX && clo_cost_create(graph, platform, &cost) == CLO_OK;
    if (is_good)
        clo_cost_rank_u(cost, ranks);
    for (uint32_t i = 0; i < stages && is_good; i++) {
        clo_task task;
        is_good = clo_graph_task(graph, i, &task) == CLO_OK && task.instances <= UINT16_MAX;
        p->stages[p->first[job] + i] = (stage){.time_ns = clo_cost_mean_execution_ns(cost, i),
                                               .rank_ns = ranks[i],
                                               .id = i,
                                               .instances = task.instances > 0 ? task.instances : 1,
                                               .job = job};
    }
    clo_cost_destroy(cost);
    free(ranks);
    if (is_good)
        qsort(&p->stages[p->first[job]], stages, sizeof *p->stages, by_rank);
    return is_good && link_stages(p, graph, job);
}

static bool read_problem(problem *p, const clo_workload *workload, const clo_platform *platform)
{
    uint32_t jobs = clo_workload_jobs(workload);

    *p = (problem){.executors = clo_platform_executors(platform)};
    if (jobs > ORDER_JOBS_MAX || p->executors > EXECUTORS_MAX)
        return false;
    for (uint32_t j = 0; j < jobs; j++) {
        const clo_graph *graph = clo_workload_get(workload, j)->graph;
        p->twin[j] = CLO_NONE;
        for (uint32_t k = 0; k < j; k++)
            p->twin[j] = clo_workload_get(workload, k)->graph == graph ? k : p->twin[j];
        if (!add_job(p, graph, platform))
            return false;
    }
    return true;
}

static void begin(const problem *p, moment *m)
{
    memset(m, 0, sizeof *m);
    m->free = p->executors;
    m->live = p->jobs;
    for (uint32_t s = 0; s < p->first[p->jobs]; s++) {
        const stage *row = &p->stages[s];
        m->unstarted[s] = m->unfinished[s] = (uint16_t)row->instances;
        m->parents[s] = (uint8_t)row->parents;
        m->stages_left[row->job]++;
        m->unstarted_ns[row->job] += row->time_ns * row->instances;
    }
}

/* Free executors begin instances of the stage. */
static void start(const problem *p, moment *m, uint32_t s)
{
    uint32_t count = m->unstarted[s] < m->free ? m->unstarted[s] : m->free, at = m->groups_count;
    group new = {m->now_ns + p->stages[s].time_ns, m->begun, (uint16_t)s, (uint16_t)count};

    while (at > 0 && m->groups[at - 1].finish_ns <= new.finish_ns) { /* those begun before end before, at one instant */
        m->groups[at] = m->groups[at - 1];
        at--;
    }
    m->groups[at] = new;
    m->groups_count++;
    m->begun += count;
    m->free -= count;
    m->unstarted[s] = (uint16_t)(m->unstarted[s] - count);
    m->unstarted_ns[p->stages[s].job] -= p->stages[s].time_ns * count;
}

static uint32_t find_stage(const problem *p, const moment *m, uint32_t job)
{
    for (uint32_t s = p->first[job]; s < p->first[job + 1]; s++)
        if (m->unstarted[s] > 0 && m->parents[s] == 0)
            return s;
    return CLO_NONE;
}

static void fix(moment *m, uint32_t job)
{
    m->order[m->fixed++] = (uint8_t)job;
    m->is_fixed |= 1U << job;
}

/* Gives free executors away. False: the order must say more. */
static bool serve(const problem *p, moment *m)
{
    uint32_t k = 0;

    while (m->free > 0) { /* ends: k grows, or instances begin */
        if (k == m->fixed && k + 1 == p->jobs) {
            uint32_t last = 0;
            while ((m->is_fixed >> last & 1) != 0)
                last++;
            fix(m, last);
        }
        if (k == m->fixed)
            return k == p->jobs;
        uint32_t s = find_stage(p, m, m->order[k]);
        if (s == CLO_NONE)
            k++;
        else
            start(p, m, s);
    }
    return true;
}

/* What ends next: all of a group but the last instance, which may make stages ready, or that one. */
static void end_some(const problem *p, moment *m)
{
    group *g = &m->groups[m->groups_count - 1];
    uint32_t count = g->count > 1 ? g->count - 1U : 1, s = g->stage, job = p->stages[s].job;

    m->now_ns = g->finish_ns;
    m->free += count;
    m->unfinished[s] = (uint16_t)(m->unfinished[s] - count);
    if (g->count == 1)
        m->groups_count--;
    else
        g->count = 1;
    if (m->unfinished[s] > 0)
        return;
    for (uint32_t c = 0; c < p->stages[s].children_count; c++)
        m->parents[p->children[p->stages[s].children_first + c]]--;
    if (--m->stages_left[job] == 0) {
        m->live--;
        m->ended_ns += m->now_ns;
    }
}

/* Of the sum of all completion times; see the head. */
static int64_t bound(const problem *p, const moment *m)
{
    int64_t work[ORDER_JOBS_MAX], path[ORDER_JOBS_MAX] = {0}, works[ORDER_JOBS_MAX], paths[ORDER_JOBS_MAX], sum = 0;
    uint32_t live = 0;

    memcpy(work, m->unstarted_ns, sizeof work);
    for (uint32_t g = 0; g < m->groups_count; g++) {
        const group *row = &m->groups[g];
        const stage *s = &p->stages[row->stage];
        int64_t left_ns = row->finish_ns - m->now_ns, behind_ns = left_ns + s->rank_ns - s->time_ns;
        work[s->job] += left_ns * row->count;
        path[s->job] = behind_ns > path[s->job] ? behind_ns : path[s->job];
    }
    for (uint32_t j = 0; j < p->jobs; j++) {
        for (uint32_t s = p->first[j]; s < p->first[j + 1] && m->stages_left[j] > 0; s++) {
            int64_t waves = (m->unstarted[s] + p->executors - 1) / p->executors;
            int64_t behind_ns = p->stages[s].rank_ns + (waves - 1) * p->stages[s].time_ns;
            if (waves > 0 && behind_ns > path[j])
                path[j] = behind_ns;
        }
        if (m->stages_left[j] > 0) {
            works[live] = work[j];
            paths[live++] = path[j];
        }
    }
    qsort(works, live, sizeof *works, by_size);
    qsort(paths, live, sizeof *paths, by_size);
    int64_t area = 0;
    for (uint32_t k = 0; k < live; k++) {
        area += works[k];
        int64_t by_area = area / p->executors;
        sum += m->now_ns + (by_area > paths[k] ? by_area : paths[k]);
    }
    return m->ended_ns + sum;
}

static progress go_on(search *s, moment *m)
{
    for (uint32_t k = 1;; k++) { /* ends: instances do */
        if (!serve(&s->p, m))
            return ASKS;
        if (m->live == 0)
            return ENDED;
        end_some(&s->p, m);
        s->steps++;
        if (k % LOOK_EACH == 0 && bound(&s->p, m) >= s->best_ns)
            return HOPELESS;
    }
}

/* Candidates: the jobs without a place, the shortest first; of twins the first one. */
static void open_frame(const problem *p, frame *f)
{
    f->bound_ns = bound(p, &f->at);
    f->count = f->next = 0;
    for (uint32_t j = 0; j < p->jobs; j++) {
        bool is_twin = p->twin[j] != CLO_NONE && (f->at.is_fixed >> p->twin[j] & 1) == 0;
        if ((f->at.is_fixed >> j & 1) != 0 || is_twin)
            continue;
        uint32_t at = f->count++;
        for (; at > 0 && f->at.unstarted_ns[f->candidates[at - 1]] > f->at.unstarted_ns[j]; at--)
            f->candidates[at] = f->candidates[at - 1];
        f->candidates[at] = j;
    }
}

/* Returns what no order is below: the best one, where all were looked at. */
static int64_t run(search *s, uint64_t steps_max)
{
    uint32_t depth = 1;

    begin(&s->p, &s->stack[0].at);
    open_frame(&s->p, &s->stack[0]);
    while (depth > 0 && s->steps < steps_max) {
        frame *f = &s->stack[depth - 1], *next = &s->stack[depth];
        if (f->next == f->count || f->bound_ns >= s->best_ns) {
            depth--;
            continue;
        }
        next->at = f->at;
        fix(&next->at, f->candidates[f->next++]);
        progress came = go_on(s, &next->at);
        if (came == ENDED && next->at.ended_ns < s->best_ns) {
            s->best_ns = next->at.ended_ns;
            memcpy(s->best, next->at.order, sizeof s->best);
            for (uint32_t j = 0; j < s->p.jobs; j++) /* places that nobody asked for */
                if ((next->at.is_fixed >> j & 1) == 0)
                    s->best[next->at.fixed++] = (uint8_t)j;
        } else if (came == ASKS) {
            open_frame(&s->p, next);
            depth++;
        }
    }
    int64_t least = s->best_ns;
    for (uint32_t d = 0; d < depth; d++)
        if (s->stack[d].next < s->stack[d].count && s->stack[d].bound_ns < least)
            least = s->stack[d].bound_ns;
    return least;
}

bool job_order_search(const clo_workload *workload, const clo_platform *platform, uint64_t steps_max, job_order *out)
{
    search *s = calloc(1, sizeof *s);

    if (s == NULL || !read_problem(&s->p, workload, platform)) {
        free(s);
        fprintf(stderr,
                "bench: best-order: too many jobs, stages or executors, or no memory; it searches up to %d jobs\n",
                ORDER_JOBS_MAX);
        return false;
    }
    s->best_ns = INT64_MAX;
    int64_t least = run(s, steps_max);
    *out = (job_order){.jobs = s->p.jobs,
                       .mean_s = (double)s->best_ns * 1e-9 / s->p.jobs,
                       .least_s = (double)least * 1e-9 / s->p.jobs,
                       .steps = s->steps};
    for (uint32_t k = 0; k < s->p.jobs; k++)
        out->order[k] = s->best[k];
    free(s);
    return true;
}
