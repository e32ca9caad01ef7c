/* listing.h - what `ninja -t query|commands|compdb|...` prints, byte for byte as ninja 1.11 does:
 * the reader is compared with ninja through it. Each appends to `out` and returns false with m->error set. */
#ifndef CLO_TOOLS_NINJA_LISTING_LISTING_H
#define CLO_TOOLS_NINJA_LISTING_LISTING_H

#include "ninja/logs/deps_log.h"

/* How a node is made, and what uses it. */
bool list_query(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out);
/* The commands that make the nodes, each behind those it needs; only_last: without those. */
bool list_commands(ninja_manifest *m, const uint32_t *nodes, size_t count, bool only_last, buffer *out);
/* Every edge that has inputs, as compile_commands.json. */
typedef struct compdb_options {
    const char *directory; /* as it stands in each entry */
    char **rules;          /* only edges of these; count 0: of all */
    size_t count;
    bool expands; /* "@FILE" becomes what the response file FILE holds */
} compdb_options;

bool list_compdb(ninja_manifest *m, const compdb_options *options, buffer *out);
/* "OUTPUT: RULE", all edges. */
bool list_targets(ninja_manifest *m, buffer *out);

/* listing_tree.c: */

/* What no statement uses, each with its inputs behind it, `depth` levels in all; 0: all levels, up to 64 MiB. */
bool list_depth(ninja_manifest *m, uint32_t depth, buffer *out);
/* The outputs of a rule, by name, each once. */
bool list_rule_outputs(ninja_manifest *m, const char *rule, buffer *out);
/* The inputs that no statement makes, in the order of the statements; those that are order-only too. */
bool list_sources(ninja_manifest *m, buffer *out);
/* All inputs of what makes the nodes, as words of a shell, by name, each once. */
bool list_inputs(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out);
/* The names of the rules, by name, without those of files that subninja names; with_text: and their descriptions. */
bool list_rules(ninja_manifest *m, bool with_text, buffer *out);
/* What the log says of the nodes; count 0: of all outputs of statements with `deps` that it mentions. */
bool list_deps(ninja_manifest *m, const deps_log *log, const uint32_t *nodes, size_t count, buffer *out);

/* listing_graph.c: */

/* The nodes and what is behind them, as DOT; "n1" and "e1" where ninja has addresses. */
bool list_graph(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out);
/* Which targets behind the nodes use generated files that they do not wait for, by the log and by depfiles. */
bool list_missing(ninja_manifest *m, const deps_log *log, const uint32_t *nodes, size_t count, buffer *out,
                  bool *is_any);

#endif
