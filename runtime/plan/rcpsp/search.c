/* plan/rcpsp/search.c - genetic search for packings with two populations: Debels and Vanhoucke, "A bi-population based
 * genetic algorithm for the resource-constrained project scheduling problem", ICCSA 2005.
 *
 * One population was built forward, the other backward. Two schedules of one are crossed and the child is built from
 * the other end, so every generation is a step of double justification as well. What is inherited are times of
 * finish: those inside a window of the mother's schedule where much is in use from the mother, the others from the
 * father.
 *
 * Differently from the paper: the first schedules come from a portfolio of rules and from softmax sampling, half of
 * them by parallel generation; single times are moved at random in every child, more where the parents are alike; where
 * nothing got shorter for long, everything but the best starts afresh. The constants were set on PSPLIB's open
 * instances (1 000 to 50 000 schedules). Integers only: every machine finds the same schedule for a seed. */
#include "plan/rcpsp/search.h"

#include "base/memory.h"
#include "base/numbers/noise.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum {
    POPULATION_MIN = 8,
    POPULATION_MAX = 40,
    REALISE = 16,           /* schedules' time that making a plan of the best one takes: kept free at the end */
    GENERATIONS = 40,       /* that a population should live to see */
    RULES = 5,              /* the first individuals */
    STAGNATION_MAX = 200,   /* without a better one, schedules for each individual until it starts afresh */
    WINDOWS = 3,            /* that are compared */
    NOISE_Q16 = 9830,       /* 0.15 of the longest path */
    MOVES = 600,            /* moved at random: MOVES / 1000 tasks of a child */
    MOVES_ALIKE = 100,      /* 100 of 1000 where the parents are alike: where their times differ on average by */
    ALIKE = 1600,           /* less than ALIKE / 1000 of the makespan, divided by the tasks */
    MOVE_WIDTH_Q16 = 19661, /* by up to 0.3 of the makespan */
};

typedef struct search {
    const clo_rcpsp *problem;
    clo_budget *budget;
    clo_rng rng;
    clo_rcpsp_builder builder;
    uint32_t size;
    clo_packing population[2][POPULATION_MAX]; /* by direction */
    clo_packing child, sibling;
    clo_packing *best;
    int best_direction;
    int64_t *keys;
} search;

static void note(search *s, int direction, const clo_packing *built)
{
    s->budget->schedules++;
    if (built->makespan_ns >= s->best->makespan_ns)
        return;
    clo_packing_copy(s->problem, s->best, built);
    s->best_direction = direction;
    if (built->makespan_ns < s->budget->best_ns)
        s->budget->best_ns = built->makespan_ns;
}

static void build(search *s, int direction, bool serial, clo_packing *out)
{
    if (serial)
        clo_rcpsp_serial(&s->builder, direction, s->keys, out);
    else
        clo_rcpsp_parallel(&s->builder, direction, s->keys, out);
    note(s, direction, out);
}

/* 0 .. bound - 1 for bounds beyond 32 bits. */
static int64_t random_below(search *s, int64_t bound)
{
    return (int64_t)((clo_u128)clo_rng_next(&s->rng) * (uint64_t)bound >> 64);
}

static const clo_packing *tournament(search *s, int direction)
{
    const clo_packing *a = &s->population[direction][clo_rng_below(&s->rng, s->size)];
    const clo_packing *b = &s->population[direction][clo_rng_below(&s->rng, s->size)];

    return a->makespan_ns <= b->makespan_ns ? a : b;
}

/* Shares in use during [from, to), summed over time. */
static clo_u128 usage(const search *s, const clo_packing *packing, int64_t from, int64_t to)
{
    clo_u128 sum = 0;

    for (uint32_t v = 0; v < s->problem->tasks; v++) {
        int64_t begin = packing->start_ns[v], end = clo_rcpsp_finish_ns(s->problem, packing, v);
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (end > begin)
            sum += (clo_u128)(uint64_t)(end - begin) * s->problem->weight[v];
    }
    return sum;
}

/* A window of a quarter to three quarters of the makespan: of some random places the one where most is in use. */
static void choose_window(search *s, const clo_packing *mother, int64_t *from, int64_t *to)
{
    int64_t span = mother->makespan_ns, length = span / 4 + random_below(s, span / 2 + 1);
    clo_u128 most = 0;

    *from = 0;
    for (int i = 0; i < WINDOWS; i++) {
        int64_t at = random_below(s, span - length + 1);
        clo_u128 used = usage(s, mother, at, at + length);
        if (i == 0 || used > most) {
            most = used;
            *from = at;
        }
    }
    *to = *from + length;
}

/* Moves some times at random, so that the child is new even where the parents are alike. */
static void mutate(search *s, uint32_t per_mille, int64_t span)
{
    int64_t width = (int64_t)((clo_u128)(uint64_t)span * MOVE_WIDTH_Q16 >> 16) + 1;

    for (uint32_t v = 0; v < s->problem->tasks; v++)
        if (clo_rng_below(&s->rng, 1000) < per_mille)
            s->keys[v] += random_below(s, 2 * width) - width;
}

/* Keys of a child for the other direction: a time runs the other way there. */
static void cross(search *s, const clo_packing *mother, const clo_packing *father)
{
    const clo_rcpsp *problem = s->problem;
    int64_t span = mother->makespan_ns, all = span + father->makespan_ns + 1, from, to;
    clo_u128 difference = 0;

    choose_window(s, mother, &from, &to);
    for (uint32_t v = 0; v < problem->tasks; v++) {
        int64_t hers = clo_rcpsp_finish_ns(problem, mother, v), his = clo_rcpsp_finish_ns(problem, father, v);
        difference += (uint64_t)(hers > his ? hers - his : his - hers);
        if (hers < from)
            s->keys[v] = all - his;
        else
            s->keys[v] = hers <= to ? -hers : -his - all;
    }
    assert(problem->tasks > 0);
    bool alike = difference * 1000 < (clo_u128)(uint64_t)span * ALIKE;
    mutate(s, alike ? MOVES_ALIKE : MOVES / problem->tasks, span);
}

/* Both ways of crossing two parents; the shorter child takes the place of its first parent's opposite number. */
static void breed(search *s, int from, uint32_t index)
{
    const clo_packing *mother = &s->population[from][index], *father = tournament(s, from);

    cross(s, mother, father);
    build(s, !from, true, &s->child);
    cross(s, father, mother);
    build(s, !from, true, &s->sibling);
    clo_packing_copy(s->problem, &s->population[!from][index],
                     s->sibling.makespan_ns < s->child.makespan_ns ? &s->sibling : &s->child);
}

/* The shortest of the population; the longest where `worst`. */
static uint32_t extreme(const search *s, int direction, bool worst)
{
    uint32_t at = 0;

    for (uint32_t i = 1; i < s->size; i++) {
        int64_t here = s->population[direction][i].makespan_ns, there = s->population[direction][at].makespan_ns;
        if (worst ? here > there : here < there)
            at = i;
    }
    return at;
}

/* One generation into the other direction. The best of all stays alive there if it was built that way. */
static void generation(search *s, int from, bool keep_best)
{
    for (uint32_t i = 0; i < s->size && !clo_budget_is_spent(s->budget); i++)
        breed(s, from, i);
    if (keep_best && s->best_direction == !from &&
        s->population[!from][extreme(s, !from, false)].makespan_ns > s->best->makespan_ns)
        clo_packing_copy(s->problem, &s->population[!from][extreme(s, !from, true)], s->best);
}

/* The first population: rules, where they have not been tried yet, then samples; each then from the other end. */
static void populate(search *s, bool rules)
{
    for (uint32_t i = 0; i < s->size && (i == 0 || !clo_budget_is_spent(s->budget)); i++) {
        bool by_rule = rules && i < RULES;
        if (by_rule)
            clo_rcpsp_rule(s->problem, i, s->keys);
        else
            clo_rcpsp_sample(s->problem, CLO_RCPSP_FORWARD, NOISE_Q16, &s->rng, s->keys);
        build(s, CLO_RCPSP_FORWARD, !by_rule && i % 2 == 0, &s->population[CLO_RCPSP_FORWARD][i]);
    }
    for (uint32_t i = 0; i < s->size && !clo_budget_is_spent(s->budget); i++) {
        clo_rcpsp_turn(s->problem, &s->population[CLO_RCPSP_FORWARD][i], s->keys);
        build(s, CLO_RCPSP_BACKWARD, true, &s->population[CLO_RCPSP_BACKWARD][i]);
    }
}

static void evolve(search *s)
{
    int direction = CLO_RCPSP_BACKWARD;
    uint64_t since = s->budget->schedules;
    int64_t shortest = INT64_MAX;
    uint32_t rounds_max = s->problem->tasks * 3 / 2 < STAGNATION_MAX ? s->problem->tasks * 3 / 2 : STAGNATION_MAX;
    bool first = true;

    while (!clo_budget_is_spent(s->budget)) { /* every round builds schedules */
        int64_t here = s->population[direction][extreme(s, direction, false)].makespan_ns;
        if (here < shortest) {
            shortest = here;
            since = s->budget->schedules;
        }
        if (s->budget->schedules - since > (uint64_t)s->size * rounds_max) {
            populate(s, false);
            direction = CLO_RCPSP_BACKWARD;
            shortest = INT64_MAX;
            since = s->budget->schedules;
            first = false;
        } else {
            generation(s, direction, first);
            direction = !direction;
        }
    }
}

/* So many that they live to see some generations, as far as the first schedule tells how many there will be. */
static clo_status choose_size(search *s, const int64_t *keys)
{
    uint64_t expected = UINT64_MAX, first = s->budget->schedules;
    int64_t begin = clo_clock_ns();

    memcpy(s->keys, keys, s->problem->tasks * sizeof *keys);
    build(s, CLO_RCPSP_FORWARD, true, &s->child);
    int64_t each = clo_clock_ns() - begin + 1;
    if (s->budget->bound_ns == 0 && clo_budget_bound(s->budget, s->problem->cost, each) != CLO_OK)
        return CLO_ERR_MEMORY;
    begin = clo_clock_ns();
    if (s->budget->schedules_max > 0)
        expected = s->budget->schedules_max - first;
    if (s->budget->end_ns != INT64_MAX) {
        int64_t left = s->budget->end_ns - begin;
        uint64_t by_time = left > 0 ? (uint64_t)(left / each) : 0;
        expected = by_time < expected ? by_time : expected;
        if (left > 4 * REALISE * each)
            s->budget->end_ns -= REALISE * each;
    }
    expected /= GENERATIONS;
    if (expected > (uint64_t)s->problem->tasks * 2 / 3)
        expected = s->problem->tasks * 2 / 3;
    s->size = expected < POPULATION_MIN   ? POPULATION_MIN
              : expected > POPULATION_MAX ? POPULATION_MAX
                                          : (uint32_t)expected;
    return CLO_OK;
}

static clo_status open_search(search *s)
{
    s->keys = clo_allocate(s->problem->tasks, sizeof *s->keys);
    clo_status status = s->keys == NULL ? clo_fail_memory("a plan") : clo_rcpsp_builder_open(&s->builder, s->problem);

    if (status == CLO_OK)
        status = clo_packing_open(&s->child, s->problem);
    if (status == CLO_OK)
        status = clo_packing_open(&s->sibling, s->problem);
    return status;
}

static clo_status open_populations(search *s)
{
    clo_status status = CLO_OK;

    for (int d = 0; d < 2; d++)
        for (uint32_t i = 0; i < s->size && status == CLO_OK; i++)
            status = clo_packing_open(&s->population[d][i], s->problem);
    return status;
}

static void close_search(search *s)
{
    for (int d = 0; d < 2; d++)
        for (uint32_t i = 0; i < POPULATION_MAX; i++)
            clo_packing_close(&s->population[d][i]);
    clo_packing_close(&s->child);
    clo_packing_close(&s->sibling);
    clo_rcpsp_builder_close(&s->builder);
    clo_free(s->keys);
}

clo_status clo_rcpsp_search(const clo_rcpsp *problem, const int64_t *first, clo_budget *budget, clo_packing *out,
                            int *direction)
{
    search s = {.problem = problem, .budget = budget, .rng = clo_rng_seed(budget->config->seed), .best = out};
    assert(problem->tasks > 0);
    clo_status status = open_search(&s);

    if (status == CLO_OK) {
        s.builder.stop_ns = budget->best_ns == INT64_MAX ? INT64_MAX : budget->end_ns;
        status = choose_size(&s, first);
        s.builder.stop_ns = budget->end_ns;
        if (status == CLO_OK && !clo_budget_is_spent(budget))
            status = open_populations(&s);
    }
    if (status == CLO_OK && !clo_budget_is_spent(budget)) {
        populate(&s, true);
        evolve(&s);
    }
    *direction = s.best_direction;
    close_search(&s);
    return status;
}
