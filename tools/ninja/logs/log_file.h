/* log_file.h - what the logs of a build have in common: files that steps append to and that are written anew now and
 * then, and lists that are found by the path of an output. */
#ifndef CLO_TOOLS_NINJA_LOGS_LOG_FILE_H
#define CLO_TOOLS_NINJA_LOGS_LOG_FILE_H

#include "ninja/manifest/manifest.h"

#include <stdio.h>

/* The whole file, terminated, owned by the caller; *text stays NULL where there is no file. False with m->error set:
 * no memory, the disk, a file above 1 GiB. */
bool log_file_read(ninja_manifest *m, const char *path, char **text, size_t *bytes);

/* Writes all of a log that is worth keeping. False: it cannot be written; m->error says why, or is empty. */
typedef bool (*log_file_write)(void *log, ninja_manifest *m, FILE *file);

/* Opens the file for appending behind its first `good_bytes`. 0: `write_anew` writes it first, beside the old one,
 * which it then replaces. NULL with m->error set. */
FILE *log_file_open(ninja_manifest *m, const char *path, size_t good_bytes, log_file_write write_anew, void *log);

/* Paths in the order in which they came, each once. Zeroed, it is empty. */
typedef struct path_list {
    piece *paths;
    size_t count, capacity;
    uint32_t *slots; /* hash table of paths */
    size_t slots_count;
    store store;
} path_list;

/* The index of a path; NINJA_NONE: it is not there. */
uint32_t path_list_find(const path_list *list, piece path);
/* The same, where a new path gets the index `count`, as it was; NINJA_NONE: no memory. */
uint32_t path_list_take(path_list *list, piece path);
void path_list_free(path_list *list);

#endif
