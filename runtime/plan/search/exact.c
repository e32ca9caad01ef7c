/* plan/search/exact.c - the shortest plan without replicas of a small graph, by branch and bound.
 *
 * A plan is built in the order of start, finish and position (exact_model.h): each step appends a ready instance to an
 * executor, where it starts as soon as that one is free and its inputs are there. So every plan has one order, and no
 * two branches build the same one. Depth first, the lowest bound first (exact_bound.c). Not gone into:
 *
 *   bound     what cannot become shorter than the best plan known;
 *   order     an instance that would start before the last one placed, or stand before it;
 *   gap       an instance that fits into a gap before its place on the same executor;
 *   alike     an empty executor, if a lower one that nothing can tell apart from it is empty too;
 *   twins     an instance before its twin of lower position; or right after it, at the same time, on an executor where
 *             that twin was tried already;
 *   seen      what a partial plan that was searched before makes needless (exact_seen.c).
 *
 * Nothing is lost. For a plan S that is cut off by one of these but for the bound there is another one, no longer, that
 * has a lesser sum of starts (order, gap, seen), or the same sum and comes earlier in the search (alike, twins, seen).
 * Plans are finite, so going from one to the next ends, at a plan that is found or bounded. That is why appending
 * alone is enough, too: a plan in which something could move left is not the last of such a row.
 *
 * A placement that is tried costs O(arcs * executors^2). A schedule in the sense of the budget is as many of them as
 * there are instances; the last branching may take one for each executor more than it allows. Demands, or more than 64
 * instances or executors: no search, the plan is HEFT's or the serial one. */
#include "plan/budget/budget.h"
#include "plan/schedule/planner.h"
#include "plan/search/exact_model.h"
#include "plan/search/search.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { PLACEMENTS_DEFAULT = 100000, STEPS_DEFAULT = 50000000, TABLE_NS = 20 };

/* A placement that is open to the search. */
typedef struct child {
    int64_t bound_ns, start_ns, finish_ns;
    uint32_t at, executor;
} child;

typedef struct level {
    child *children; /* [count] by rising bound; those before `next` are done */
    uint32_t count, next;
} level;

typedef struct search {
    clo_exact_model model;
    clo_exact_seen seen;
    clo_exact_state state;
    level levels[CLO_EXACT_MAX];
    clo_schedule *schedule;
    clo_budget *budget;
    clo_snapshot *best;
    uint64_t tried; /* placements since the budget was told */
    bool is_cut;    /* a branching was left in the midst, because time was up */
    void *block;
} search;

static clo_status open_state(search *s)
{
    size_t n = s->model.count, p = s->model.executors;
    clo_block block = {0};
    child *children;

    s->state = (clo_exact_state){.model = &s->model};
    clo_carve(&block, &s->state.start_ns, n);
    clo_carve(&block, &s->state.finish_ns, n);
    clo_carve(&block, &s->state.before_ns, n);
    clo_carve(&block, &s->state.reach_ns, n + 1);
    clo_carve(&block, &s->state.available_ns, p);
    clo_carve(&block, &s->state.on, p);
    clo_carve(&block, &s->state.end_ns, n * p);
    clo_carve(&block, &s->state.order, n);
    clo_carve(&block, &s->state.executor, n);
    clo_carve(&block, &children, n * n * p);
    s->block = clo_block_allocate(&block);
    if (s->block == NULL)
        return clo_fail_memory("an exact plan");
    for (size_t d = 0; d < n; d++)
        s->levels[d].children = children + d * n * p;
    return CLO_OK;
}

static void place(clo_exact_state *s, const child *c)
{
    int64_t reach = c->finish_ns + s->model->behind_ns[(size_t)c->at * s->model->executors + c->executor];

    s->placed |= 1ull << c->at;
    s->on[c->executor] |= 1ull << c->at;
    s->executor[c->at] = c->executor;
    s->start_ns[c->at] = c->start_ns;
    s->finish_ns[c->at] = c->finish_ns;
    s->sum_ns += (uint64_t)c->start_ns;
    s->before_ns[s->depth] = s->available_ns[c->executor];
    s->available_ns[c->executor] = c->finish_ns;
    s->reach_ns[s->depth + 1] = reach > s->reach_ns[s->depth] ? reach : s->reach_ns[s->depth];
    s->order[s->depth++] = c->at;
}

static void take_back(clo_exact_state *s)
{
    uint32_t at = s->order[--s->depth], e = s->executor[at];

    s->available_ns[e] = s->before_ns[s->depth];
    s->sum_ns -= (uint64_t)s->start_ns[at];
    s->on[e] &= ~(1ull << at);
    s->placed &= ~(1ull << at);
}

/* When the inputs of `at` are on e. */
static int64_t inputs_ns(const clo_exact_state *s, uint32_t at, uint32_t e)
{
    int64_t latest = 0;

    for (uint32_t arc = s->model->first[at]; arc < s->model->first[at + 1]; arc++) {
        uint32_t from = s->model->from[arc];
        int64_t arrival = s->finish_ns[from] + clo_exact_transfer_ns(s->model, arc, s->executor[from], e);
        latest = arrival > latest ? arrival : latest;
    }
    return latest;
}

/* Stands behind the last one placed, in the order of start, finish, position. */
static bool is_in_order(const clo_exact_state *s, const child *c)
{
    if (s->depth == 0)
        return true;
    uint32_t last = s->order[s->depth - 1];
    if (c->start_ns != s->start_ns[last])
        return c->start_ns > s->start_ns[last];
    if (c->finish_ns != s->finish_ns[last])
        return c->finish_ns > s->finish_ns[last];
    return c->at > last;
}

/* Could start earlier on its executor, in a gap. */
static bool fits_in_gap(const clo_exact_state *s, const child *c, int64_t ready_ns)
{
    int64_t free_ns = 0;

    if (ready_ns >= c->start_ns)
        return false;
    for (uint32_t d = 0; d < s->depth; d++) {
        uint32_t at = s->order[d];
        if (s->executor[at] != c->executor)
            continue;
        int64_t start_ns = ready_ns > free_ns ? ready_ns : free_ns;
        if (start_ns < c->start_ns && start_ns + (c->finish_ns - c->start_ns) <= s->start_ns[at])
            return true;
        free_ns = s->finish_ns[at];
    }
    return false;
}

/* Empty, and a lower one like it is empty too. */
static bool is_needless(const clo_exact_state *s, uint32_t e)
{
    for (uint32_t other = s->model->class_of[e]; other < e && s->on[e] == 0; other++)
        if (s->model->class_of[other] == s->model->class_of[e] && s->on[other] == 0)
            return true;
    return false;
}

/* Its twin was placed last, at the same time, and was tried here already: with the two exchanged. */
static bool is_exchanged(const search *s, const child *c)
{
    const clo_exact_state *state = &s->state;
    uint32_t twin = c->at - 1;

    if ((s->model.twins >> c->at & 1) == 0 || state->order[state->depth - 1] != twin ||
        state->start_ns[twin] != c->start_ns || state->finish_ns[twin] != c->finish_ns)
        return false;
    const level *l = &s->levels[state->depth - 1];
    for (uint32_t i = 0; i + 1 < l->next; i++)
        if (l->children[i].at == twin && l->children[i].executor == c->executor &&
            l->children[i].start_ns == c->start_ns && l->children[i].finish_ns == c->finish_ns)
            return true;
    return false;
}

/* The placement of `at` on e, if the search must go there: false else. */
static bool try_child(search *s, uint32_t at, uint32_t e, child *c)
{
    clo_exact_state *state = &s->state;
    int64_t time = s->model.time_ns[(size_t)at * s->model.executors + e], limit = s->best->makespan_ns;

    if (time == CLO_EXACT_NEVER || is_needless(state, e))
        return false;
    int64_t ready = inputs_ns(state, at, e), start = ready > state->available_ns[e] ? ready : state->available_ns[e];
    *c = (child){0, start, start + time, at, e};
    if (!is_in_order(state, c) || c->finish_ns >= limit || fits_in_gap(state, c, ready) || is_exchanged(s, c))
        return false;
    place(state, c);
    c->bound_ns = clo_exact_bound_ns(state, limit);
    take_back(state);
    s->tried++;
    return c->bound_ns < limit;
}

static int by_bound(const void *left, const void *right)
{
    const child *a = left, *b = right;

    if (a->bound_ns != b->bound_ns)
        return a->bound_ns < b->bound_ns ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->executor < b->executor ? -1 : a->executor > b->executor;
}

static void expand(search *s)
{
    level *l = &s->levels[s->state.depth];
    uint64_t placed = s->state.placed;

    assert(s->model.count > 0);
    l->next = l->count = 0;
    for (uint32_t at = 0; at < s->model.count; at++) {
        if ((placed >> at & 1) != 0 || (s->model.needs[at] & ~placed) != 0)
            continue;
        s->is_cut |= clo_budget_is_late(s->budget);
        for (uint32_t e = 0; e < s->model.executors && !s->is_cut; e++)
            if (try_child(s, at, e, &l->children[l->count]))
                l->count++;
    }
    clo_sort(l->children, l->count, sizeof l->children[0], by_bound);
    s->budget->schedules += s->tried / s->model.count;
    s->tried %= s->model.count;
}

static clo_status keep(search *s)
{
    const clo_exact_state *state = &s->state;
    clo_status status = CLO_OK;

    clo_schedule_clear(s->schedule);
    for (uint32_t d = 0; d < state->depth && status == CLO_OK; d++) {
        uint32_t at = state->order[d];
        status = clo_schedule_place(s->schedule, s->model.instance[at], state->executor[at], state->start_ns[at]);
    }
    if (status == CLO_OK)
        clo_snapshot_keep(s->best, s->schedule);
    s->budget->best_ns = s->best->makespan_ns;
    return status;
}

/* Ends: every partial plan is entered at most once. *proved: nothing was left out. */
static clo_status run(search *s, bool *proved)
{
    clo_exact_state *state = &s->state;
    clo_status status = CLO_OK;

    expand(s);
    while (status == CLO_OK && !s->is_cut && !clo_budget_is_spent(s->budget)) {
        level *l = &s->levels[state->depth];
        if (l->next == l->count || l->children[l->next].bound_ns >= s->best->makespan_ns) {
            *proved = state->depth == 0;
            if (*proved)
                break;
            take_back(state);
            continue;
        }
        const child *c = &l->children[l->next++];
        place(state, c);
        if (state->depth == s->model.count) {
            status = keep(s);
            take_back(state);
        } else if (clo_exact_seen_check(&s->seen, state)) {
            take_back(state);
        } else {
            expand(s);
        }
    }
    return status;
}

static clo_status search_plans(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, bool *proved)
{
    search *s = clo_allocate(1, sizeof *s);

    if (s == NULL)
        return clo_fail_memory("an exact plan");
    s->schedule = schedule;
    s->budget = budget;
    s->best = best;
    clo_status status = clo_exact_model_open(&s->model, schedule, best->makespan_ns);
    if (status == CLO_OK)
        status = clo_exact_seen_open(&s->seen, &s->model);
    if (status == CLO_OK)
        status = open_state(s);
    if (status == CLO_OK)
        status = run(s, proved);
    clo_free(s->block);
    clo_exact_seen_close(&s->seen);
    clo_exact_model_close(&s->model);
    clo_free(s);
    return status;
}

static clo_status keep_start(clo_status (*fill)(clo_schedule *, const clo_plan_config *), clo_schedule *schedule,
                             clo_budget *budget, clo_snapshot *best)
{
    clo_schedule_clear(schedule);
    clo_status status = fill(schedule, NULL);
    if (status == CLO_OK)
        clo_snapshot_keep(best, schedule);
    budget->schedules++;
    budget->best_ns = best->makespan_ns;
    return status;
}

/* About what the tables of the search take. */
static int64_t tables_ns(const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    int64_t rows = (int64_t)graph->instances + graph->edges + 1, executors = schedule->executors;

    return rows * executors * executors * TABLE_NS;
}

clo_status clo_exact(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, bool *proved)
{
    clo_status status = CLO_OK;

    *proved = false;
    if (best->makespan_ns == INT64_MAX)
        status = keep_start(clo_planner_heft.fill, schedule, budget, best);
    if (status == CLO_OK && clo_exact_fits(schedule) && tables_ns(schedule) < clo_budget_left_ns(budget) &&
        !clo_budget_is_spent(budget))
        status = search_plans(schedule, budget, best, proved);
    *proved |= best->makespan_ns <= budget->bound_ns;
    return status;
}

/* A replica could save a transfer, so a plan with replicas could be shorter. */
bool clo_schedule_could_replicate(const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;

    for (uint32_t t = 0; t < graph->tasks && schedule->may_duplicate && schedule->platform->memories_count > 1; t++)
        if (graph->rows[t].duplicable && graph->out_first[t] < graph->out_first[t + 1])
            return true;
    return false;
}

/* Without a budget: what takes less than a tenth of a second. */
static uint64_t default_schedules(const clo_schedule *schedule)
{
    uint64_t pairs = (uint64_t)schedule->executors * schedule->executors;
    uint64_t placements = STEPS_DEFAULT / (clo_exact_arcs(schedule->graph) * pairs + schedule->executors);

    placements = placements < PLACEMENTS_DEFAULT ? placements : PLACEMENTS_DEFAULT;
    return placements / schedule->graph->instances + 2; /* at least what it starts from */
}

static clo_status exact_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_budget budget;
    clo_snapshot best;
    bool proved = false;
    clo_status status = clo_snapshot_open(&best, schedule);

    if (status != CLO_OK)
        return status;
    clo_budget_open(&budget, config, default_schedules(schedule));
    status = keep_start(clo_planner_heft.fill, schedule, &budget, &best);
    if (status == CLO_OK)
        status = clo_budget_bound(&budget, schedule->cost, clo_clock_ns() - budget.begin_ns);
    schedule->stop_ns = budget.end_ns;
    if (status == CLO_OK && !clo_budget_is_spent(&budget))
        status = keep_start(clo_planner_serial.fill, schedule, &budget, &best);
    if (status == CLO_OK)
        status = clo_exact(schedule, &budget, &best, &proved);
    schedule->stop_ns = INT64_MAX;
    if (status == CLO_OK || status == CLO_ERR_TIMEOUT)
        status = clo_snapshot_restore(&best, schedule);
    schedule->schedules = budget.schedules;
    schedule->is_optimal = proved && (best.makespan_ns <= budget.bound_ns || !clo_schedule_could_replicate(schedule));
    clo_snapshot_close(&best);
    return status;
}

const clo_planner clo_planner_exact = {
    .name = "exact",
    .summary = "branch and bound without duplicates for small graphs: proved shortest, or the best found",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = exact_fill,
};
