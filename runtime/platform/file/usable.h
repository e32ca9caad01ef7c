/* platform/file/usable.h - what the reader of a topology may use of it. */
#ifndef CLO_PLATFORM_FILE_USABLE_H
#define CLO_PLATFORM_FILE_USABLE_H

#include "platform/file/parse.h"
#include "platform/file/tree.h"

/* PU, core, cache, group, die, package, machine: what executors are made of. Everything else hangs on one. */
static inline bool clo_object_is_ordinary(clo_object_type type)
{
    return type <= CLO_OBJECT_PU;
}

/* Leaves out the PUs that are not in the machine's allowed_cpuset, and ordinary objects that have no CPU. Memories and
 * accelerators stay: they go to the nearest object that stays. Before the objects are indexed.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_leave_out(clo_topology *topology);

/* Takes CPUs that may not be used out of a set that the file states. */
void clo_topology_allow(const clo_topology *topology, clo_set *set);

#endif
