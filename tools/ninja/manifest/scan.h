/* scan.h - the words of a build.ninja. As in ninja the reader says what it expects next, because the same characters
 * are a path in one place and a name in another. */
#ifndef CLO_TOOLS_NINJA_MANIFEST_SCAN_H
#define CLO_TOOLS_NINJA_MANIFEST_SCAN_H

#include "ninja/manifest/manifest.h"

typedef enum scan_token {
    TOKEN_ERROR,
    TOKEN_BUILD,
    TOKEN_COLON,
    TOKEN_DEFAULT,
    TOKEN_EQUALS,
    TOKEN_IDENTIFIER,
    TOKEN_INCLUDE,
    TOKEN_INDENT,
    TOKEN_NEWLINE,
    TOKEN_PIPE,
    TOKEN_PIPE2,
    TOKEN_PIPE_AT,
    TOKEN_POOL,
    TOKEN_RULE,
    TOKEN_SUBNINJA,
    TOKEN_END
} scan_token;

typedef struct scan_source {
    const char *text; /* terminated, without zero bytes */
    size_t at;        /* what is read next */
    size_t last;      /* where the last word begins: for messages and scan_back */
    size_t counted;   /* `line` is the line of this byte */
    uint32_t line;
    uint32_t file; /* in m->files */
    uint32_t scope;
} scan_source;

/* Parts of values of the statement at hand. */
typedef struct scan_parts {
    ninja_part *items;
    size_t count, capacity;
} scan_parts;

scan_token scan_next(scan_source *s);
/* Reads the next word if it is `token`. */
bool scan_if(scan_source *s, scan_token token);
/* Unreads the last word. */
void scan_back(scan_source *s);
/* A name; false: here is none. */
bool scan_name(scan_source *s, piece *name);
/* A value to the end of the line, or a path (empty: here is none). Its parts are appended to `parts`. Returns false
 * with m->error set. */
bool scan_value(ninja_manifest *m, scan_source *s, bool is_path, scan_parts *parts);

/* Sets m->error to "FILE:LINE: text", the line of the last word. Returns false. */
bool scan_fail(ninja_manifest *m, const scan_source *s, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What scan_fail says where `wanted` was expected. */
bool scan_unexpected(ninja_manifest *m, const scan_source *s, const char *wanted);

#endif
