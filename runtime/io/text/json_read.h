/* io/text/json_read.h - typed access to a parsed JSON text. Every failure is one line that names file, line, path,
 * value and mend: "g.json:12: tasks[7].work_ns is -3; write a whole number >= 0".
 *
 * The path and the line are worked out only when something is wrong, by walking tree and text side by side. */
#ifndef CLO_IO_TEXT_JSON_READ_H
#define CLO_IO_TEXT_JSON_READ_H

#include "io/text/json_scan.h"

#include <cjson/cJSON.h>
#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLO_JSON_INTEGER_MAX 9007199254740992 /* 2^53: up to here a JSON number is exact */

typedef struct clo_json {
    clo_source source;
    const char *file; /* of the source */
    cJSON *root;      /* what is read: the whole tree or a value in it */
    cJSON *tree;      /* for paths and lines in messages               */
} clo_json;

/* Checks and parses a text that has passed clo_text_check. Returns CLO_OK, CLO_ERR_FORMAT, CLO_ERR_MEMORY. */
clo_status clo_json_open(clo_json *json, const clo_source *source);
void clo_json_close(clo_json *json);

/* The line of an item. */
size_t clo_json_line_of(const clo_json *json, const cJSON *item);

/* "FILE:LINE: PATH " and the formatted text; returns `status`. */
clo_status clo_json_fail(const clo_json *json, clo_status status, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "FILE:LINE: PATH is VALUE; write WANTED"; returns CLO_ERR_FORMAT. */
clo_status clo_json_want(const clo_json *json, const cJSON *item, const char *wanted);
/* Puts "FILE:LINE: PATH: " before the last error, if `status` is one; a broken contract of the graph
 * (CLO_ERR_ARGUMENT) is a malformed file here. */
clo_status clo_json_place(const clo_json *json, const cJSON *item, clo_status status);

/* `object` must be an object with no keys but the `known` ones (NULL-terminated). */
clo_status clo_json_keys(const clo_json *json, const cJSON *object, const char *const known[]);
/* Member of an object; a repeated key is an error. *item is NULL where it is absent and not `required`. */
clo_status clo_json_get(const clo_json *json, const cJSON *object, const char *key, bool required, const cJSON **item);
/* The same for a member that must be an array. */
clo_status clo_json_get_array(const clo_json *json, const cJSON *object, const char *key, bool required,
                              const cJSON **item);
/* `item` must be an array of `count` items, one for each `what`. */
clo_status clo_json_count(const clo_json *json, const cJSON *item, uint32_t count, const char *what);
/* The same for a required string, not empty. */
clo_status clo_json_get_string(const clo_json *json, const cJSON *object, const char *key, const char **out);

clo_status clo_json_text(const clo_json *json, const cJSON *item, const char **out);
clo_status clo_json_string(const clo_json *json, const cJSON *item, const char **out); /* not empty */
clo_status clo_json_boolean(const clo_json *json, const cJSON *item, bool *out);
clo_status clo_json_number(const clo_json *json, const cJSON *item, double *out);                /* finite, >= 0 */
clo_status clo_json_integer(const clo_json *json, const cJSON *item, int64_t max, int64_t *out); /* 0 .. max */

/* Optional members: *out keeps its value where the key is absent. */
clo_status clo_json_get_boolean(const clo_json *json, const cJSON *object, const char *key, bool *out);
clo_status clo_json_get_integer(const clo_json *json, const cJSON *object, const char *key, int64_t max, int64_t *out);
clo_status clo_json_get_u32(const clo_json *json, const cJSON *object, const char *key, uint32_t *out);
/* 64 bits: a whole number, or a string of its digits in base 16, as it is written where it is above 2^53. */
clo_status clo_json_get_word(const clo_json *json, const cJSON *object, const char *key, uint64_t *out);

#endif
