/* dot_token.c - see dot_token.h. Deviation from Graphviz: in quoted names \\ is one backslash, so that every name
 * can be written and read back (Graphviz cannot end a name with a backslash). */
#define _POSIX_C_SOURCE 200809L
#include "io/workflow/dot_token.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/json_scan.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

clo_status clo_dot_lexer_open(clo_dot_lexer *lexer, const char *file, const char *text, size_t bytes)
{
    *lexer = (clo_dot_lexer){.file = file, .text = text, .bytes = bytes};
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        lexer->first = lexer->at = 3;
    lexer->pool = clo_allocate(bytes + 1, 2);
    return lexer->pool != NULL ? CLO_OK : clo_fail_memory(file);
}

void clo_dot_lexer_close(clo_dot_lexer *lexer)
{
    clo_free(lexer->pool);
    lexer->pool = NULL;
}

static clo_status wrong(const clo_dot_lexer *l, size_t at, const char *what)
{
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s", l->file, clo_text_line(l->text, at), what);
}

static char peek(const clo_dot_lexer *l, size_t ahead)
{
    return l->at + ahead < l->bytes ? l->text[l->at + ahead] : '\0';
}

static void put(clo_dot_lexer *l, char c)
{
    assert(l->used < 2 * (l->bytes + 1));
    l->pool[l->used++] = c;
}

static void skip_line(clo_dot_lexer *l)
{
    while (l->at < l->bytes && l->text[l->at] != '\n')
        l->at++;
}

/* White space, comments, and lines that begin with '#' (output of a preprocessor). */
static clo_status skip_space(clo_dot_lexer *l)
{
    while (l->at < l->bytes) { /* every round passes at least one byte */
        char c = l->text[l->at];
        if (strchr(" \t\r\n\f\v", c) != NULL) {
            l->at++;
        } else if (c == '#' && (l->at == l->first || l->text[l->at - 1] == '\n')) {
            skip_line(l);
        } else if (c == '/' && peek(l, 1) == '/') {
            skip_line(l);
        } else if (c == '/' && peek(l, 1) == '*') {
            size_t first = l->at;
            for (l->at += 2; l->at < l->bytes && !(peek(l, 0) == '*' && peek(l, 1) == '/'); l->at++)
                ;
            if (l->at >= l->bytes)
                return wrong(l, first, "a comment without its end; close it with */");
            l->at += 2;
        } else {
            break;
        }
    }
    return CLO_OK;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* -? ( . [0-9]+ | [0-9]+ ( . [0-9]* )? ) */
static bool lex_number(clo_dot_lexer *l)
{
    size_t first = l->at, digits = 0;

    if (peek(l, 0) == '-')
        put(l, l->text[l->at++]);
    for (bool point = false; l->at < l->bytes; l->at++) {
        char c = l->text[l->at];
        if (c >= '0' && c <= '9')
            digits++;
        else if (c == '.' && !point)
            point = true;
        else
            break;
        put(l, c);
    }
    if (digits > 0)
        return true;
    l->used -= l->at - first;
    l->at = first;
    return false;
}

/* One quoted string; its decoded bytes are appended to the pool. */
static clo_status lex_quoted(clo_dot_lexer *l)
{
    size_t first = l->at++;

    for (; l->at < l->bytes && l->text[l->at] != '"'; l->at++) {
        if (l->text[l->at] == '\\' && (peek(l, 1) == '"' || peek(l, 1) == '\\'))
            l->at++;
        else if (l->text[l->at] == '\\' && peek(l, 1) == '\n') {
            l->at++; /* a line continued */
            continue;
        }
        put(l, l->text[l->at]);
    }
    if (l->at >= l->bytes)
        return wrong(l, first, "a string without its closing quote; end it with \"");
    l->at++;
    return CLO_OK;
}

/* "a" + "b" */
static clo_status lex_strings(clo_dot_lexer *l)
{
    clo_status status = lex_quoted(l);

    while (status == CLO_OK) { /* every round passes at least two bytes or stops */
        size_t back = l->at;
        if ((status = skip_space(l)) != CLO_OK)
            break;
        if (peek(l, 0) != '+') {
            l->at = back;
            break;
        }
        l->at++;
        if ((status = skip_space(l)) != CLO_OK)
            break;
        if (peek(l, 0) != '"')
            return wrong(l, l->at, "expected a quoted string after '+'");
        status = lex_quoted(l);
    }
    return status;
}

/* <...>, balanced; kept with its brackets. */
static clo_status lex_html(clo_dot_lexer *l)
{
    size_t first = l->at, open = 0;

    do {
        if (l->at >= l->bytes)
            return wrong(l, first, "an HTML string without its end; close it with >");
        open += l->text[l->at] == '<';
        open -= l->text[l->at] == '>';
        put(l, l->text[l->at++]);
    } while (open > 0);
    return CLO_OK;
}

static clo_status lex_id(clo_dot_lexer *l, clo_dot_token *token)
{
    clo_status status = CLO_OK;

    token->kind = CLO_DOT_ID;
    token->text = l->pool + l->used;
    token->quoted = peek(l, 0) == '"' || peek(l, 0) == '<';
    if (peek(l, 0) == '"')
        status = lex_strings(l);
    else if (peek(l, 0) == '<')
        status = lex_html(l);
    else if (lex_number(l))
        status = is_word(peek(l, 0)) ? wrong(l, l->at, "a name that begins with a digit; put it into double quotes")
                                     : CLO_OK;
    else
        while (is_word(peek(l, 0)))
            put(l, l->text[l->at++]);
    put(l, '\0');
    return status;
}

clo_status clo_dot_next(clo_dot_lexer *l)
{
    clo_dot_token *token = &l->token;
    clo_status status = skip_space(l);

    *token = (clo_dot_token){.kind = CLO_DOT_END, .at = l->at};
    if (status != CLO_OK || l->at >= l->bytes)
        return status;
    char c = peek(l, 0), second = peek(l, 1);
    if (c == '-' && (second == '>' || second == '-')) {
        token->kind = second == '>' ? CLO_DOT_ARROW : CLO_DOT_LINE;
        l->at += 2;
        return CLO_OK;
    }
    if (strchr("{}[];,=:", c) != NULL) {
        token->kind = CLO_DOT_SIGN;
        token->sign = c;
        l->at++;
        return CLO_OK;
    }
    bool number = (c == '-' || c == '.') && (second == '.' || (second >= '0' && second <= '9'));
    if (!is_word(c) && c != '"' && c != '<' && !number)
        return wrong(l, l->at, "a character that DOT does not know here; put names into double quotes");
    status = lex_id(l, token);
    if (status == CLO_OK && l->at == token->at) /* "-." */
        return wrong(l, l->at, "a malformed number; put names into double quotes");
    return status;
}

bool clo_dot_is(const clo_dot_lexer *l, const char *word)
{
    return l->token.kind == CLO_DOT_ID && !l->token.quoted && strcasecmp(l->token.text, word) == 0;
}

bool clo_dot_is_sign(const clo_dot_lexer *l, char sign)
{
    return l->token.kind == CLO_DOT_SIGN && l->token.sign == sign;
}

clo_status clo_dot_wrong(const clo_dot_lexer *l, const char *what)
{
    return wrong(l, l->token.at, what);
}
