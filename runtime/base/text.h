/* base/text.h - a growing string for reports, JSON and SVG, and files read and written whole.
 *
 * A failed append latches in `failed`; look once, at the end. */
#ifndef CLO_BASE_TEXT_H
#define CLO_BASE_TEXT_H

#include <clotho/status.h>
#include <stddef.h>

typedef struct clo_text {
    char *data; /* 0-terminated; NULL while empty */
    size_t bytes, capacity;
    int failed;
} clo_text;

void clo_text_add(clo_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void clo_text_add_bytes(clo_text *text, const char *data, size_t bytes);
void clo_text_add_json(clo_text *text, const char *string); /* quoted and escaped; invalid UTF-8 becomes U+FFFD */
void clo_text_add_xml(clo_text *text, const char *string);  /* escaped for attribute and content */
void clo_text_free(clo_text *text);

/* Hands the string over (release with clo_free). Returns CLO_OK, or CLO_ERR_MEMORY with the text freed. */
clo_status clo_text_take(clo_text *text, char **out);

/* Reads a whole file ("-": standard input) of at most max_bytes; 0-terminated, release with clo_free.
 * Returns CLO_OK, CLO_ERR_IO, CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
clo_status clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes);

/* Writes a whole file ("-": standard output) or nothing: a regular file is written beside its place, synced and
 * renamed. A file that is there keeps its rights, a symbolic link its place: the target is replaced. A file without the
 * right to write is refused. Returns CLO_OK or CLO_ERR_IO. Threads: safe; the umask is never touched. */
clo_status clo_file_write(const char *path, const char *data, size_t bytes);

#endif
