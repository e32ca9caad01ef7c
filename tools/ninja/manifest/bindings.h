/* bindings.h - what an edge's variables are: late, with $in and $out. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_BINDINGS_H
#define CLO_TOOLS_NINJA_MANIFEST_BINDINGS_H

#include "ninja/manifest/manifest.h"

/* The text of a binding as edge `edge` sees it, appended to `out`. quoted: $in and $out as the shell needs them.
 * Returns false with m->error set: rule variables that name each other in a circle, too long, no memory. */
bool ninja_edge_value(ninja_manifest *m, uint32_t edge, uint32_t symbol, bool quoted, buffer *out);
/* Whether that text is not empty. Rule variables in a circle count as empty. Takes no memory. */
bool ninja_edge_flag(ninja_manifest *m, uint32_t edge, uint32_t symbol);
/* The command; with_response: ";rspfile=" and the response file's content behind it, which ninja's hash covers. */
bool ninja_edge_command(ninja_manifest *m, uint32_t edge, bool with_response, buffer *out);
/* A variable of the top-level file; empty where it is not bound. */
piece ninja_variable(const ninja_manifest *m, uint32_t symbol);

/* Name of the rule of an edge. */
piece ninja_rule_name(const ninja_manifest *m, uint32_t edge);

#endif
