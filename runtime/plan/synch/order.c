/* order.c - see order.h. */
#include "plan/synch/order.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/synch_lp/alone.h"
#include "platform/model/platform.h"

#include <assert.h>
#include <stdlib.h>

#define WEIGHT_ONE (INT64_C(1) << 24)

int64_t *clo_synch_job_loads(const clo_synch_scope *scope)
{
    const clo_synch_problem *p = scope->problem;
    int64_t *loads = clo_allocate((size_t)p->jobs * p->bins, sizeof *loads);

    for (uint32_t k = 0; k < p->kinds && loads != NULL; k++) {
        int64_t fastest = clo_synch_time(p, k, clo_synch_fastest(p, k));
        uint32_t places = 0;
        for (uint32_t g = 0; g < p->groups; g++)
            places += clo_synch_time(p, k, g) == fastest;
        for (uint32_t g = 0; g < p->groups; g++)
            for (uint32_t i = p->bin_first[g]; i < p->bin_first[g + 1] && clo_synch_time(p, k, g) == fastest; i++) {
                int64_t *load = &loads[(size_t)p->job_of[k] * p->bins + p->bin_of[i]];
                *load = clo_time_add(*load, clo_synch_load(p, k, g, p->bin_of[i], scope->left[k]) / places);
            }
    }
    return loads;
}

typedef struct keyed {
    int64_t key;
    uint32_t index;
} keyed;

static int by_key(const void *left, const void *right)
{
    const keyed *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

bool clo_synch_order_by(const int64_t *key, uint32_t count, uint32_t *order)
{
    keyed *rows = clo_allocate(count, sizeof *rows);

    for (uint32_t i = 0; i < count && rows != NULL; i++)
        rows[i] = (keyed){key[i], i};
    if (rows != NULL)
        qsort(rows, count, sizeof *rows, by_key);
    for (uint32_t i = 0; i < count && rows != NULL; i++)
        order[i] = rows[i].index;
    clo_free(rows);
    return rows != NULL;
}

typedef struct reverse {
    const clo_synch_problem *p;
    const int64_t *loads;
    int64_t *total;  /* [bins] of the jobs that are left */
    int64_t *weight; /* [jobs] what is left of it, in 1 / WEIGHT_ONE */
    bool *is_placed; /* [jobs] */
} reverse;

static int64_t load_of(const reverse *r, uint32_t job, uint32_t bin)
{
    return r->loads[(size_t)job * r->p->bins + bin];
}

/* Is a's weight per load less than b's? Loads > 0. */
static bool is_lighter(const reverse *r, uint32_t a, uint32_t b, uint32_t bin)
{
    return (clo_u128)r->weight[a] * (clo_u128)load_of(r, b, bin) <
           (clo_u128)r->weight[b] * (clo_u128)load_of(r, a, bin);
}

static uint32_t choose_last(const reverse *r, uint32_t bin)
{
    uint32_t best = CLO_NONE;

    for (uint32_t j = 0; j < r->p->jobs; j++)
        if (!r->is_placed[j] && load_of(r, j, bin) > 0 && (best == CLO_NONE || is_lighter(r, j, best, bin)))
            best = j;
    for (uint32_t j = r->p->jobs; best == CLO_NONE && j > 0; j--)
        if (!r->is_placed[j - 1])
            best = j - 1;
    return best;
}

static void place_last(reverse *r, uint32_t last, uint32_t bin)
{
    int64_t weight = r->weight[last], load = load_of(r, last, bin);

    r->is_placed[last] = true;
    for (uint32_t b = 0; b < r->p->bins; b++)
        r->total[b] -= load_of(r, last, b);
    for (uint32_t j = 0; j < r->p->jobs && load > 0; j++)
        if (!r->is_placed[j]) {
            int64_t less = clo_synch_ratio(weight, load_of(r, j, bin), load);
            r->weight[j] -= less < r->weight[j] ? less : r->weight[j];
        }
}

clo_status clo_synch_reverse_order(const clo_synch_scope *scope, const int64_t *loads, uint32_t *order)
{
    const clo_synch_problem *p = scope->problem;
    reverse r = {.p = p, .loads = loads};
    clo_block block = {0};

    clo_carve(&block, &r.total, p->bins);
    clo_carve(&block, &r.weight, p->jobs);
    clo_carve(&block, &r.is_placed, p->jobs);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("an order of jobs");
    for (uint32_t j = 0; j < p->jobs; j++) {
        r.weight[j] = p->weight[j] * WEIGHT_ONE;
        for (uint32_t b = 0; b < p->bins; b++)
            r.total[b] = clo_time_add(r.total[b], load_of(&r, j, b));
    }
    for (uint32_t place = p->jobs; place > 0; place--) {
        uint32_t bin = 0;
        for (uint32_t b = 1; b < p->bins; b++)
            if (r.total[b] > r.total[bin])
                bin = b;
        order[place - 1] = choose_last(&r, bin);
        place_last(&r, order[place - 1], bin);
    }
    clo_free(memory);
    return CLO_OK;
}

/* LP3, times in units of `unit`. before[a * jobs + b], a < b: column of "a before b". */
typedef struct pairs {
    const clo_synch_scope *scope;
    const int64_t *loads;
    clo_lp *lp;
    uint32_t *completion, *before;
    int64_t unit, weight_most;
} pairs;

static bool is_wanted(const pairs *q, uint32_t job)
{
    const clo_synch_problem *p = q->scope->problem;

    for (uint32_t k = p->kind_first[job]; k < p->kind_first[job + 1]; k++)
        if (q->scope->left[k] > 0)
            return true;
    return false;
}

/* C_j >= its own load + that of the jobs before it, on one bin; here with C_j = alone + what the column holds. */
static void add_pair_row(pairs *q, uint32_t j, uint32_t bin)
{
    const clo_synch_problem *p = q->scope->problem;
    double unit = (double)q->unit,
           side = (double)(q->loads[(size_t)j * p->bins + bin] - clo_synch_alone(q->scope, j, true)) / unit;

    for (uint32_t i = j + 1; i < p->jobs; i++) /* "i before j" is 1 - "j before i" */
        if (q->completion[i] != CLO_NONE)
            side += (double)q->loads[(size_t)i * p->bins + bin] / unit;
    clo_lp_row(q->lp, CLO_LP_AT_LEAST, side);
    clo_lp_entry(q->lp, q->completion[j], 1);
    for (uint32_t i = 0; i < p->jobs; i++) {
        double load = (double)q->loads[(size_t)i * p->bins + bin] / unit;
        if (i == j || q->completion[i] == CLO_NONE || !(load > 0))
            continue;
        clo_lp_entry(q->lp, i < j ? q->before[(size_t)i * p->jobs + j] : q->before[(size_t)j * p->jobs + i],
                     i < j ? -load : load);
    }
}

static void build_pairs(pairs *q)
{
    const clo_synch_problem *p = q->scope->problem;

    q->weight_most = 1;
    for (uint32_t j = 0; j < p->jobs; j++)
        q->weight_most = p->weight[j] > q->weight_most ? p->weight[j] : q->weight_most;
    for (uint32_t j = 0; j < p->jobs; j++) {
        q->completion[j] = CLO_NONE;
        if (is_wanted(q, j))
            q->completion[j] = clo_lp_column(q->lp, 1, 1, (double)p->weight[j] / (double)q->weight_most);
    }
    for (uint32_t j = 0; j < p->jobs; j++)
        for (uint32_t i = 0; i < j; i++)
            if (q->completion[i] != CLO_NONE && q->completion[j] != CLO_NONE)
                q->before[(size_t)i * p->jobs + j] = clo_lp_column(q->lp, 1, 1, 0);
    for (uint32_t b = 0; b < p->bins; b++)
        for (uint32_t j = 0; j < p->jobs; j++)
            if (q->completion[j] != CLO_NONE && q->loads[(size_t)j * p->bins + b] > 0)
                add_pair_row(q, j, b);
}

static clo_status solve_pairs(pairs *q, uint32_t seconds, uint32_t *order, int64_t *bound)
{
    const clo_synch_problem *p = q->scope->problem;
    int64_t constant = 0, *value = clo_allocate(clo_lp_measure(q->lp).columns, sizeof *value);
    int64_t *key = clo_allocate(p->jobs, sizeof *key);
    clo_status status = value == NULL || key == NULL ? clo_fail_memory("LP3") : CLO_OK;

    for (uint32_t j = 0; j < p->jobs; j++)
        if (q->completion[j] != CLO_NONE)
            constant += p->weight[j] * (q->scope->now_ns + clo_synch_alone(q->scope, j, true));
    if (status == CLO_OK)
        status = clo_lp_solve(q->lp, "LP3", seconds, (double)q->unit * (double)q->weight_most, constant, value, bound);
    for (uint32_t j = 0; j < p->jobs && status == CLO_OK; j++)
        if (q->completion[j] != CLO_NONE)
            key[j] = clo_synch_alone(q->scope, j, true) + clo_synch_ratio(value[q->completion[j]], q->unit, CLO_LP_ONE);
    if (status == CLO_OK && !clo_synch_order_by(key, p->jobs, order))
        status = clo_fail_memory("LP3");
    clo_free(value);
    clo_free(key);
    return status;
}

clo_status clo_synch_pair_order(const clo_synch_scope *scope, const int64_t *loads, uint32_t seconds, uint32_t *order,
                                int64_t *bound, clo_lp_size *size)
{
    const clo_synch_problem *p = scope->problem;
    pairs q = {.scope = scope, .loads = loads, .lp = clo_lp_create(), .unit = 1};
    clo_block block = {0};
    clo_status status;

    clo_carve(&block, &q.completion, p->jobs);
    clo_carve(&block, &q.before, (size_t)p->jobs * p->jobs);
    void *memory = clo_block_allocate(&block);
    for (uint32_t b = 0; b < p->bins; b++) {
        int64_t total = 1;
        for (uint32_t j = 0; j < p->jobs; j++)
            total = clo_time_add(total, loads[(size_t)j * p->bins + b]);
        q.unit = total > q.unit ? total : q.unit;
    }
    if (q.lp == NULL || memory == NULL) {
        status = clo_fail_memory("LP3");
    } else {
        build_pairs(&q);
        *size = clo_lp_measure(q.lp);
        status = solve_pairs(&q, seconds, order, bound);
    }
    clo_free(memory);
    clo_lp_destroy(q.lp);
    return status;
}

/* Room of all machines together for a resource; CLO_NONE: the executors. 0: some machine has no limit. */
static int64_t pooled_capacity(const clo_synch_problem *p, uint32_t resource)
{
    int64_t sum = 0;

    if (resource == CLO_NONE)
        return clo_platform_executors(p->platform);
    for (uint32_t i = 0; i < clo_platform_machines(p->platform); i++) {
        int64_t capacity = clo_platform_capacity(p->platform, i, resource);
        if (capacity < 0 || __builtin_add_overflow(sum, capacity, &sum))
            return 0;
    }
    return sum;
}

/* Time for which the job fills the pool, rounded down. */
static int64_t pooled_load(const clo_synch_problem *p, uint32_t job, uint32_t resource, int64_t capacity)
{
    int64_t sum = 0;

    for (uint32_t k = p->kind_first[job]; k < p->kind_first[job + 1]; k++) {
        int64_t time = clo_synch_time(p, k, clo_synch_fastest(p, k)), all;
        int64_t use = resource == CLO_NONE ? 1 : p->demand[(size_t)k * CLO_RESOURCES_MAX + resource];
        if (!__builtin_mul_overflow(time, (int64_t)p->count[k], &all))
            sum = clo_time_add(sum, clo_synch_ratio(all, use, capacity));
    }
    return sum;
}

typedef struct pooled {
    int64_t load, weight;
} pooled;

/* Smith's order: load / weight rises. */
static int by_smith(const void *left, const void *right)
{
    const pooled *a = left, *b = right;
    clo_u128 x = (clo_u128)a->load * (clo_u128)b->weight, y = (clo_u128)b->load * (clo_u128)a->weight;

    return (x > y) - (x < y);
}

/* The bin of a machine; CLO_NONE: it has none. */
static uint32_t bin_of_machine(const clo_synch_problem *p, uint32_t machine, uint32_t resource, uint32_t level)
{
    for (uint32_t b = p->groups; b < p->bins; b++)
        if (p->bin_machine[b] == machine && p->resource[b] == resource && p->level[b] == level)
            return b;
    return CLO_NONE;
}

/* Time for which the job fills the bins of that level of all machines together, wherever its tasks run. */
static int64_t level_load(const clo_synch_problem *p, uint32_t job, uint32_t resource, uint32_t level)
{
    int64_t sum = 0;

    for (uint32_t k = p->kind_first[job]; k < p->kind_first[job + 1]; k++) {
        int64_t least = INT64_MAX;
        for (uint32_t g = 0; g < p->groups && least > 0; g++) {
            uint32_t bin = bin_of_machine(p, p->machine_of[g], resource, level);
            if (clo_synch_time(p, k, g) == CLO_TIME_NEVER)
                continue;
            int64_t load = bin == CLO_NONE ? 0 : clo_synch_load(p, k, g, bin, p->count[k]);
            least = load < least ? load : least;
        }
        sum = clo_time_add(sum, least);
    }
    return sum / clo_platform_machines(p->platform);
}

/* Smith's order on one machine that can do all of it: no schedule has a smaller sum. */
static int64_t smith_sum(pooled *rows, uint32_t count, int64_t first)
{
    int64_t sum = 0, now = first;

    qsort(rows, count, sizeof *rows, by_smith);
    for (uint32_t j = 0; j < count; j++) {
        now += rows[j].load;
        sum += rows[j].weight * now;
    }
    return sum;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool clo_synch_free_bound(const clo_synch_problem *problem, int64_t *bound)
{
    const clo_synch_problem *p = problem;
    pooled *rows = clo_allocate(p->jobs, sizeof *rows);
    clo_synch_scope scope = {p, p->count, 0};
    int64_t first = INT64_MAX, best = 0;

    if (rows == NULL)
        return false;
    for (uint32_t j = 0; j < p->jobs; j++) {
        best += p->weight[j] * clo_synch_alone(&scope, j, true);
        first = p->arrival[j] < first ? p->arrival[j] : first;
    }
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX; r++) {
        uint32_t resource = r < CLO_RESOURCES_MAX ? r : CLO_NONE;
        int64_t capacity = pooled_capacity(p, resource);
        if (capacity == 0)
            continue;
        for (uint32_t j = 0; j < p->jobs; j++)
            rows[j] = (pooled){pooled_load(p, j, resource, capacity), p->weight[j]};
        best = larger(best, smith_sum(rows, p->jobs, first));
        for (uint32_t level = 1; level <= CLO_SYNCH_LEVELS && resource != CLO_NONE; level++) {
            for (uint32_t j = 0; j < p->jobs; j++)
                rows[j] = (pooled){level_load(p, j, resource, level), p->weight[j]};
            best = larger(best, smith_sum(rows, p->jobs, first));
        }
    }
    clo_free(rows);
    *bound = best;
    return true;
}
