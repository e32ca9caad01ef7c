/* schedules.c - see schedules.h. */
#include "clotho/common/schedules.h"

#include "clotho/common/report.h"

#include <stdio.h>

void schedules_keep(schedules *all, clo_plan *plan, int64_t planned_in_ns, bool is_valid)
{
    if (all->count == OPTION_LIST_MAX) {
        clo_plan_destroy(plan);
        return;
    }
    all->items[all->count++] =
        (clo_report_schedule){.plan = plan, .planned_in_ns = planned_in_ns, .is_invalid = !is_valid};
}

int schedules_write(const schedules *all, const clo_cost *cost, const char *path)
{
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    char title[512];

    if (path == NULL || all->count == 0)
        return EXIT_GOOD;
    snprintf(title, sizeof title, "%s on %s, planned", clo_graph_name(clo_cost_graph(cost)),
             clo_platform_name(clo_cost_platform(cost)));
    config.title = title;
    clo_status status = clo_report_plans(cost, all->items, all->count, &config, path);

    return status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
}

void schedules_close(schedules *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        clo_plan_destroy((clo_plan *)(uintptr_t)all->items[i].plan);
    all->count = 0;
}
