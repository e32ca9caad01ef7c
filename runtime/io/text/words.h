/* io/text/words.h - texts of words between blanks, as the older data sets are: read from the front, every failure names
 * the line. */
#ifndef CLO_IO_TEXT_WORDS_H
#define CLO_IO_TEXT_WORDS_H

#include "io/text/json_scan.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct clo_words {
    const clo_source *source;
    size_t at; /* behind the last word */
} clo_words;

/* "FILE:LINE: text" about the next word; returns `status`. */
clo_status clo_words_fail(const clo_words *words, clo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* First character of the next word; 0 at the end. */
char clo_words_peek(clo_words *words);
/* Takes a whole number, 0 .. max <= 2^53; `what` is its name in messages. */
clo_status clo_words_integer(clo_words *words, const char *what, int64_t max, int64_t *out);
/* Goes behind the next place that reads `text`. */
clo_status clo_words_find(clo_words *words, const char *text);
/* Goes to the next line. */
void clo_words_skip_line(clo_words *words);
/* Line of the next word. */
size_t clo_words_line(clo_words *words);

#endif
