/* platform/build/build.h - from a checked topology to a platform. */
#ifndef CLO_PLATFORM_BUILD_BUILD_H
#define CLO_PLATFORM_BUILD_BUILD_H

#include "library.h"
#include "platform/file/tree.h"

/* The platform a topology describes. Returns CLO_OK, CLO_ERR_FORMAT (names a duplicate), CLO_ERR_LIMIT,
 * CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_to_platform(const clo_topology *topology, clo_platform **out);

/* A platform from the text of an hwloc XML file; `file` names it in error lines. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_platform_parse(const char *file, const char *data, size_t bytes,
                                                         clo_platform **out);

#endif
