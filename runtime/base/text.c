#include "base/text.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
    int bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (bytes < 0 || reserve(text, (size_t)bytes) != 0) {
        text->failed = 1;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->bytes, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    text->bytes += (size_t)bytes;
}

/* Length of the UTF-8 sequence at s, 0 if it is not one (RFC 3629). */
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

void clo_text_add_json(clo_text *text, const char *string)
{
    clo_text_add_bytes(text, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            clo_text_add(text, "\\%c", *s), s++;
        else if (*s < 0x20)
            clo_text_add(text, "\\u%04x", *s), s++;
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
