/* plan/all/all.h - all planners of the library. Whoever names the table links them all. */
#ifndef CLO_PLAN_ALL_ALL_H
#define CLO_PLAN_ALL_ALL_H

#include "plan/schedule/planner.h"

/* NULL behind the last. */
extern const clo_planner *const clo_planners_built_in[];

#endif
