/* open.h - from files to a manifest, and its end. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_OPEN_H
#define CLO_TOOLS_NINJA_MANIFEST_OPEN_H

#include "ninja/manifest/manifest.h"

/* Reads the manifest at `path` and what it includes. Returns false with m->error set, "FILE:LINE: what; what to do".
 * ninja_close in both cases. */
bool ninja_open(ninja_manifest *m, const char *path, const ninja_options *options);
void ninja_close(ninja_manifest *m);

#endif
