/* option.h - the table of a command's options: what a row is. options.h reads it, refuse.h and operands.h say what is
 * wrong with the words of a command line. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_OPTION_H
#define CLO_TOOLS_CLOTHO_COMMON_OPTION_H

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
    OPTION_COUNT,  /* uint32_t >= 1   */
    OPTION_U32,    /* uint32_t        */
    OPTION_U64,    /* uint64_t        */
    OPTION_REAL,   /* double, finite, >= 0 */
    OPTION_FACTOR, /* double, finite, > 0 */
    OPTION_FIFO,   /* uint32_t, a priority of SCHED_FIFO: 1 to 98, as 99 is the kernel's */
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

/* The options of one command. */
typedef struct option_table {
    const command *cmd;
    const option_spec *options;
    size_t count;
} option_table;

#endif
