/* json_scan.c - a pushdown automaton over the text with an explicit, bounded stack: depth never becomes recursion. */
#include "io/text/json_scan.h"

#include "base/status.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

typedef struct scan {
    const clo_source *source;
    const char *text; /* of the source */
    size_t bytes, at;
    char open[CLO_JSON_DEPTH_MAX]; /* '{' or '[' of the containers around `at` */
    size_t depth;
} scan;

/* What may come next. */
typedef enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after '['                   */
    EXPECT_KEY,          /* after ',' in an object      */
    EXPECT_KEY_OR_END,   /* after '{'                   */
    EXPECT_COMMA_OR_END, /* after a value inside        */
    EXPECT_NOTHING       /* after the value at the root */
} expect;

size_t clo_text_line(const char *text, size_t at)
{
    size_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

size_t clo_source_line(const clo_source *source, size_t at)
{
    return source->lines_before + clo_text_line(source->text, at);
}

static bool continues(const unsigned char *s, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        if ((s[k] & 0xc0) != 0x80)
            return false;
    return true;
}

/* Bytes of the UTF-8 sequence at s, 0 if it is none. */
static size_t utf8_bytes(const unsigned char *s, size_t left)
{
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;

    if (length == 0 || length > left || !continues(s, 1, length))
        return 0;
    /* Overlong forms, surrogates and what lies beyond U+10FFFF hide in the second byte. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

clo_status clo_text_check(const clo_source *source)
{
    const char *text = source->text;

    for (size_t at = 0; at < source->bytes;) {
        size_t length = utf8_bytes((const unsigned char *)text + at, source->bytes - at);
        if (text[at] == '\0')
            return clo_fail(CLO_ERR_FORMAT, "%s:%zu: a zero byte; this is not a text file", source->name,
                            clo_source_line(source, at));
        if (length == 0 && at == 1 && memcmp(text, "\x1f\x8b", 2) == 0)
            return clo_fail(CLO_ERR_FORMAT, "%s: is compressed; unpack it with gunzip", source->name);
        if (length == 0)
            return clo_fail(CLO_ERR_FORMAT, "%s:%zu: byte 0x%02x is not valid UTF-8; save the file as UTF-8",
                            source->name, clo_source_line(source, at), (unsigned)(unsigned char)text[at]);
        at += length;
    }
    return CLO_OK;
}

static clo_status wrong(const scan *s, const char *what)
{
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s", s->source->name, clo_source_line(s->source, s->at), what);
}

static bool at_char(const scan *s, char c)
{
    return s->at < s->bytes && s->text[s->at] == c;
}

static void skip_space(scan *s)
{
    while (s->at < s->bytes && memchr(" \t\r\n", s->text[s->at], 4) != NULL)
        s->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(scan *s)
{
    size_t first = s->at;

    while (s->at < s->bytes && is_digit(s->text[s->at]))
        s->at++;
    return s->at - first;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static clo_status scan_number(scan *s)
{
    static const char mend[] = "malformed number; write it like -12, 0.5 or 1e9";
    size_t first = s->at;

    s->at += at_char(s, '-');
    bool zero = at_char(s, '0');
    size_t digits = skip_digits(s);
    if (digits == 0 || (zero && digits > 1))
        return wrong(s, mend);
    if (at_char(s, '.')) {
        s->at++;
        if (skip_digits(s) == 0)
            return wrong(s, mend);
    }
    if (at_char(s, 'e') || at_char(s, 'E')) {
        s->at++;
        s->at += at_char(s, '-') || at_char(s, '+');
        if (skip_digits(s) == 0)
            return wrong(s, mend);
    }
    if (at_char(s, 'x') || at_char(s, '_') || at_char(s, '.')) /* 0x10, 1_000, 1.2.3 */
        return wrong(s, mend);
    if (s->at - first > CLO_JSON_NUMBER_MAX)
        return wrong(s, "a number of more than 62 characters; round it");
    return CLO_OK;
}

/* Value of the four hexadecimal digits at `at`, -1 if they are not there. */
static int hex4(const scan *s, size_t at)
{
    int value = 0;

    if (s->bytes < 4 || at > s->bytes - 4)
        return -1;
    for (size_t k = at; k < at + 4; k++) {
        char c = s->text[k];
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* `at` stands on the character after the backslash; leaves it behind the escape. */
static clo_status scan_escape(scan *s)
{
    if (s->at < s->bytes && s->text[s->at] != '\0' && strchr("\"\\/bfnrt", s->text[s->at]) != NULL) {
        s->at++;
        return CLO_OK;
    }
    int unit = at_char(s, 'u') ? hex4(s, s->at + 1) : -1;
    if (unit < 0)
        return wrong(s, "unknown escape in a string; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX");
    if (unit == 0)
        return wrong(s, "\\u0000 in a string; names cannot hold a zero character");
    s->at += 5;
    if (unit < 0xd800 || unit > 0xdfff)
        return CLO_OK;
    int low = at_char(s, '\\') && s->at + 1 < s->bytes && s->text[s->at + 1] == 'u' ? hex4(s, s->at + 2) : -1;
    if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return wrong(s, "half of a surrogate pair in a string; write both \\uXXXX or the character itself");
    s->at += 6;
    return CLO_OK;
}

static clo_status scan_string(scan *s)
{
    size_t first = s->at++;

    while (s->at < s->bytes) { /* every round passes at least one byte */
        char c = s->text[s->at];
        if (c == '\n' || c == '\r') {
            s->at = first;
            return wrong(s, "a string without its closing quote; end it on the same line");
        }
        if ((unsigned char)c < 0x20)
            return wrong(s, "a control character in a string; write it as \\uXXXX");
        s->at++;
        if (c == '"')
            return CLO_OK;
        if (c == '\\') {
            clo_status status = scan_escape(s);
            if (status != CLO_OK)
                return status;
        }
    }
    s->at = first;
    return wrong(s, s->source->is_line ? "the line ends inside a string; it is truncated"
                                       : "the file ends inside a string; it is truncated");
}

static clo_status scan_literal(scan *s)
{
    static const char *const literals[] = {"true", "false", "null"};
    static const char *const words[] = {"NaN", "nan", "Inf", "inf", "True", "False", "None", "//", "/*", "#", "'"};

    for (size_t k = 0; k < 3; k++) {
        size_t length = strlen(literals[k]);
        if (s->bytes - s->at >= length && memcmp(s->text + s->at, literals[k], length) == 0) {
            s->at += length;
            return CLO_OK;
        }
    }
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (s->bytes - s->at >= strlen(words[k]) && memcmp(s->text + s->at, words[k], strlen(words[k])) == 0)
            return wrong(s, "JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, true, "
                            "false, null or \"text\"");
    return wrong(s, "expected a value here: an object, an array, a string, a number, true, false or null");
}

static clo_status open_container(scan *s, char c, expect *next)
{
    if (s->depth == CLO_JSON_DEPTH_MAX)
        return wrong(s, "nested deeper than 64 levels; no format of ours does that");
    s->open[s->depth++] = c;
    s->at++;
    *next = c == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return CLO_OK;
}

static expect after_value(const scan *s)
{
    return s->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static clo_status scan_value(scan *s, expect *next)
{
    char c = s->text[s->at];
    clo_status status;

    if (c == ']' && s->depth > 0 && s->open[s->depth - 1] == '[' && *next == EXPECT_VALUE)
        return wrong(s, "a comma stands before this bracket; remove the comma, or add a value");
    if (c == '{' || c == '[')
        return open_container(s, c, next);
    if (c == '"')
        status = scan_string(s);
    else if (memchr("-+.", c, 3) != NULL || is_digit(c))
        status = scan_number(s);
    else
        status = scan_literal(s);
    *next = after_value(s);
    return status;
}

static clo_status scan_key(scan *s, expect *next)
{
    if (!at_char(s, '"'))
        return wrong(s, "expected a key in double quotes here (no comma after the last one)");
    clo_status status = scan_string(s);
    if (status != CLO_OK)
        return status;
    skip_space(s);
    if (s->at < s->bytes && !at_char(s, ':'))
        return wrong(s, "expected ':' after the key");
    s->at += s->at < s->bytes;
    *next = EXPECT_VALUE;
    return CLO_OK;
}

static clo_status scan_comma(scan *s, expect *next)
{
    bool object = s->open[s->depth - 1] == '{';

    if (!at_char(s, ','))
        return wrong(s, object ? "expected ',' or '}' here" : "expected ',' or ']' here");
    s->at++;
    *next = object ? EXPECT_KEY : EXPECT_VALUE;
    return CLO_OK;
}

/* Takes one token that is not a closing bracket; `at` stands on it. */
static clo_status scan_token(scan *s, expect *next)
{
    switch (*next) {
    case EXPECT_VALUE:
    case EXPECT_VALUE_OR_END:
        return scan_value(s, next);
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END:
        return scan_key(s, next);
    case EXPECT_COMMA_OR_END:
        return scan_comma(s, next);
    case EXPECT_NOTHING:
        break;
    }
    return wrong(s, "more text after the end of the JSON value; remove it");
}

static bool closes(scan *s, expect next)
{
    if (next == EXPECT_COMMA_OR_END)
        return at_char(s, s->open[s->depth - 1] == '{' ? '}' : ']');
    return (next == EXPECT_KEY_OR_END && at_char(s, '}')) || (next == EXPECT_VALUE_OR_END && at_char(s, ']'));
}

clo_status clo_json_scan(const clo_source *source)
{
    scan s = {.source = source, .text = source->text, .bytes = source->bytes};
    expect next = EXPECT_VALUE;

    if (s.bytes >= 3 && memcmp(s.text, "\xef\xbb\xbf", 3) == 0)
        s.at = 3;
    skip_space(&s);
    if (s.at == s.bytes && !source->is_line)
        return wrong(&s, "the file is empty; write JSON into it");
    for (; s.at < s.bytes; skip_space(&s)) { /* every round passes at least one byte or fails */
        if (closes(&s, next)) {
            s.at++;
            s.depth--;
            next = after_value(&s);
            continue;
        }
        clo_status status = scan_token(&s, &next);
        if (status != CLO_OK)
            return status;
    }
    if (next == EXPECT_NOTHING)
        return CLO_OK;
    return wrong(&s, source->is_line ? "the line ends too early; it is truncated"
                                     : "the file ends too early; it is truncated");
}

/* Behind the string that starts at `at`. */
static size_t skip_string(const char *text, size_t bytes, size_t at)
{
    for (at++; at < bytes && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at + 1;
}

static bool is_key(const char *text, size_t bytes, size_t at)
{
    while (at < bytes && memchr(" \t\r\n", text[at], 4) != NULL)
        at++;
    return at < bytes && text[at] == ':';
}

size_t clo_json_line(const clo_source *source, size_t ordinal)
{
    const char *text = source->text;
    static const char scalar[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
    size_t bytes = source->bytes, at = bytes >= 3 && (unsigned char)text[0] == 0xef ? 3 : 0, seen = 0;

    while (at < bytes) { /* every round passes at least one byte */
        size_t end = at + 1;
        bool value = text[at] == '{' || text[at] == '[';

        if (text[at] == '"') {
            end = skip_string(text, bytes, at);
            value = !is_key(text, bytes, end);
        } else if (memchr(scalar, text[at], sizeof scalar - 1) != NULL) {
            value = true;
            while (end < bytes && memchr(scalar, text[end], sizeof scalar - 1) != NULL)
                end++;
        }
        if (value && seen++ == ordinal)
            break;
        at = end;
    }
    assert(at < bytes);
    return clo_source_line(source, at);
}
