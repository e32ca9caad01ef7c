/* target.h - the node that a user means. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_TARGET_H
#define CLO_TOOLS_NINJA_MANIFEST_TARGET_H

#include "ninja/manifest/manifest.h"

/* The node that a user means by `name`: a path, or "path^", the first output of what uses path. NINJA_NONE with
 * m->error set, which names the path that is most like it. */
uint32_t ninja_target(ninja_manifest *m, const char *name);
/* The same for a path alone: "path^" is that file. */
uint32_t ninja_named(ninja_manifest *m, const char *name);

#endif
