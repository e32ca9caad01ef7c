/* options.c - see options.h. */
#define _GNU_SOURCE /* getopt_long */
#include "clotho/common/options.h"
#include "clotho/common/describe.h"
#include "clotho/common/operands.h"
#include "clotho/common/outputs.h"
#include "clotho/common/refuse.h"
#include "clotho/common/report.h"
#include "clotho/common/wrap.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPTIONS_MAX 48
#define OPERANDS_SEEN 4096 /* of more, not all are compared with the files to write */
#define LONG_BASE 256      /* getopt values of long options: apart from every letter */

enum { HELP_COLUMN = 31 }; /* where the text of an option begins */

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

    if (strchr("0123456789.", text[0]) == NULL || text[0] == '\0' || strpbrk(text, "xX") != NULL) /* no 0x10 */
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
    case OPTION_COUNT:
    case OPTION_U32:
    case OPTION_FIFO:
        if (!parse_u64(text, &number) || number > (option->kind == OPTION_FIFO ? 98 : UINT32_MAX - 1) ||
            (number == 0 && option->kind != OPTION_U32))
            return false;
        *(uint32_t *)option->target = (uint32_t)number;
        return true;
    case OPTION_U64:
        return parse_u64(text, option->target);
    case OPTION_REAL:
    case OPTION_FACTOR:
        if (!parse_real(text, &end, &real) || *end != '\0' || (real <= 0 && option->kind == OPTION_FACTOR))
            return false;
        *(double *)option->target = real;
        return true;
    case OPTION_TIME:
        return parse_time(text, option->target);
    }
    return false;
}

/* "  -p, --platform SPEC" and the text; on a line of its own where the left side is too wide. */
static void print_option(char letter, const char *name, const char *argument, const char *text)
{
    int width = letter != 0 ? printf("  -%c, --%s", letter, name) : printf("      --%s", name);

    if (argument != NULL)
        width += printf(" %s", argument);
    if (width < HELP_COLUMN)
        printf("%*s", HELP_COLUMN - width, "");
    else
        printf("\n%*s", HELP_COLUMN, "");
    wrap_words(text, HELP_COLUMN, HELP_COLUMN);
}

static void print_help(const command *cmd, const option_spec *options, size_t count)
{
    char usage[256];

    snprintf(usage, sizeof usage, "usage: clotho %s%s%s [options]", cmd->name, cmd->operands[0] != '\0' ? " " : "",
             cmd->operands);
    wrap_words(usage, 0, sizeof "usage: clotho" - 1);
    putchar('\n');
    wrap_text(cmd->about);
    printf("\noptions:\n");
    for (size_t i = 0; i < count; i++)
        print_option(options[i].letter, options[i].name, options[i].argument, options[i].help);
    print_option('h', "help", NULL, "this text");
    if (cmd->notes != NULL) {
        putchar('\n');
        wrap_text(cmd->notes);
    }
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

static int refuse(const option_table *table, int got, char **argv)
{
    const option_spec *option = option_of(table->options, table->count, optopt);
    const char *here = argv[optind], *word = argv[optind - 1]; /* getopt stays at a word of several letters */
    bool is_cluster = here != NULL && here[0] == '-' && here[1] == optopt && here[2] != '\0';

    if (got == ':' && option != NULL)
        return refuse_missing(table, option);
    if (option != NULL || optopt == 'h')
        return misuse("--%s takes no value; see 'clotho %s --help'", option != NULL ? option->name : "help",
                      table->cmd->name);
    if (optopt == 0 || is_cluster)
        return refuse_word(table, is_cluster ? here : word);
    return refuse_word(table, (char[]){'-', (char)optopt, '\0'});
}

static bool is_as_ninja(const option_table *table)
{
    return strcmp(table->cmd->name, "build") == 0;
}

/* The value is an option of the command, "--name" or "-n": its own value was left out. */
static bool is_option(const option_table *table, const char *value)
{
    bool is_letter = value[0] == '-' && value[1] != '\0' && value[1] != '-' && value[2] == '\0';

    if (is_letter && !is_as_ninja(table)) /* whose file may be called -t */
        return option_of(table->options, table->count, value[1]) != NULL;
    return strncmp(value, "--", 2) == 0 && option_named(table, value + 2, strcspn(value + 2, "=")) != NULL;
}

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');

    return dot != NULL ? dot + 1 : "";
}

bool ending_names_kind(const char *path, const char *but)
{
    static const char *const known[] = {"png",  "jpg", "jpeg", "gif",     "bmp", "webp",  "tif",   "tiff", "pdf",
                                        "ps",   "eps", "svg",  "dot",     "gv",  "json",  "xml",   "html", "csv",
                                        "yaml", "yml", "gml",  "graphml", "c",   "model", "ninja", "py",   "sh"};
    const char *ending = ending_of(path);
    bool is_known = false;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known |= strcasecmp(ending, known[i]) == 0;
    for (size_t bytes; is_known && *but != '\0'; but += bytes + (but[bytes] == ' ')) { /* passes a word */
        bytes = strcspn(but, " ");
        is_known = strlen(ending) != bytes || strncasecmp(ending, but, bytes) != 0;
    }
    return is_known;
}

/* An option of "F.svg" takes no file whose name says that it is something else. */
static int check_ending(const option_spec *option, const char *value)
{
    bool is_file = option->argument != NULL && strncmp(option->argument, "F.", 2) == 0;
    const char *wanted = is_file ? option->argument + 2 : NULL;

    if (wanted == NULL || !ending_names_kind(value, strcmp(wanted, "jsonl") == 0 ? "jsonl json" : wanted))
        return EXIT_GOOD;
    return misuse("--%s is '%s', but the one kind of file there is .%s; write F.%s", option->name, value, wanted,
                  wanted);
}

static int check_operands(const option_table *table, int count, char **operands)
{
    const command *cmd = table->cmd;
    int code = EXIT_GOOD;

    if (count < cmd->operands_min)
        return misuse("'%s' needs %s; see 'clotho %s --help'", cmd->name, cmd->operands, cmd->name);
    if (count > cmd->operands_max)
        code = refuse_output(table, operands[cmd->operands_max]);
    for (int i = cmd->operands_max; i < count && code == EXIT_GOOD; i++)
        if (i == 0 || strcmp(operands[i], operands[i - 1]) != 0)
            code = operand_refuse(table, operands[i]);
    if (code != EXIT_GOOD)
        return code;
    if (count > cmd->operands_max)
        return misuse("'%s' is one operand too many for '%s'; see 'clotho %s --help'", operands[cmd->operands_max],
                      cmd->name, cmd->name);
    return OPTIONS_GO_ON;
}

int options_behind(const option_spec *options, size_t count, char letter, int argc, char **argv)
{
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 4] = "-"; /* operands are answers, and nothing is moved */

    if (options == NULL || count > OPTIONS_MAX)
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

/* The files that options and operands name, before anything is done with them. */
static int check_files(const option_spec *options, size_t count, int operands_count, char **operands)
{
    named_file outputs[OPTIONS_MAX], inputs[OPTIONS_MAX + OPERANDS_SEEN];
    size_t outputs_count = 0, inputs_count = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_file = options[i].kind == OPTION_OUTPUT || options[i].kind == OPTION_INPUT;
        const char *path = is_file ? *(const char *const *)options[i].target : NULL;
        if (path != NULL && options[i].kind == OPTION_OUTPUT)
            outputs[outputs_count++] = (named_file){options[i].name, path};
        else if (path != NULL)
            inputs[inputs_count++] = (named_file){options[i].name, path};
    }
    for (int i = 0; i < operands_count && i < OPERANDS_SEEN; i++)
        inputs[inputs_count++] = (named_file){NULL, operands[i]};
    int code = outputs_check(outputs, outputs_count, inputs, inputs_count);
    return code == EXIT_GOOD ? OPTIONS_GO_ON : code;
}

/* One option as getopt found it. */
static int take(const option_table *table, const option_spec *option, char **argv, uint64_t *seen)
{
    uint64_t bit = (uint64_t)1 << (option - table->options);
    /* The last one counts for ninja, whose callers rely on it. */
    bool may_repeat = option->kind == OPTION_LIST || option->kind == OPTION_FLAG || is_as_ninja(table);

    if (option->kind != OPTION_FLAG) {
        int code = optarg > argv[optind - 1] ? refuse_attached(table, option, argv[optind - 1]) : EXIT_GOOD;
        if (code != EXIT_GOOD)
            return code;
        if (is_option(table, optarg))
            return refuse_missing(table, option);
        if (strcmp(optarg, "=") == 0)
            return misuse("--%s is '='; write --%s VALUE, or --%s=VALUE without blanks", option->name, option->name,
                          option->name);
    }
    if ((*seen & bit) != 0 && !may_repeat)
        return misuse("--%s is given twice; leave one out", option->name);
    *seen |= bit;
    if (!store(option, optarg))
        return refuse_value(option, optarg);
    return check_ending(option, optarg);
}

/* --foreign says how --profile is meant, and would do nothing without it. */
static int check_foreign(const option_table *table, uint64_t seen)
{
    const option_spec *foreign = option_named(table, "foreign", 7), *profile = option_named(table, "profile", 7);
    bool is_alone = foreign != NULL && profile != NULL && (seen >> (foreign - table->options) & 1) != 0 &&
                    (seen >> (profile - table->options) & 1) == 0;

    return is_alone ? misuse("--foreign is of --profile F.json; add that one, or leave --foreign out") : OPTIONS_GO_ON;
}

int options_parse(const command *cmd, const option_spec *options, size_t options_count, int argc, char **argv,
                  char ***operands, int *operands_count)
{
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 3];
    option_table table = {cmd, options, options_count};
    uint64_t seen = 0; /* a bit for each option */

    if (options_count > OPTIONS_MAX)
        return misuse("'%s' has too many options", cmd->name);
    if (refuse_is_searching()) {
        refuse_search(&table);
        return EXIT_GOOD;
    }
    getopt_tables(options, options_count, longs, shorts);
    opterr = 0;
    optind = 0; /* 0, not 1: makes glibc start afresh */
    for (int got; (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (got == 'h' && wants_description(argc, argv, optind))
            return describe(&table);
        if (got == 'h') {
            print_help(cmd, options, options_count);
            return EXIT_GOOD;
        }
        const option_spec *option = got == '?' || got == ':' ? NULL : option_of(options, options_count, got);
        if (option == NULL)
            return refuse(&table, got, argv);
        int taken = take(&table, option, argv, &seen);
        if (taken != EXIT_GOOD)
            return taken;
    }
    *operands = argv + optind;
    *operands_count = argc - optind;
    int code = check_operands(&table, *operands_count, *operands);
    if (code == OPTIONS_GO_ON)
        code = check_foreign(&table, seen);
    if (code == OPTIONS_GO_ON)
        code = operands_check(&table, *operands_count, *operands);
    return code == OPTIONS_GO_ON ? check_files(options, options_count, *operands_count, *operands) : code;
}
