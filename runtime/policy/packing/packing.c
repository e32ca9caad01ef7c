/* packing.c - see packing.h. */
#include "policy/packing/packing.h"

#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"
#include "policy/select/share.h"

#include <assert.h>

/* Executors that a stage may be compared on, and free ones like them that are passed over. */
enum { LOOKS = 16, PASSED = 512 };

/* What one resource adds to a fit. */
static int64_t weighted(const clo_candidate *candidate, const clo_cost *cost, uint32_t r, int64_t product_q16)
{
    return candidate->weights_q16 != NULL ? product_q16 * candidate->weights_q16[cost->resource_of[r]] >> 16
                                          : product_q16;
}

/* On a machine: the dot product. */
static int64_t fit_of(const clo_view *view, const clo_cost *cost, const clo_candidate *candidate, uint32_t machine)
{
    const clo_platform *platform = cost->platform;
    const int64_t *demand = clo_graph_demand(cost->graph, candidate->stage);
    int64_t fit_q16 = 65536 * (int64_t)platform->machines_count / platform->executors_count;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = demand[r] > 0 ? clo_cost_capacity(cost, machine, r) : -1;
        if (capacity <= 0)
            continue;
        int64_t left = clo_view_capacity_left(view, machine, cost->resource_of[r]);
        fit_q16 += weighted(candidate, cost, r,
                            (clo_share(demand[r], capacity) >> 16) * (clo_share(left, capacity) >> 16) >> 16);
    }
    return fit_q16 > 0 ? fit_q16 : 1;
}

static bool can_start(const clo_view *view, const clo_cost *cost, uint32_t job, uint32_t stage, uint32_t executor)
{
    return clo_cost_time(cost, stage, executor) != CLO_TIME_NEVER && clo_view_fits(view, job, stage, executor);
}

bool clo_packing_has_room(const clo_view *view, const clo_cost *cost, uint32_t stage, uint32_t machine)
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && clo_cost_capacity(cost, machine, r) >= 0 &&
            clo_view_capacity_left(view, machine, cost->resource_of[r]) < demand[r])
            return false;
    return true;
}

/* Executors of one machine that no task of the job can tell apart. */
static bool are_alike(const clo_cost *cost, uint32_t a, uint32_t b)
{
    return cost->platform->executors[a].machine == cost->platform->executors[b].machine &&
           cost->column_of[a] == cost->column_of[b];
}

/* A part of a fit; above 0, as every fit is. */
static int64_t part_of(int64_t fit_q16, int64_t part_q16)
{
    int64_t part = fit_q16 * part_q16 >> 16;

    return part > 0 ? part : 1;
}

/* The fit where the instance takes longer than it might: a fit for twice the time is worth half. */
static int64_t slowed(int64_t fit_q16, int64_t fastest_ns, int64_t time_ns)
{
    return time_ns <= fastest_ns ? fit_q16 : part_of(fit_q16, clo_share(fastest_ns, time_ns) >> 16);
}

bool clo_packing_place(const clo_view *view, clo_candidate *candidate, int64_t remote_q16)
{
    const clo_live_job *job = clo_view_job(view, candidate->job);
    const clo_platform *platform = job->cost->platform;
    uint32_t looks = 0, passed = 0, full = CLO_NONE; /* full: the machine that had no room last */
    uint32_t seen = CLO_NONE; /* an executor: those of its machine that are like it are no better */
    int64_t fastest_ns = clo_cost_fastest(job->cost, candidate->stage);

    candidate->executor = CLO_NONE;
    candidate->remaining_ns = job->remaining_ns > 0 ? job->remaining_ns : 1;
    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE && looks < LOOKS && passed < PASSED;
         e = clo_view_next_free(view, e)) {
        uint32_t machine = platform->executors[e].machine;
        int64_t time_ns = clo_cost_time(job->cost, candidate->stage, e);
        if (seen != CLO_NONE && are_alike(job->cost, seen, e)) {
            passed++;
            continue;
        }
        if (machine == full || time_ns == CLO_TIME_NEVER)
            continue;
        if ((candidate->is_quiet && !clo_packing_has_room(view, job->cost, candidate->stage, machine)) ||
            !clo_view_fits(view, candidate->job, candidate->stage, e)) {
            if (platform->machines_count == 1)
                break;
            full = machine;
            continue;
        }
        int64_t fit_q16 = slowed(fit_of(view, job->cost, candidate, machine), fastest_ns, time_ns);
        bool is_remote = clo_view_arrival_ns(view, candidate->job, candidate->stage, e) > clo_view_now_ns(view);
        fit_q16 = is_remote ? part_of(fit_q16, remote_q16) : fit_q16;
        if (candidate->executor == CLO_NONE || fit_q16 > candidate->fit_q16) {
            candidate->executor = e;
            candidate->fit_q16 = fit_q16;
        }
        if (platform->machines_count == 1 && !is_remote && time_ns == fastest_ns)
            break;
        seen = is_remote ? seen : e;
        looks++;
    }
    return candidate->executor != CLO_NONE;
}

int64_t clo_packing_bulk(const clo_cost *cost, const clo_candidate *candidate)
{
    const int64_t *demand = clo_graph_demand(cost->graph, candidate->stage);
    uint32_t machine = cost->platform->executors[candidate->executor].machine;
    int64_t bulk_q16 = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = demand[r] > 0 ? clo_cost_capacity(cost, machine, r) : -1;
        if (capacity <= 0) /* also what the platform does not have, and so has no weight */
            continue;
        int64_t part_q16 = clo_share(demand[r], capacity) >> 16;
        bulk_q16 += weighted(candidate, cost, r, part_q16 * part_q16 >> 16);
    }
    return bulk_q16;
}

/* What would be left on the machine, summed over its limited resources that the stage demands. */
static int64_t rest_of(const clo_view *view, const clo_cost *cost, uint32_t stage, uint32_t machine)
{
    const int64_t *demand = clo_graph_demand(cost->graph, stage);
    int64_t rest = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = demand[r] > 0 ? clo_cost_capacity(cost, machine, r) : -1;
        if (capacity > 0) /* in units, so that a small machine is a tight one */
            rest = clo_time_add(rest, clo_view_capacity_left(view, machine, cost->resource_of[r]) - demand[r]);
    }
    return rest;
}

uint32_t clo_packing_best_fit(const clo_view *view, uint32_t job, uint32_t stage)
{
    const clo_cost *cost = clo_view_job(view, job)->cost;
    int64_t least = INT64_MAX;
    uint32_t best = CLO_NONE, machine = CLO_NONE;

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_view_next_free(view, e)) {
        if (cost->platform->executors[e].machine == machine || !can_start(view, cost, job, stage, e))
            continue;
        machine = cost->platform->executors[e].machine;
        int64_t rest = rest_of(view, cost, stage, machine);
        if (best == CLO_NONE || rest < least) {
            least = rest;
            best = e;
        }
    }
    return best;
}

/* remaining / mean in Q16, at most 2^24 times the mean. */
static int64_t ratio_q16(int64_t remaining_ns, int64_t mean_ns)
{
    int bits = 64 - __builtin_clzll((uint64_t)remaining_ns), shift = bits > 46 ? bits - 46 : 0;
    int64_t mean = mean_ns >> shift > 0 ? mean_ns >> shift : 1, ratio = (remaining_ns >> shift) * 65536 / mean;

    return ratio < INT64_C(1) << 40 ? ratio : INT64_C(1) << 40;
}

int64_t clo_packing_mean_ns(const clo_candidate *candidates, uint32_t count)
{
    int64_t mean_ns = 0;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++)
        mean_ns += candidates[i].remaining_ns / count;
    return mean_ns > 0 ? mean_ns : 1;
}

int64_t clo_packing_typical_ns(const clo_candidate *candidates, uint32_t count)
{
    int64_t sum = 0;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++)
        sum += clo_log2_q16((uint64_t)candidates[i].remaining_ns);
    int32_t log2_q16 = (int32_t)(sum / count);
    int32_t most = 47 * 65536; /* beyond, exp2 would not fit */
    uint32_t shift = log2_q16 > most ? 16 : 0;
    int64_t typical_ns =
        (int64_t)(clo_exp2_q16(log2_q16 - (int32_t)shift * 65536 > most ? most : log2_q16 - (int32_t)shift * 65536) >>
                  16);
    return typical_ns > 0 ? typical_ns << shift : 1;
}

uint32_t clo_packing_best(const clo_candidate *candidates, uint32_t count, clo_packing_weight by, uint32_t group)
{
    int64_t fit = 0, best_score = 0;
    uint32_t best = CLO_NONE;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++)
        fit += candidates[i].fit_q16;
    int64_t weight = (fit / count) * by.weight_q16 >> 16; /* below 2^21 * 2^16 */
    for (uint32_t i = 0; i < count; i++) {
        const clo_candidate *c = &candidates[i];
        if (group != CLO_NONE && c->group != group)
            continue;
        int64_t ratio = ratio_q16(c->remaining_ns, by.typical_ns);
        int64_t score = c->fit_q16 * c->priority_q16 - (weight < 1 << 22 ? weight * ratio : INT64_MAX / 2);
        if (best == CLO_NONE || score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* After one stage was refused on a platform of one machine, who waits there is settled: another one that has no room
 * need not ask. */
bool clo_packing_oldest(const clo_view *view, clo_choice *choice)
{
    bool is_settled = false;

    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        const clo_cost *cost = job->cost;
        uint32_t free = clo_view_next_free(view, CLO_NONE);
        if (free == CLO_NONE)
            return false;
        if (job->running + job->committed >= job->limit ||
            (is_settled && !clo_packing_has_room(view, cost, at.stage, cost->platform->executors[free].machine)))
            continue;
        uint32_t executor = clo_view_free_for(view, at.job, at.stage);
        if (executor != CLO_NONE) {
            *choice = (clo_choice){at.job, at.stage, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
        is_settled = cost->platform->machines_count == 1 && clo_cost_time(cost, at.stage, free) != CLO_TIME_NEVER;
    }
    return false;
}
