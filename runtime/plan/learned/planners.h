/* plan/learned/planners.h - what this folder adds to the registry. */
#ifndef CLO_PLAN_LEARNED_PLANNERS_H
#define CLO_PLAN_LEARNED_PLANNERS_H

#include "plan/schedule/planner.h"

extern const clo_planner_desc clo_planner_lachesis;

#endif
