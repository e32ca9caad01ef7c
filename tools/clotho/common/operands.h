/* operands.h - operands that are files: are they there, and if not, what did the user mean? */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OPERANDS_H
#define CLO_TOOLS_CLOTHO_COMMON_OPERANDS_H

#include "clotho/common/option.h"

/* Looks at the files that operands and options name, before any of them is read. Returns OPTIONS_GO_ON, or an exit code
 * after one line on the first that is not there, may not be read or is a folder. What is in it is for its reader, and so
 * is a missing one of several operands, where a command goes on with the others. */
int operands_check(const option_table *table, int count, char **operands);

/* A word that is no file: is it a part of an option that was written apart, as the "ms" of "10 ms"? Returns EXIT_GOOD if not,
 * else EXIT_BAD_USAGE after one line. */
int operand_refuse(const option_table *table, const char *word);

/* Prints that there is no file `path`, and what was meant: a name with blanks, a pattern, a file whose name is like it.
 * Returns EXIT_BAD_INPUT. */
int complain_missing(const char *path);

#endif
