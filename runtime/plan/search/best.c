/* plan/search/best.c - the shortest plan that the budget allows, anytime.
 *
 * Where the problem is a packing (rcpsp/problem.h) it is a genetic search, which begins with HEFT's packing and with no
 * plan of another planner. Else it starts from the plans of the others, HEFT's first, as far as they fit a share of the
 * budget (starts.c); a proof is tried on small graphs, then simulated annealing on the order and the placement of
 * instances (anneal.c). Where a sketch can stand for the schedule (sketch.h) it starts from a few list schedules that
 * know what follows (tails.c), HEFT's first, then come the others' plans, and moves on the longest path take the place
 * of annealing (climb.c). It ends with the budget, or where a plan meets the lower bound. Ties: the earlier, so
 * duplicates are paid for only where they help.
 *
 * Several threads search side by side, each with a seed of its own, where only time is limited. Where schedules are
 * limited the plan must depend on the seed alone, so one thread does it all. */
#include "plan/budget/budget.h"
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"
#include "plan/search/search.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/budget/parallel.h"
#include "plan/rcpsp/search.h"
#include "sync/protocol/stop.h"

enum {
    SCHEDULES_DEFAULT = 1000, /* without a budget, fewer of large graphs: */
    PLACEMENTS_DEFAULT = 2000000,
    PACKED_TASKS = 2000,       /* up to so many the packing search sees everything HEFT sees */
    RESERVED_INSTANCES = 2000, /* up to so many that takes no time to speak of */
    RESERVE = 4,               /* restores of a plan: about what making it an object takes, besides */
    PROVED_TASKS = 10,         /* up to so many a proof is tried first */
    PROVED_TASKS_BY_TIME = 20  /* likewise where time is the limit, which a proof can waste */
};

/* True if the packing search begins with HEFT's own schedule: the serial one in order of rank_u. It differs where
 * lengths are 0, which need an executor but no time, where the search looks back no further (rcpsp/steps.h), where
 * shares are rounded, and where the lowest executor of a tie may be on another machine than the lowest. */
static bool begins_with_heft(const clo_rcpsp *problem)
{
    const clo_platform *platform = problem->cost->platform;

    if (problem->tasks > PACKED_TASKS || problem->is_rounded)
        return false;
    for (uint32_t e = 1; e < platform->executors_count; e++)
        if (platform->executors[e].machine < platform->executors[e - 1].machine)
            return false;
    for (size_t i = 0; i < (size_t)problem->machines * problem->tasks; i++)
        if (problem->time_ns[i] == 0)
            return false;
    return true;
}

static clo_status pack(clo_schedule *schedule, const clo_rcpsp *problem, clo_budget *budget, clo_snapshot *best)
{
    clo_packing found = {0};
    int64_t *keys = clo_allocate(problem->tasks, sizeof *keys);
    int direction = CLO_RCPSP_FORWARD;
    clo_status status = keys == NULL ? clo_fail_memory("a plan") : clo_packing_open(&found, problem);

    if (status == CLO_OK)
        status = clo_schedule_order(schedule);
    for (uint32_t i = 0; i < problem->tasks && status == CLO_OK; i++)
        keys[schedule->order[i]] = i;
    if (status == CLO_OK)
        status = clo_rcpsp_search(problem, keys, budget, &found, &direction);
    if (status == CLO_OK && found.makespan_ns < best->makespan_ns) {
        clo_schedule_clear(schedule);
        status = clo_rcpsp_realise(problem, &found, direction, schedule);
        if (status == CLO_OK)
            clo_snapshot_keep(best, schedule);
    }
    clo_packing_close(&found);
    clo_free(keys);
    return status;
}

/* Half of what is left goes into a proof where the graph is small and no replica can help: then none is shorter. */
static clo_status prove(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best)
{
    uint32_t limit = budget->end_ns != INT64_MAX ? PROVED_TASKS_BY_TIME : PROVED_TASKS;
    clo_budget part = *budget;
    bool proved = false;

    if (schedule->graph->instances > limit || clo_schedule_could_replicate(schedule))
        return CLO_OK;
    if (budget->schedules_max > 0)
        part.schedules_max -= (budget->schedules_max - budget->schedules) / 2;
    if (budget->end_ns != INT64_MAX)
        part.end_ns -= (budget->end_ns - clo_clock_ns()) / 2;
    clo_status status = clo_exact(schedule, &part, best, &proved);
    clo_budget_take_back(budget, &part);
    budget->best_ns = best->makespan_ns;
    if (proved)
        budget->bound_ns = best->makespan_ns;
    return status;
}

/* From the best on, in one thread. problem: NULL where the problem is no packing. sketch: NULL where none fits. */
static clo_status search(clo_schedule *schedule, clo_sketch *sketch, const clo_rcpsp *problem, clo_budget *budget,
                         clo_snapshot *best)
{
    if (problem != NULL)
        return pack(schedule, problem, budget, best);
    clo_status status = prove(schedule, budget, best);
    if (status != CLO_OK || clo_budget_is_spent(budget))
        return status;
    return sketch != NULL ? clo_climb(sketch, budget, best) : clo_anneal(schedule, budget, best);
}

/* One thread's search. */
typedef struct island {
    const clo_rcpsp *problem;
    clo_schedule schedule;
    clo_sketch sketch; /* zeroed where none fits */
    clo_plan_config config;
    clo_budget budget;
    clo_snapshot best;
    clo_status status;
    const clo_plan_config *asked; /* the caller's     */
    clo_stop *stop;               /* of all islands   */
} island;

/* Progress is told in the calling thread, which is the first; all of them end when it is told to stop. */
static void tell_first(void *context, const clo_plan_progress *now)
{
    const island *mine = context;

    mine->asked->progress(mine->asked->progress_context, now);
    if (*now->stop != 0)
        clo_stop_fail(mine->stop);
}

static void tell_other(void *context, const clo_plan_progress *now)
{
    const island *mine = context;

    *now->stop = clo_stop_is_set(mine->stop);
}

static clo_status open_island(island *mine, const clo_schedule *schedule, const clo_budget *budget,
                              const clo_snapshot *best, uint32_t index)
{
    clo_status status =
        clo_schedule_open(&mine->schedule, schedule->cost, schedule->capacity / schedule->graph->instances);

    mine->schedule.may_duplicate = schedule->may_duplicate;
    mine->schedule.stop_ns = schedule->stop_ns;
    mine->config = *budget->config;
    mine->config.seed += index;
    mine->asked = budget->config;
    if (mine->config.progress != NULL)
        mine->config.progress = index == 0 ? tell_first : tell_other;
    mine->config.progress_context = mine;
    mine->budget = *budget;
    mine->budget.config = &mine->config;
    if (status == CLO_OK)
        status = clo_snapshot_open(&mine->best, schedule);
    if (status == CLO_OK)
        clo_snapshot_copy(&mine->best, best);
    if (status == CLO_OK && mine->problem == NULL && clo_sketch_fits(schedule))
        status = clo_sketch_open(&mine->sketch, &mine->schedule);
    return status;
}

static void run_island(void *context, uint32_t worker, uint32_t round)
{
    island *mine = (island *)context + round;

    (void)worker;
    clo_sketch *sketch = mine->sketch.block != NULL ? &mine->sketch : NULL;
    mine->status = search(&mine->schedule, sketch, mine->problem, &mine->budget, &mine->best);
    if (mine->status == CLO_ERR_TIMEOUT)
        mine->status = CLO_OK; /* what was under way is given up, the best is kept */
}

static clo_status search_side_by_side(clo_schedule *schedule, const clo_rcpsp *problem, clo_budget *budget,
                                      clo_snapshot *best)
{
    uint32_t threads = budget->config->threads < CLO_PARALLEL_MAX ? budget->config->threads : CLO_PARALLEL_MAX;
    island *islands = clo_allocate(threads, sizeof *islands);
    uint64_t before = budget->schedules;
    clo_stop stop = {0};
    clo_status status = islands == NULL ? clo_fail_memory("a plan") : CLO_OK;

    for (uint32_t i = 0; i < threads && status == CLO_OK; i++) {
        islands[i].problem = problem;
        islands[i].stop = &stop;
        status = open_island(&islands[i], schedule, budget, best, i);
    }
    if (status == CLO_OK)
        clo_parallel_for(threads, threads, run_island, islands);
    for (uint32_t i = 0; i < threads && islands != NULL; i++) {
        if (status == CLO_OK && islands[i].status != CLO_OK)
            status = clo_fail_memory("a plan"); /* all that can fail; the text stayed in its thread */
        if (status == CLO_OK && islands[i].best.makespan_ns < best->makespan_ns)
            clo_snapshot_copy(best, &islands[i].best);
        budget->schedules += status == CLO_OK ? islands[i].budget.schedules - before : 0;
        if (status == CLO_OK && islands[i].budget.bound_ns > budget->bound_ns)
            budget->bound_ns = islands[i].budget.bound_ns; /* proved */
        clo_sketch_close(&islands[i].sketch);
        clo_snapshot_close(&islands[i].best);
        if (islands[i].schedule.cost != NULL)
            clo_schedule_close(&islands[i].schedule);
    }
    clo_free(islands);
    return status;
}

/* Time counts from HEFT's plan on: less what making a plan object of the best will take. */
static clo_status reserve(clo_schedule *schedule, clo_budget *budget, const clo_snapshot *best)
{
    if (budget->end_ns == INT64_MAX || schedule->graph->instances <= RESERVED_INSTANCES)
        return CLO_OK;
    int64_t begin_ns = clo_clock_ns();
    clo_status status = clo_snapshot_restore(best, schedule);
    budget->end_ns -= RESERVE * (clo_clock_ns() - begin_ns);
    return status;
}

/* Plans from tails (tails.c), HEFT's first. */
static clo_status begin_in_sketch(clo_schedule *schedule, clo_sketch *sketch, clo_budget *budget, clo_snapshot *best,
                                  int64_t *schedule_ns)
{
    clo_status status = clo_sketch_open(sketch, schedule);

    if (status == CLO_OK)
        status = clo_tails(sketch, schedule, budget, best, schedule_ns);
    schedule->stop_ns = budget->end_ns;
    if (status == CLO_OK && !clo_budget_is_spent(budget))
        status = clo_start_plans(schedule, budget, best, *schedule_ns, true);
    return status;
}

/* HEFT, whatever the budget is. */
static clo_status begin(clo_schedule *schedule, bool is_packing, clo_budget *budget, clo_snapshot *best,
                        int64_t *schedule_ns)
{
    int64_t begin_ns = clo_clock_ns();
    clo_status status = clo_planner_heft.fill(schedule, budget->config);

    if (status != CLO_OK)
        return status;
    *schedule_ns = clo_clock_ns() - begin_ns;
    clo_snapshot_keep(best, schedule);
    budget->schedules++;
    budget->best_ns = best->makespan_ns;
    status = reserve(schedule, budget, best);
    if (status == CLO_OK)
        status = clo_budget_bound(budget, schedule->cost, *schedule_ns);
    schedule->stop_ns = budget->end_ns;
    if (status == CLO_OK && !is_packing)
        status = clo_start_plans(schedule, budget, best, *schedule_ns, false);
    return status;
}

static clo_status plan(clo_schedule *schedule, const clo_rcpsp *problem, clo_budget *budget, clo_snapshot *best)
{
    bool has_begun = problem == NULL || !begins_with_heft(problem);
    int64_t schedule_ns = 0; /* what the preparation of a search cannot be longer than */
    clo_sketch sketch = {0};
    bool is_sketched = problem == NULL && clo_sketch_fits(schedule);
    clo_status status = CLO_OK;

    if (is_sketched)
        status = begin_in_sketch(schedule, &sketch, budget, best, &schedule_ns);
    else if (has_begun)
        status = begin(schedule, problem != NULL, budget, best, &schedule_ns);
    bool goes_on = !has_begun || (!clo_budget_is_spent(budget) && schedule_ns < clo_budget_left_ns(budget));

    if (status == CLO_OK && goes_on) { /* a search builds one at least */
        if (budget->config->threads > 1 && budget->schedules_max == 0)
            status = search_side_by_side(schedule, problem, budget, best);
        else
            status = search(schedule, is_sketched ? &sketch : NULL, problem, budget, best);
    }
    clo_sketch_close(&sketch);
    schedule->stop_ns = INT64_MAX;
    if (status == CLO_OK || status == CLO_ERR_TIMEOUT)
        status = clo_snapshot_restore(best, schedule);
    return status == CLO_OK && is_sketched ? clo_schedule_compact(schedule) : status;
}

clo_status clo_best_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint64_t fit = PLACEMENTS_DEFAULT / schedule->graph->instances + 1;
    clo_budget budget;
    clo_snapshot best = {0};
    clo_rcpsp problem = {0};
    clo_budget_open(&budget, config, fit < SCHEDULES_DEFAULT ? fit : SCHEDULES_DEFAULT);
    clo_status status = clo_snapshot_open(&best, schedule);

    if (status == CLO_OK)
        status = clo_rcpsp_open(&problem, schedule->cost);
    bool is_packing = status == CLO_OK;
    if (is_packing || status == CLO_ERR_UNSUPPORTED)
        status = plan(schedule, is_packing ? &problem : NULL, &budget, &best);
    schedule->schedules = budget.schedules;
    schedule->is_optimal = status == CLO_OK && best.makespan_ns <= budget.bound_ns;
    clo_rcpsp_close(&problem);
    clo_snapshot_close(&best);
    return status;
}
