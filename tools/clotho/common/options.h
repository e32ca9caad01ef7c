/* options.h - one table an option set: parsing (getopt_long) and --help come from the same lines.
 *
 * A command builds an array of `option` with pointers to its own variables, which already hold the
 * defaults, and calls options_parse. Every misuse is one error line and exit code 2. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OPTIONS_H
#define CLO_TOOLS_CLOTHO_COMMON_OPTIONS_H

#include "clotho/common/option.h"

/* Parses argv (argv[0] is the verb) into the targets, and looks at the files to write (outputs_check), before any work.
 *   operands        receives where the operands begin in the (permuted) argv.
 *   operands_count  receives their number.
 * Returns OPTIONS_GO_ON, or an exit code: 0 after --help, 2 after an error line. */
int options_parse(const command *cmd, const option_spec *options, size_t options_count, int argc, char **argv,
                  char ***operands, int *operands_count);

/* For a command that leaves the words behind one of its options to somebody else: the index of the first word behind
 * the option and its value, read as options_parse does; argc: it is not there. argv stays as it is. */
int options_behind(const option_spec *options, size_t count, char letter, int argc, char **argv);

/* True if the ending of a path is that of a well-known kind of file (".png", ".JSON", ".dot" ...), but none of `but`:
 * words with blanks between. */
bool ending_names_kind(const char *path, const char *but);

/* Reads a time as OPTION_TIME does. */
bool parse_time(const char *text, int64_t *ns);
bool parse_u64(const char *text, uint64_t *value);

#endif
