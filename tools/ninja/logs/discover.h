/* discover.h - inputs that a compiler found: from a deps record or a depfile into the graph. */
#ifndef CLO_TOOLS_NINJA_LOGS_DISCOVER_H
#define CLO_TOOLS_NINJA_LOGS_DISCOVER_H

#include "ninja/logs/deps_log.h"

/* Adds the discovered inputs of `edge` behind its implicit ones. A file that nothing makes gets a phony edge of its
 * own, so that it may be missing. *is_missing: nothing is known, or it is older than the output, so that the edge must
 * run. explains: who says so on standard error; NULL: nobody. False: m->error is set. */
bool discover_load(ninja_manifest *m, const deps_log *log, uint32_t edge, const char *explains, bool *is_missing);

/* What a depfile says. */
typedef struct discovered {
    uint32_t *nodes; /* of the inputs; from malloc */
    uint32_t count;
    bool is_missing; /* there is no file, it is empty, or it is about another output */
} discovered;

/* Reads a depfile of the edge. checks_output: it must be about the edge's outputs. False: m->error is set. */
bool discover_read(ninja_manifest *m, uint32_t edge, const char *path, bool checks_output, discovered *out);

#endif
