/* deps_log.h - .ninja_deps version 4: the inputs that compilers found, for edges with `deps`.
 *
 * Records are appended: a path, whose number is its place among the paths, or an output with its age and the numbers of
 * its inputs. The last record of an output counts. What follows a record that a crash cut off is dropped. */
#ifndef CLO_TOOLS_NINJA_LOGS_DEPS_LOG_H
#define CLO_TOOLS_NINJA_LOGS_DEPS_LOG_H

#include "ninja/logs/log_file.h"

typedef struct deps_record {
    int64_t mtime_ns; /* of the output, when the inputs were found */
    uint32_t *inputs; /* nodes, in the log's store */
    uint32_t count;
    bool is_set;
    bool is_added; /* by deps_log_add */
} deps_record;

typedef struct deps_log {
    uint32_t *nodes;      /* [count] node of each path */
    deps_record *records; /* [count] */
    size_t count, nodes_capacity, records_capacity;
    size_t lines;      /* output records of the file */
    size_t unique;     /* outputs among them */
    size_t good_bytes; /* of the file: behind its last whole record */
    store store;
    FILE *file;       /* NULL: not open for writing */
    const char *path; /* of the file, the caller's, once it is open */
} deps_log;

/* Reads the log at `path`; paths become nodes of the manifest. An empty one where there is no file, or one of another
 * version. Returns false with m->error set: no memory, the disk. deps_log_close in both cases. */
bool deps_log_load(deps_log *log, ninja_manifest *m, const char *path);
/* The same from memory. */
bool deps_log_parse(deps_log *log, ninja_manifest *m, const char *text, size_t bytes);
/* What is known of an output; NULL: nothing. */
const deps_record *deps_log_find(const deps_log *log, const ninja_manifest *m, uint32_t node);

/* Makes the file ready for appending: with a header, without a torn record, and written anew where most of its records
 * are old; then only those of edges with `deps` stay. The path is kept. */
bool deps_log_open(deps_log *log, ninja_manifest *m, const char *path);
/* Appends a record, unless the last one says the same; first, deps_log_follow. */
bool deps_log_add(deps_log *log, ninja_manifest *m, uint32_t node, int64_t mtime_ns, const uint32_t *inputs,
                  uint32_t count);
/* Where a tool that a step called has put another file in place of the log: reads that one, with its numbers, and adds
 * the records of this process that it lacks. */
bool deps_log_follow(deps_log *log, ninja_manifest *m);
void deps_log_close(deps_log *log);

#endif
