/* files.h - the files of a manifest: read once, kept as long as it. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_FILES_H
#define CLO_TOOLS_NINJA_MANIFEST_FILES_H

#include "ninja/manifest/manifest.h"

/* Reads a file and keeps its text and its name in the manifest, as the last of m->files. path: lives as long as it.
 * *text: terminated, without zero bytes. Returns false with m->error set. */
bool ninja_keep_file(ninja_manifest *m, const char *path, char **text);

#endif
