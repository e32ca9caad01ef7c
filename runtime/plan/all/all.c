/* plan/all/all.c - all planners of the library, in the order of `clotho list planners`, and the one that asks them all:
 * "best" has the search of search/best.c, and without a budget no planner is ahead of it. A new planner is one file,
 * one name in clotho/planner.h and one line here. */
#include "plan/all/all.h"

#include "base/clock.h"
#include "base/status.h"
#include "plan/make.h"
#include "plan/plan.h"
#include "plan/search/search.h"

const clo_planner *const clo_planners_built_in[] = {
    &clo_planner_heft,
    &clo_planner_deft,
    &clo_planner_best,
    &clo_planner_exact,
    &clo_planner_serial,
    &clo_planner_cpop,
    &clo_planner_peft,
    &clo_planner_etf,
    &clo_planner_dls,
    &clo_planner_minmin,
    &clo_planner_maxmin,
    &clo_planner_duplex,
    &clo_planner_sufferage,
    &clo_planner_mct,
    &clo_planner_met,
    &clo_planner_olb,
    &clo_planner_fastestnode,
    &clo_planner_fcp,
    &clo_planner_flb,
    &clo_planner_heft_append,
    &clo_planner_heft_expected,
    &clo_planner_lookahead,
    &clo_planner_fifo,
    &clo_planner_sjf,
    &clo_planner_hrrn,
    &clo_planner_highrank,
    &clo_planner_fifo_deft,
    &clo_planner_sjf_deft,
    &clo_planner_hrrn_deft,
    &clo_planner_highrank_deft,
    &clo_planner_deft_append,
    &clo_planner_lachesis,
    &clo_planner_dfrn,
    &clo_planner_tds,
    &clo_planner_tdca,
    &clo_planner_sgs_serial,
    &clo_planner_sgs_parallel,
    &clo_planner_sgs_serial_backward,
    &clo_planner_sgs_parallel_backward,
    &clo_planner_critical_path,
    &clo_planner_tetris,
    &clo_planner_breadth_first,
    &clo_planner_random,
    &clo_planner_coffman_graham,
    &clo_planner_strip_part,
    &clo_planner_graphene,
    &clo_planner_graphene_paper,
    &clo_planner_edges,
    &clo_planner_edges_sjf,
    &clo_planner_edges_tetris,
    &clo_planner_edges_greedy,
    &clo_planner_edges_random,
    &clo_planner_edges_best,
    NULL,
};

/* The plan of `best` or of another planner, whichever is shorter: *plan is that of `best`, and becomes the other. What
 * another planner cannot plan is no loss. */
static clo_status compare(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                          clo_plan **plan)
{
    clo_plan *other = NULL;
    clo_status status = clo_plan_make_over_ports(cost, planner, config, &other);

    if (status != CLO_OK)
        return status == CLO_ERR_MEMORY ? status : CLO_OK;
    uint64_t schedules = (*plan)->schedules + other->schedules;
    bool is_proved = other->is_optimal && other->makespan_ns <= (*plan)->makespan_ns;
    if (other->makespan_ns < (*plan)->makespan_ns) {
        clo_plan *worse = *plan;
        *plan = other;
        other = worse;
    }
    clo_plan_destroy(other);
    (*plan)->is_optimal |= is_proved;
    (*plan)->planner = clo_planner_best.name;
    (*plan)->schedules = schedules;
    return CLO_OK;
}

/* Who asks "best" hears of all planners, as of one search. */
typedef struct hearing {
    const clo_plan_config *config;
    const clo_plan *plan; /* the best so far; NULL: none yet */
    int64_t begin_ns, bound_ns;
    uint32_t stop;
} hearing;

static void pass_on(void *context, const clo_plan_progress *now)
{
    hearing *h = context;
    clo_plan_progress told = *now;

    h->bound_ns = now->bound_ns > h->bound_ns ? now->bound_ns : h->bound_ns;
    told.bound_ns = h->bound_ns;
    told.elapsed_ns = clo_clock_ns() - h->begin_ns;
    if (h->plan != NULL) {
        told.schedules += h->plan->schedules;
        told.makespan_ns = now->makespan_ns < h->plan->makespan_ns ? now->makespan_ns : h->plan->makespan_ns;
    }
    h->config->progress(h->config->progress_context, &told);
    h->stop |= *now->stop;
}

/* Its search first, then all planners with their own budgets, until one plan is proved shortest. A search that begins
 * with a few of them can miss what the others find; without a budget there is time for all. Each plan is justified,
 * which never makes it longer. */
static clo_status make_best(const clo_cost *cost, const clo_plan_config *config, clo_plan **out)
{
    clo_plan_config each = *config;
    clo_plan *plan = NULL;
    hearing heard = {.config = config, .begin_ns = clo_clock_ns()};

    each.justify = 1;
    each.progress = config->progress != NULL ? pass_on : NULL;
    each.progress_context = &heard;
    clo_status status = clo_plan_make_over_ports(cost, &clo_planner_best, &each, &plan);
    for (size_t i = 0; status == CLO_OK && clo_planners_built_in[i] != NULL && !plan->is_optimal && heard.stop == 0;
         i++)
        if (clo_planners_built_in[i] != &clo_planner_best) {
            heard.plan = plan;
            status = compare(cost, clo_planners_built_in[i], &each, &plan);
        }
    if (status != CLO_OK)
        return clo_plan_destroy(plan), status;
    *out = plan;
    return CLO_OK;
}

const clo_planner clo_planner_best = {
    .name = "best",
    .summary = "anytime: proof, annealing or packing search from the best of several planners, until the budget ends",
    .size = sizeof(clo_planner),
    .executions_each = CLO_EXECUTIONS_EACH,
    .fill = clo_best_fill,
    .plan_without_budget = make_best,
};
