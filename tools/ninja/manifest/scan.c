/* scan.c - see scan.h. */
#include "ninja/manifest/scan.h"
#include "ninja/manifest/scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_simple(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool is_name(char c)
{
    return is_simple(c) || c == '.';
}

static size_t name_end(const char *text, size_t at)
{
    while (is_name(text[at]))
        at++;
    return at;
}

static uint32_t line_of(const scan_source *s)
{
    uint32_t line = 1;

    for (size_t i = 0; i < s->last && s->text[i] != '\0'; i++)
        line += s->text[i] == '\n';
    return line;
}

bool scan_fail(ninja_manifest *m, const scan_source *s, const char *format, ...)
{
    char text[700];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ninja_fail(m, "%.256s:%u: %s", m->files[s->file], line_of(s), text);
}

bool scan_unexpected(ninja_manifest *m, const scan_source *s, const char *wanted)
{
    char c = s->text[s->last];

    if (c == '\t')
        return scan_fail(m, s, "a tab stands here; use spaces");
    if (c == '\0')
        return scan_fail(m, s, "%s is missing at the end of the file; add it", wanted);
    if (c == '\n' || c == '\r')
        return scan_fail(m, s, "%s is missing at the end of the line; add it", wanted);
    if (c < ' ' || c == 0x7f)
        return scan_fail(m, s, "the control character 0x%02x stands where %s must; remove it", (unsigned char)c,
                         wanted);
    size_t end = name_end(s->text, s->last);
    size_t bytes = end > s->last ? end - s->last : 1;
    return scan_fail(m, s, "'%.*s' stands where %s must; mend this line", (int)(bytes > 80 ? 80 : bytes),
                     s->text + s->last, wanted);
}

/* Skips spaces, and line ends that a "$" stands before. */
static void skip_space(scan_source *s)
{
    for (;;) {
        const char *t = s->text + s->at;
        if (t[0] == ' ')
            s->at++;
        else if (t[0] == '$' && t[1] == '\n')
            s->at += 2;
        else if (t[0] == '$' && t[1] == '\r' && t[2] == '\n')
            s->at += 3;
        else
            return;
    }
}

static scan_token keyword(piece word)
{
    static const struct {
        const char *text;
        scan_token token;
    } keywords[] = {{"build", TOKEN_BUILD}, {"default", TOKEN_DEFAULT}, {"include", TOKEN_INCLUDE},
                    {"pool", TOKEN_POOL},   {"rule", TOKEN_RULE},       {"subninja", TOKEN_SUBNINJA}};

    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (piece_equal(word, piece_of(keywords[i].text)))
            return keywords[i].token;
    return TOKEN_IDENTIFIER;
}

static scan_token take(scan_source *s, size_t end, scan_token token)
{
    s->at = end;
    if (token != TOKEN_NEWLINE && token != TOKEN_END)
        skip_space(s);
    return token;
}

scan_token scan_next(scan_source *s)
{
    const char *t = s->text;

    for (;;) {
        size_t at = s->at;
        s->last = at;
        while (t[at] == ' ')
            at++;
        if (t[at] == '#') { /* a comment needs its line end, as in ninja */
            const char *end = strchr(t + at, '\n');
            if (end != NULL) {
                s->at = (size_t)(end - t) + 1;
                continue;
            }
        }
        if (t[at] == '\n')
            return take(s, at + 1, TOKEN_NEWLINE);
        if (t[at] == '\r' && t[at + 1] == '\n')
            return take(s, at + 2, TOKEN_NEWLINE);
        if (at > s->last)
            return take(s, at, TOKEN_INDENT);
        size_t end = name_end(t, at);
        if (end > at)
            return take(s, end, keyword((piece){t + at, end - at}));
        switch (t[at]) {
        case '\0':
            return take(s, at, TOKEN_END);
        case '=':
            return take(s, at + 1, TOKEN_EQUALS);
        case ':':
            return take(s, at + 1, TOKEN_COLON);
        case '|':
            if (t[at + 1] == '@' || t[at + 1] == '|')
                return take(s, at + 2, t[at + 1] == '@' ? TOKEN_PIPE_AT : TOKEN_PIPE2);
            return take(s, at + 1, TOKEN_PIPE);
        default:
            return take(s, at + 1, TOKEN_ERROR);
        }
    }
}

void scan_back(scan_source *s)
{
    s->at = s->last;
}

bool scan_if(scan_source *s, scan_token token)
{
    if (scan_next(s) == token)
        return true;
    scan_back(s);
    return false;
}

bool scan_name(scan_source *s, piece *name)
{
    size_t end = name_end(s->text, s->at);

    s->last = s->at;
    if (end == s->at)
        return false;
    *name = (piece){s->text + s->at, end - s->at};
    s->at = end;
    skip_space(s);
    return true;
}

static bool add_part(ninja_manifest *m, scan_parts *parts, const char *at, size_t bytes, uint32_t symbol)
{
    ninja_part *grown = array_grow(parts->items, &parts->capacity, parts->count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    parts->items = grown;
    parts->items[parts->count++] = (ninja_part){at, (uint32_t)bytes, symbol};
    return true;
}

static bool add_variable(ninja_manifest *m, scan_source *s, scan_parts *parts, size_t from, size_t end, size_t behind)
{
    uint32_t symbol = scope_symbol(m, (piece){s->text + from, end - from});

    s->at = behind;
    return symbol != NINJA_NONE && add_part(m, parts, NULL, 0, symbol);
}

/* What stands behind a "$" at s->at. */
static bool scan_escape(ninja_manifest *m, scan_source *s, scan_parts *parts)
{
    const char *t = s->text;
    size_t at = s->at + 1;

    if (t[at] == '$' || t[at] == ' ' || t[at] == ':') {
        s->at = at + 1;
        return add_part(m, parts, t + at, 1, NINJA_NONE);
    }
    if (t[at] == '\n' || (t[at] == '\r' && t[at + 1] == '\n')) {
        at += t[at] == '\r' ? 2 : 1;
        while (t[at] == ' ')
            at++;
        s->at = at;
        return true;
    }
    if (t[at] == '{') {
        size_t end = name_end(t, at + 1);
        if (end > at + 1 && t[end] == '}')
            return add_variable(m, s, parts, at + 1, end, end + 1);
    }
    size_t end = at;
    while (is_simple(t[end]))
        end++;
    if (end > at)
        return add_variable(m, s, parts, at, end, end);
    s->last = s->at;
    return scan_fail(m, s, "'$' has no meaning before what follows; write '$$' for a dollar");
}

bool scan_value(ninja_manifest *m, scan_source *s, bool is_path, scan_parts *parts)
{
    const char *t = s->text, *stops = is_path ? "$ :\r\n|" : "$\r\n";

    for (;;) {
        size_t plain = strcspn(t + s->at, stops);
        if (plain > 0 && !add_part(m, parts, t + s->at, plain, NINJA_NONE))
            return false;
        s->at += plain;
        char c = t[s->at];
        if (c == '$') {
            if (!scan_escape(m, s, parts))
                return false;
            continue;
        }
        if (c == '\0' || (c == '\r' && t[s->at + 1] != '\n')) {
            s->last = s->at;
            return scan_fail(m, s,
                             c == '\0' ? "the file ends inside a line; add a line end"
                                       : "a carriage return stands alone; use line ends");
        }
        if (is_path)
            break;
        s->at += c == '\r' ? 2 : 1;
        return true;
    }
    skip_space(s);
    return true;
}
