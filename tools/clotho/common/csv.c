/* csv.c - see csv.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/csv.h"

#include "clotho/common/report.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_terminal;

void csv_begin(const char *path)
{
    is_terminal = strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
}

void put_csv_text(FILE *file, const char *text)
{
    if (is_terminal)
        text = show_name(text);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}
