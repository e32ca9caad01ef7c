/* plan/registry.h - the planners by name. */
#ifndef CLO_PLAN_REGISTRY_H
#define CLO_PLAN_REGISTRY_H

#include "base/registry.h"
#include "plan/schedule/planner.h"

/* All planners, in the order of `clotho list planners`. */
extern const clo_registry clo_planners;

#endif
