/* contention.c - see contention.h. Planners take a message as if it were alone. Here each also plans as if 1, 2, 4 or
 * 16 messages always shared each port, so that it moves less, and on 1, 2, 4 ... of the machines; HEFT inserts messages
 * at ports, too (ports/insert.c), and "best", which takes HEFT's plans, goes on with a search (ports/search.c). All
 * plans are judged by ports/ports.c; of equal ones the first is taken, so the planner's own.
 *
 * A plan that justification made shorter for messages that move alone can be longer with ports. So it is judged beside
 * the one before, and both kinds go their own way to the end: those that are not justified become what they would be
 * without justification, and the shortest of all is no longer than that. */
#include "plan/contention.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/make.h"
#include "plan/plan.h"
#include "plan/ports/insert.h"
#include "plan/ports/ports.h"
#include "plan/ports/search.h"
#include "plan/ports/stretch.h"
#include "plan/schedule/planner.h"

#include <string.h>

enum {
    ROUNDS = 8,                 /* until the times of a plan with replicas agree with its sources */
    PART_FLOWS = 2,             /* assumed on part of the machines */
    SEARCHED = 1000,            /* plans that "best" searches where nothing limits it, fewer of large graphs: */
    SEARCHED_INSTANCES = 400000 /* instances of all of them */
};

static const uint32_t flows_assumed[] = {1, 2, 4, 16};

typedef struct choice {
    const clo_cost *cost;
    const clo_planner *planner;
    clo_plan_config config; /* of each plan */
    const clo_plan_config *asked;
    clo_plan *best[2]; /* [is justified] the shortest of them; NULL: none */
    uint64_t schedules;
    int64_t bound_ns; /* no plan is shorter; 0: not known */
    int64_t begin_ns; /* clo_clock_ns */
    int64_t end_ns;   /* likewise; INT64_MAX: no limit */
} choice;

/* What a planner made: `plain` is the plan before justification, NULL if `plan` is not justified. */
typedef struct made {
    clo_plan *plan;
    clo_plan *plain;
} made;

/* Where the shortest of all is, if there is one. Ties: the justified one. */
static clo_plan **shortest_of(choice *c)
{
    clo_plan *plain = c->best[false], *justified = c->best[true];

    return &c->best[justified != NULL && (plain == NULL || justified->makespan_ns <= plain->makespan_ns)];
}

static bool has_same_times(const clo_plan *plan, const clo_placement *times)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->placements[i].start_ns != times[i].start_ns)
            return false;
    return true;
}

/* `plan` with the times that it has with ports, a new plan; *is_same: they are its own. */
static clo_status count_ports(const choice *c, const clo_plan *plan, clo_plan **shared, bool *is_same)
{
    clo_placement *times = clo_allocate(plan->count, sizeof *times);

    if (times == NULL)
        return clo_fail_memory("a plan over ports");
    memcpy(times, plan->placements, plan->count * sizeof *times);
    clo_status status = clo_ports_count(c->cost, times, plan->count);
    *is_same = status == CLO_OK && has_same_times(plan, times);
    if (status == CLO_OK)
        status = clo_plan_from_placements(c->cost, c->planner->name, times, plan->count, shared);
    clo_free(times);
    return status;
}

/* True if its times alone decide the order on each executor and the source of each input. */
static bool is_clear(const clo_plan *plan)
{
    const clo_placement *p = plan->placements;

    for (size_t i = 1; i < plan->count; i++)
        if (p[i].executor == p[i - 1].executor && p[i].start_ns == p[i - 1].start_ns)
            return false; /* the first takes no time; a plan orders them by id, whatever their order was */
    return plan->count == plan->instances; /* no input has two sources */
}

/* Gives *plan the times that it has with ports. Where they also say in which order an executor goes through what takes
 * no time, or, with replicas, where an input comes from (cost/source.h), this changes the times: until both agree, so
 * that a run takes as long as its plan says. Without replicas they always do in the end, mostly in a few rounds: the
 * times follow from the order on each executor (ports.c), and each round that changes it only puts more of what begins
 * together on an executor into the order of the graph. *is_settled: they do. */
static clo_status settle(const choice *c, clo_plan **plan, bool *is_settled)
{
    clo_status status = CLO_OK;

    *is_settled = false;
    bool has_replicas = (*plan)->count != (*plan)->instances;
    for (uint32_t round = 0; (round < ROUNDS || !has_replicas) && status == CLO_OK && !*is_settled; round++) {
        clo_plan *shared = NULL;
        status = count_ports(c, *plan, &shared, is_settled);
        if (status != CLO_OK)
            break;
        *is_settled |= is_clear(shared);
        clo_plan_destroy(*plan);
        *plan = shared;
    }
    return status;
}

/* Puts `alone`, with the times that it has with ports, into *best if it is shorter; frees it otherwise. *is_settled: it
 * has such times. */
static clo_status judge_one(const choice *c, clo_plan *alone, clo_plan **best, bool *is_settled)
{
    clo_status status = settle(c, &alone, is_settled);

    if (status == CLO_OK && *is_settled && (*best == NULL || alone->makespan_ns < (*best)->makespan_ns)) {
        clo_plan_destroy(*best);
        *best = alone;
        return CLO_OK;
    }
    clo_plan_destroy(alone);
    return status;
}

/* Takes or frees both plans. *is_settled: the one that is not justified has times with ports. */
static clo_status judge(choice *c, made m, bool *is_settled)
{
    c->schedules += m.plan->schedules; /* also those of m.plain */
    clo_status status = judge_one(c, m.plan, &c->best[m.plain != NULL], is_settled);

    if (m.plain == NULL)
        return status;
    if (status == CLO_OK || status == CLO_ERR_LIMIT) /* if it takes too long, it is as if it were not justified */
        return judge_one(c, m.plain, &c->best[false], is_settled);
    clo_plan_destroy(m.plain);
    return status;
}

static bool is_over(choice *c)
{
    return (*shortest_of(c))->makespan_ns <= c->bound_ns || (c->end_ns != INT64_MAX && clo_clock_ns() >= c->end_ns);
}

/* The planner's own plan: no plan is shorter than it is without ports, if that is proved. Also one without replicas, if
 * with them it never settles. */
static clo_status plan_alone(choice *c, const clo_plan_config *config)
{
    clo_plan_config bare = *config;
    made m = {0};
    bool is_settled = false;
    clo_status status = clo_plan_make_both(c->cost, c->planner, config, &m.plain, &m.plan);

    if (status != CLO_OK)
        return status;
    c->bound_ns = m.plan->is_optimal ? m.plan->makespan_ns : 0;
    status = judge(c, m, &is_settled);
    if (status != CLO_OK || is_settled)
        return status;
    bare.no_duplicates = 1;
    status = clo_plan_make_both(c->cost, c->planner, &bare, &m.plain, &m.plan);
    return status == CLO_OK ? judge(c, m, &is_settled) : status;
}

/* What HEFT does with messages inserted at ports. Without a plan and CLO_OK: it is too large for that. */
static clo_status insert(const clo_cost *cost, clo_plan **plan)
{
    clo_schedule schedule;
    clo_status status = clo_schedule_open(&schedule, cost, 1);

    if (status != CLO_OK)
        return status;
    schedule.schedules = 1;
    status = clo_ports_insert(&schedule);
    if (status == CLO_OK)
        status = clo_plan_from_schedule(&schedule, "heft", plan);
    clo_schedule_close(&schedule);
    return status == CLO_ERR_LIMIT ? CLO_OK : status;
}

/* The executors of a plan on part of the machines become those of all. */
static void name_executors(clo_plan *plan, const clo_stretched *stretched)
{
    for (size_t i = 0; plan != NULL && i < plan->count; i++)
        plan->placements[i].executor = stretched->executors[plan->placements[i].executor];
}

/* Of `planner` (NULL: insert), on so many machines, as if so many messages always shared each port. */
static clo_status plan_otherwise(choice *c, const clo_planner *planner, uint32_t flows, uint32_t machines)
{
    clo_stretched stretched;
    made m = {0};
    bool is_settled;
    clo_status status = clo_stretched_open(&stretched, c->cost, flows, machines);

    if (c->end_ns != INT64_MAX) { /* 0 would be no limit */
        int64_t left_ns = clo_time_sub(c->end_ns, clo_clock_ns());
        c->config.budget_ns = left_ns > 1 ? left_ns : 1;
    }
    if (status == CLO_OK && stretched.cost != NULL)
        status = planner == NULL ? insert(stretched.cost, &m.plan)
                                 : clo_plan_make_both(stretched.cost, planner, &c->config, &m.plain, &m.plan);
    name_executors(m.plan, &stretched);
    name_executors(m.plain, &stretched);
    clo_stretched_close(&stretched);
    if (status == CLO_OK && m.plan != NULL)
        status = judge(c, m, &is_settled);
    return status == CLO_ERR_LIMIT ? CLO_OK : status; /* this one takes too long: not looked at */
}

/* From *best on, which becomes what is found if that is shorter. */
static clo_status search_from(choice *c, clo_plan **best)
{
    uint64_t fit = SEARCHED_INSTANCES / ((uint64_t)(*best)->instances + 1) + 1;
    clo_ports_budget budget = {.seed = c->config.seed,
                               .plans_max = c->config.schedules_max > 0 ? c->config.schedules_max
                                            : c->end_ns != INT64_MAX    ? UINT64_MAX
                                            : fit < SEARCHED            ? fit
                                                                        : SEARCHED,
                               .end_ns = c->end_ns,
                               .bound_ns = c->bound_ns};
    size_t count = (*best)->count;
    clo_placement *placements = clo_allocate(count, sizeof *placements);
    clo_plan *found = NULL;
    bool is_settled;

    if (placements == NULL)
        return clo_fail_memory("a plan over ports");
    memcpy(placements, (*best)->placements, count * sizeof *placements);
    clo_status status = clo_ports_search(c->cost, &budget, placements, &count);
    c->schedules += budget.plans;
    if (status == CLO_ERR_LIMIT) /* one of the plans takes too long: what there was stays */
        return clo_free(placements), CLO_OK;
    if (status == CLO_OK)
        status = clo_plan_from_placements(c->cost, c->planner->name, placements, count, &found);
    clo_free(placements);
    if (status == CLO_OK)
        status = settle(c, &found, &is_settled);
    if (status == CLO_OK && found->makespan_ns < (*best)->makespan_ns) {
        clo_plan_destroy(*best);
        *best = found;
        found = NULL;
    }
    clo_plan_destroy(found);
    return status;
}

/* From the shortest on. Where that is justified, then from the shortest that is not: a better beginning may end worse. */
static clo_status search(choice *c)
{
    bool is_justified = shortest_of(c) == &c->best[true];
    clo_status status = search_from(c, &c->best[is_justified]);

    if (status == CLO_OK && is_justified && c->best[false] != NULL && !is_over(c))
        status = search_from(c, &c->best[false]);
    return status;
}

/* All plans after the first. */
static clo_status choose(choice *c)
{
    bool is_best = c->planner->plan_without_budget != NULL;
    const clo_planner *planner = is_best ? &clo_planner_heft : c->planner;
    uint32_t all = clo_platform_machines(clo_cost_platform(c->cost));
    clo_status status = CLO_OK;

    for (size_t i = 0; i < sizeof flows_assumed / sizeof flows_assumed[0] && status == CLO_OK && !is_over(c); i++)
        status = plan_otherwise(c, planner, flows_assumed[i], all);
    for (uint32_t some = 1; some < all && status == CLO_OK && !is_over(c); some *= 2)
        status = plan_otherwise(c, planner, PART_FLOWS, some);
    for (uint32_t some = 1; planner == &clo_planner_heft && status == CLO_OK && !is_over(c); some *= 2) {
        status = plan_otherwise(c, NULL, 0, some);
        if (some >= all)
            break;
    }
    if (status == CLO_OK && is_best && !is_over(c))
        status = search(c);
    return status;
}

/* All plans are one search to who asked, and who ends one of them ends them all. */
static void tell(void *context, const clo_plan_progress *now)
{
    choice *c = context;
    clo_plan_progress told = *now;

    told.schedules += c->schedules;
    told.elapsed_ns = clo_clock_ns() - c->begin_ns;
    c->asked->progress(c->asked->progress_context, &told);
    if (*now->stop != 0)
        c->end_ns = 0;
}

clo_status clo_plan_over_ports(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                               clo_plan **out)
{
    choice c = {.cost = cost, .planner = planner, .config = *config, .asked = config, .end_ns = INT64_MAX};

    c.begin_ns = clo_clock_ns();
    c.config.progress_context = &c;
    if (config->progress != NULL)
        c.config.progress = tell;
    clo_plan_config first = c.config;
    if (config->budget_ns > 0) {
        c.end_ns = clo_time_add(c.begin_ns, config->budget_ns);
        first.budget_ns -= config->contention == CLO_CONTENTION_CHOOSE ? config->budget_ns / 2 : 0;
    }
    clo_status status = plan_alone(&c, &first);
    if (status == CLO_OK && *shortest_of(&c) == NULL) /* never: a plan without replicas settles */
        status =
            clo_fail(CLO_ERR_LIMIT, "a plan of '%s' has no times over the ports of its machines; leave the ports out",
                     planner->name);
    if (status == CLO_OK && config->contention == CLO_CONTENTION_CHOOSE)
        status = choose(&c);
    clo_plan **shortest = shortest_of(&c), *best = *shortest;
    *shortest = NULL;
    clo_plan_destroy(c.best[false]);
    clo_plan_destroy(c.best[true]);
    if (status != CLO_OK)
        return clo_plan_destroy(best), status;
    best->schedules = c.schedules;
    best->is_optimal = best->makespan_ns <= c.bound_ns;
    *out = best;
    return CLO_OK;
}
