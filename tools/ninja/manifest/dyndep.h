/* dyndep.h - files that a build makes, and that name further inputs and outputs of its statements: modules of Fortran
 * and C++20.
 *
 * Clotho reads them in phases. A file whose own inputs wait for no other such file is built first, then read; then come
 * those that wait for it; at last the targets. So order and plan always know the whole graph. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_DYNDEP_H
#define CLO_TOOLS_NINJA_MANIFEST_DYNDEP_H

#include "ninja/manifest/manifest.h"

/* Whether any statement names a file that was not read yet. */
bool dyndep_is_any(const ninja_manifest *m);

/* The dyndep files, not yet read, that statements behind `targets` name, and that wait for no other: an array from
 * malloc, each once. Those that cannot be made, because a step has failed, are left out. Discovered inputs count if
 * they were looked at (state/dirty.h). Returns false with m->error set: no memory, or they wait for each other. */
bool dyndep_next(ninja_manifest *m, const uint32_t *targets, size_t count, uint32_t **files, size_t *files_count);

/* Reads the file of a node into the statements that name it. Returns false with m->error set. */
bool dyndep_read(ninja_manifest *m, uint32_t node);

/* Goes on as if the file said nothing. */
void dyndep_skip(ninja_manifest *m, uint32_t node);

#endif
