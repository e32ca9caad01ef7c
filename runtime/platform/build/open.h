/* platform/build/open.h - ways to a platform, for this module's own use. */
#ifndef CLO_PLATFORM_BUILD_OPEN_H
#define CLO_PLATFORM_BUILD_OPEN_H

#include "base/library.h"
#include <clotho/platform.h>

/* A platform from the text of an hwloc XML file; `file` names it in error lines. */
CLO_INTERNAL CLO_NODISCARD clo_status clo_platform_parse(const char *file, const char *data, size_t bytes,
                                                         clo_platform **out);

#endif
