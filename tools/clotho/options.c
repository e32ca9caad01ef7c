/* options.c - see options.h. */
#define _GNU_SOURCE /* getopt_long */
#include "options.h"
#include "outputs.h"
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 40
#define LONG_BASE 256 /* getopt values of long options: apart from every letter */

bool parse_u64(const char *text, uint64_t *value)
{
    char *end;

    if (text[0] < '0' || text[0] > '9') /* strtoull would take "-1" and " 1" */
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *value = number;
    return true;
}

static bool parse_real(const char *text, const char **end, double *value)
{
    char *stop;

    if (strchr("0123456789.", text[0]) == NULL || text[0] == '\0')
        return false;
    *value = strtod(text, &stop);
    *end = stop;
    return stop != text && isfinite(*value);
}

bool parse_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *end;
    double value;

    if (!parse_real(text, &end, &value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0) {
            value *= units[i].ns;
            if (!(value >= 1 && value < 9e18))
                return false;
            *ns = llround(value);
            return true;
        }
    return false;
}

static bool store(const option_spec *option, const char *text)
{
    uint64_t number;
    const char *end;
    double real;

    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_OUTPUT:
        *(const char **)option->target = text;
        return true;
    case OPTION_LIST: {
        option_list *list = option->target;
        if (list->count == OPTION_LIST_MAX)
            return false;
        list->items[list->count++] = text;
        return true;
    }
    case OPTION_U32:
        if (!parse_u64(text, &number) || number >= UINT32_MAX)
            return false;
        *(uint32_t *)option->target = (uint32_t)number;
        return true;
    case OPTION_U64:
        return parse_u64(text, option->target);
    case OPTION_REAL:
        if (!parse_real(text, &end, &real) || *end != '\0')
            return false;
        *(double *)option->target = real;
        return true;
    case OPTION_TIME:
        return parse_time(text, option->target);
    }
    return false;
}

#define TEXT_OF_ARGUMENT(number) #number
#define TEXT_OF(macro) TEXT_OF_ARGUMENT(macro)

static const char *expected(option_kind kind)
{
    switch (kind) {
    case OPTION_FLAG:
        return "nothing";
    case OPTION_TEXT:
        return "a text";
    case OPTION_INPUT:
    case OPTION_OUTPUT:
        return "the name of a file";
    case OPTION_LIST:
        return "at most " TEXT_OF(OPTION_LIST_MAX) " names";
    case OPTION_U32:
        return "a whole number from 0 to 4294967294";
    case OPTION_U64:
        return "a whole number >= 0";
    case OPTION_REAL:
        return "a number >= 0";
    case OPTION_TIME:
        return "a time such as 500, 20us, 3ms or 1s";
    }
    return "?";
}

static void print_help(const command *cmd, const option_spec *options, size_t count)
{
    printf("usage: clotho %s%s%s [options]\n\n%s\n\noptions:\n", cmd->name, cmd->operands[0] != '\0' ? " " : "",
           cmd->operands, cmd->about);
    for (size_t i = 0; i < count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].argument != NULL ? " " : "",
                 options[i].argument != NULL ? options[i].argument : "");
        if (options[i].letter != 0)
            printf("  -%c, --%-22s %s\n", options[i].letter, left, options[i].help);
        else
            printf("      --%-22s %s\n", left, options[i].help);
    }
    printf("  -h, --%-22s %s\n", "help", "this text");
    if (cmd->notes != NULL)
        printf("\n%s\n", cmd->notes);
}

/* shorts: 2 * OPTIONS_MAX + 3 bytes. */
static void getopt_tables(const option_spec *options, size_t count, struct option *longs, char *shorts)
{
    char *s = shorts;

    *s++ = ':'; /* tell a missing value from an unknown option */
    *s++ = 'h';
    for (size_t i = 0; i < count; i++) {
        int takes = options[i].kind == OPTION_FLAG ? no_argument : required_argument;
        longs[i] = (struct option){options[i].name, takes, NULL, LONG_BASE + (int)i};
        if (options[i].letter != 0) {
            *s++ = options[i].letter;
            if (takes == required_argument)
                *s++ = ':';
        }
    }
    longs[count] = (struct option){"help", no_argument, NULL, 'h'};
    longs[count + 1] = (struct option){0};
    *s = '\0';
}

/* The option that getopt named by letter or by LONG_BASE + index; NULL: none. */
static const option_spec *option_of(const option_spec *options, size_t count, int value)
{
    if (value >= LONG_BASE && (size_t)(value - LONG_BASE) < count)
        return &options[value - LONG_BASE];
    for (size_t i = 0; i < count; i++)
        if (options[i].letter != 0 && options[i].letter == value)
            return &options[i];
    return NULL;
}

static int refuse(const command *cmd, const option_spec *options, size_t count, int got, char **argv)
{
    const option_spec *option = option_of(options, count, optopt);

    if (got == ':')
        return misuse("--%s needs %s; see 'clotho %s --help'", option != NULL ? option->name : "?",
                      option != NULL ? expected(option->kind) : "a value", cmd->name);
    if (option != NULL || optopt == 'h')
        return misuse("--%s takes no value; see 'clotho %s --help'", option != NULL ? option->name : "help", cmd->name);
    if (optopt != 0)
        return misuse("-%c is no option of '%s'; see 'clotho %s --help'", optopt, cmd->name, cmd->name);
    return misuse("%s is no option of '%s', or not clear; see 'clotho %s --help'", argv[optind - 1], cmd->name,
                  cmd->name);
}

static int check_operands(const command *cmd, int count, char **operands)
{
    if (count < cmd->operands_min)
        return misuse("'%s' needs %s; see 'clotho %s --help'", cmd->name, cmd->operands, cmd->name);
    if (count > cmd->operands_max)
        return misuse("'%s' is one operand too many for '%s'; see 'clotho %s --help'", operands[cmd->operands_max],
                      cmd->name, cmd->name);
    return OPTIONS_GO_ON;
}

int options_behind(const option_spec *options, size_t count, char letter, int argc, char **argv)
{
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 4] = "-"; /* operands are answers, and nothing is moved */

    if (count > OPTIONS_MAX)
        return argc;
    getopt_tables(options, count, longs, shorts + 1);
    opterr = 0;
    optind = 0;
    for (int got; (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        const option_spec *option = got > 1 && got != '?' && got != ':' ? option_of(options, count, got) : NULL;
        if (option != NULL && option->letter == letter)
            return optind;
    }
    return argc;
}

int options_parse(const command *cmd, const option_spec *options, size_t options_count, int argc, char **argv,
                  char ***operands, int *operands_count)
{
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 3];

    if (options_count > OPTIONS_MAX)
        return misuse("'%s' has too many options", cmd->name);
    getopt_tables(options, options_count, longs, shorts);
    opterr = 0;
    optind = 0; /* 0, not 1: makes glibc start afresh */
    for (int got; (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (got == 'h') {
            print_help(cmd, options, options_count);
            return EXIT_GOOD;
        }
        const option_spec *option = got == '?' || got == ':' ? NULL : option_of(options, options_count, got);
        if (option == NULL)
            return refuse(cmd, options, options_count, got, argv);
        if (!store(option, optarg))
            return misuse("--%s is '%s'; write %s", option->name, optarg, expected(option->kind));
    }
    *operands = argv + optind;
    *operands_count = argc - optind;
    int code = check_operands(cmd, *operands_count, *operands);
    return code == OPTIONS_GO_ON ? outputs_check(options, options_count, *operands_count, *operands) : code;
}
