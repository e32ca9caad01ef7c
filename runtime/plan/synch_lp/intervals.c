/* intervals.c - LP1 (preemptive) and LP2 of SynchPack, in another but equal form.
 *
 *   z[k][g][l]  share of kind k that is done on group g in interval l   (one column for all tasks of a kind)
 *   Z[k][l]     share of kind k that is done by the end of interval l   Z[l] = Z[l-1] + sum of z[l]
 *   X[j][l]     share of job j that is done by then                     X[j][l] <= Z[k][l] for its kinds
 *   V[b][l]     load of bin b by then, at most the end of l             V[l] = V[l-1] + sum of load * z[l]
 *   P[k][l]     LP1: time of one task by then, at most the end of l, where that can bind
 *   M[k]        mean time at which the kind's work is done
 *   C[j]        completion of job j, less its floor: what it takes alone (alone.h)
 *
 * C is at least what each interval adds for the share X of the job that is not done by its end; and at least the mean
 * M of any of its kinds, or of all, plus half the span of these: no job does its work faster than all machines
 * together can, so it ends later than half of it is done. The first row is the paper's; with it alone, a job that
 * fills all machines counts with half of its time.
 *
 * The cumulative columns keep the non-zeros linear in the number of intervals. Deviations from the paper: the ratio of
 * the intervals is free; a job that completes in interval l counts with the later of that interval's begin and its
 * floor (the paper: the begin); the rows of M; arrivals; several resources. The last interval has no end
 * and no limit, so that the LP is a relaxation whatever the horizon. In LP2 a task that takes longer than from its
 * arrival to an interval's end cannot be in it. */
#include "plan/synch_lp/intervals.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/synch_lp/alone.h"

#include <assert.h>

enum { COLUMNS_WANTED = 15000 };

typedef struct builder {
    const clo_synch_scope *scope;
    const clo_synch_problem *p;
    const clo_synch_lp_config *config;
    clo_synch_intervals *in;
    clo_lp *lp;
    int64_t *floor;  /* [jobs] from now */
    uint32_t *z;     /* [kinds * groups * intervals] column; CLO_NONE */
    uint32_t *whole; /* [kinds * intervals] Z */
    uint32_t *done;  /* [jobs * intervals] X */
    uint32_t *mean;  /* [kinds] M */
    uint32_t *late;  /* [jobs] C; CLO_NONE: nothing is left of the job */
    int64_t weight_most, constant;
    size_t shares;
} builder;

static bool is_wanted(const builder *b, uint32_t kind)
{
    return b->scope->left[kind] > 0;
}

static int64_t release_from_now(const builder *b, uint32_t kind)
{
    return clo_synch_release(b->scope, kind) - b->scope->now_ns;
}

static size_t z_index(const builder *b, uint32_t k, uint32_t g, uint32_t l)
{
    return ((size_t)k * b->p->groups + g) * b->in->count + l;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The floors; returns the smallest time of all jobs that their longest tasks take alone. */
static int64_t find_floors(builder *b)
{
    int64_t smallest = INT64_MAX;

    for (uint32_t j = 0; j < b->p->jobs; j++) {
        int64_t longest = 0;
        for (uint32_t k = b->p->kind_first[j]; k < b->p->kind_first[j + 1]; k++)
            if (is_wanted(b, k))
                longest = later(longest, release_from_now(b, k) + clo_synch_time(b->p, k, clo_synch_fastest(b->p, k)));
        b->floor[j] = clo_synch_alone(b->scope, j, b->config->is_preemptive);
        if (longest > 0 && longest < smallest)
            smallest = longest;
    }
    return smallest == INT64_MAX ? 1 : smallest;
}

static void fill_intervals(clo_synch_intervals *in, int64_t first, int64_t horizon, uint32_t percent)
{
    in->count = 0;
    for (int64_t end = first > 0 ? first : 1; in->count < CLO_SYNCH_INTERVALS_MAX;) {
        in->end[in->count++] = end;
        if (end >= horizon)
            return;
        int64_t next = end + clo_synch_ratio(end, percent, 100);
        end = next > end ? next : end + 1;
    }
}

/* The smallest ratio that keeps the LP small, or the one that was asked for. */
static void choose_intervals(builder *b)
{
    static const uint32_t percents[] = {10, 15, 20, 25, 35, 50, 70, 100};
    int64_t first = find_floors(b);
    uint64_t pairs = 0;

    for (uint32_t k = 0; k < b->p->kinds; k++)
        for (uint32_t g = 0; g < b->p->groups; g++)
            pairs += is_wanted(b, k) && clo_synch_time(b->p, k, g) != CLO_TIME_NEVER;
    if (b->config->grid_percent > 0) {
        fill_intervals(b->in, first, b->config->horizon_ns, b->config->grid_percent);
        return;
    }
    for (uint32_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        fill_intervals(b->in, first, b->config->horizon_ns, percents[i]);
        if (b->in->count * pairs <= COLUMNS_WANTED && b->in->end[b->in->count - 1] >= b->config->horizon_ns)
            return;
    }
}

/* May a task of the kind end on the group by the end of interval l? */
static bool is_open(const builder *b, uint32_t k, uint32_t g, uint32_t l)
{
    int64_t time = clo_synch_time(b->p, k, g), end = b->in->end[l] - release_from_now(b, k);

    if (time == CLO_TIME_NEVER)
        return false;
    return b->config->is_preemptive ? end > 0 : end >= time;
}

static int64_t horizon_ns(const builder *b)
{
    return b->in->end[b->in->count - 1];
}

static double horizon(const builder *b)
{
    return (double)horizon_ns(b);
}

static void add_kind(builder *b, uint32_t k)
{
    uint32_t count = b->in->count;

    for (uint32_t l = 0; l < count; l++) {
        b->whole[(size_t)k * count + l] = clo_lp_column(b->lp, 1, 1, 0);
        for (uint32_t g = 0; g < b->p->groups; g++)
            if (is_open(b, k, g, l)) {
                b->z[z_index(b, k, g, l)] = clo_lp_column(b->lp, 1, 1, 0);
                b->shares++;
            }
        clo_lp_row(b->lp, CLO_LP_EQUAL, 0);
        clo_lp_entry(b->lp, b->whole[(size_t)k * count + l], 1);
        if (l > 0)
            clo_lp_entry(b->lp, b->whole[(size_t)k * count + l - 1], -1);
        for (uint32_t g = 0; g < b->p->groups; g++)
            if (b->z[z_index(b, k, g, l)] != CLO_NONE)
                clo_lp_entry(b->lp, b->z[z_index(b, k, g, l)], -1);
    }
}

/* LP1: no task runs for longer than there is time. */
static void add_times(builder *b, uint32_t k)
{
    int64_t longest = 0;
    uint32_t before = CLO_NONE;

    for (uint32_t g = 0; g < b->p->groups; g++)
        if (clo_synch_time(b->p, k, g) != CLO_TIME_NEVER && clo_synch_time(b->p, k, g) > longest)
            longest = clo_synch_time(b->p, k, g);
    for (uint32_t l = 0; l < b->in->count && b->in->end[l] - release_from_now(b, k) < longest; l++) {
        int64_t rest = b->in->end[l] - release_from_now(b, k);
        uint32_t p = clo_lp_column(b->lp, rest > 0 ? rest : 0, b->in->end[b->in->count - 1], 0);
        clo_lp_row(b->lp, CLO_LP_EQUAL, 0);
        clo_lp_entry(b->lp, p, 1);
        if (before != CLO_NONE)
            clo_lp_entry(b->lp, before, -1);
        for (uint32_t g = 0; g < b->p->groups; g++)
            if (b->z[z_index(b, k, g, l)] != CLO_NONE)
                clo_lp_entry(b->lp, b->z[z_index(b, k, g, l)], -(double)clo_synch_time(b->p, k, g) / horizon(b));
        before = p;
    }
}

/* When a task that is done on the group in interval l is half done, at least; twice that. */
static int64_t middle_twice(const builder *b, uint32_t k, uint32_t g, uint32_t l)
{
    int64_t begin = l > 0 ? b->in->end[l - 1] : 0, release = release_from_now(b, k), time = clo_synch_time(b->p, k, g);

    return b->config->is_preemptive ? 2 * later(begin, release) : 2 * later(begin, release + time) - time;
}

/* M, of tasks that are done behind the last interval, too. Returns the latest it can be. */
static int64_t add_mean(builder *b, uint32_t k)
{
    uint32_t count = b->in->count;
    int64_t last = INT64_MAX, most = 0;

    for (uint32_t g = 0; g < b->p->groups; g++) {
        if (clo_synch_time(b->p, k, g) == CLO_TIME_NEVER)
            continue;
        int64_t middle = middle_twice(b, k, g, count);
        last = middle < last ? middle : last;
        most = later(most, middle);
    }
    b->mean[k] = clo_lp_column(b->lp, most / 2 + 1, horizon_ns(b), 0);
    clo_lp_row(b->lp, CLO_LP_AT_LEAST, (double)last / 2 / horizon(b));
    clo_lp_entry(b->lp, b->mean[k], 1);
    clo_lp_entry(b->lp, b->whole[(size_t)k * count + count - 1], (double)last / 2 / horizon(b));
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t g = 0; g < b->p->groups; g++)
            if (b->z[z_index(b, k, g, l)] != CLO_NONE)
                clo_lp_entry(b->lp, b->z[z_index(b, k, g, l)], -(double)middle_twice(b, k, g, l) / 2 / horizon(b));
    return most / 2 + 1;
}

/* The work of what is left of the kind. */
static double work_of(const builder *b, uint32_t k, uint32_t resource)
{
    double time = (double)clo_synch_time(b->p, k, clo_synch_fastest(b->p, k)) * (double)b->scope->left[k];

    return resource == CLO_NONE ? time : time * (double)b->p->demand[(size_t)k * CLO_RESOURCES_MAX + resource];
}

/* C is at least the mean of these kinds of the job, and half their span. */
static void add_span(builder *b, uint32_t j, uint32_t first, uint32_t end, uint32_t resource)
{
    int64_t span = clo_synch_span(b->scope, first, end, resource);
    double all = 0;

    for (uint32_t k = first; k < end; k++)
        all += is_wanted(b, k) ? work_of(b, k, resource) : 0;
    if (span == 0 || !(all > 0))
        return;
    int64_t side = span / 2 - b->floor[j];
    clo_lp_row(b->lp, CLO_LP_AT_LEAST, (double)side / horizon(b));
    clo_lp_entry(b->lp, b->late[j], 1);
    for (uint32_t k = first; k < end; k++)
        if (is_wanted(b, k) && work_of(b, k, resource) > 0)
            clo_lp_entry(b->lp, b->mean[k], -work_of(b, k, resource) / all);
}

/* C is at least what each interval adds for the share that is not done by its end. */
static void add_done(builder *b, uint32_t j)
{
    const clo_synch_problem *p = b->p;
    uint32_t count = b->in->count, *done = &b->done[(size_t)j * count];

    for (uint32_t l = 0; l < count; l++) {
        done[l] = clo_lp_column(b->lp, 1, 1, 0);
        for (uint32_t k = p->kind_first[j]; k < p->kind_first[j + 1]; k++)
            if (is_wanted(b, k)) {
                clo_lp_row(b->lp, CLO_LP_AT_LEAST, 0);
                clo_lp_entry(b->lp, b->whole[(size_t)k * count + l], 1);
                clo_lp_entry(b->lp, done[l], -1);
            }
    }
    clo_lp_row(b->lp, CLO_LP_AT_LEAST, (double)(later(horizon_ns(b), b->floor[j]) - b->floor[j]) / horizon(b));
    clo_lp_entry(b->lp, b->late[j], 1);
    for (uint32_t l = 0; l < count; l++) {
        int64_t step = later(b->in->end[l], b->floor[j]) - later(l > 0 ? b->in->end[l - 1] : 0, b->floor[j]);
        if (step > 0)
            clo_lp_entry(b->lp, done[l], (double)step / horizon(b));
    }
}

/* C may be as late as any of its rows asks for: no plan is cut off. */
static void add_job(builder *b, uint32_t j)
{
    const clo_synch_problem *p = b->p;
    uint32_t kinds = 0, first = p->kind_first[j], end = p->kind_first[j + 1];
    int64_t most = horizon_ns(b);

    for (uint32_t k = first; k < end; k++)
        if (is_wanted(b, k)) {
            most = later(most, add_mean(b, k));
            kinds++;
        }
    b->late[j] = CLO_NONE;
    if (kinds == 0)
        return;
    b->late[j] = clo_lp_column(b->lp, most, horizon_ns(b), (double)p->weight[j] / (double)b->weight_most);
    b->constant += p->weight[j] * (b->scope->now_ns + b->floor[j]);
    add_done(b, j);
    for (uint32_t k = first; k < end; k++)
        if (is_wanted(b, k))
            add_span(b, j, k, k + 1, CLO_NONE);
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX && kinds > 1; r++)
        add_span(b, j, first, end, r < CLO_RESOURCES_MAX ? r : CLO_NONE);
}

static bool is_on(const clo_synch_problem *p, uint32_t group, uint32_t bin)
{
    return bin < p->groups ? bin == group : p->bin_machine[bin] == p->machine_of[group];
}

static void add_bin_load(builder *b, uint32_t bin, uint32_t l)
{
    const clo_synch_problem *p = b->p;

    for (uint32_t k = 0; k < p->kinds; k++)
        for (uint32_t g = 0; g < p->groups; g++)
            if (is_wanted(b, k) && is_on(p, g, bin) && clo_synch_use(p, k, bin) > 0 &&
                b->z[z_index(b, k, g, l)] != CLO_NONE)
                clo_lp_entry(b->lp, b->z[z_index(b, k, g, l)],
                             -(double)clo_synch_time(p, k, g) / horizon(b) * (double)b->scope->left[k] *
                                 (double)clo_synch_use(p, k, bin) / (double)p->capacity[bin]);
}

static void add_bin(builder *b, uint32_t bin)
{
    uint32_t before = CLO_NONE;

    for (uint32_t l = 0; l < b->in->count; l++) {
        uint32_t v = clo_lp_column(b->lp, b->in->end[l], b->in->end[b->in->count - 1], 0);
        clo_lp_row(b->lp, CLO_LP_EQUAL, 0);
        clo_lp_entry(b->lp, v, 1);
        if (before != CLO_NONE)
            clo_lp_entry(b->lp, before, -1);
        add_bin_load(b, bin, l);
        before = v;
    }
}

static void build(builder *b)
{
    const clo_synch_problem *p = b->p;

    b->weight_most = 1;
    for (uint32_t j = 0; j < p->jobs; j++)
        b->weight_most = later(b->weight_most, p->weight[j]);
    for (uint32_t k = 0; k < p->kinds; k++)
        if (is_wanted(b, k)) {
            add_kind(b, k);
            if (b->config->is_preemptive)
                add_times(b, k);
        }
    for (uint32_t j = 0; j < p->jobs; j++)
        add_job(b, j);
    for (uint32_t bin = 0; bin < p->bins; bin++)
        add_bin(b, bin);
}

/* Adds a share; those of a kind never sum up to more than its tasks. Returns what it adds. */
static int64_t add_share(clo_synch_shares *out, clo_synch_share share, int64_t rest)
{
    share.amount = share.amount < rest ? share.amount : rest;
    if (share.amount > 0)
        out->share[out->count++] = share;
    return share.amount;
}

/* A share below 2^-20 of the kind is the solver's noise. What is left goes to the fastest group, behind the last
 * interval or, where it is as small, to the largest share. */
static void read_shares(const builder *b, const int64_t *value, clo_synch_shares *out)
{
    const clo_synch_problem *p = b->p;

    for (uint32_t k = 0; k < p->kinds; k++) {
        int64_t rest = (int64_t)b->scope->left[k] * CLO_LP_ONE;
        size_t first = out->count, largest = out->count;
        for (uint32_t l = 0; l < b->in->count && rest > 0; l++)
            for (uint32_t g = 0; g < p->groups; g++) {
                uint32_t column = b->z[z_index(b, k, g, l)];
                int64_t part = column != CLO_NONE && is_wanted(b, k) ? value[column] : 0;
                if (part >= CLO_LP_ONE >> 20)
                    rest -= add_share(out, (clo_synch_share){k, g, l, part * b->scope->left[k]}, rest);
            }
        for (size_t i = first; i < out->count; i++)
            if (out->share[i].amount > out->share[largest].amount)
                largest = i;
        if (out->count > first && rest <= ((int64_t)b->scope->left[k] * CLO_LP_ONE) >> 10)
            out->share[largest].amount += rest;
        else
            (void)add_share(out, (clo_synch_share){k, clo_synch_fastest(p, k), b->in->count, rest}, rest);
    }
}

static void read_completions(const builder *b, const int64_t *value, clo_synch_shares *out)
{
    for (uint32_t j = 0; j < b->p->jobs; j++) {
        int64_t late = b->late[j] != CLO_NONE ? value[b->late[j]] : 0;
        out->completion[j] = clo_time_add(b->floor[j], clo_synch_ratio(late, horizon_ns(b), CLO_LP_ONE));
    }
}

static clo_status solve(builder *b, clo_synch_shares *out)
{
    out->size = clo_lp_measure(b->lp);
    int64_t *value = clo_allocate(out->size.columns, sizeof *value);
    out->share = clo_allocate(b->shares + b->p->kinds, sizeof *out->share);
    out->completion = clo_allocate(b->p->jobs, sizeof *out->completion);
    clo_status status =
        value == NULL || out->share == NULL || out->completion == NULL ? clo_fail_memory("an LP") : CLO_OK;
    if (status == CLO_OK)
        status = clo_lp_solve(b->lp, b->config->is_preemptive ? "LP1" : "LP2", b->config->seconds,
                              horizon(b) * (double)b->weight_most, b->constant, value, &out->bound);
    if (status == CLO_OK) {
        read_shares(b, value, out);
        read_completions(b, value, out);
    }
    clo_free(value);
    return status;
}

clo_status clo_synch_shares_create(const clo_synch_scope *scope, const clo_synch_lp_config *config,
                                   clo_synch_shares *out)
{
    const clo_synch_problem *p = scope->problem;
    clo_synch_shares made = {0};
    builder b = {.scope = scope, .p = p, .config = config, .in = &made.intervals};
    clo_block block = {0};
    clo_status status = CLO_OK;

    b.floor = clo_allocate(p->jobs, sizeof *b.floor);
    b.lp = clo_lp_create();
    if (b.floor != NULL)
        choose_intervals(&b);
    size_t rows = made.intervals.count;
    clo_carve(&block, &b.z, (size_t)p->kinds * p->groups * rows);
    clo_carve(&block, &b.whole, p->kinds * rows);
    clo_carve(&block, &b.done, p->jobs * rows);
    clo_carve(&block, &b.mean, p->kinds);
    clo_carve(&block, &b.late, p->jobs);
    void *memory = clo_block_allocate(&block);
    if (b.floor == NULL || b.lp == NULL || memory == NULL) {
        status = clo_fail_memory("an LP");
    } else {
        for (size_t i = 0; i < (size_t)p->kinds * p->groups * rows; i++)
            b.z[i] = CLO_NONE;
        for (size_t i = 0; i < p->jobs * rows; i++)
            b.done[i] = CLO_NONE;
        build(&b);
        status = solve(&b, &made);
    }
    clo_free(memory);
    clo_free(b.floor);
    clo_lp_destroy(b.lp);
    if (status == CLO_OK)
        *out = made;
    else
        clo_synch_shares_destroy(&made);
    return status;
}

void clo_synch_shares_destroy(clo_synch_shares *shares)
{
    clo_free(shares->share);
    clo_free(shares->completion);
    shares->share = NULL;
    shares->completion = NULL;
}
