/* scope.h - names, and what they are bound to in which scope. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_SCOPE_H
#define CLO_TOOLS_NINJA_MANIFEST_SCOPE_H

#include "ninja/manifest/manifest.h"

/* The number of a name; a new one where it is not known. NINJA_NONE: no memory, m->error is set. */
uint32_t scope_symbol(ninja_manifest *m, piece name);
/* The same without making one; NINJA_NONE: not known. */
uint32_t scope_find_symbol(const ninja_manifest *m, piece name);

/* A new scope inside `parent` (NINJA_NONE: none). NINJA_NONE: no memory, m->error is set. */
uint32_t scope_open(ninja_manifest *m, uint32_t parent);

/* Binds `symbol` in `scope`, over what it was bound to. False: no memory, m->error is set. */
bool scope_bind(ninja_manifest *m, uint32_t scope, uint32_t symbol, piece value);
/* What is bound in this very scope; NULL: nothing. */
const piece *scope_own(const ninja_manifest *m, uint32_t scope, uint32_t symbol);
/* What is bound here or in a scope around it; NULL: nothing. scope may be NINJA_NONE. */
const piece *scope_value(const ninja_manifest *m, uint32_t scope, uint32_t symbol);

/* Rules by name, in the same manner. rule_own: in this very scope; both: NINJA_NONE where there is none. */
bool scope_bind_rule(ninja_manifest *m, uint32_t scope, uint32_t symbol, uint32_t rule);
uint32_t scope_own_rule(const ninja_manifest *m, uint32_t scope, uint32_t symbol);
uint32_t scope_rule(const ninja_manifest *m, uint32_t scope, uint32_t symbol);

/* Makes the tables, the names of manifest.h, scope 0, the rule "phony" and the two pools. */
bool scope_begin(ninja_manifest *m);
void scope_end(ninja_manifest *m);

#endif
