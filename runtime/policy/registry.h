/* policy/registry.h - the policies by name; the default, steal, is first. */
#ifndef CLO_POLICY_REGISTRY_H
#define CLO_POLICY_REGISTRY_H

#include "base/registry.h"
#include "library.h"

extern CLO_INTERNAL const clo_registry clo_policies;
/* Whose decisions are not bounded as those are. */
extern CLO_INTERNAL const clo_registry clo_learned_policies;

#endif
