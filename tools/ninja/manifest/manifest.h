/* manifest.h - a build.ninja in memory: nodes (paths), edges (build statements), rules, pools and defaults.
 *
 * The language is that of ninja 1.11. Nodes, edges, rules, pools and scopes are indices, in the order of the file; an
 * edge's index is ninja's edge id. Values of rules are evaluated per edge and when asked for, all others while reading.
 * Nothing here touches the disk but the reader of files that ninja_options names. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_MANIFEST_H
#define CLO_TOOLS_NINJA_MANIFEST_MANIFEST_H

#include "ninja/text/text.h"

#define NINJA_NONE UINT32_MAX

enum { NINJA_PHONY = 0 /* the rule that every manifest has */ };

/* Names that have a meaning. A rule may bind those up to SYMBOL_RULE_LAST. */
enum {
    SYMBOL_COMMAND,
    SYMBOL_DEPFILE,
    SYMBOL_DYNDEP,
    SYMBOL_DESCRIPTION,
    SYMBOL_DEPS,
    SYMBOL_GENERATOR,
    SYMBOL_POOL,
    SYMBOL_RESTAT,
    SYMBOL_RSPFILE,
    SYMBOL_RSPFILE_CONTENT,
    SYMBOL_MSVC_DEPS_PREFIX,
    SYMBOL_RULE_LAST = SYMBOL_MSVC_DEPS_PREFIX,
    SYMBOL_IN,
    SYMBOL_IN_NEWLINE,
    SYMBOL_OUT,
    SYMBOL_BUILDDIR,
    SYMBOL_REQUIRED_VERSION,
    SYMBOL_DEPTH,
    SYMBOL_PHONY,
    SYMBOL_CONSOLE,
    SYMBOLS_KNOWN
};

/* A piece of a value: text as it stands, or a variable. */
typedef struct ninja_part {
    const char *at;
    uint32_t bytes;
    uint32_t symbol; /* NINJA_NONE: text */
} ninja_part;

typedef struct ninja_value {
    const ninja_part *parts;
    uint32_t count;
    bool is_set;
} ninja_value;

typedef struct ninja_rule {
    uint32_t name; /* symbol */
    ninja_value values[SYMBOL_RULE_LAST + 1];
} ninja_rule;

typedef struct ninja_pool {
    uint32_t name;  /* symbol; NINJA_NONE: the pool of all other edges */
    uint32_t depth; /* 0: no limit */
} ninja_pool;

enum { NINJA_POOL_ANY = 0, NINJA_POOL_CONSOLE = 1 };

typedef struct ninja_node {
    const char *path; /* terminated */
    uint32_t bytes;
    uint32_t hash;
    uint32_t producer; /* edge; NINJA_NONE: a source */
    uint32_t deps_id;  /* in .ninja_deps; NINJA_NONE: not there */
    /* Of the dirty check: */
    int64_t mtime_ns; /* -1: not looked at, 0: missing */
    bool exists, is_dirty;
} ninja_node;

enum { EDGE_UNSEEN, EDGE_ON_PATH, EDGE_DONE };

typedef struct ninja_edge {
    uint32_t rule, pool;
    uint32_t scope;      /* its own, or that of the file it stands in */
    uint32_t file, line; /* where its statement begins */
    uint32_t *inputs;    /* explicit, then implicit, then order-only */
    uint32_t *outputs;   /* explicit, then implicit */
    uint32_t *validations;
    uint32_t inputs_count, implicit_count, order_only_count;
    uint32_t outputs_count, implicit_outputs, validations_count;
    uint32_t dyndep;                 /* node of a file that is still to be read; NINJA_NONE */
    bool is_restat;                  /* says the dyndep file */
    uint32_t late_first, late_count; /* inputs that the dyndep file has added; the rest of all uses comes before them */
    uint32_t self_uses;              /* a phony edge's own output among its inputs: dropped, but it stays a user */
    /* Of the dirty check: */
    uint8_t mark;
    bool outputs_ready, deps_loaded, deps_missing;
    bool has_run;       /* its command, and it has succeeded */
    bool has_failed;    /* its command */
    bool is_blocked;    /* an earlier phase has run it or what it needs, and that has failed */
    bool is_discovered; /* stands for a file that only a deps record names */
} ninja_edge;

/* Reads a file of the manifest: a terminated text from malloc, *bytes long. Returns 0 or an error number. */
typedef int (*ninja_read_fn)(void *argument, const char *path, char **text, size_t *bytes);

typedef struct ninja_options {
    ninja_read_fn read;    /* NULL: from the disk */
    void *argument;        /* of `read` */
    size_t memory_max;     /* of names and values; 0: 8 GiB */
    size_t value_max;      /* bytes of one value; 0: 16 MiB */
    uint32_t includes_max; /* files inside one another; 0: 10 000 */
} ninja_options;

typedef struct ninja_manifest {
    store store;
    ninja_node *nodes;
    ninja_edge *edges;
    ninja_rule *rules;
    ninja_pool *pools;
    uint32_t *defaults; /* nodes */
    size_t nodes_count, nodes_capacity, edges_count, edges_capacity, rules_count, rules_capacity;
    size_t pools_count, pools_capacity, defaults_count, defaults_capacity;
    uint32_t *node_slots; /* hash table of nodes */
    size_t node_slots_count;
    piece *symbols;
    size_t symbols_count, symbols_capacity;
    struct ninja_table *symbol_table, *bindings, *rule_names; /* scope.h */
    uint32_t *parents;                                        /* of scopes; scope 0 is the file that was opened */
    size_t scopes_count, scopes_capacity;
    char **texts; /* of the files; values point into them */
    const char **files;
    size_t files_count, files_capacity, texts_capacity, texts_bytes;
    ninja_options options;
    char error[1024];
} ninja_manifest;

/* Sets m->error. */
void ninja_set_error(ninja_manifest *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets m->error; the value is false, which compilers and analysers see here. */
#define ninja_fail(m, ...) (ninja_set_error((m), __VA_ARGS__), false)

static inline bool ninja_no_memory(ninja_manifest *m)
{
    return ninja_fail(m, "out of memory; the manifest is too large for this machine or for its limit");
}

/* The node of a canonical path; NINJA_NONE: there is none. */
uint32_t ninja_find_node(const ninja_manifest *m, piece path);
/* The same; a new node where there is none. NINJA_NONE: no memory, m->error is set. */
uint32_t ninja_add_node(ninja_manifest *m, piece path);
/* A new edge of rule `rule` without inputs and outputs. NINJA_NONE: no memory, m->error is set. */
uint32_t ninja_add_edge(ninja_manifest *m, uint32_t rule, uint32_t scope);

static inline bool ninja_is_phony(const ninja_manifest *m, uint32_t edge)
{
    return m->edges[edge].rule == NINJA_PHONY;
}

/* The targets of a build that names none: those of `default` statements, else all outputs that nothing uses. An array
 * from malloc; false with m->error set: no memory, or every output is used, so that there is a cycle. */
bool ninja_default_targets(ninja_manifest *m, uint32_t **nodes, size_t *count);
/* Which edges use each node, in the order of the edges, those that use it by a dyndep file last: edges[first[n]] ..
 * edges[first[n + 1] - 1]. */
typedef struct ninja_users {
    uint32_t *first; /* [nodes + 1] */
    uint32_t *edges;
    size_t nodes_count;
} ninja_users;

/* validations: who names a node behind "|@", instead of who has it as an input. False: no memory, m->error is set. */
bool ninja_users_make(ninja_manifest *m, bool validations, ninja_users *out);
void ninja_users_free(ninja_users *users);

/* open.c: from files to a manifest, and its end. */

/* Reads the manifest at `path` and what it includes. Returns false with m->error set, "FILE:LINE: what; what to do".
 * ninja_close in both cases. */
bool ninja_open(ninja_manifest *m, const char *path, const ninja_options *options);
void ninja_close(ninja_manifest *m);

/* files.c: the files of a manifest: read once, kept as long as it. */

/* Reads a file and keeps its text and its name in the manifest, as the last of m->files. path: lives as long as it.
 * *text: terminated, without zero bytes. Returns false with m->error set. */
bool ninja_keep_file(ninja_manifest *m, const char *path, char **text);

/* parse.c: the parser, called by ninja_open alone. */

/* Reads `path` into *m, which scope_begin has prepared. Returns false with m->error set. */
bool ninja_parse(ninja_manifest *m, const char *path);

/* target.c: the node that a user means. */

/* The node that a user means by `name`: a path, or "path^", the first output of what uses path. NINJA_NONE with
 * m->error set, which names the path that is most like it. */
uint32_t ninja_target(ninja_manifest *m, const char *name);
/* The same for a path alone: "path^" is that file. */
uint32_t ninja_named(ninja_manifest *m, const char *name);

#endif
