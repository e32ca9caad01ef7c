/* symbol.c - see symbol.h. */
#include "clotho/common/symbol.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* C11, what C23 and GNU add, and names that headers or a program have. */
static const char *const taken[] = {
    "auto",          "break",     "case",     "char",          "const",          "continue",     "default",  "do",
    "double",        "else",      "enum",     "extern",        "float",          "for",          "goto",     "if",
    "inline",        "int",       "long",     "register",      "restrict",       "return",       "short",    "signed",
    "sizeof",        "static",    "struct",   "switch",        "typedef",        "union",        "unsigned", "void",
    "volatile",      "while",     "_Alignas", "_Alignof",      "_Atomic",        "_Bool",        "_Complex", "_Generic",
    "_Imaginary",    "_Noreturn", "_Pragma",  "_Thread_local", "_Static_assert", "alignas",      "alignof",  "asm",
    "bool",          "constexpr", "false",    "nullptr",       "static_assert",  "thread_local", "true",     "typeof",
    "typeof_unqual", "linux",     "unix",     "main",          "NULL",           "offsetof"};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), more = strlen(end);

    return length >= more && strcmp(text + length - more, end) == 0;
}

bool is_symbol(const char *text)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(text, taken[i]) == 0)
            return false;
    for (const char *at = text; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    if (ends_with(text, "_t")) /* size_t, int64_t and the like */
        return false;
    return text[0] != '\0' && !isdigit((unsigned char)text[0]) && strlen(text) < SYMBOL_BYTES;
}

void symbol_make(const char *prefix, const char *name, size_t length, char out[SYMBOL_BYTES])
{
    snprintf(out, SYMBOL_BYTES, "%s%.*s", prefix, length < SYMBOL_BYTES ? (int)length : SYMBOL_BYTES, name);
    for (char *at = out; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
}
