/* io/registry.h - the file formats by name; empty in a library without files. */
#ifndef CLO_IO_REGISTRY_H
#define CLO_IO_REGISTRY_H

#include "base/registry.h"

extern const clo_registry clo_formats;

#endif
