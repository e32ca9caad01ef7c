/* words.c - see words.h. */
#include "io/text/words.h"

#include "base/status.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#define WORD_SHOWN 24 /* bytes of a wrong word in a message */

static void skip_space(clo_words *words)
{
    while (words->at < words->source->bytes && memchr(" \t\r\n\f\v", words->source->text[words->at], 6) != NULL)
        words->at++;
}

clo_status clo_words_fail(const clo_words *words, clo_status status, const char *format, ...)
{
    clo_words next = *words;
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return clo_fail(status, "%s:%zu: %s", words->source->name, clo_words_line(&next), text);
}

char clo_words_peek(clo_words *words)
{
    skip_space(words);
    return words->at < words->source->bytes ? words->source->text[words->at] : '\0';
}

size_t clo_words_line(clo_words *words)
{
    skip_space(words);
    size_t at = words->at;
    while (at == words->source->bytes && at > 0 && words->source->text[at - 1] == '\n')
        at--; /* the end belongs to the last line, not to one behind it */
    return clo_source_line(words->source, at);
}

/* Bytes of the next word. */
static size_t word_length(const clo_words *words)
{
    const clo_source *s = words->source;
    size_t length = 0;

    while (words->at + length < s->bytes && memchr(" \t\r\n\f\v", s->text[words->at + length], 6) == NULL)
        length++;
    return length;
}

static clo_status wrong_word(const clo_words *words, size_t length, const char *what)
{
    const char *text = words->source->text + words->at;
    int shown = (int)(length < WORD_SHOWN ? length : WORD_SHOWN);

    while (shown > 0 && (size_t)shown < length && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--; /* not within a character */
    return clo_words_fail(words, CLO_ERR_FORMAT, "%s is '%.*s'; write a whole number >= 0", what, shown, text);
}

clo_status clo_words_integer(clo_words *words, const char *what, int64_t max, int64_t *out)
{
    int64_t value = 0;

    if (clo_words_peek(words) == '\0')
        return clo_words_fail(words, CLO_ERR_FORMAT, "the file ends before %s; it is truncated", what);
    size_t length = word_length(words);
    for (size_t i = 0; i < length; i++) {
        char digit = words->source->text[words->at + i];
        if (digit < '0' || digit > '9')
            return wrong_word(words, length, what);
        value = value * 10 + (digit - '0'); /* max is at most 2^53: no overflow */
        if (value > max)
            return clo_words_fail(words, CLO_ERR_LIMIT, "%s is too large; the largest possible is %lld", what,
                                  (long long)max);
    }
    words->at += length;
    *out = value;
    return CLO_OK;
}

clo_status clo_words_find(clo_words *words, const char *text)
{
    const clo_source *s = words->source;
    size_t length = strlen(text);

    for (size_t at = words->at; at + length <= s->bytes; at++)
        if (s->text[at] == text[0] && memcmp(s->text + at, text, length) == 0) {
            words->at = at + length;
            return CLO_OK;
        }
    return clo_words_fail(words, CLO_ERR_FORMAT, "no \"%s\" from here on; the file is truncated", text);
}

void clo_words_skip_line(clo_words *words)
{
    const clo_source *s = words->source;

    while (words->at < s->bytes && s->text[words->at] != '\n')
        words->at++;
    words->at += words->at < s->bytes;
}
