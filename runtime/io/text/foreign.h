/* io/text/foreign.h - formats that are known and not read: a file of theirs is refused by its name, with the formats
 * that are read. */
#ifndef CLO_IO_TEXT_FOREIGN_H
#define CLO_IO_TEXT_FOREIGN_H

#include "io/text/json_read.h"

#include <stdbool.h>

/* GML begins with a word of DOT: "graph [". `at` is where the word "graph" ends. */
bool clo_text_is_gml(const char *text, size_t bytes, size_t at);

/* Refuse a text, or a JSON text, that no reader takes. `at` is the first byte that counts. Return CLO_ERR_FORMAT. */
clo_status clo_foreign_refuse(const clo_source *source, size_t at);
clo_status clo_foreign_refuse_json(const clo_json *json);
/* Refuses a project of PSPLIB with several modes, which its reader meets at `at`. */
clo_status clo_foreign_refuse_modes(const clo_source *source, size_t at);

#endif
