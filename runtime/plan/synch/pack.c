/* pack.c - SynchPack-2, offline and online.
 *
 * With LP: LP2, its shares rounded to a group and an interval for each task, then tasks placed in order of interval,
 * inside an interval in the order in which the LP completes the jobs. Without: the reverse rule orders the jobs, and
 * each task gets the earliest interval in which a group has room for its load; then the same.
 *
 * Placing is an insertion: each task starts as early as it fits beside those placed before. The paper packs interval by
 * interval and shifts back. Both forms are also tried with each job's tasks on whatever group ends them first, in the
 * form's order of jobs and in orders that a local search finds from it; the form without LP also with the plan of the
 * packing score (greedy.h). The best plan is kept; so the proof of 24 does not carry over word by word, and the
 * property test measures. */
#include "plan/synch/pack.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/synch/greedy.h"
#include "plan/synch/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_PERCENT_FREE = 25, TRIALS_PER_JOB = 8, TRIALS_MAX = 512, TRIED_TASKS_MAX = 1 << 20 };

int64_t clo_synch_makespan(const clo_synch_timeline *timeline)
{
    int64_t last = 0;

    for (size_t i = 0; i < timeline->count; i++) {
        const clo_synch_batch *b = &timeline->batches[i];
        int64_t finish = b->start_ns + clo_synch_time(timeline->problem, b->kind, b->group);
        last = finish > last ? finish : last;
    }
    return last;
}

/* Places `count` tasks of the kind on the group, each as early as it fits. */
static void insert_on(const clo_synch_scope *scope, clo_synch_timeline *timeline, uint32_t kind, uint32_t group,
                      uint32_t count)
{
    int64_t from = clo_synch_release(scope, kind);

    while (count > 0 && !timeline->has_failed) { /* falls */
        uint32_t together;
        from = clo_synch_timeline_find(timeline, kind, group, from, count, &together);
        clo_synch_timeline_place(timeline, (clo_synch_batch){kind, group, together, from});
        count -= together;
    }
}

/* Places all tasks of the kind, each where it ends first. `from` [groups] is written. */
static void insert_anywhere(const clo_synch_scope *scope, clo_synch_timeline *timeline, uint32_t kind, int64_t *from)
{
    const clo_synch_problem *p = scope->problem;
    uint32_t count = scope->left[kind];

    for (uint32_t g = 0; g < p->groups; g++)
        from[g] = clo_synch_release(scope, kind);
    while (count > 0 && !timeline->has_failed) { /* falls */
        uint32_t best = CLO_NONE, together = 0;
        int64_t earliest = INT64_MAX;
        for (uint32_t g = 0; g < p->groups; g++) {
            uint32_t fit = 0;
            if (clo_synch_time(p, kind, g) == CLO_TIME_NEVER || from[g] + clo_synch_time(p, kind, g) >= earliest)
                continue;
            from[g] = clo_synch_timeline_find(timeline, kind, g, from[g], count, &fit);
            if (from[g] + clo_synch_time(p, kind, g) < earliest) {
                earliest = from[g] + clo_synch_time(p, kind, g);
                best = g;
                together = fit;
            }
        }
        assert(best != CLO_NONE);
        clo_synch_timeline_place(timeline, (clo_synch_batch){kind, best, together, from[best]});
        count -= together;
    }
}

/* Room for one plan of a scope. */
typedef struct packer {
    const clo_synch_scope *scope;
    const clo_synch_problem *p;
    uint32_t *order, *kinds; /* [jobs], [kinds] */
    int64_t *key, *from, *done;
    clo_synch_timeline *best; /* of all plans so far; NULL problem: none */
    const clo_synch_timeline *base;
    int64_t weighted, last; /* sums of the best plan, and of the last one that was offered */
    bool is_quick;          /* orders are not improved */
} packer;

/* Keeps the plan if it is the best; else it is destroyed. */
static clo_status offer(packer *a, clo_synch_timeline *plan)
{
    if (plan->has_failed) {
        clo_synch_timeline_destroy(plan);
        return clo_fail_memory("a plan");
    }
    int64_t weighted = clo_synch_timeline_weighted(plan, a->done);
    a->last = weighted;
    if (a->best->problem != NULL && weighted >= a->weighted) {
        clo_synch_timeline_destroy(plan);
        return CLO_OK;
    }
    clo_synch_timeline_destroy(a->best);
    *a->best = *plan;
    a->weighted = weighted;
    return CLO_OK;
}

/* Jobs in order, their longest kinds first, each task where it ends first. */
static clo_status try_order(packer *a, const uint32_t *order)
{
    const clo_synch_problem *p = a->p;
    clo_synch_timeline plan;

    if (!clo_synch_timeline_keep(&plan, a->base, INT64_MAX))
        return clo_fail_memory("a plan");
    for (uint32_t i = 0; i < p->jobs; i++) {
        uint32_t first = p->kind_first[order[i]], kinds = p->kind_first[order[i] + 1] - first;
        for (uint32_t k = 0; k < kinds; k++)
            a->key[k] = -clo_synch_time(p, first + k, clo_synch_fastest(p, first + k));
        if (!clo_synch_order_by(a->key, kinds, a->kinds))
            plan.has_failed = true;
        for (uint32_t k = 0; k < kinds && !plan.has_failed; k++)
            insert_anywhere(a->scope, &plan, first + a->kinds[k], a->from);
    }
    return offer(a, &plan);
}

typedef struct placed_share {
    clo_synch_share share;
    uint32_t rank; /* of its job */
    int64_t time;
} placed_share;

static int by_interval(const void *left, const void *right)
{
    const placed_share *a = left, *b = right;

    if (a->share.interval != b->share.interval)
        return a->share.interval < b->share.interval ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    if (a->share.kind != b->share.kind)
        return a->share.kind < b->share.kind ? -1 : 1;
    return (a->share.group > b->share.group) - (a->share.group < b->share.group);
}

/* Whole tasks with a group and an interval each, in that order. */
static clo_status try_assigned(packer *a, const clo_synch_share *shares, size_t count, const uint32_t *order)
{
    placed_share *rows = clo_allocate(count, sizeof *rows);
    uint32_t *rank = clo_allocate(a->p->jobs, sizeof *rank);
    clo_synch_timeline plan;

    if (rows == NULL || rank == NULL || !clo_synch_timeline_keep(&plan, a->base, INT64_MAX)) {
        clo_free(rows);
        clo_free(rank);
        return clo_fail_memory("a plan");
    }
    for (uint32_t i = 0; i < a->p->jobs; i++)
        rank[order[i]] = i;
    for (size_t i = 0; i < count; i++)
        rows[i] = (placed_share){shares[i], rank[a->p->job_of[shares[i].kind]],
                                 clo_synch_time(a->p, shares[i].kind, shares[i].group)};
    qsort(rows, count, sizeof *rows, by_interval);
    for (size_t i = 0; i < count; i++)
        insert_on(a->scope, &plan, rows[i].share.kind, rows[i].share.group, (uint32_t)rows[i].share.amount);
    clo_free(rows);
    clo_free(rank);
    return offer(a, &plan);
}

/* Intervals with the load that every bin has by the end of each. */
typedef struct ledger {
    clo_synch_intervals in;
    int64_t *load; /* [bins * CLO_SYNCH_INTERVALS_MAX] */
} ledger;

static void open_ledger(ledger *l, const clo_synch_scope *scope)
{
    const clo_synch_problem *p = scope->problem;
    int64_t end = INT64_MAX;

    for (uint32_t k = 0; k < p->kinds; k++) {
        int64_t alone = clo_synch_release(scope, k) - scope->now_ns + clo_synch_time(p, k, clo_synch_fastest(p, k));
        if (scope->left[k] > 0 && alone < end)
            end = alone;
    }
    end = end == INT64_MAX || end < 1 ? 1 : end;
    for (l->in.count = 0; l->in.count < CLO_SYNCH_INTERVALS_MAX; l->in.count++) {
        int64_t more = end / 100 * GRID_PERCENT_FREE;
        l->in.end[l->in.count] = end;
        end = end > INT64_MAX / 2 ? INT64_MAX : end + (more > 0 ? more : 1);
    }
}

/* How many tasks of the kind the group has room for in interval i; the last interval has room for any. */
static uint32_t room_in_interval(const ledger *l, const clo_synch_scope *scope, uint32_t k, uint32_t g, uint32_t i,
                                 uint32_t most)
{
    const clo_synch_problem *p = scope->problem;

    if (clo_synch_time(p, k, g) == CLO_TIME_NEVER)
        return 0;
    if (i + 1 >= l->in.count)
        return most;
    if (l->in.end[i] - (clo_synch_release(scope, k) - scope->now_ns) < clo_synch_time(p, k, g))
        return 0;
    for (uint32_t b = p->bin_first[g]; b < p->bin_first[g + 1]; b++) {
        int64_t one = clo_synch_load(p, k, g, p->bin_of[b], 1);
        const int64_t *load = &l->load[(size_t)p->bin_of[b] * CLO_SYNCH_INTERVALS_MAX];
        for (uint32_t later = i; later < l->in.count && one > 0 && most > 0; later++) {
            int64_t rest = l->in.end[later] - load[later];
            if (rest / one < (int64_t)most)
                most = rest > 0 ? (uint32_t)(rest / one) : 0;
        }
    }
    return most;
}

static void take_room(ledger *l, const clo_synch_problem *p, const clo_synch_share *share)
{
    for (uint32_t b = p->bin_first[share->group]; b < p->bin_first[share->group + 1]; b++) {
        int64_t load = clo_synch_load(p, share->kind, share->group, p->bin_of[b], 1) * share->amount;
        for (uint32_t i = share->interval; i < l->in.count; i++)
            l->load[(size_t)p->bin_of[b] * CLO_SYNCH_INTERVALS_MAX + i] += load;
    }
}

/* The earliest interval with room; in it the group with the shortest time. */
static clo_synch_share find_room(const ledger *l, const clo_synch_scope *scope, uint32_t k, uint32_t count,
                                 uint32_t *from)
{
    clo_synch_share found = {k, CLO_NONE, *from, 0};

    for (uint32_t i = *from; i < l->in.count && found.group == CLO_NONE; i++)
        for (uint32_t g = 0; g < scope->problem->groups; g++) {
            uint32_t room = room_in_interval(l, scope, k, g, i, count);
            if (room == 0 || (found.group != CLO_NONE &&
                              clo_synch_time(scope->problem, k, g) >= clo_synch_time(scope->problem, k, found.group)))
                continue;
            found = (clo_synch_share){k, g, i, room};
        }
    *from = found.interval;
    return found;
}

static clo_status try_earliest(packer *a)
{
    const clo_synch_problem *p = a->p;
    ledger l;
    clo_synch_share *shares = NULL;
    size_t count = 0, room = 0;
    bool is_out = false;

    open_ledger(&l, a->scope);
    l.load = clo_allocate((size_t)p->bins * CLO_SYNCH_INTERVALS_MAX, sizeof *l.load);
    is_out = l.load == NULL;
    for (uint32_t i = 0; i < p->jobs && !is_out; i++)
        for (uint32_t k = p->kind_first[a->order[i]]; k < p->kind_first[a->order[i] + 1] && !is_out; k++)
            for (uint32_t rest = a->scope->left[k], from = 0; rest > 0 && !is_out;) { /* falls */
                void *grown = shares;
                clo_synch_share share = find_room(&l, a->scope, k, rest, &from);
                is_out = clo_grow(&grown, &room, count + 1, sizeof *shares) != 0;
                shares = grown;
                if (is_out)
                    break;
                take_room(&l, p, &share);
                shares[count++] = share;
                rest -= (uint32_t)share.amount;
            }
    clo_status status = is_out ? clo_fail_memory("a plan") : try_assigned(a, shares, count, a->order);
    clo_free(shares);
    clo_free(l.load);
    return status;
}

/* Plans that improve() may make. */
static uint32_t trials_for(const clo_synch_problem *p)
{
    uint32_t by_jobs = p->jobs < TRIALS_MAX / TRIALS_PER_JOB ? TRIALS_PER_JOB * p->jobs : TRIALS_MAX;
    uint32_t by_tasks = TRIED_TASKS_MAX / p->tasks;

    return by_jobs < by_tasks ? by_jobs : by_tasks;
}

/* Moves jobs in a->order forward by one place, by two, by four and so on, as long as plans get better. The plan of the
 * order is the one that was offered last. */
static clo_status improve(packer *a)
{
    uint32_t jobs = a->p->jobs, trials = 0, most = trials_for(a->p);
    int64_t sum = a->last;
    bool is_better = true;

    while (is_better && trials < most) { /* the sum falls */
        is_better = false;
        for (uint32_t distance = 1; distance < jobs && trials < most; distance *= 2)
            for (uint32_t from = distance; from < jobs && trials < most; from++, trials++) {
                clo_order_move(a->order, from, from - distance);
                clo_status status = try_order(a, a->order);
                if (status != CLO_OK)
                    return status;
                if (a->last >= sum) {
                    clo_order_move(a->order, from - distance, from);
                    continue;
                }
                sum = a->last;
                is_better = true;
            }
    }
    return CLO_OK;
}

/* The plan of the packing score, and the order in which it ends the jobs, improved. It plans whole workloads only. */
static clo_status try_greedy(packer *a)
{
    clo_synch_timeline plan;
    clo_status status;

    if (a->base->count > 0 || a->scope->now_ns > 0)
        return CLO_OK;
    if (!clo_synch_timeline_create(&plan, a->p))
        return clo_fail_memory("a plan");
    status = clo_synch_greedy(a->p, CLO_SYNCH_TETRIS, &plan);
    if (status != CLO_OK) {
        clo_synch_timeline_destroy(&plan);
        return status;
    }
    status = offer(a, &plan);
    if (status == CLO_OK && !clo_synch_order_by(a->done, a->p->jobs, a->order))
        status = clo_fail_memory("a plan");
    if (status == CLO_OK)
        status = try_order(a, a->order);
    return status == CLO_OK ? improve(a) : status;
}

static clo_status try_free(packer *a)
{
    int64_t *loads = clo_synch_job_loads(a->scope);
    clo_status status = loads == NULL ? clo_fail_memory("a plan") : CLO_OK;

    if (status == CLO_OK)
        status = clo_synch_reverse_order(a->scope, loads, a->order);
    clo_free(loads);
    if (status == CLO_OK)
        status = try_earliest(a);
    if (status == CLO_OK)
        status = try_order(a, a->order);
    if (status == CLO_OK)
        status = a->is_quick ? CLO_OK : improve(a);
    if (status == CLO_OK && !a->is_quick)
        status = try_greedy(a);
    return status;
}

static clo_status try_rounded(packer *a, const clo_synch_shares *shares, bool is_sped_up)
{
    clo_synch_share *whole = NULL;
    size_t count = 0;
    clo_status status = clo_synch_round(a->scope, shares, is_sped_up, &whole, &count);

    if (status == CLO_OK)
        status = try_assigned(a, whole, count, a->order);
    clo_free(whole);
    return status;
}

static clo_status try_lp(packer *a, const clo_synch_settings *settings, int64_t horizon_ns, clo_synch_found *found)
{
    const clo_synch_lp_config config = {settings->grid_percent, settings->seconds, false, horizon_ns};
    clo_synch_shares shares = {0};
    clo_status status = clo_synch_shares_create(a->scope, &config, &shares);

    if (status != CLO_OK)
        return status;
    if (!clo_synch_order_by(shares.completion, a->p->jobs, a->order))
        status = clo_fail_memory("a plan");
    if (status == CLO_OK)
        status = try_rounded(a, &shares, true);
    if (status == CLO_OK)
        status = try_rounded(a, &shares, false);
    if (status == CLO_OK)
        status = try_order(a, a->order);
    if (status == CLO_OK)
        status = improve(a);
    found->bound = shares.bound;
    if (shares.size.elements > found->size.elements)
        found->size = shares.size;
    clo_synch_shares_destroy(&shares);
    return status;
}

/* Replaces the timeline by the best plan. settings NULL: a quick one. */
static clo_status pack(const clo_synch_scope *scope, const clo_synch_settings *settings, int64_t horizon_ns,
                       clo_synch_timeline *timeline, clo_synch_found *found)
{
    const clo_synch_problem *p = scope->problem;
    clo_synch_timeline best = {0};
    packer a = {.scope = scope, .p = p, .best = &best, .base = timeline, .is_quick = settings == NULL};
    clo_block block = {0};
    clo_status status;

    clo_carve(&block, &a.order, p->jobs);
    clo_carve(&block, &a.kinds, p->kinds);
    clo_carve(&block, &a.key, p->kinds);
    clo_carve(&block, &a.from, p->groups);
    clo_carve(&block, &a.done, p->jobs);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a plan");
    status = settings != NULL && settings->has_lp ? try_lp(&a, settings, horizon_ns, found) : CLO_OK;
    if (status == CLO_OK && (settings == NULL || !settings->has_lp || settings->has_free))
        status = try_free(&a);
    clo_free(memory);
    if (status == CLO_OK) {
        clo_synch_timeline_destroy(timeline);
        *timeline = best;
    } else if (best.problem != NULL) {
        clo_synch_timeline_destroy(&best);
    }
    return status;
}

clo_status clo_synch_pack_quickly(const clo_synch_scope *scope, clo_synch_timeline *timeline)
{
    return pack(scope, NULL, 0, timeline, NULL);
}

static bool is_empty(const clo_synch_scope *scope)
{
    for (uint32_t k = 0; k < scope->problem->kinds; k++)
        if (scope->left[k] > 0)
            return false;
    return true;
}

clo_status clo_synch_pack(const clo_synch_scope *scope, const clo_synch_settings *settings,
                          clo_synch_timeline *timeline, clo_synch_found *found)
{
    clo_synch_timeline draft;
    clo_status status;

    found->rounds++;
    if (is_empty(scope))
        return CLO_OK;
    if (!settings->has_lp)
        return pack(scope, settings, 0, timeline, found);
    if (!clo_synch_timeline_keep(&draft, timeline, INT64_MAX))
        return clo_fail_memory("a plan");
    status = clo_synch_pack_quickly(scope, &draft);
    int64_t horizon_ns = status == CLO_OK ? clo_synch_makespan(&draft) - scope->now_ns : 0;
    clo_synch_timeline_destroy(&draft);
    return status == CLO_OK ? pack(scope, settings, horizon_ns > 0 ? horizon_ns : 1, timeline, found) : status;
}

/* What has arrived by `now` and is not on the timeline. Returns the earliest arrival that is still to come. */
static int64_t gather(const clo_synch_problem *p, const clo_synch_timeline *timeline, int64_t now, uint32_t *left)
{
    int64_t next = INT64_MAX;

    for (uint32_t k = 0; k < p->kinds; k++) {
        int64_t arrival = p->arrival[p->job_of[k]];
        left[k] = arrival <= now ? p->count[k] : 0;
        if (arrival > now && arrival < next)
            next = arrival;
    }
    for (size_t i = 0; i < timeline->count; i++)
        left[timeline->batches[i].kind] -= timeline->batches[i].count;
    return next;
}

/* The next time to plan all anew, and how long until the one after it. */
typedef struct replan {
    int64_t at, interval;
    uint32_t growth_percent;
} replan;

static void advance(replan *r, int64_t now)
{
    while (r->at <= now) { /* rises by at least 1 */
        int64_t more = clo_synch_ratio(r->interval, r->growth_percent, 100);
        r->at = r->at > CLO_WORKLOAD_TIME_MAX - r->interval ? INT64_MAX : r->at + r->interval;
        r->interval = r->interval > CLO_WORKLOAD_TIME_MAX - more ? CLO_WORKLOAD_TIME_MAX : r->interval + more;
    }
}

/* Plans all anew that has arrived and has not started. settings NULL: quickly. */
static clo_status plan_anew(clo_synch_scope *scope, uint32_t *left, const clo_synch_settings *settings,
                            clo_synch_timeline *timeline, clo_synch_found *found)
{
    clo_synch_timeline kept;

    if (!clo_synch_timeline_keep(&kept, timeline, scope->now_ns))
        return clo_fail_memory("a plan");
    (void)gather(scope->problem, &kept, scope->now_ns, left);
    clo_synch_timeline_destroy(timeline);
    *timeline = kept;
    if (settings != NULL)
        return clo_synch_pack(scope, settings, timeline, found);
    return is_empty(scope) ? CLO_OK : clo_synch_pack_quickly(scope, timeline);
}

clo_status clo_synch_pack_online(const clo_synch_problem *problem, const clo_synch_settings *settings, int64_t first_ns,
                                 uint32_t growth_percent, clo_synch_timeline *timeline, clo_synch_found *found)
{
    uint32_t *left = clo_allocate(problem->kinds, sizeof *left);
    clo_synch_scope scope = {problem, left, 0};
    replan next = {first_ns, first_ns, growth_percent};
    bool has_new = false; /* something has arrived since all was planned thoroughly */
    clo_status status = left == NULL ? clo_fail_memory("a plan") : CLO_OK;

    while (status == CLO_OK) { /* each round sees an arrival that the one before it did not, or plans thoroughly */
        int64_t arrival = gather(problem, timeline, scope.now_ns, left);
        bool is_thorough = scope.now_ns >= next.at;
        has_new = has_new || !is_empty(&scope);
        if (has_new)
            status = plan_anew(&scope, left, is_thorough ? settings : NULL, timeline, found);
        has_new = has_new && !is_thorough;
        advance(&next, scope.now_ns);
        if (arrival == INT64_MAX && (!has_new || next.at == INT64_MAX))
            break;
        scope.now_ns = has_new && next.at < arrival ? next.at : arrival;
    }
    clo_free(left);
    found->bound = 0;
    return status;
}
