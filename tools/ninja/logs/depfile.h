/* depfile.h - the small part of make that compilers write: "OUTPUTS: INPUTS", with "\" before a line end, a space or a
 * "#", and "$$" for a dollar. */
#ifndef CLO_TOOLS_NINJA_LOGS_DEPFILE_H
#define CLO_TOOLS_NINJA_LOGS_DEPFILE_H

#include "ninja/text/text.h"

typedef struct depfile {
    piece *outputs, *inputs; /* in the text; each once */
    size_t outputs_count, inputs_count, outputs_capacity, inputs_capacity;
} depfile;

/* Parses the text, which is changed and must outlive *d. Returns NULL, or what is wrong. depfile_free in both cases. */
const char *depfile_parse(depfile *d, char *text, size_t bytes);
void depfile_free(depfile *d);

#endif
