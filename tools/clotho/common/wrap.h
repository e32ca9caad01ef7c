/* wrap.h - texts of help in lines of a terminal with 80 columns. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_WRAP_H
#define CLO_TOOLS_CLOTHO_COMMON_WRAP_H

#include <stddef.h>

enum { WRAP_COLUMNS = 79 };

/* Prints words between blanks from `column` on, where the cursor is, and ends the line. Further lines begin at
 * `hang`. */
void wrap_words(const char *words, size_t column, size_t hang);

/* Prints a text line by line. One that is too long flows into the next, unless that one is empty, indented or an
 * example; an indented line (a table's) goes on under its second column, an example as a shell takes it. */
void wrap_text(const char *text);

#endif
