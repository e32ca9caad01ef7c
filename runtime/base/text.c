/* text.c - see text.h. */
#define _GNU_SOURCE
#include "base/text.h"

#include "base/memory.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The locale "C" is static in glibc and musl: newlocale allocates nothing for it and cannot fail. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

int clo_print_list(char *text, size_t bytes, const char *format, va_list arguments)
{
    locale_t before = enter_c_locale();
    int length = vsnprintf(text, bytes, format, arguments);

    uselocale(before);
    return length;
}

int clo_print(char *text, size_t bytes, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = clo_print_list(text, bytes, format, arguments);
    va_end(arguments);
    return length;
}

double clo_number_read(const char *text, char **end)
{
    locale_t before = enter_c_locale();
    double value = strtod(text, end);

    uselocale(before);
    return value;
}

static int reserve(clo_text *text, size_t more)
{
    void *data = text->data;

    if (text->failed || more > SIZE_MAX / 4 || clo_grow(&data, &text->capacity, text->bytes + more + 1, 1) != 0) {
        text->failed = 1;
        return -1;
    }
    text->data = data;
    return 0;
}

void clo_text_add_bytes(clo_text *text, const char *data, size_t bytes)
{
    if (reserve(text, bytes) != 0)
        return;
    memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    text->data[text->bytes] = '\0';
}

void clo_text_add(clo_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int bytes = clo_print_list(NULL, 0, format, arguments);
    va_end(arguments);
    if (bytes < 0 || reserve(text, (size_t)bytes) != 0) {
        text->failed = 1;
        return;
    }
    va_start(arguments, format);
    clo_print_list(text->data + text->bytes, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    text->bytes += (size_t)bytes;
}

/* Length of the UTF-8 sequence at s (RFC 3629); 0 if it is not one, or a control character of the first 32. */
static size_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char low, high, first_low, first_high, length;
    } rows[] = {
        {0x20, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (s[0] < rows[r].low || s[0] > rows[r].high)
            continue;
        if (rows[r].length > 1 && (s[1] < rows[r].first_low || s[1] > rows[r].first_high))
            return 0;
        for (size_t k = 2; k < rows[r].length; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return rows[r].length;
    }
    return 0;
}

/* A control character that is UTF-8: DEL, and two bytes for U+0080 to U+009F. */
static int is_control(const unsigned char *s)
{
    return s[0] == 0x7f || (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f);
}

/* U+FFFE and U+FFFF are no characters of XML. */
static int is_outside_xml(const unsigned char *s)
{
    return s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe;
}

size_t clo_visible(const char **string, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)*string;
    size_t length = utf8_length(s);

    if (length == 0 || is_control(s)) {
        out[0] = '\\', out[1] = 'x', out[2] = digits[s[0] >> 4], out[3] = digits[s[0] & 15];
        ++*string;
        return 4;
    }
    memcpy(out, s, length);
    *string += length;
    return length;
}

void clo_text_add_visible(clo_text *text, const char *string)
{
    char out[CLO_VISIBLE_BYTES];

    while (*string != '\0') {
        size_t bytes = clo_visible(&string, out);
        clo_text_add_bytes(text, out, bytes);
    }
}

void clo_text_add_json(clo_text *text, const char *string)
{
    clo_text_add_bytes(text, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            clo_text_add(text, "\\%c", *s), s++;
        else if (*s < 0x20 || *s == 0x7f)
            clo_text_add(text, "\\u%04x", *s), s++;
        else if (is_control(s)) /* U+0080 to U+009F: U+009B begins a sequence as ESC [ does */
            clo_text_add(text, "\\u%04x", s[1]), s += 2;
        else if (length == 0)
            clo_text_add_bytes(text, "\xef\xbf\xbd", 3), s++;
        else
            clo_text_add_bytes(text, (const char *)s, length), s += length;
    }
    clo_text_add_bytes(text, "\"", 1);
}

void clo_text_add_xml(clo_text *text, const char *string)
{
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        size_t length = utf8_length(s);
        const char *named = *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : *s == '"' ? "&quot;" : NULL;
        if (named != NULL)
            clo_text_add_bytes(text, named, strlen(named)), s++;
        else if (length == 0)
            clo_text_add_bytes(text, "\xef\xbf\xbd", 3), s++;
        else if (is_control(s) || is_outside_xml(s))
            clo_text_add_bytes(text, "\xef\xbf\xbd", 3), s += length;
        else
            clo_text_add_bytes(text, (const char *)s, length), s += length;
    }
}

void clo_text_free(clo_text *text)
{
    clo_free(text->data);
    memset(text, 0, sizeof *text);
}

clo_status clo_text_take(clo_text *text, char **out)
{
    if (!text->failed && text->data == NULL)
        clo_text_add_bytes(text, "", 0);
    if (text->failed)
        return clo_text_free(text), CLO_ERR_MEMORY;
    *out = text->data;
    memset(text, 0, sizeof *text);
    return CLO_OK;
}
