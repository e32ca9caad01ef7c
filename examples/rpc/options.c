#include "options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void option_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("rpc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

int option_is(const char *argument, const char *name)
{
    return strcmp(argument, name) == 0;
}

const char *option_text(int argc, char **argv, int *at)
{
    if (*at + 1 >= argc)
        option_fail("%s needs a value; see --help", argv[*at]);
    return argv[++*at];
}

uint64_t option_number(int argc, char **argv, int *at, uint64_t most)
{
    const char *name = argv[*at], *text = option_text(argc, argv, at);
    char *end = NULL;
    uint64_t value = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value > most)
        option_fail("%s: '%s' is no whole number from 0 to %" PRIu64, name, text, most);
    return value;
}

double option_real(int argc, char **argv, int *at, double most)
{
    const char *name = argv[*at], *text = option_text(argc, argv, at);
    char *end = NULL;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= most))
        option_fail("%s: '%s' is no number from 0 to %g", name, text, most);
    return value;
}

FILE *option_file(int argc, char **argv, int *at, const char *mode)
{
    const char *path = option_text(argc, argv, at);
    FILE *file = fopen(path, mode);

    if (file == NULL)
        option_fail("%s cannot be written", path);
    setvbuf(file, NULL, _IOLBF, 1 << 16);
    return file;
}
