/* parse.h - the parser, called by ninja_open alone. */
#ifndef CLOTHO_NINJA_PARSE_H
#define CLOTHO_NINJA_PARSE_H

#include "manifest.h"

/* Reads `path` into *m, which scope_begin has prepared. Returns false with m->error set. */
bool ninja_parse(ninja_manifest *m, const char *path);

#endif
