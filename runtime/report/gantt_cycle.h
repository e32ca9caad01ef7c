/* report/gantt_cycle.h - a plan with an interval for the charts: its first releases, until the steady state is seen. */
#ifndef CLO_REPORT_GANTT_CYCLE_H
#define CLO_REPORT_GANTT_CYCLE_H

#include "report/gantt.h"

/* Fills the chart of a plan that has an interval; `kept` is what it points to, release it with clo_free. Returns CLO_OK
 * or CLO_ERR_MEMORY. */
clo_status clo_gantt_cycle_open(const clo_plan *plan, const clo_cost *cost, clo_gantt *chart, void **kept);

#endif
