/* paths.h - paths as text. */
#ifndef CLO_TOOLS_NINJA_TEXT_PATHS_H
#define CLO_TOOLS_NINJA_TEXT_PATHS_H

#include "ninja/text/text.h"

/* Drops "." and empty components, the "NAME/.." that a text shows, and the last slash, in place, without a look at the
 * disk. Returns the new length. As ninja does: "a/.." becomes ".", and "/" becomes "". */
size_t path_canonical(char *path, size_t bytes);

/* Appends the path as one word of a shell command. */
void path_quote(buffer *out, piece path);

/* Number of bytes of the folder of `path` without its last slash; 0: none. */
size_t path_folder(piece path);

#endif
