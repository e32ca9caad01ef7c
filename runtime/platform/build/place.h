/* platform/build/place.h - where the executors of a platform are, and where its numbers come from: for people. */
#ifndef CLO_PLATFORM_BUILD_PLACE_H
#define CLO_PLATFORM_BUILD_PLACE_H

#include "platform/build/builder.h"

/* Packages, clusters, cores and caches. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_places(const clo_builder *b, clo_platform *platform);

/* What is known from where. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_facts(const clo_builder *b, clo_platform *platform);

#endif
