/* parse.h - the parser, called by ninja_open alone. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_PARSE_H
#define CLO_TOOLS_NINJA_MANIFEST_PARSE_H

#include "ninja/manifest/manifest.h"

/* Reads `path` into *m, which scope_begin has prepared. Returns false with m->error set. */
bool ninja_parse(ninja_manifest *m, const char *path);

#endif
