/* listing.h - what `ninja -t query|commands|compdb|targets` prints, byte for byte as ninja 1.11 does: the reader is
 * compared with ninja through it. Each appends to `out` and returns false with m->error set. */
#ifndef CLOTHO_NINJA_LISTING_H
#define CLOTHO_NINJA_LISTING_H

#include "manifest.h"

/* How a node is made, and what uses it. */
bool list_query(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out);
/* The commands that make the nodes, each behind those it needs. */
bool list_commands(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out);
/* Every edge that has inputs, as compile_commands.json. directory: as it stands in each entry. */
bool list_compdb(ninja_manifest *m, const char *directory, buffer *out);
/* "OUTPUT: RULE", all edges. */
bool list_targets(ninja_manifest *m, buffer *out);

#endif
