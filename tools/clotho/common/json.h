/* json.h - writes one JSON object as one line on standard output, whole or not at all.
 *
 * Built in memory first, so a command that fails half way prints nothing. Numbers keep every
 * digit: integers as they are, reals in the shortest form that reads back equal. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_JSON_H
#define CLO_TOOLS_CLOTHO_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *stream; /* into `text`; NULL: there was no memory */
    char *text;
    size_t bytes;
    bool comma; /* the next item needs one in front         */
} json;

void json_begin(json *out); /* opens the object */

/* Items of an object; key NULL: items of an array. */
void json_text(json *out, const char *key, const char *value); /* NULL: null */
void json_integer(json *out, const char *key, int64_t value);
void json_count(json *out, const char *key, uint64_t value);
void json_real(json *out, const char *key, double value); /* null if not finite */
void json_bool(json *out, const char *key, bool value);
void json_null(json *out, const char *key);

void json_open(json *out, const char *key, char bracket); /* '{' or '[' */
void json_close(json *out, char bracket);                 /* '}' or ']' */

/* The times that decisions took: the median, of 99 and of 99.9 in a hundred, the longest; below 0: not known. */
void json_decisions(json *out, const int64_t decision_ns[4], uint64_t count);

/* Closes the object, prints it and frees everything. Returns 0, or 1 after an error line. */
int json_print(json *out);
void json_drop(json *out); /* frees without printing */

#endif
