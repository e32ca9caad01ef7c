/* build_orphans.h - children of this process that are no helpers of its steps: what a killed helper has left, and servers
 * of steps that have ended (../ninja/owner.h). Of the driver's thread. */
#ifndef CLOTHO_TOOL_BUILD_ORPHANS_H
#define CLOTHO_TOOL_BUILD_ORPHANS_H

#include "build_drive.h"

/* The helper of a slot was killed, and step_wait has seen it: ends all that is its step's own. */
void orphans_kill(const build_driver *d, const build_slot *s);
/* Takes leave of servers that have ended. */
void orphans_reap(const build_driver *d);

#endif
