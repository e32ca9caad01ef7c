/* preempt.c - SynchPack-1, SynchPack-3 and PSRS as lists for list.h.
 *
 * SynchPack-1: the shares of LP1, one part for each task of a kind, in order of interval; stretched by 1/lambda and cut
 * where the task is done. The paper draws lambda with density 2 * lambda; here a few values of it are tried, 1 among
 * them, also the plain order in which LP1 completes the jobs, and the best plan is kept.
 *
 * SynchPack-3: jobs in the order of LP3, or of the reverse rule.
 *
 * PSRS: tasks in Smith's order, weight / load on their fastest group. Waiting of wide tasks: the constant 2.8 of
 * Schwiegelshohn's analysis is read as a factor of the task's time. */
#include "plan/synch/preempt.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/synch/order.h"
#include "platform/model/platform.h"

#include <assert.h>
#include <stdlib.h>

enum { STRETCHES = 4, PAIR_JOBS_MAX = 64 };

typedef struct units {
    uint32_t *kind_of, *index_of; /* [tasks] */
    uint32_t *first;              /* [kinds + 1] */
    void *block;
} units;

static bool units_create(units *u, const clo_synch_problem *p)
{
    clo_block block = {0};
    uint32_t at = 0;

    clo_carve(&block, &u->kind_of, p->tasks);
    clo_carve(&block, &u->index_of, p->tasks);
    clo_carve(&block, &u->first, p->kinds + 1);
    u->block = clo_block_allocate(&block);
    for (uint32_t k = 0; k < p->kinds && u->block != NULL; k++) {
        u->first[k] = at;
        for (uint32_t i = 0; i < p->count[k]; i++) {
            u->kind_of[at] = k;
            u->index_of[at++] = i;
        }
    }
    if (u->block != NULL)
        u->first[p->kinds] = at;
    return u->block != NULL;
}

static int64_t weighted(const clo_synch_problem *p, const clo_synch_runs *runs, int64_t *done)
{
    int64_t sum = 0;

    for (uint32_t j = 0; j < p->jobs; j++)
        done[j] = 0;
    for (size_t i = 0; i < runs->count; i++) {
        int64_t *job = &done[p->job_of[runs->run[i].kind]];
        *job = runs->run[i].finish_ns > *job ? runs->run[i].finish_ns : *job;
    }
    for (uint32_t j = 0; j < p->jobs; j++)
        sum += p->weight[j] * done[j];
    return sum;
}

/* Runs the list and keeps the plan in *best if it is better. The entries are used up. */
static clo_status keep_better(clo_synch_list *list, clo_synch_runs *best)
{
    clo_synch_runs runs = {0};
    int64_t *done = clo_allocate(list->problem->jobs, sizeof *done);
    clo_status status = done == NULL ? clo_fail_memory("a preemptive plan") : clo_synch_list_run(list, &runs);

    if (status == CLO_OK &&
        (best->run == NULL || weighted(list->problem, &runs, done) < weighted(list->problem, best, done))) {
        clo_free(best->run);
        *best = runs;
    } else {
        clo_free(runs.run);
    }
    clo_free(done);
    return status;
}

/* The unit on every group that can run it, the fastest first. */
static void add_everywhere(clo_synch_list *list, uint32_t unit)
{
    const clo_synch_problem *p = list->problem;
    uint32_t kind = list->kind_of[unit], first = (uint32_t)list->count;

    for (uint32_t g = 0; g < p->groups; g++) {
        if (clo_synch_time(p, kind, g) == CLO_TIME_NEVER)
            continue;
        size_t at = list->count++;
        for (; at > first && clo_synch_time(p, kind, list->entries[at - 1].group) > clo_synch_time(p, kind, g); at--)
            list->entries[at] = list->entries[at - 1];
        list->entries[at] = (clo_synch_entry){unit, g, INT64_MAX, 0};
    }
}

static clo_status list_open(clo_synch_list *list, const clo_synch_problem *p, const units *u, size_t entries)
{
    *list = (clo_synch_list){.problem = p, .kind_of = u->kind_of, .index_of = u->index_of};
    list->entries = clo_allocate(entries, sizeof *list->entries);
    return list->entries == NULL ? clo_fail_memory("a preemptive plan") : CLO_OK;
}

/* All units, by an order of jobs (or of kinds). */
static clo_status run_order(const clo_synch_problem *p, const units *u, const uint32_t *order, bool is_psrs,
                            clo_synch_runs *best)
{
    clo_synch_list list;
    clo_status status = list_open(&list, p, u, (size_t)p->tasks * p->groups);

    if (status != CLO_OK)
        return status;
    list.is_psrs = is_psrs;
    for (uint32_t i = 0; i < (is_psrs ? p->kinds : p->jobs); i++) {
        uint32_t first = is_psrs ? order[i] : p->kind_first[order[i]];
        uint32_t end = is_psrs ? first + 1 : p->kind_first[order[i] + 1];
        for (uint32_t unit = u->first[first]; unit < u->first[end]; unit++)
            add_everywhere(&list, unit);
    }
    status = keep_better(&list, best);
    clo_free(list.entries);
    return status;
}

typedef struct ranked {
    clo_synch_entry entry;
    uint32_t interval, rank;
} ranked;

static int by_interval(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->entry.unit != b->entry.unit)
        return a->entry.unit < b->entry.unit ? -1 : 1;
    return (a->entry.group > b->entry.group) - (a->entry.group < b->entry.group);
}

/* Each unit gets an equal part of each share of its kind, stretched by STRETCHES / quarter; the last one is without
 * limit. Returns the number of rows. */
static size_t fill_rows(const clo_synch_problem *p, const units *u, const clo_synch_shares *shares,
                        const uint32_t *rank, int64_t quarter, ranked *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < shares->count; i++) {
        const clo_synch_share *s = &shares->share[i];
        bool is_last = i + 1 == shares->count || s[1].kind != s->kind;
        int64_t time = clo_synch_time(p, s->kind, s->group);
        int64_t part = clo_synch_ratio(s->amount, STRETCHES, quarter * (int64_t)p->count[s->kind]);
        int64_t limit = is_last ? INT64_MAX : clo_time_add(clo_synch_ratio(part, time, CLO_LP_ONE), 1);
        for (uint32_t unit = u->first[s->kind]; unit < u->first[s->kind + 1]; unit++)
            rows[count++] = (ranked){{unit, s->group, limit, 0}, s->interval, rank[p->job_of[s->kind]]};
    }
    return count;
}

static clo_status run_shares(const clo_synch_problem *p, const units *u, const clo_synch_shares *shares,
                             const uint32_t *order, int64_t quarter, clo_synch_runs *best)
{
    clo_synch_list list;
    size_t most = 0;

    for (size_t i = 0; i < shares->count; i++)
        most += p->count[shares->share[i].kind];
    clo_status status = list_open(&list, p, u, most);
    ranked *rows = clo_allocate(most, sizeof *rows);
    uint32_t *rank = clo_allocate(p->jobs, sizeof *rank);
    if (status == CLO_OK && (rows == NULL || rank == NULL))
        status = clo_fail_memory("a preemptive plan");
    if (status == CLO_OK) {
        for (uint32_t i = 0; i < p->jobs; i++)
            rank[order[i]] = i;
        list.count = fill_rows(p, u, shares, rank, quarter, rows);
        qsort(rows, list.count, sizeof *rows, by_interval);
        for (size_t i = 0; i < list.count; i++)
            list.entries[i] = rows[i].entry;
        status = keep_better(&list, best);
    }
    clo_free(rows);
    clo_free(rank);
    clo_free(list.entries);
    return status;
}

/* Where the intervals of an LP end: where a plan without LP does. */
static clo_status find_horizon(const clo_synch_problem *p, int64_t *out)
{
    clo_synch_scope scope = {p, p->count, 0};
    clo_synch_timeline timeline;

    if (!clo_synch_timeline_create(&timeline, p))
        return clo_fail_memory("a plan");
    clo_status status = clo_synch_pack_quickly(&scope, &timeline);
    *out = clo_synch_makespan(&timeline) > 0 ? clo_synch_makespan(&timeline) : 1;
    clo_synch_timeline_destroy(&timeline);
    return status;
}

static clo_status solve_1(const clo_synch_problem *p, const clo_synch_settings *settings, clo_synch_shares *out)
{
    clo_synch_scope scope = {p, p->count, 0};
    clo_synch_lp_config config = {settings->grid_percent, settings->seconds, true, 0};
    clo_status status = find_horizon(p, &config.horizon_ns);

    return status == CLO_OK ? clo_synch_shares_create(&scope, &config, out) : status;
}

clo_status clo_synch_preempt_1(const clo_synch_problem *problem, const clo_synch_settings *settings,
                               clo_synch_runs *runs, clo_synch_found *found)
{
    const clo_synch_problem *p = problem;
    clo_synch_shares shares = {0};
    units u = {0};
    uint32_t *order = clo_allocate(p->jobs, sizeof *order);
    clo_status status = order != NULL && units_create(&u, p) ? CLO_OK : clo_fail_memory("a preemptive plan");

    found->rounds = 1;
    if (status == CLO_OK)
        status = solve_1(p, settings, &shares);
    if (status == CLO_OK && !clo_synch_order_by(shares.completion, p->jobs, order))
        status = clo_fail_memory("a preemptive plan");
    for (int64_t quarter = 1; quarter <= STRETCHES && status == CLO_OK; quarter++)
        status = run_shares(p, &u, &shares, order, quarter, runs);
    if (status == CLO_OK)
        status = run_order(p, &u, order, false, runs);
    found->bound = shares.bound;
    found->size = shares.size;
    clo_synch_shares_destroy(&shares);
    clo_free(u.block);
    clo_free(order);
    return status;
}

static clo_status check_bound_to_machines(const clo_synch_problem *p)
{
    for (uint32_t k = 0; k < p->kinds; k++) {
        uint32_t machine = p->machine_of[clo_synch_fastest(p, k)];
        for (uint32_t g = 0; g < p->groups; g++)
            if (clo_synch_time(p, k, g) != CLO_TIME_NEVER && p->machine_of[g] != machine)
                return clo_fail(CLO_ERR_PLATFORM,
                                "synchpack-3: job %u \"%s\" has tasks that may run on machines %u and %u; bind them to "
                                "one, or take synchpack-2",
                                p->job_of[k], clo_workload_get(p->workload, p->job_of[k])->name, machine,
                                p->machine_of[g]);
    }
    return CLO_OK;
}

/* LP3 is quadratic in jobs: beyond PAIR_JOBS_MAX it orders nothing, and LP1 gives the bound. */
static clo_status order_3(const clo_synch_problem *p, const clo_synch_settings *settings, uint32_t *order,
                          clo_synch_found *found)
{
    clo_synch_scope scope = {p, p->count, 0};
    int64_t *loads = clo_synch_job_loads(&scope);
    clo_status status = loads == NULL ? clo_fail_memory("a preemptive plan") : CLO_OK;

    if (status == CLO_OK && settings->has_lp && p->jobs <= PAIR_JOBS_MAX)
        status = clo_synch_pair_order(&scope, loads, settings->seconds, order, &found->bound, &found->size);
    else if (status == CLO_OK)
        status = clo_synch_reverse_order(&scope, loads, order);
    clo_free(loads);
    return status;
}

static clo_status bound_3(const clo_synch_problem *p, const clo_synch_settings *settings, const units *u,
                          uint32_t *order, clo_synch_runs *runs, clo_synch_found *found)
{
    clo_synch_shares shares = {0};
    clo_status status = solve_1(p, settings, &shares);

    if (status == CLO_OK && p->jobs > PAIR_JOBS_MAX) {
        status = clo_synch_order_by(shares.completion, p->jobs, order) ? CLO_OK : clo_fail_memory("a preemptive plan");
        if (status == CLO_OK)
            status = run_order(p, u, order, false, runs);
    }
    found->bound = shares.bound > found->bound ? shares.bound : found->bound;
    if (shares.size.elements > found->size.elements)
        found->size = shares.size;
    clo_synch_shares_destroy(&shares);
    return status;
}

clo_status clo_synch_preempt_3(const clo_synch_problem *problem, const clo_synch_settings *settings,
                               clo_synch_runs *runs, clo_synch_found *found)
{
    const clo_synch_problem *p = problem;
    units u = {0};
    uint32_t *order = clo_allocate(p->jobs, sizeof *order);
    clo_status status = order != NULL && units_create(&u, p) ? CLO_OK : clo_fail_memory("a preemptive plan");

    found->rounds = 1;
    if (status == CLO_OK)
        status = check_bound_to_machines(p);
    if (status == CLO_OK)
        status = order_3(p, settings, order, found);
    if (status == CLO_OK)
        status = run_order(p, &u, order, false, runs);
    if (status == CLO_OK && settings->has_lp)
        status = bound_3(p, settings, &u, order, runs, found);
    if (status == CLO_OK && settings->has_lp && settings->has_free) {
        const clo_synch_settings alone = {.has_lp = false};
        status = order_3(p, &alone, order, found);
        if (status == CLO_OK)
            status = run_order(p, &u, order, false, runs);
    }
    clo_free(u.block);
    clo_free(order);
    return status;
}

typedef struct smith {
    uint32_t kind;
    int64_t load, weight;
} smith;

static int by_smith(const void *left, const void *right)
{
    const smith *a = left, *b = right;
    clo_u128 x = (clo_u128)a->load * (clo_u128)b->weight, y = (clo_u128)b->load * (clo_u128)a->weight;

    if (x != y)
        return x < y ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

clo_status clo_synch_psrs(const clo_synch_problem *problem, clo_synch_runs *runs)
{
    const clo_synch_problem *p = problem;
    units u = {0};
    uint32_t *order = clo_allocate(p->kinds, sizeof *order);
    smith *rows = clo_allocate(p->kinds, sizeof *rows);
    clo_status status =
        order != NULL && rows != NULL && units_create(&u, p) ? CLO_OK : clo_fail_memory("a preemptive plan");

    if (status == CLO_OK) {
        for (uint32_t k = 0; k < p->kinds; k++)
            rows[k] = (smith){k, clo_synch_plain_load(p, k, clo_synch_fastest(p, k)), p->weight[p->job_of[k]]};
        qsort(rows, p->kinds, sizeof *rows, by_smith);
        for (uint32_t k = 0; k < p->kinds; k++)
            order[k] = rows[k].kind;
        status = run_order(p, &u, order, true, runs);
    }
    clo_free(u.block);
    clo_free(rows);
    clo_free(order);
    return status;
}
