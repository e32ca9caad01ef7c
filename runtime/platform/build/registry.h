/* platform/build/registry.h - the shipped platforms by name. */
#ifndef CLO_PLATFORM_BUILD_REGISTRY_H
#define CLO_PLATFORM_BUILD_REGISTRY_H

#include "base/registry.h"
#include "library.h"

extern CLO_INTERNAL const clo_registry clo_platforms;

#endif
