/* symbol.h - names of C, for files of C that the command writes. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_SYMBOL_H
#define CLO_TOOLS_CLOTHO_COMMON_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

/* Of a name, with its end. */
enum { SYMBOL_BYTES = 64 };

/* Whether a file of C may define something of this name: letters, digits and '_', no digit first, no word of the
 * language, no macro or type of its headers, not "main". */
bool is_symbol(const char *text);

/* The first `length` bytes of `name` behind `prefix`, with '_' for what no name of C may hold; cut to fit. */
void symbol_make(const char *prefix, const char *name, size_t length, char out[SYMBOL_BYTES]);

#endif
