/* plan/best.c - the shortest plan that the budget allows, anytime.
 *
 * It starts from HEFT, DEFT and everything in a row, then PEFT, TDCA and DFRN, so it is never worse than these. Where the problem is a packing (pool.h) a genetic search goes on, else simulated annealing on the order and the
 * placement of instances. It ends with the budget, or where a plan meets the lower bound. Ties: the earlier, so
 * duplicates are paid for only where they help.
 *
 * Several threads search side by side, each with a seed of its own, where only time is limited. Where schedules are
 * limited the plan must depend on the seed alone, so one thread does it all. */
#include "plan/planners.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/parallel.h"
#include "plan/pool_search.h"

enum {
    SCHEDULES_DEFAULT = 1000, /* without a budget, fewer of large graphs: */
    PLACEMENTS_DEFAULT = 2000000,
    PORTFOLIO_PAIRS = 1000000, /* instances * executors up to which more than the first three are tried */
    PROVED_TASKS = 10,         /* up to so many a proof is tried first */
    PROVED_TASKS_BY_TIME = 20  /* likewise where time is the limit, which a proof can waste */
};

static clo_status pack(clo_draft *draft, const clo_plan_config *config, clo_pool *pool, clo_budget *budget,
                       clo_snapshot *best)
{
    clo_pool_schedule found;
    int direction = CLO_POOL_FORWARD;
    clo_status status = clo_pool_schedule_open(&found, pool);

    if (status == CLO_OK)
        status = clo_pool_search(pool, config->seed, budget, &found, &direction);
    clo_draft_clear(draft);
    if (status == CLO_OK && found.makespan_ns < best->makespan_ns)
        status = clo_pool_realise(pool, &found, direction, draft);
    if (status == CLO_OK && found.makespan_ns < best->makespan_ns)
        clo_snapshot_keep(best, draft);
    clo_pool_schedule_close(&found);
    return status;
}

/* Half of what is left goes into a proof where the graph is small and no replica can help: then none is shorter. */
static clo_status prove(clo_draft *draft, clo_budget *budget, clo_snapshot *best)
{
    uint32_t limit = budget->end_ns != INT64_MAX ? PROVED_TASKS_BY_TIME : PROVED_TASKS;
    clo_budget part = *budget;
    bool proved = false;

    if (draft->graph->instances > limit || clo_draft_could_replicate(draft))
        return CLO_OK;
    if (budget->schedules_max > 0)
        part.schedules_max -= (budget->schedules_max - budget->schedules) / 2;
    if (budget->end_ns != INT64_MAX)
        part.end_ns -= (budget->end_ns - clo_clock_ns()) / 2;
    clo_status status = clo_exact(draft, &part, best, &proved);
    budget->schedules = part.schedules;
    budget->best_ns = best->makespan_ns;
    if (proved)
        budget->bound_ns = best->makespan_ns;
    return status;
}

/* From the best on, in one thread. */
static clo_status search(clo_draft *draft, const clo_plan_config *config, clo_budget *budget, clo_snapshot *best)
{
    clo_pool pool;
    clo_status status = clo_pool_open(&pool, draft->cost);

    if (status == CLO_ERR_UNSUPPORTED) {
        status = prove(draft, budget, best);
        if (status == CLO_OK && !clo_budget_is_spent(budget))
            status = clo_anneal(draft, config->seed, budget, best);
        return status;
    }
    if (status == CLO_OK)
        status = pack(draft, config, &pool, budget, best);
    clo_pool_close(&pool);
    return status;
}

/* One thread's search. */
typedef struct island {
    clo_draft draft;
    clo_plan_config config;
    clo_budget budget;
    clo_snapshot best;
    clo_status status;
} island;

static clo_status open_island(island *mine, const clo_draft *draft, const clo_budget *budget, const clo_snapshot *best,
                              uint32_t index)
{
    clo_status status = clo_draft_open(&mine->draft, draft->cost, draft->capacity / draft->graph->instances);

    mine->draft.may_duplicate = draft->may_duplicate;
    mine->config = *budget->config;
    mine->config.seed += index;
    if (index > 0)
        mine->config.progress = NULL; /* told from the calling thread, which is the first */
    mine->budget = *budget;
    mine->budget.config = &mine->config;
    if (status == CLO_OK)
        status = clo_snapshot_open(&mine->best, draft);
    if (status == CLO_OK)
        clo_snapshot_copy(&mine->best, best);
    return status;
}

static void run_island(void *context, uint32_t worker, uint32_t round)
{
    island *mine = (island *)context + round;

    (void)worker;
    mine->status = search(&mine->draft, &mine->config, &mine->budget, &mine->best);
}

static clo_status search_side_by_side(clo_draft *draft, uint32_t threads, clo_budget *budget, clo_snapshot *best)
{
    island *islands = clo_allocate(threads, sizeof *islands);
    uint64_t before = budget->schedules;
    clo_status status = islands == NULL ? clo_fail_memory("a plan") : CLO_OK;

    for (uint32_t i = 0; i < threads && status == CLO_OK; i++)
        status = open_island(&islands[i], draft, budget, best, i);
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
        clo_snapshot_close(&islands[i].best);
        if (islands[i].draft.cost != NULL)
            clo_draft_close(&islands[i].draft);
    }
    clo_free(islands);
    return status;
}

/* The plans to start from: HEFT whatever the budget is. The later ones see other things than earliest finishes, but take
 * longer. */
static clo_status begin(clo_draft *draft, const clo_plan_config *config, clo_budget *budget, clo_snapshot *best)
{
    static clo_status (*const fills[])(clo_draft *, const clo_plan_config *) = {
        clo_heft_fill, clo_serial_fill, clo_deft_fill, clo_peft_fill, clo_tdca_fill, clo_dfrn_fill};
    enum { CHEAP = 3 };
    bool all = (uint64_t)draft->graph->instances * draft->executors <= PORTFOLIO_PAIRS;
    clo_status status = CLO_OK;

    for (size_t i = 0; i < sizeof fills / sizeof fills[0] && status == CLO_OK; i++) {
        if ((i > 0 && clo_budget_is_spent(budget)) || (i >= CHEAP && !all))
            break;
        clo_draft_clear(draft);
        status = fills[i](draft, config);
        if (status == CLO_OK)
            clo_snapshot_keep(best, draft);
        budget->schedules++;
        budget->best_ns = best->makespan_ns;
    }
    return status;
}

clo_status clo_best_fill(clo_draft *draft, const clo_plan_config *config)
{
    clo_budget budget;
    clo_snapshot best;
    uint64_t fit = PLACEMENTS_DEFAULT / draft->graph->instances + 1;
    clo_status status =
        clo_budget_open(&budget, draft->cost, config, fit < SCHEDULES_DEFAULT ? fit : SCHEDULES_DEFAULT);

    if (status == CLO_OK)
        status = clo_snapshot_open(&best, draft);
    if (status != CLO_OK)
        return status;
    status = begin(draft, config, &budget, &best);
    if (status == CLO_OK && !clo_budget_is_spent(&budget)) {
        uint32_t threads = config->threads < CLO_PARALLEL_MAX ? config->threads : CLO_PARALLEL_MAX;
        if (threads > 1 && budget.schedules_max == 0)
            status = search_side_by_side(draft, threads, &budget, &best);
        else
            status = search(draft, config, &budget, &best);
    }
    if (status == CLO_OK)
        status = clo_snapshot_restore(&best, draft);
    draft->schedules = budget.schedules;
    draft->is_optimal = status == CLO_OK && best.makespan_ns <= budget.bound_ns;
    clo_snapshot_close(&best);
    return status;
}
