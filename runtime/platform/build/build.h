/* platform/build/build.h - from a checked topology to a platform. */
#ifndef CLO_PLATFORM_BUILD_BUILD_H
#define CLO_PLATFORM_BUILD_BUILD_H

#include "platform/file/tree.h"

/* The platform a topology describes. Returns CLO_OK, CLO_ERR_FORMAT (names a duplicate), CLO_ERR_LIMIT,
 * CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_to_platform(const clo_topology *topology, clo_platform **out);

#endif
