/* plan/all/registry.h - the planners by name. */
#ifndef CLO_PLAN_ALL_REGISTRY_H
#define CLO_PLAN_ALL_REGISTRY_H

#include "base/registry.h"
#include "library.h"
#include "plan/schedule/planner.h"

/* All planners, in the order of `clotho list planners`. */
extern CLO_INTERNAL const clo_registry clo_planners;

#endif
