/* outputs.h - files to write are looked at before the work whose result they are to hold. */
#ifndef CLOTHO_TOOL_OUTPUTS_H
#define CLOTHO_TOOL_OUTPUTS_H

#include "options.h"

/* Whether each file that an option names as OPTION_OUTPUT can be written, is named once, and is none of the files that
 * are read (operands and OPTION_INPUT). Returns OPTIONS_GO_ON, or an exit code after an error line. */
int outputs_check(const option_spec *options, size_t count, int operands_count, char *const *operands);

/* Whether two names stand for one regular file, which need not be there yet. */
bool outputs_are_same(const char *a, const char *b);

/* Whether a file can be written at `path`. Returns EXIT_GOOD, or an exit code after an error line. */
int output_check(const char *path);

#endif
