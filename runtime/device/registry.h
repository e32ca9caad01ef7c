/* device/registry.h - the registry of this library's drivers. */
#ifndef CLO_DEVICE_REGISTRY_H
#define CLO_DEVICE_REGISTRY_H

#include "base/registry.h"
#include "library.h"

extern CLO_INTERNAL const clo_registry clo_drivers;

#endif
