/* cpus.h - how many CPUs a build may use. */
#ifndef CLO_TOOLS_NINJA_STEP_CPUS_H
#define CLO_TOOLS_NINJA_STEP_CPUS_H

#include <stdint.h>

/* CPUs that this process may run on, or fewer where its control groups have a quota of CPU time (as in a container);
 * at least 1. ninja 1.11 does not see the quotas of version 2 and of the groups above its own. */
uint32_t cpus_usable(void);

#endif
