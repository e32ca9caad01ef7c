/* plan/search/starts.c - the plans that a search begins with: those of the other planners.
 *
 * Which planners fit must not depend on the clock where schedules are limited: then the numbers below and the size
 * of the graph decide, in schedules as long as HEFT's. Where time is limited the same numbers are multiplied by what
 * HEFT took here. They are rounded up from `bench-planners` (bench/planners/README.md). */
#include "plan/schedule/planner.h"
#include "plan/search/search.h"

#include "base/clock.h"

#include <stddef.h>

/* A planner and about how long it takes, in tenths of HEFT: `each`, and on top `per_1000` for 1000 instances each
 * where it grows faster than the graph, and `per_10` for 10 executors each. */
typedef struct start {
    const clo_planner *planner;
    uint32_t each, per_1000, per_10;
} start;

/* In the order of what they bring. The first ones are tried as long as the budget lasts; where time is limited and a
 * sketch fits, the search in it finds more in that time. */
static const start starts[] = {
    {&clo_planner_serial, 3, 0, 0},
    {&clo_planner_deft, 45, 0, 0},
    {&clo_planner_peft, 20, 0, 0},
    {&clo_planner_tdca, 40, 0, 0},
    {&clo_planner_dfrn, 20, 0, 0},
    {&clo_planner_lookahead, 60, 0, 60},
    {&clo_planner_dls, 40, 40, 0},
    {&clo_planner_graphene, 300, 0, 0},
    {&clo_planner_mct, 15, 0, 0},
    {&clo_planner_sufferage, 60, 0, 10},
    {&clo_planner_deft_append, 45, 0, 0},
    {&clo_planner_etf, 40, 10, 0},
    {&clo_planner_heft_append, 12, 0, 0},
    {&clo_planner_highrank_deft, 45, 0, 0},
    {&clo_planner_maxmin, 60, 0, 0},
    {&clo_planner_minmin, 60, 0, 0},
    {&clo_planner_cpop, 15, 0, 0},
    {&clo_planner_highrank, 15, 0, 0},
    {&clo_planner_fcp, 15, 0, 0},
    {&clo_planner_flb, 15, 0, 0},
    {&clo_planner_tds, 40, 0, 0},
    {&clo_planner_fifo_deft, 45, 0, 0},
    {&clo_planner_hrrn_deft, 45, 0, 0},
    {&clo_planner_sjf_deft, 45, 0, 0},
    {&clo_planner_fifo, 15, 0, 0},
    {&clo_planner_hrrn, 15, 0, 0},
    {&clo_planner_sjf, 15, 0, 0},
    {&clo_planner_met, 5, 0, 0},
    {&clo_planner_olb, 5, 0, 0},
    {&clo_planner_fastestnode, 5, 0, 0},
    {&clo_planner_sgs_serial, 15, 0, 0},
    {&clo_planner_sgs_parallel, 20, 0, 0},
    {&clo_planner_sgs_serial_backward, 15, 0, 0},
    {&clo_planner_sgs_parallel_backward, 20, 0, 0},
    {&clo_planner_critical_path, 20, 0, 0},
    {&clo_planner_tetris, 40, 40, 0},
    {&clo_planner_breadth_first, 20, 0, 0},
    {&clo_planner_random, 20, 0, 0},
    {&clo_planner_coffman_graham, 30, 0, 0},
    {&clo_planner_strip_part, 40, 0, 0},
    {&clo_planner_graphene_paper, 150, 0, 0},
};

enum { STARTS = sizeof starts / sizeof starts[0], FIRST = 5, TENTHS = 10, PART_OF_BUDGET = 4, PART_OF_TIME = 16 };

/* In tenths of HEFT. */
static uint64_t effort(const clo_schedule *schedule, const start *s)
{
    uint64_t thousands = (schedule->graph->instances + 999) / 1000;

    return s->each + s->per_1000 * thousands + s->per_10 * (uint64_t)(schedule->executors / 10);
}

/* True if what was spent on starts and this one stay within the share of the budget. */
static bool fits(const clo_budget *budget, uint64_t spent, uint64_t tenths, int64_t heft_ns)
{
    uint64_t all = (spent + tenths) / TENTHS;

    if (budget->schedules_max > 0 && all > budget->schedules_max / PART_OF_BUDGET)
        return false;
    if (budget->end_ns == INT64_MAX)
        return true;
    uint64_t part_ns = (uint64_t)(budget->end_ns - budget->begin_ns) / PART_OF_TIME;
    return heft_ns <= 0 || all <= part_ns / (uint64_t)heft_ns;
}

static clo_status try_one(clo_schedule *schedule, const start *s, clo_budget *budget, clo_snapshot *best)
{
    clo_schedule_clear(schedule);
    schedule->schedules = 0;
    clo_status status = s->planner->fill(schedule, budget->config);

    budget->schedules += schedule->schedules > 0 ? schedule->schedules : 1;
    if (status == CLO_OK)
        clo_snapshot_keep(best, schedule);
    budget->best_ns = best->makespan_ns;
    return status;
}

clo_status clo_start_plans(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, int64_t heft_ns,
                           bool is_sketched)
{
    uint64_t spent = 0;
    clo_status status = CLO_OK;

    for (size_t i = is_sketched ? 1 : 0; i < STARTS && status == CLO_OK && !clo_budget_is_spent(budget); i++) {
        uint64_t tenths = effort(schedule, &starts[i]);
        bool is_short = !is_sketched && (int64_t)tenths * heft_ns / TENTHS < clo_budget_left_ns(budget) / 2;
        bool is_first = i < FIRST && (budget->end_ns == INT64_MAX || is_short);
        if (!is_first && !fits(budget, spent, tenths, heft_ns))
            continue;
        spent += tenths;
        status = try_one(schedule, &starts[i], budget, best);
    }
    return status == CLO_ERR_TIMEOUT ? CLO_OK : status;
}
