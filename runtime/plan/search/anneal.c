/* plan/search/anneal.c - search for a short plan where executors differ or data take time to move, and no sketch
 * fits (sketch.h): samples, then simulated annealing.
 *
 * A solution is an order of the instances (producers first) and an executor for each; the schedule is built in that
 * order, each instance on its executor at its earliest time, with a duplicate of its critical parent where that helps
 * (heft/deft.c). An instance may be left free: then it goes where it ends first, and is fixed there if the result
 * is kept.
 *
 * 1. Samples: rank_u with Gumbel noise (softmax sampling), every instance free. In a few schedules they find most of
 *    what there is to gain over HEFT and DEFT.
 * 2. Annealing from the best: a move gives one instance another executor, frees it, moves it in the order, or frees a
 *    whole stretch of the order and shuffles it (ruin and recreate). What is accepted is drawn before
 *    the schedule is built, so that building stops where a finish and the shortest path to the end are beyond it: on
 *    average a schedule costs a third. The temperature rises with every schedule that brings no new best, from 0: first
 *    descent, then wider steps, then once more, by turns from a fresh
 *    sample and from the best.
 *
 * The constants were set on SAGA's open instances. Integers only: every machine finds the same plan for a seed. */
#include "plan/budget/budget.h"
#include "plan/heft/deft.h"
#include "plan/search/search.h"
#include "plan/search/sketch.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/noise.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum {
    SAMPLES_PART_Q16 = 9830, /* 0.15 of what is left of the budget */
    NOISE_Q16 = 3932,        /* 0.06 of the longest path */
    ROUND = 100,             /* schedules for each instance without a new best, then from the best again */
    HEAT_Q16 = 2621,         /* the temperature then: 0.04 of the makespan */
    PERCENT_EXECUTOR = 20,   /* of the moves; the rest: ruin */
    PERCENT_FREE = 5,
    PERCENT_ORDER = 5,
    PERCENT_BOTH = 20,
    SHUFFLED = 3 /* instances of a ruin that move in the order */
};

typedef struct order_key {
    int64_t key;
    uint32_t position, instance; /* topological position: decides ties */
} order_key;

typedef struct annealing {
    clo_schedule *schedule;
    const clo_graph *graph;
    clo_budget *budget;
    clo_snapshot *best;
    clo_rng rng;
    uint32_t count;                        /* instances                                                  */
    uint32_t *order, *position, *executor; /* position: of each instance in order. executor: CLO_NONE: free */
    uint32_t *kept_order, *kept_executor;  /* before the last move                                       */
    int64_t *behind_ns;                    /* [tasks] clo_find_behind                                     */
    int64_t *rank_ns, longest_ns;          /* [tasks] rank_u, and its maximum                            */
    int64_t *latest_key;                   /* [tasks] the highest key of its instances                   */
    order_key *keys, *sorted;
    int64_t current_ns;
    int64_t draw_ns; /* about what drawing and sorting an order takes: none is begun with less time left */
    void *block;
} annealing;

static bool allocate(annealing *s)
{
    clo_block block = {0};

    clo_carve(&block, &s->order, s->count);
    clo_carve(&block, &s->position, s->count);
    clo_carve(&block, &s->executor, s->count);
    clo_carve(&block, &s->kept_order, s->count);
    clo_carve(&block, &s->kept_executor, s->count);
    clo_carve(&block, &s->behind_ns, s->graph->tasks);
    clo_carve(&block, &s->rank_ns, s->graph->tasks);
    clo_carve(&block, &s->latest_key, s->graph->tasks);
    clo_carve(&block, &s->keys, s->count);
    clo_carve(&block, &s->sorted, s->count);
    s->block = clo_block_allocate(&block);
    return s->block != NULL;
}

/* Builds the schedule, as long as it can end by limit_ns, and keeps it if it is the best. *makespan_ns: INT64_MAX if it
 * was given up. */
static clo_status build(annealing *s, int64_t limit_ns, int64_t *makespan_ns)
{
    clo_schedule *schedule = s->schedule;
    clo_status status = CLO_OK;

    s->budget->schedules++;
    *makespan_ns = INT64_MAX;
    clo_schedule_clear(schedule);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t v = s->order[i];
        if (s->executor[v] == CLO_NONE)
            status = clo_deft_place(schedule, v);
        else
            status = clo_deft_place_on(schedule, v, s->executor[v]);
        if (status != CLO_OK)
            return status;
        if (schedule->executions[schedule->count - 1].finish_ns > limit_ns - s->behind_ns[s->graph->task_of[v]])
            return CLO_OK;
    }
    *makespan_ns = clo_schedule_makespan_ns(schedule);
    if (clo_snapshot_keep(s->best, schedule) && s->best->makespan_ns < s->budget->best_ns)
        s->budget->best_ns = s->best->makespan_ns;
    return CLO_OK;
}

static int by_key(const void *left, const void *right)
{
    const order_key *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* keys: never lower than a producer's. */
static void sort_order(annealing *s)
{
    memcpy(s->sorted, s->keys, s->count * sizeof *s->keys);
    clo_sort(s->sorted, s->count, sizeof *s->sorted, by_key);
    for (uint32_t i = 0; i < s->count; i++) {
        s->order[i] = s->sorted[i].instance;
        s->position[s->order[i]] = i;
    }
}

/* Order and executors of the best plan. An instance counts from its first execution, which its readers may have read;
 * its executor is that of the original, the first in the array. */
static void take_best(annealing *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->keys[s->graph->order[i]] = (order_key){INT64_MAX, i, s->graph->order[i]};
    for (uint32_t c = s->best->count; c-- > 0;) {
        const clo_execution *execution = &s->best->executions[c];
        order_key *key = &s->keys[execution->instance];
        key->key = execution->start_ns < key->key ? execution->start_ns : key->key;
        s->executor[execution->instance] = execution->executor;
    }
    sort_order(s);
}

/* An order drawn at random about rank_u, with all instances free. */
static void draw(annealing *s)
{
    const clo_graph *graph = s->graph;
    int64_t begin_ns = s->budget->end_ns != INT64_MAX ? clo_clock_ns() : 0;

    for (uint32_t t = 0; t < graph->tasks; t++)
        s->latest_key[t] = INT64_MIN;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t v = graph->order[i], t = graph->task_of[v];
        int64_t noise = (int64_t)NOISE_Q16 * clo_gumbel_q16(&s->rng) >> 16;
        int64_t key = -s->rank_ns[t] - s->longest_ns / 65536 * noise - (s->longest_ns % 65536 * noise >> 16);
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++)
            if (s->latest_key[clo_graph_source(graph, edge)] > key)
                key = s->latest_key[clo_graph_source(graph, edge)];
        if (key > s->latest_key[t])
            s->latest_key[t] = key;
        s->keys[v] = (order_key){key, i, v};
        s->executor[v] = CLO_NONE;
    }
    sort_order(s);
    if (s->budget->end_ns != INT64_MAX)
        s->draw_ns = clo_clock_ns() - begin_ns;
}

/* Moves what stands at `from` to `to`, everything between by one. */
static void shift(annealing *s, uint32_t from, uint32_t to)
{
    uint32_t v = s->order[from];

    for (uint32_t i = from; i < to; i++) {
        s->order[i] = s->order[i + 1];
        s->position[s->order[i]] = i;
    }
    for (uint32_t i = from; i > to; i--) {
        s->order[i] = s->order[i - 1];
        s->position[s->order[i]] = i;
    }
    s->order[to] = v;
    s->position[v] = to;
}

/* Anywhere between its last producer and its first reader. */
static void move_in_order(annealing *s, uint32_t v)
{
    const clo_graph *graph = s->graph;
    uint32_t low = 0, high = s->count - 1, task = graph->task_of[v];

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t from = clo_graph_source(graph, edge);
        for (uint32_t u = graph->first_instance[from]; u < graph->first_instance[from + 1]; u++)
            low = s->position[u] + 1 > low ? s->position[u] + 1 : low;
    }
    for (uint32_t edge = graph->out_first[task]; edge < graph->out_first[task + 1]; edge++) {
        uint32_t to = graph->out[edge];
        for (uint32_t u = graph->first_instance[to]; u < graph->first_instance[to + 1]; u++)
            high = s->position[u] - 1 < high ? s->position[u] - 1 : high;
    }
    assert(low <= high);
    shift(s, s->position[v], low + clo_rng_below(&s->rng, high - low + 1));
}

static void move_to_executor(annealing *s, uint32_t v)
{
    uint32_t executor = clo_rng_below(&s->rng, s->schedule->executors);

    if (clo_cost_time(s->schedule->cost, s->graph->task_of[v], executor) != CLO_TIME_NEVER)
        s->executor[v] = executor;
}

/* Frees up to a fifth of the order in one stretch, and moves some of it. */
static void ruin(annealing *s)
{
    uint32_t at = clo_rng_below(&s->rng, s->count), length = 2 + clo_rng_below(&s->rng, s->count / 5 + 1);
    uint32_t end = length < s->count - at ? at + length : s->count;

    for (uint32_t i = at; i < end; i++)
        s->executor[s->order[i]] = CLO_NONE;
    for (uint32_t i = 0; i < SHUFFLED; i++)
        move_in_order(s, s->order[at + clo_rng_below(&s->rng, end - at)]);
}

static void move(annealing *s)
{
    uint32_t kind = clo_rng_below(&s->rng, 100), v = clo_rng_below(&s->rng, s->count);
    const uint32_t free_from = PERCENT_EXECUTOR, order_from = free_from + PERCENT_FREE;
    const uint32_t both_from = order_from + PERCENT_ORDER, ruin_from = both_from + PERCENT_BOTH;

    if (kind >= ruin_from) {
        ruin(s);
        return;
    }
    if (kind >= order_from)
        move_in_order(s, v);
    if (kind < free_from || (kind >= both_from && kind % 2 == 0))
        move_to_executor(s, v);
    else if (kind < order_from || kind >= both_from)
        s->executor[v] = CLO_NONE;
}

/* What was free stays where it went. */
static void fix_executors(annealing *s)
{
    const clo_schedule *schedule = s->schedule;

    for (uint32_t v = 0; v < s->count; v++)
        if (s->executor[v] == CLO_NONE)
            s->executor[v] = schedule->executions[schedule->first_execution[v]].executor;
}

static void undo(annealing *s)
{
    memcpy(s->order, s->kept_order, s->count * sizeof *s->order);
    memcpy(s->executor, s->kept_executor, s->count * sizeof *s->executor);
    for (uint32_t i = 0; i < s->count; i++)
        s->position[s->order[i]] = i;
}

/* One move, kept if its makespan is at most the current one and an exponential of mean `heat_ns`: the rule of
 * Metropolis. */
static clo_status step(annealing *s, int64_t heat_ns)
{
    int64_t limit =
        s->current_ns + (int64_t)((clo_u128)(uint64_t)heat_ns * (uint32_t)clo_exponential_q16(&s->rng) >> 16);
    int64_t makespan;

    memcpy(s->kept_order, s->order, s->count * sizeof *s->order);
    memcpy(s->kept_executor, s->executor, s->count * sizeof *s->executor);
    move(s);
    clo_status status = build(s, limit, &makespan);
    if (status != CLO_OK || makespan > limit) {
        undo(s);
        return status;
    }
    s->current_ns = makespan;
    fix_executors(s);
    return CLO_OK;
}

/* From the best, or from a fresh sample, until nothing better was found for long. */
static clo_status anneal_round(annealing *s, bool from_best)
{
    uint64_t length = (uint64_t)s->count * ROUND, since = s->budget->schedules;
    int64_t known = s->best->makespan_ns, hottest = known / 65536 * HEAT_Q16 + known % 65536 * HEAT_Q16 / 65536;

    if (from_best)
        take_best(s);
    else
        draw(s);
    clo_status status = build(s, INT64_MAX, &s->current_ns);
    if (status != CLO_OK || s->current_ns == INT64_MAX)
        return status; /* it was given up: time is over, and not every instance has an executor */
    fix_executors(s);
    while (status == CLO_OK && s->budget->schedules - since < length && !clo_budget_is_spent(s->budget)) {
        uint64_t gone = s->budget->schedules - since;
        status = step(s, (int64_t)((clo_u128)(uint64_t)hottest * gone / length));
        if (s->best->makespan_ns < known) {
            known = s->best->makespan_ns;
            since = s->budget->schedules;
        }
    }
    return status;
}

static clo_status sample(annealing *s)
{
    uint32_t gone = clo_budget_part_q16(s->budget);
    uint32_t end = gone + (uint32_t)((uint64_t)(65536 - gone) * SAMPLES_PART_Q16 >> 16);
    clo_status status = CLO_OK;

    while (status == CLO_OK && !clo_budget_is_spent(s->budget) && clo_budget_part_q16(s->budget) < end &&
           s->draw_ns < clo_budget_left_ns(s->budget)) {
        draw(s);
        status = build(s, s->best->makespan_ns, &s->current_ns);
    }
    return status;
}

static void find_ranks(annealing *s)
{
    int64_t prepared_ns = clo_clock_ns();

    clo_find_behind(s->schedule->cost, s->behind_ns);
    clo_cost_rank_u(s->schedule->cost, s->rank_ns);
    for (uint32_t t = 0; t < s->graph->tasks; t++)
        s->longest_ns = s->rank_ns[t] > s->longest_ns ? s->rank_ns[t] : s->longest_ns;
    s->draw_ns = clo_clock_ns() - prepared_ns;
}

clo_status clo_anneal(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best)
{
    annealing s = {.schedule = schedule,
                   .graph = schedule->graph,
                   .budget = budget,
                   .best = best,
                   .rng = clo_rng_seed(budget->config->seed)};
    clo_status status;

    s.count = s.graph->instances;
    status = allocate(&s) ? CLO_OK : clo_fail_memory("a plan");
    if (status == CLO_OK) {
        find_ranks(&s);
        status = sample(&s);
    }
    for (uint32_t round = 0; status == CLO_OK && !clo_budget_is_spent(budget) && s.draw_ns < clo_budget_left_ns(budget);
         round++)
        status = anneal_round(&s, round % 2 == 0);
    clo_free(s.block);
    return status;
}
