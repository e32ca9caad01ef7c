/* io/text/json_scan.h - JSON as text: is it JSON at all, and on which line is a value?
 *
 * cJSON neither gives line numbers nor tells a syntax error from lack of memory, and lets pass what RFC 8259
 * forbids (control characters, "01", lone surrogates, a truncating \u0000). So the text is checked here first;
 * what passes is read by cJSON without failing but for memory. */
#ifndef CLO_IO_TEXT_JSON_SCAN_H
#define CLO_IO_TEXT_JSON_SCAN_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>

#define CLO_JSON_DEPTH_MAX 64  /* containers inside one another; our formats need 5 */
#define CLO_JSON_NUMBER_MAX 62 /* characters in a number: cJSON's buffer holds 63   */

/* A text and where it stands: a line of a file with many instances keeps the number it has there. */
typedef struct clo_source {
    const char *name; /* of the file, for messages */
    const char *text; /* borrowed                  */
    size_t bytes;
    size_t lines_before; /* in the file                                   */
    bool is_line;        /* one of many in its file; false: the whole file */
} clo_source;

/* Line (from 1) of a byte of the text. */
size_t clo_text_line(const char *text, size_t at);
/* Line in the file. */
size_t clo_source_line(const clo_source *source, size_t at);

/* Refuses NUL bytes and what is not UTF-8 (RFC 3629). Returns CLO_OK or CLO_ERR_FORMAT ("FILE:LINE: ..."). */
clo_status clo_text_check(const clo_source *source);

/* Checks the grammar of RFC 8259 and the two limits above. Returns CLO_OK or CLO_ERR_FORMAT. */
clo_status clo_json_scan(const clo_source *source);

/* Line in the file of the `ordinal`-th value (0: the root) in the order of the text, which passed clo_json_scan. */
size_t clo_json_line(const clo_source *source, size_t ordinal);

#endif
