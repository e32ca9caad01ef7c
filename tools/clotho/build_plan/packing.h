/* packing.h - the policy of builds that have a budget of memory. After each end of a step, the rest of the build
 * is scheduled anew with what was learned of times and peaks (rest.h); the steps that this begins at once are
 * begun, all others wait, though slots are free and they may fit: the room is kept for a larger one. Meanwhile
 * another thread improves the order of the rest (think.h).
 *
 * For one job at a time, whose tasks have one instance and which nobody else shares the machine with. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_PACKING_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_PACKING_H

#include "clotho/build_plan/think.h"

#include <clotho/policy.h>

/* Its argument in a run is a build_think, open. Without one nothing is learned or improved: a simulation has no time in
 * which it waits. */
extern const clo_policy build_packing;

#endif
