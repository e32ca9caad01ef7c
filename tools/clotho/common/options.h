/* options.h - one table an option set: parsing (getopt_long) and --help come from the same lines.
 *
 * A command builds an array of `option` with pointers to its own variables, which already hold the
 * defaults, and calls options_parse. Every misuse is one error line and exit code 2. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OPTIONS_H
#define CLO_TOOLS_CLOTHO_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_LIST_MAX 128

/* Values of an option that may be repeated. */
typedef struct option_list {
    const char *items[OPTION_LIST_MAX];
    uint32_t count;
} option_list;

typedef enum option_kind {
    OPTION_FLAG,   /* bool            */
    OPTION_TEXT,   /* const char *    */
    OPTION_INPUT,  /* const char *: a file that is read, or the name of something else */
    OPTION_OUTPUT, /* const char *: a file that is written; checked by outputs.h      */
    OPTION_LIST,   /* option_list     */
    OPTION_U32,    /* uint32_t        */
    OPTION_U64,    /* uint64_t        */
    OPTION_REAL,   /* double, finite, >= 0 */
    OPTION_TIME    /* int64_t ns > 0: a number, with ns, us, ms or s behind it; plain: ns */
} option_kind;

typedef struct option_spec {
    const char *name; /* without the dashes                   */
    char letter;      /* 0: none                              */
    /* As shown by --help; NULL for a flag. "F.svg" and the like: a file with the ending of another kind is refused. */
    const char *argument;
    option_kind kind;
    void *target;
    const char *help;
} option_spec;

typedef struct command {
    const char *name;     /* "plan", "platform show"              */
    const char *operands; /* as shown: "GRAPH..."                 */
    int operands_min, operands_max;
    const char *about; /* a sentence or two                    */
    const char *notes; /* examples and keys, printed last; may be NULL */
} command;

#define OPTIONS_GO_ON (-1)

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
