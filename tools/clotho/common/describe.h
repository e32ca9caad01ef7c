/* describe.h - `--help --json`: what --help prints as one JSON object, of which tools/pages makes pages of the manual and
 * completions. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_DESCRIBE_H
#define CLO_TOOLS_CLOTHO_COMMON_DESCRIBE_H

#include "clotho/common/option.h"

#include <stdbool.h>

/* True where the word behind --help, at the index `at`, asks for it. */
bool wants_description(int argc, char **argv, int at);

/* Prints the options of a command. Returns an exit code. */
int describe(const option_table *table);

#endif
