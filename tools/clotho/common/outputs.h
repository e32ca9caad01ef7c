/* outputs.h - files to write are looked at before the work whose result they are to hold. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OUTPUTS_H
#define CLO_TOOLS_CLOTHO_COMMON_OUTPUTS_H

#include "train/numbers/output.h"

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A file as the command line names it. */
typedef struct named_file {
    const char *option; /* without the dashes; NULL: an operand */
    const char *path;
} named_file;

/* Whether each output can be written, is named once, and is none of the files that are read. Returns EXIT_GOOD, or an
 * exit code after an error line. */
int outputs_check(const named_file *outputs, size_t outputs_count, const named_file *inputs, size_t inputs_count);

/* Whether two names stand for one regular file, which need not be there yet. */
bool outputs_are_same(const char *a, const char *b);

/* Whether an option names standard output, "-", where nothing else is to be printed then. NULL: it was not given. */
bool is_output(const char *path);

/* How many of the options do. */
int outputs_to_standard(const char *const *paths, size_t count);

/* From now on all that is printed goes to standard error, also what processes that are started print; standard output
 * is kept for the one file that is written to "-". Returns EXIT_GOOD, or an exit code after an error line. */
int outputs_keep_standard(void);

/* Around the writing of a file: "-" is the standard output that was kept, if one was. The status is handed on. */
void outputs_begin_file(const char *path);
clo_status outputs_end_file(const char *path, clo_status status);

/* Prints why the output was not written. Returns an exit code. */
int output_complain(const output *o);

/* Whether a file can be written at `path`. Returns EXIT_GOOD, or an exit code after an error line. */
int output_check(const char *path);

#endif
