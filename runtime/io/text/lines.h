/* io/text/lines.h - a text line by line: JSON Lines and CSV. Lines without content do not count. */
#ifndef CLO_IO_TEXT_LINES_H
#define CLO_IO_TEXT_LINES_H

#include "io/text/json_scan.h"

/* One line without blanks at its ends, and without a byte order mark. */
typedef struct clo_line {
    size_t first, end; /* bytes; empty: first >= end    */
    size_t next;       /* where the following one begins */
} clo_line;

/* The line that begins at `at` < bytes. */
clo_line clo_line_at(const char *text, size_t bytes, size_t at);

/* A place in a text. Begins at {.name, .text, .bytes}. */
typedef struct clo_lines {
    const char *name; /* of the file, for messages */
    const char *text; /* borrowed                  */
    size_t bytes;
    size_t at, passed; /* the next line: its first byte, lines before it */
} clo_lines;

/* The next line with content; false at the end. */
bool clo_lines_next(clo_lines *lines, clo_source *out);

#endif
