/* plan_file.h - `clotho run --plan` and `clotho check`: what is said of a file that does not fit. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_PLAN_FILE_H
#define CLO_TOOLS_CLOTHO_COMMON_PLAN_FILE_H

#include "clotho/common/input.h"

/* The file could not be read as a plan of `in`, or is not valid there (the library's status and text). Where it names
 * another graph, platform or snapshot of measured times, that is the reason given. Returns EXIT_BAD_INPUT after an error line. */
int plan_file_complain(const char *path, const input *in, clo_status status);

#endif
