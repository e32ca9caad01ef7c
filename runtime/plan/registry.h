/* plan/registry.h - the planners by name. */
#ifndef CLO_PLAN_REGISTRY_H
#define CLO_PLAN_REGISTRY_H

#include "plan/schedule/planner.h"

/* NULL for an unknown name. Case, '-' and '_' do not count: "Min-Min" is minmin. */
const clo_planner_desc *clo_planner_find(const char *name);

#endif
