/* csv.c - see csv.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/csv.h"

#include "clotho/common/report.h"

#include <string.h>
#include <unistd.h>

void put_csv_text(FILE *file, const char *text)
{
    if (isatty(fileno(file))) /* names must not command it */
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
