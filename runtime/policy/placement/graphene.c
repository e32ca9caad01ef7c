/* graphene.c - Graphene online: Grandl, Kandula, Rao, Akella, Kulkarni, "Graphene: Packing and dependency-aware
 * scheduling for data-parallel clusters", OSDI 2016, section 5.
 *
 * When a job is submitted its stages are planned in an empty cluster (plan/graphene); the order of their starts is
 * the *preferred order*, which gives each stage a priority from 1 (the first) down to 1/n. The next instance is the
 * one with the highest fit * priority - eta * remaining work of its job, where
 *   fit   is the dot product of demand and free capacity (packing.h), times `remote` where inputs are elsewhere (0.8);
 *   eta   is `srpt` * mean fit / mean remaining work, so that both terms weigh alike in all units.
 *
 * Groups of jobs are kept from unfairness by deficits (select/deficits.h): what a grant counts is the dominant share
 * that it demands, so the deficits are those of DRF; the threshold is `kappa` of the cluster. A pass over the
 * candidates is kept as a *bundle*: as long as nothing happens but starts, the next decisions choose from it, with new
 * scores.
 *
 * The rule is not the paper's as written, which loses to Tetris on small clusters (bench/online/PACKING.md):
 *   - `order` (0.1) says how much of the priority counts: 1 - order * (1 - priority). All of it puts stages at the end
 *     of a job behind the first ones of all others, though they are what the job still lacks.
 *   - `large` (1) adds so many times the square of the demand to the fit, as if what the instance asks for were free in
 *     any case: large ones go while there is room for them, small ones fit later too.
 *   - `srpt` is 1, and the mean of eta the geometric one unless `geometric` is 0: by the other one a single huge job
 *     makes all others alike.
 *   - `kappa` is 1000 clusters of grants. Grants count whatever their length, so a job of 100 000 short instances uses
 *     up any small threshold, and then turns between groups take the place of the score.
 *   - Who is refused room becomes the one that a machine keeps it for after some starts of others. So only what fits is
 *     asked for; where nothing does, the candidate of the job with the least remaining work.
 *   - `path` (0.05) adds to the fit so many times the longest path behind the stage (rank_u), as a part of the time
 *     that all work left of the live jobs needs, 1 at most: what would outlast all else is begun early.
 * graphene:kappa=0.1,srpt=0.2,order=1,large=0,geometric=0,path=0 has the paper's weights; that only what fits is
 * asked for stays. Two more forms, which are off:
 *   - `area` 1 takes as remaining work that of the job's scarcest resource in place of its time: what its instances
 *     that have not started hold of each resource of the platform, times their time; executors count as one. The
 *     largest counts.
 *   - `scarce` 1 weighs each resource in the fit by the square of its part of all that work of the live jobs, relative
 *     to the mean part: room of what everybody waits for is not to be wasted. Less than 1: so much of it.
 *
 * Deviations: candidates are the 4 most preferred ready stages of the 32 jobs with the least remaining work, and of 2
 * jobs of each group at least, so that a decision costs the same whatever the number of jobs; where none may start,
 * the oldest ready stage that may. Priorities are of stages: the instances of one are alike. Groups count modulo 64.
 * Demands are taken as they are, not estimated. O(log jobs) an event, O(candidates * executors) a decision. */
#include "policy/packing/packing.h"
#include "policy/placement/planned.h"
#include "policy/select/argument.h"
#include "policy/select/deficits.h"
#include "policy/select/heaps.h"
#include "policy/select/policies.h"
#include "policy/select/ranked.h"
#include "policy/select/share.h"

#include "base/numbers/saturate.h"
#include "base/status.h"

#include <string.h>

enum { STAGES_EACH = 4, JOBS_ALL = 32, JOBS_EACH = 2 };
enum { BUNDLE_MAX = (JOBS_ALL + (int)CLO_DEFICIT_GROUPS * JOBS_EACH) * STAGES_EACH };
_Static_assert((int)JOBS_ALL <= (int)CLO_HEAPS_WALK_MAX, "one group may take them all");

typedef struct graphene_argument {
    int32_t kappa_q16, remote_q16, srpt_q16, order_q16, large_q16, geometric_q16, area_q16, scarce_q16, path_q16;
} graphene_argument;

static const graphene_argument defaults = {1000 * 65536, 65536 * 8 / 10, 65536, 65536 / 10, 65536, 65536, 0, 0,
                                           65536 / 20};

/* Of a job: what its instances hold of each resource, times their time. */
typedef struct graphene_job {
    clo_ranked ranked;
    int64_t whole_ns[CLO_SHARE_AMOUNTS];
    int64_t left_ns[CLO_SHARE_AMOUNTS]; /* of the instances that have not started */
    int64_t *paths_ns;                  /* [tasks] rank_u */
    clo_enforced plan;
} graphene_job;

/* The jobs of a group, while candidates are taken. */
typedef struct group_walk {
    uint32_t group, slot, taken; /* slot: the next job; CLO_NONE: there is none */
    clo_heaps_walk walk;
} group_walk;

typedef struct graphene {
    clo_deficits deficits; /* first: tests read it */
    int64_t totals[CLO_SHARE_AMOUNTS];
    int64_t left_ns[CLO_SHARE_AMOUNTS];     /* of all live jobs */
    int64_t weights_q16[CLO_RESOURCES_MAX]; /* of resources, in the fit */
    clo_heaps_node *nodes;                  /* [jobs] by remaining work */
    uint32_t first[CLO_BANDS_MAX][CLO_DEFICIT_GROUPS];
    uint32_t ready_jobs[CLO_DEFICIT_GROUPS]; /* in the heaps of all bands */
    uint32_t *group;                         /* [jobs] */
    uint32_t bundle_count, bundle_band;
    clo_candidate bundle[BUNDLE_MAX];
    group_walk walks[CLO_DEFICIT_GROUPS];
} graphene;

static const clo_fixed_key keys[] = {
    {"kappa=", offsetof(graphene_argument, kappa_q16), {0, 10000 * 65536}},
    {"remote=", offsetof(graphene_argument, remote_q16), {0, 65536}},
    {"srpt=", offsetof(graphene_argument, srpt_q16), {0, 3 * 65536}},
    {"order=", offsetof(graphene_argument, order_q16), {0, 65536}},
    {"large=", offsetof(graphene_argument, large_q16), {0, 10 * 65536}},
    {"geometric=", offsetof(graphene_argument, geometric_q16), {0, 65536}},
    {"area=", offsetof(graphene_argument, area_q16), {0, 65536}},
    {"scarce=", offsetof(graphene_argument, scarce_q16), {0, 65536}},
    {"path=", offsetof(graphene_argument, path_q16), {0, 10 * 65536}},
};

static const clo_fixed_keys argument_keys = {
    "graphene", "kappa=1000,remote=0.8,srpt=1,order=0.1,large=1,geometric=1,area=0,scarce=0,path=0.05", keys,
    sizeof keys / sizeof keys[0]};

static clo_status graphene_parse(const char *text, void *argument)
{
    graphene_argument read = defaults;
    clo_status status = clo_fixed_read_keys(text, &argument_keys, &read);

    if (status == CLO_OK)
        *(graphene_argument *)argument = read;
    return status;
}

static const graphene_argument *argument_of(const clo_view *view)
{
    const graphene_argument *argument = clo_view_argument(view);

    return argument != NULL ? argument : &defaults;
}

static size_t graphene_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(graphene) + limits->jobs * (sizeof(clo_heaps_node) + sizeof(uint32_t));
}

static uint32_t instances_of(const clo_cost *cost)
{
    return cost->graph->first_instance[cost->graph->tasks];
}

static size_t graphene_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(graphene_job) + clo_ranked_bytes(cost) + cost->graph->tasks * sizeof(int64_t) +
           clo_enforced_bytes(cost->platform, 1, instances_of(cost)) + sizeof(int64_t);
}

static void *up(void *at)
{
    return (void *)(((uintptr_t)at + 7) & ~(uintptr_t)7);
}

/* Of `count` instances; a share is at most 1. */
static int64_t area_ns(const clo_cost *cost, uint32_t stage, uint32_t count, const int64_t *totals, uint32_t amount)
{
    int64_t share = amount == CLO_SHARE_EXECUTORS ? clo_share(1, totals[amount]) : 0;
    int64_t time_ns = cost->mean_ns[stage];

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && amount != CLO_SHARE_EXECUTORS; r++)
        if (cost->resource_of[r] == amount)
            share += clo_share(clo_graph_demand(cost->graph, stage)[r], totals[amount]);
    int64_t share_q16 = share >> 16 < 65536 ? share >> 16 : 65536;
    return clo_time_mul(count, (time_ns >> 16) * share_q16 + ((time_ns & 65535) * share_q16 >> 16));
}

/* Ranks: 65536 of the first stage of the preferred order, less 65536 / stages of each later one. */
static clo_status graphene_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    uint32_t tasks = cost->graph->tasks;
    graphene_job *job = job_state;
    clo_ranked *ranked = &job->ranked;
    int64_t totals[CLO_SHARE_AMOUNTS];

    (void)argument;
    job->paths_ns = (int64_t *)(job + 1);
    clo_cost_rank_u(cost, job->paths_ns);
    clo_ranked_open(ranked, job->paths_ns + tasks, cost);
    clo_enforced_open(&job->plan, up((char *)(job->paths_ns + tasks) + clo_ranked_bytes(cost)), cost->platform, 1,
                      instances_of(cost));
    clo_share_totals(cost->platform, totals);
    for (uint32_t a = 0; a < CLO_SHARE_AMOUNTS; a++) {
        job->whole_ns[a] = 0;
        for (uint32_t t = 0; t < tasks; t++)
            job->whole_ns[a] = clo_time_add(
                job->whole_ns[a],
                area_ns(cost, t, cost->graph->first_instance[t + 1] - cost->graph->first_instance[t], totals, a));
    }
    clo_status status = clo_planned(cost, &clo_planner_graphene, 0, ranked->ranks, NULL, &job->plan);
    if (status != CLO_OK)
        return status;
    clo_heap order = {ranked->heap.items, 0, tasks};
    for (uint32_t t = 0; t < tasks; t++)
        clo_heap_push(&order, ranked->ranks[t], t);
    for (uint32_t place = 0; place < tasks; place++)
        ranked->ranks[clo_heap_pop(&order).id] = 65536 - (int64_t)place * 65536 / tasks;
    return CLO_OK;
}

static clo_status graphene_init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    graphene *g = state;

    g->nodes = (clo_heaps_node *)(g + 1);
    g->group = (uint32_t *)(g->nodes + limits->jobs);
    memset(g->first, 0xff, sizeof g->first);
    clo_share_totals(limits->platform, g->totals);
    g->deficits.threshold = argument_of(view)->kappa_q16 * (CLO_SHARE_ONE >> 16);
    return CLO_OK;
}

static void take_out(graphene *g, uint32_t slot, uint32_t band)
{
    uint32_t group = g->group[slot];

    if (!clo_heaps_has(g->nodes, slot))
        return;
    clo_heaps_remove(g->nodes, &g->first[band][group], slot);
    if (--g->ready_jobs[group] == 0)
        clo_deficits_rest(&g->deficits, group);
}

/* The job stands in its group's heap while it has ready stages, by its remaining work. */
static void settle(graphene *g, const clo_live_job *job, uint32_t slot)
{
    uint32_t group = g->group[slot];
    bool is_in = clo_heaps_has(g->nodes, slot);

    if (job->first_ready == CLO_NONE) {
        take_out(g, slot, job->band);
        return;
    }
    if (is_in && g->nodes[slot].key == job->remaining_ns)
        return;
    if (is_in)
        clo_heaps_remove(g->nodes, &g->first[job->band][group], slot);
    clo_heaps_put(g->nodes, &g->first[job->band][group], slot, job->remaining_ns, job->id);
    g->ready_jobs[group] += !is_in;
}

/* Counts what the event says of the job's work. What a slip of rounding or a repeated instance would take below 0
 * stays there. */
static void count_work(graphene *g, const clo_live_job *job, const clo_event *event)
{
    graphene_job *mine = job->state;

    for (uint32_t a = 0; a < CLO_SHARE_AMOUNTS; a++) {
        int64_t gone_ns = 0;
        if (event->kind == CLO_EVENT_ARRIVE) {
            mine->left_ns[a] = mine->whole_ns[a];
            g->left_ns[a] = clo_time_add(g->left_ns[a], mine->whole_ns[a]);
        } else if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END) {
            gone_ns = mine->left_ns[a];
        } else if (event->kind == CLO_EVENT_START) {
            gone_ns = area_ns(job->cost, event->stage, event->count, g->totals, a);
        }
        gone_ns = gone_ns < mine->left_ns[a] ? gone_ns : mine->left_ns[a];
        mine->left_ns[a] -= gone_ns;
        g->left_ns[a] -= gone_ns < g->left_ns[a] ? gone_ns : g->left_ns[a];
    }
}

static void graphene_event(void *state, const clo_view *view, const clo_event *event)
{
    graphene *g = state;

    if (event->kind != CLO_EVENT_START)
        g->bundle_count = 0;
    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    clo_ranked_event(job->state, event);
    count_work(g, job, event);
    if (event->kind == CLO_EVENT_START && clo_view_jobs(view) != 1)
        clo_enforced_leave(&((graphene_job *)job->state)->plan);
    if (event->kind == CLO_EVENT_FINISH && event->executor != CLO_NONE)
        clo_enforced_finish(&((graphene_job *)job->state)->plan, event->executor);
    if (event->kind == CLO_EVENT_ARRIVE) {
        clo_enforced_begin(&((graphene_job *)job->state)->plan, job->cost->platform, 1);
        ((graphene_job *)job->state)->plan.slots[0] = event->job;
        if (job->running + job->committed > 0 || job->unfinished < instances_of(job->cost))
            clo_enforced_leave(&((graphene_job *)job->state)->plan); /* it has begun under another policy */
        g->group[event->job] = job->group % CLO_DEFICIT_GROUPS;
        clo_deficits_join(&g->deficits, g->group[event->job]);
    } else if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END) {
        take_out(g, event->job, job->band);
        if (event->kind == CLO_EVENT_END)
            clo_deficits_leave(&g->deficits, g->group[event->job]);
    } else {
        settle(g, job, event->job);
    }
}

/* The job's most preferred ready stages: the first places of its heap hold the best one and others of the best. */
static void bundle_job(graphene *g, const clo_view *view, uint32_t slot, bool *is_cut)
{
    const clo_live_job *job = clo_view_job(view, slot);
    clo_ranked *ranked = job->state;

    int64_t order_q16 = argument_of(view)->order_q16;

    (void)clo_ranked_key(ranked, view, slot);
    for (uint32_t i = 0; i < STAGES_EACH && i < ranked->heap.count && !(*is_cut = !clo_view_step(view)); i++) {
        uint32_t stage = (uint32_t)ranked->heap.items[i].id;
        g->bundle[g->bundle_count++] =
            (clo_candidate){.job = slot,
                            .stage = stage,
                            .group = g->group[slot],
                            .priority_q16 = 65536 - ((65536 - ranked->ranks[stage]) * order_q16 >> 16),
                            .is_quiet = true,
                            .weights_q16 = g->weights_q16};
    }
}

static void bundle_next(graphene *g, const clo_view *view, group_walk *from, bool *is_cut)
{
    bundle_job(g, view, from->slot, is_cut);
    from->slot = clo_heaps_walk_next(&from->walk);
    from->taken++;
}

/* Jobs by remaining work over all groups; then more of those groups that have had few. */
static void bundle(graphene *g, const clo_view *view)
{
    uint32_t groups = 0;
    bool is_cut = false;

    g->bundle_count = 0;
    g->bundle_band = clo_view_band(view);
    for (uint32_t group = 0; group < CLO_DEFICIT_GROUPS; group++) {
        group_walk *walk = &g->walks[groups];
        uint32_t root = g->first[g->bundle_band][group];
        if (root == CLO_NONE)
            continue;
        clo_heaps_walk_open(&walk->walk, g->nodes, root);
        walk->group = group;
        walk->taken = 0;
        walk->slot = clo_heaps_walk_next(&walk->walk);
        groups++;
    }
    for (uint32_t taken = 0; taken < JOBS_ALL && !is_cut; taken++) {
        group_walk *least = NULL;
        for (uint32_t i = 0; i < groups; i++)
            if (g->walks[i].slot != CLO_NONE &&
                (least == NULL || g->nodes[g->walks[i].slot].key < g->nodes[least->slot].key))
                least = &g->walks[i];
        if (least == NULL)
            return;
        bundle_next(g, view, least, &is_cut);
    }
    for (uint32_t i = 0; i < groups; i++)
        while (g->walks[i].taken < JOBS_EACH && g->walks[i].slot != CLO_NONE && !is_cut)
            bundle_next(g, view, &g->walks[i], &is_cut);
}

/* Of each resource the square of its part of the work that is left, relative to the mean part; that as much as `scarce`
 * says. Parts are taken as at least 1/16 of the mean. */
static void weigh(graphene *g, int64_t scarce_q16)
{
    int64_t most_ns = 0, sum = 0, count = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        most_ns = g->left_ns[r] > most_ns ? g->left_ns[r] : most_ns;
    int bits = most_ns > 0 ? 64 - __builtin_clzll((uint64_t)most_ns) : 0, shift = bits > 40 ? bits - 40 : 0;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        sum += g->left_ns[r] >> shift;
        count += g->left_ns[r] > 0;
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t part_q16 = sum > 0 ? (g->left_ns[r] >> shift) * count * 65536 / sum : 65536;
        part_q16 = part_q16 > 4096 ? part_q16 : 4096;
        g->weights_q16[r] = 65536 + (((part_q16 * part_q16 >> 16) - 65536) * scarce_q16 >> 16);
    }
}

/* Of the scarcest resource. */
static int64_t most_left_ns(const int64_t left_ns[CLO_SHARE_AMOUNTS])
{
    int64_t most_ns = 1;

    for (uint32_t a = 0; a < CLO_SHARE_AMOUNTS; a++)
        most_ns = left_ns[a] > most_ns ? left_ns[a] : most_ns;
    return most_ns;
}

/* The longest path behind the stage, as a part of the time that all work left needs. */
static int64_t path_part_q16(const clo_live_job *job, uint32_t stage, int64_t all_ns)
{
    int64_t part_q16 = clo_share(((const graphene_job *)job->state)->paths_ns[stage], all_ns) >> 16;

    return part_q16 < 65536 ? part_q16 : 65536;
}

/* Places what is in the bundle anew; what has nothing left to start leaves it. Those that may start now stand in front:
 * returns their number. */
static uint32_t place_bundle(graphene *g, const clo_view *view)
{
    const graphene_argument *a = argument_of(view);
    int64_t all_ns = most_left_ns(g->left_ns);
    uint32_t kept = 0, count = 0;

    weigh(g, a->scarce_q16);
    for (uint32_t i = 0; i < g->bundle_count; i++) {
        clo_candidate c = g->bundle[i];
        const clo_live_job *job = clo_view_job(view, c.job);
        if (clo_view_stage(view, c.job, c.stage)->unstarted == 0)
            continue;
        bool has_place = job->running + job->committed < job->limit && clo_packing_place(view, &c, a->remote_q16);
        if (has_place) {
            c.fit_q16 += clo_packing_bulk(job->cost, &c) * a->large_q16 >> 16;
            c.fit_q16 += a->path_q16 > 0 ? path_part_q16(job, c.stage, all_ns) * a->path_q16 >> 16 : 0;
            if (a->area_q16 > 0)
                c.remaining_ns = most_left_ns(((const graphene_job *)job->state)->left_ns);
        }
        g->bundle[kept++] = c;
        if (has_place) {
            g->bundle[kept - 1] = g->bundle[count];
            g->bundle[count++] = c;
        }
    }
    g->bundle_count = kept;
    return count;
}

/* The candidate to start, which its group pays for; NULL: there is none. */
static const clo_candidate *choose(graphene *g, const clo_view *view, uint32_t count)
{
    uint64_t fits = 0;

    for (uint32_t i = 0; i < count; i++)
        fits |= UINT64_C(1) << g->bundle[i].group;
    if (fits == 0)
        return NULL;
    uint32_t group = clo_deficits_choose(&g->deficits, fits);
    const graphene_argument *a = argument_of(view);
    clo_packing_weight by = {a->srpt_q16, a->geometric_q16 > 0 ? clo_packing_typical_ns(g->bundle, count)
                                                               : clo_packing_mean_ns(g->bundle, count)};
    const clo_candidate *best = &g->bundle[clo_packing_best(g->bundle, count, by, group)];
    clo_deficits_grant(&g->deficits, best->group, fits,
                       clo_share_dominant(clo_view_job(view, best->job)->cost, best->stage, g->totals));
    return best;
}

/* Nothing of the bundle fits. Asking for the stage makes machines keep room for it in the end. */
static void wait_for_least(const graphene *g, const clo_view *view)
{
    const clo_candidate *least = NULL;
    int64_t least_ns = INT64_MAX;

    for (uint32_t i = 0; i < g->bundle_count; i++) {
        const clo_live_job *job = clo_view_job(view, g->bundle[i].job);
        if (job->running + job->committed >= job->limit || (least != NULL && job->remaining_ns >= least_ns))
            continue;
        least = &g->bundle[i];
        least_ns = job->remaining_ns;
    }
    if (least != NULL && clo_view_step(view))
        (void)clo_view_free_for(view, least->job, least->stage);
}

/* A job that is alone follows its plan, as long as something of it runs or starts. True: it has been decided. */
static bool follow_plan(const clo_view *view, clo_choice *choice, bool *is_found)
{
    uint32_t slot = clo_view_first_job(view);
    const clo_live_job *job = slot != CLO_NONE ? clo_view_job(view, slot) : NULL;
    bool is_cut = false;

    if (job == NULL || clo_view_jobs(view) != 1 || job->limit != CLO_NONE || job->band != clo_view_band(view))
        return false;
    *is_found = clo_enforced_choose(&((graphene_job *)job->state)->plan, view, choice, &is_cut);
    return *is_found || is_cut || job->running + job->committed > 0;
}

static bool graphene_decide(void *state, const clo_view *view, clo_choice *choice)
{
    graphene *g = state;
    bool is_found;

    if (follow_plan(view, choice, &is_found))
        return is_found;
    uint32_t count = g->bundle_count > 0 && g->bundle_band == clo_view_band(view) ? place_bundle(g, view) : 0;

    if (count == 0) {
        bundle(g, view);
        count = place_bundle(g, view);
    }
    const clo_candidate *best = choose(g, view, count);
    if (best == NULL) {
        wait_for_least(g, view);
        return clo_packing_oldest(view, choice);
    }
    *choice = (clo_choice){best->job, best->stage, 1, best->executor, CLO_NONE, 0, 0};
    return true;
}

const clo_policy clo_policy_graphene = {
    .size = sizeof(clo_policy),
    .name = "graphene",
    .summary = "what fits best, in each job's planned order, short jobs first, groups fair by deficits; "
               "graphene:kappa=1000,remote=0.8,srpt=1,order=0.1,large=1,geometric=1,area=0,scarce=0,path=0.05",
    .state_bytes = graphene_bytes,
    .job_bytes = graphene_job_bytes,
    .prepare = graphene_prepare,
    .init = graphene_init,
    .event = graphene_event,
    .decide = graphene_decide,
    .argument_bytes = sizeof(graphene_argument),
    .parse = graphene_parse,
};
