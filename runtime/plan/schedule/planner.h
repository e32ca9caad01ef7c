/* plan/schedule/planner.h - what a planner of the library's own is made of: a description (clotho/planner.h) that
 * stands in its own file, with a function that fills a schedule. plan/all/registry.c lists them all. */
#ifndef CLO_PLAN_SCHEDULE_PLANNER_H
#define CLO_PLAN_SCHEDULE_PLANNER_H

#include "plan/schedule/schedule.h"

#include <clotho/planner.h>

/* clo_planner.executions_each where the paper knows no bound. */
enum { CLO_EXECUTIONS_EACH = 4 };

#endif
