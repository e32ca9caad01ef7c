/* show_includes.h - the headers that a compiler names in its output (`cl /showIncludes`): `deps = msvc`. */
#ifndef CLO_TOOLS_NINJA_LOGS_SHOW_INCLUDES_H
#define CLO_TOOLS_NINJA_LOGS_SHOW_INCLUDES_H

#include "ninja/logs/discover.h"
#include "ninja/text/spool.h"

/* Takes the lines of `output` that begin with `prefix` (empty: "Note: including file: ") as names of files; the output
 * loses them, and the line with the name of the source that the compiler prints first. Files of the system, which lie
 * in "program files" or "microsoft visual studio", are no inputs. Each file is there once, in the order of their names.
 * All lines that stay end with "\n". A line above 64 KiB names no file. False: no memory, m->error is set. */
bool show_includes_read(ninja_manifest *m, piece prefix, spool *output, discovered *out);

#endif
