/* generate/registry.h - the graph families by name, in the order of `clotho list families`. */
#ifndef CLO_GENERATE_REGISTRY_H
#define CLO_GENERATE_REGISTRY_H

#include "base/registry.h"
#include "library.h"

extern CLO_INTERNAL const clo_registry clo_graph_families;

#endif
