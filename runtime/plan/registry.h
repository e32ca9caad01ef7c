/* plan/registry.h - the planners by name. */
#ifndef CLO_PLAN_REGISTRY_H
#define CLO_PLAN_REGISTRY_H

#include "base/registry.h"
#include "plan/schedule/planner.h"

/* NULL for an unknown name. Case, '-' and '_' do not count: "Min-Min" is minmin. */
const clo_planner_desc *clo_planner_find(const char *name);

/* All planners, in the order of `clotho list planners`. */
extern const clo_registry clo_planners;

#endif
