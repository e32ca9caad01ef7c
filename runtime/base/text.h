/* base/text.h - a growing string for reports, JSON and SVG, numbers as text, and files read whole (written:
 * clotho/file.h).
 *
 * A failed append latches in `failed`; look once, at the end. Numbers have a decimal point whatever the locale of the
 * host: format and read decimals with nothing but these functions and clo_fail. */
#ifndef CLO_BASE_TEXT_H
#define CLO_BASE_TEXT_H

#include "library.h"
#include <clotho/file.h>
#include <clotho/status.h>
#include <stdarg.h>
#include <stddef.h>

typedef struct clo_text {
    char *data; /* 0-terminated; NULL while empty */
    size_t bytes, capacity;
    int failed;
} clo_text;

/* snprintf and strtod in the locale "C". */
CLO_INTERNAL int clo_print(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
CLO_INTERNAL int clo_print_list(char *text, size_t bytes, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
CLO_INTERNAL double clo_number_read(const char *text, char **end);

CLO_INTERNAL void clo_text_add(clo_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
CLO_INTERNAL void clo_text_add_bytes(clo_text *text, const char *data, size_t bytes);
CLO_INTERNAL void clo_text_add_json(clo_text *text,
                                    const char *string); /* quoted and escaped; invalid UTF-8 becomes U+FFFD */
CLO_INTERNAL void clo_text_add_xml(clo_text *text, const char *string); /* escaped for attribute and content */
CLO_INTERNAL void clo_text_add_visible(clo_text *text,
                                       const char *string); /* as clo_visible shows it, for a terminal */
CLO_INTERNAL void clo_text_free(clo_text *text);

/* Copies the next character of *string to `out` [CLO_VISIBLE_BYTES], as it may be sent to a terminal: control
 * characters and what is not UTF-8 become \xNN, byte by byte. Returns the bytes written, without a 0, and moves
 * *string behind the character. Safe in a signal handler. */
#define CLO_VISIBLE_BYTES 4
size_t clo_visible(const char **string, char *out);

/* Hands the string over (release with clo_free). Returns CLO_OK, or CLO_ERR_MEMORY with the text freed. */
CLO_INTERNAL clo_status clo_text_take(clo_text *text, char **out);

/* Reads a whole file ("-": standard input) of at most max_bytes; 0-terminated, release with clo_free.
 * Returns CLO_OK, CLO_ERR_IO, CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_file_read(const char *path, size_t max_bytes, char **data, size_t *bytes);

#endif
