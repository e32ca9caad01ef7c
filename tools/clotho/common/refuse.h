/* refuse.h - words with dashes that are no option of the command: what was meant?
 *
 * The answer is, in this order: the option that is spelled nearly so, the options of other verbs, what other programs call
 * so. Every call prints one line and returns EXIT_BAD_USAGE. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_REFUSE_H
#define CLO_TOOLS_CLOTHO_COMMON_REFUSE_H

#include "clotho/common/option.h"

/* The option of that name, dashes left out and up to `bytes`; NULL: none. */
const option_spec *option_named(const option_table *table, const char *name, size_t bytes);

/* The list that 'clotho list' prints the values of an option from; NULL: none. */
const char *list_of(const option_spec *option);

/* A word that getopt does not know: "--planer", "-j4", "-json". */
int refuse_word(const option_table *table, const char *word);
/* The option stands last, or another option where its value should be. */
int refuse_missing(const option_table *table, const option_spec *option);
/* "-planner heft" and "-p=uniform:2", which getopt takes for -p with a value. EXIT_GOOD: it is neither. */
int refuse_attached(const option_table *table, const option_spec *option, const char *word);
/* An operand too many: a file to write, for which there is -o? EXIT_GOOD if not. */
int refuse_output(const option_table *table, const char *operand);
/* The value is not of the option's kind. */
int refuse_value(const option_spec *option, const char *value);

/* How the options of the other verbs are found: `each` calls every verb with --help while options_parse, which then
 * prints nothing, asks refuse_search about each table. NULL: they are not searched. */
void refuse_set_verbs(void (*each)(void));
bool refuse_is_searching(void);
void refuse_search(const option_table *table);

#endif
