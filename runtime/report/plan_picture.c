/* report/plan_picture.c - a plan as a Gantt chart; the drawing itself is in gantt_svg.c and gantt_text.c. */
#include "plan/plan.h"

#include "report/gantt.h"
#include "report/gantt_cycle.h"

#include "base/memory.h"
#include "base/status.h"

static bool has_skipped(const clo_plan *plan)
{
    for (uint32_t t = 0; plan->outcome != NULL && t < plan->tasks; t++)
        if (plan->outcome[t].skipped)
            return true;
    return false;
}

clo_status clo_gantt_of_plan(const clo_plan *plan, const clo_cost *cost, clo_gantt *chart, void **kept)
{
    clo_bound bound = CLO_BOUND_INIT;

    *kept = NULL;
    clo_status status = clo_plan_matches(plan, cost);
    if (status == CLO_OK)
        status = clo_cost_bound(cost, &bound);
    *chart = (clo_gantt){.cost = cost,
                         .placements = plan->placements,
                         .count = plan->count,
                         .makespan_ns = plan->makespan_ns,
                         .bound_ns = bound.best_ns <= plan->makespan_ns ? bound.best_ns : 0, /* else it was measured */
                         .planner = plan->planner,
                         .is_emulated = plan->is_emulated,
                         .plan = plan};
    if (has_skipped(plan)) /* the bound is of a run of all tasks */
        chart->bound_ns = 0;
    if (status == CLO_OK && plan->interval_ns > 0)
        status = clo_gantt_cycle_open(plan, cost, chart, kept);
    return status;
}

clo_status clo_plan_gantt_svg(const clo_plan *plan, const clo_cost *cost, const char *title, const char *path)
{
    if (plan == NULL || cost == NULL || path == NULL)
        return clo_fail_null("clo_plan_gantt_svg", "plan, cost or path");
    clo_gantt chart;
    void *kept;
    clo_text text = {0};
    clo_status status = clo_gantt_of_plan(plan, cost, &chart, &kept);

    chart.title = title;
    if (status == CLO_OK)
        status = clo_gantt_svg(&chart, &text);
    if (status == CLO_OK)
        status = clo_file_write(path, text.data, text.bytes);
    clo_text_free(&text);
    clo_free(kept);
    return status;
}

clo_status clo_plan_gantt_text(const clo_plan *plan, const clo_cost *cost, uint32_t columns, char **out)
{
    if (plan == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_gantt_text", "plan, cost or out");
    clo_gantt chart;
    void *kept;
    clo_text text = {0};
    clo_status status = clo_gantt_of_plan(plan, cost, &chart, &kept);

    if (status == CLO_OK)
        status = clo_gantt_text(&chart, columns, &text);
    clo_free(kept);
    if (status == CLO_OK)
        return clo_text_take(&text, out);
    clo_text_free(&text);
    return status;
}
