/* platform/build/kinds.h - of which kind each executor is. */
#ifndef CLO_PLATFORM_BUILD_KINDS_H
#define CLO_PLATFORM_BUILD_KINDS_H

#include "platform/build/builder.h"

/* Fills in the kinds and the kind of each executor. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_kinds(clo_builder *b);

#endif
