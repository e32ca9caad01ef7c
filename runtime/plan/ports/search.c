/* search.c - see search.h. Integers only: every machine finds the same plan for a seed. */
#include "plan/ports/search.h"

#include "base/carve.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "cost/cost.h"
#include "plan/ports/ports.h"

#include <string.h>

enum {
    PERCENT_NEAR = 50,   /* of the moves: to where an input or a consumer is */
    PERCENT_ORDER = 20,  /* another place in the order; the rest: any executor */
    BACK = 100,          /* plans without a new best, after which it goes on from the best */
    THRESHOLD_Q16 = 1311 /* how much longer a plan may be than the best, at first: 0.02 of it */
};

typedef struct searcher {
    const clo_cost *cost;
    const clo_graph *graph;
    clo_rng rng;
    uint32_t count;     /* instances */
    uint32_t *order;    /* [count] producers first */
    uint32_t *position; /* [count] of each instance in it */
    uint32_t *executor; /* [count] */
    uint32_t *best_order, *best_executor;
    clo_placement *plan; /* [count] scratch */
    int64_t current_ns, best_ns;
    void *block;
} searcher;

/* What a move changed: an instance's executor and place. */
typedef struct move {
    uint32_t instance, executor, place;
} move;

static clo_status open_searcher(searcher *s, const clo_cost *cost, uint64_t seed)
{
    clo_block block = {0};

    *s = (searcher){.cost = cost, .graph = cost->graph, .rng = clo_rng_seed(seed), .count = cost->graph->instances};
    clo_carve(&block, &s->order, s->count);
    clo_carve(&block, &s->position, s->count);
    clo_carve(&block, &s->executor, s->count);
    clo_carve(&block, &s->best_order, s->count);
    clo_carve(&block, &s->best_executor, s->count);
    clo_carve(&block, &s->plan, s->count);
    s->block = clo_block_allocate(&block);
    return s->block != NULL ? CLO_OK : clo_fail_memory("the search of a plan over ports");
}

static clo_placement placement_of(const searcher *s, uint32_t instance)
{
    uint32_t task = s->graph->task_of[instance];

    return (clo_placement){.task = task,
                           .instance = instance - s->graph->first_instance[task],
                           .executor = s->executor[instance],
                           .finish_ns = clo_cost_time(s->cost, task, s->executor[instance])};
}

/* The plan of an order: how long it takes with ports. Executors keep the order. */
static clo_status judge(searcher *s, int64_t *makespan_ns)
{
    *makespan_ns = 0;
    for (uint32_t i = 0; i < s->count; i++)
        s->plan[i] = placement_of(s, s->order[i]);
    clo_status status = clo_ports_count(s->cost, s->plan, s->count);
    for (uint32_t i = 0; i < s->count && status == CLO_OK; i++)
        *makespan_ns = s->plan[i].finish_ns > *makespan_ns ? s->plan[i].finish_ns : *makespan_ns;
    return status;
}

/* ---- moves ---- */

static void shift(searcher *s, uint32_t from, uint32_t to)
{
    uint32_t moved = s->order[from];

    for (; from < to; from++)
        s->position[s->order[from] = s->order[from + 1]] = from;
    for (; from > to; from--)
        s->position[s->order[from] = s->order[from - 1]] = from;
    s->position[s->order[to] = moved] = to;
}

/* Where an instance may stand: behind the last of its producers, before the first of its consumers. */
static void room_of(const searcher *s, uint32_t instance, uint32_t *from, uint32_t *to)
{
    const clo_graph *graph = s->graph;
    uint32_t task = graph->task_of[instance];

    *from = 0;
    *to = s->count - 1;
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint32_t t = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++)
            *from = s->position[i] + 1 > *from ? s->position[i] + 1 : *from;
    }
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            *to = s->position[i] - 1 < *to ? s->position[i] - 1 : *to;
}

/* An instance that gives to this one or takes from it; CLO_NONE: there is none. */
static uint32_t neighbour_of(searcher *s, uint32_t instance)
{
    const clo_graph *graph = s->graph;
    uint32_t task = graph->task_of[instance], other;
    uint32_t in = graph->in_first[task + 1] - graph->in_first[task];
    uint32_t out = graph->out_first[task + 1] - graph->out_first[task];

    if (in + out == 0)
        return CLO_NONE;
    uint32_t k = clo_rng_below(&s->rng, in + out);
    other = k < in ? clo_graph_source(graph, graph->in_first[task] + k) : graph->out[graph->out_first[task] + k - in];
    return graph->first_instance[other] + clo_rng_below(&s->rng, clo_graph_instances_of(graph, other));
}

/* An executor of the machine of `near`, which may be that one itself. */
static uint32_t beside(searcher *s, uint32_t near)
{
    const clo_platform *platform = s->cost->platform;
    uint32_t machine = platform->executors[near].machine, e = near;

    /* The next ones of the machine, in a circle. */
    for (uint32_t left = 1 + clo_rng_below(&s->rng, 8); left > 0; left--)
        do
            e = (e + 1) % platform->executors_count;
        while (platform->executors[e].machine != machine);
    return e;
}

/* Draws a move and makes it; false: it would change nothing, or cannot be. */
static bool make_move(searcher *s, move *before)
{
    uint32_t v = clo_rng_below(&s->rng, s->count), kind = clo_rng_below(&s->rng, 100);

    *before = (move){v, s->executor[v], s->position[v]};
    if (kind < PERCENT_ORDER) {
        uint32_t from, to;
        room_of(s, v, &from, &to);
        if (from >= to)
            return false;
        shift(s, s->position[v], from + clo_rng_below(&s->rng, to - from + 1));
        return s->position[v] != before->place;
    }
    uint32_t near = kind < PERCENT_ORDER + PERCENT_NEAR ? neighbour_of(s, v) : CLO_NONE;
    uint32_t executor =
        near != CLO_NONE ? beside(s, s->executor[near]) : clo_rng_below(&s->rng, s->cost->platform->executors_count);
    if (executor == s->executor[v] || clo_cost_time(s->cost, s->graph->task_of[v], executor) == CLO_TIME_NEVER)
        return false;
    s->executor[v] = executor;
    return true;
}

static void undo(searcher *s, const move *before)
{
    s->executor[before->instance] = before->executor;
    shift(s, s->position[before->instance], before->place);
}

/* ---- the search ---- */

static void keep(searcher *s)
{
    s->best_ns = s->current_ns;
    memcpy(s->best_order, s->order, s->count * sizeof *s->order);
    memcpy(s->best_executor, s->executor, s->count * sizeof *s->executor);
}

static void go_back(searcher *s)
{
    s->current_ns = s->best_ns;
    memcpy(s->order, s->best_order, s->count * sizeof *s->order);
    memcpy(s->executor, s->best_executor, s->count * sizeof *s->executor);
    for (uint32_t i = 0; i < s->count; i++)
        s->position[s->order[i]] = i;
}

typedef struct rank {
    int64_t start_ns;
    uint32_t topological, instance;
} rank;

static int by_start(const void *a, const void *b)
{
    const rank *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->topological < y->topological ? -1 : x->topological > y->topological;
}

/* Order and executors of the originals of a plan. An input may come from a replica, so that its original ends later
 * than the consumer begins: such an order would be none. */
static clo_status begin(searcher *s, const clo_placement *placements, size_t count, bool *is_order)
{
    rank *ranks = clo_allocate(s->count, sizeof *ranks);
    uint32_t from, to;

    if (ranks == NULL)
        return clo_fail_memory("the search of a plan over ports");
    for (uint32_t i = 0; i < s->count; i++)
        ranks[s->graph->order[i]].topological = i;
    for (size_t p = 0; p < count; p++) {
        uint32_t instance = s->graph->first_instance[placements[p].task] + placements[p].instance;
        if (placements[p].is_replica)
            continue;
        ranks[instance].instance = instance;
        ranks[instance].start_ns = placements[p].start_ns;
        s->executor[instance] = placements[p].executor;
    }
    clo_sort(ranks, s->count, sizeof *ranks, by_start);
    for (uint32_t i = 0; i < s->count; i++)
        s->position[s->order[i] = ranks[i].instance] = i;
    clo_free(ranks);
    *is_order = true;
    for (uint32_t i = 0; i < s->count && *is_order; i++) {
        room_of(s, i, &from, &to);
        *is_order = from <= s->position[i] && s->position[i] <= to;
    }
    return CLO_OK;
}

static bool is_over(const clo_ports_budget *budget, int64_t best_ns)
{
    return budget->plans >= budget->plans_max || best_ns <= budget->bound_ns ||
           (budget->end_ns != INT64_MAX && clo_clock_ns() >= budget->end_ns);
}

/* What is left of the threshold falls with the plans that are left. */
static int64_t threshold_ns(const searcher *s, const clo_ports_budget *budget)
{
    uint64_t left = budget->plans_max - budget->plans;
    uint64_t part_q16 = budget->end_ns != INT64_MAX ? 32768 : (uint64_t)(((clo_u128)left << 16) / budget->plans_max);

    return (int64_t)((clo_u128)s->best_ns * THRESHOLD_Q16 * part_q16 >> 32);
}

static clo_status search(searcher *s, clo_ports_budget *budget)
{
    uint64_t since = 0;
    uint64_t tries = 0, tries_max = budget->plans_max > UINT64_MAX / 64 ? UINT64_MAX : budget->plans_max * 64;
    clo_status status = judge(s, &s->current_ns);

    keep(s);
    while (status == CLO_OK && !is_over(budget, s->best_ns) && tries++ < tries_max) {
        move before;
        int64_t got_ns;
        if (!make_move(s, &before)) {
            undo(s, &before);
            continue;
        }
        budget->plans++;
        status = judge(s, &got_ns);
        if (status != CLO_OK)
            break;
        if (got_ns > s->current_ns && got_ns - s->best_ns > threshold_ns(s, budget))
            undo(s, &before);
        else
            s->current_ns = got_ns;
        since = got_ns < s->best_ns ? 0 : since + 1;
        if (got_ns < s->best_ns)
            keep(s);
        if (since >= BACK) {
            go_back(s);
            since = 0;
        }
    }
    return status;
}

clo_status clo_ports_search(const clo_cost *cost, clo_ports_budget *budget, clo_placement *placements, size_t *count)
{
    searcher s;
    bool is_order = false;
    int64_t had_ns = 0, has_ns;
    clo_status status = open_searcher(&s, cost, budget->seed);

    for (size_t p = 0; p < *count; p++)
        had_ns = placements[p].finish_ns > had_ns ? placements[p].finish_ns : had_ns;
    budget->plans = 0;
    if (status == CLO_OK)
        status = begin(&s, placements, *count, &is_order);
    if (status == CLO_OK && is_order && s.count > 0) {
        status = search(&s, budget);
        if (status == CLO_OK && s.best_ns < had_ns) {
            go_back(&s);
            status = judge(&s, &has_ns);
            memcpy(placements, s.plan, s.count * sizeof *placements);
            *count = s.count;
        }
    }
    clo_free(s.block);
    return status;
}
