/* platform/file/topology.h - an hwloc XML topology, read and checked by ourselves.
 *
 * hwloc describes this machine and writes it as XML; files come as XML; both are read here. hwloc's own reader never
 * sees a byte: it accepts impossible topologies, crashes on some broken ones, and falls back to the running machine
 * on others (hwloc 2.9). What this reader accepts is a tree in which every set is the union of what lies below it. */
#ifndef CLO_PLATFORM_FILE_TOPOLOGY_H
#define CLO_PLATFORM_FILE_TOPOLOGY_H

#include "platform/file/tree.h"

/* Reads and checks. `file` names the text in error lines and is borrowed during the call only.
 * Returns CLO_OK, CLO_ERR_FORMAT, CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_read(const char *file, const char *data, size_t bytes, clo_topology *out);

#endif
