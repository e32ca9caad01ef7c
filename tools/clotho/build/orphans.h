/* orphans.h - children of this process that are no helpers of its steps: what a killed helper has left, and
 * servers of steps that have ended (../ninja/owner.h). */
#ifndef CLO_TOOLS_CLOTHO_BUILD_ORPHANS_H
#define CLO_TOOLS_CLOTHO_BUILD_ORPHANS_H

#include "ninja/step/owner.h"

/* Whether a child is the helper of a step that runs. */
typedef bool (*orphan_helper)(const void *argument, pid_t pid);

/* Kills what is `owner`'s of them (NULL: nothing), and takes leave of those that have ended. Of the thread that begins
 * the helpers. */
void orphans_end(const step_owner *owner, orphan_helper is_helper, const void *argument);

#endif
