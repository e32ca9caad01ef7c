/* schedules.h - the schedules of a graph that --report F.html shows, collected while a verb makes them. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_SCHEDULES_H
#define CLO_TOOLS_CLOTHO_COMMON_SCHEDULES_H

#include "clotho/common/options.h"

#include <clotho/report.h>

typedef struct schedules {
    clo_report_schedule items[OPTION_LIST_MAX];
    uint32_t count;
} schedules;

/* Takes over the plan. One more than fits is dropped. */
void schedules_keep(schedules *all, clo_plan *plan, int64_t planned_in_ns, bool is_valid);

/* Writes the page, if a path is given and there is a schedule. Returns an exit code, after an error line if it is not
 * 0. */
int schedules_write(const schedules *all, const clo_cost *cost, const char *path);

void schedules_close(schedules *all);

#endif
