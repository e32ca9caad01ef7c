/* options.c - see options.h. */
#define _GNU_SOURCE /* getopt_long */
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"
#include "clotho/common/wrap.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPTIONS_MAX 40
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

/* For option_at: the command has one thread here. */
static struct {
    const option_spec *options;
    size_t count;
} searched;

static const char *option_at(uint32_t index)
{
    return index < searched.count ? searched.options[index].name : index == searched.count ? "help" : NULL;
}

/* A word with dashes that is no option: unknown, or the beginning of several. */
static int refuse_word(const command *cmd, const option_spec *options, size_t count, const char *word)
{
    char name[64], choice[256] = "";
    size_t dashes = strspn(word, "-"), bytes = strcspn(word + dashes, "="), used = 0;

    snprintf(name, sizeof name, "%.*s", (int)bytes, word + dashes);
    searched.options = options;
    searched.count = count;
    for (uint32_t i = 0; option_at(i) != NULL && used < sizeof choice && dashes == 2; i++)
        if (strncmp(option_at(i), name, strlen(name)) == 0)
            used += (size_t)snprintf(choice + used, sizeof choice - used, "%s--%s", used > 0 ? ", " : "", option_at(i));
    if (used > 0)
        return misuse("--%s may be any of %s; write it whole", name, choice);
    const char *near = nearest_name(name, option_at);
    if (near != NULL && bytes > 1)
        return misuse("%.*s is no option of '%s'; did you mean '--%s'?", (int)(dashes + bytes), word, cmd->name, near);
    return misuse("%.*s is no option of '%s'; see 'clotho %s --help'", (int)(dashes + bytes), word, cmd->name,
                  cmd->name);
}

/* Options whose values 'clotho list' prints. */
static const char *list_of(const option_spec *option)
{
    static const char *const lists[][2] = {{"planner", "planners"},
                                           {"policy", "policies"},
                                           {"platform", "platforms"},
                                           {"format", "formats"},
                                           {"family", "families"}};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(option->name, lists[i][0]) == 0)
            return lists[i][1];
    return NULL;
}

static int refuse_missing(const command *cmd, const option_spec *option)
{
    if (list_of(option) != NULL)
        return misuse("--%s needs a value: %s; 'clotho list %s' prints the names", option->name, option->argument,
                      list_of(option));
    return misuse("--%s needs a value: %s, %s; see 'clotho %s --help'", option->name, option->argument,
                  expected(option->kind), cmd->name);
}

static int refuse(const command *cmd, const option_spec *options, size_t count, int got, char **argv)
{
    const option_spec *option = option_of(options, count, optopt);
    const char *here = argv[optind], *word = argv[optind - 1]; /* getopt stays at a word of several letters */
    bool is_cluster = here != NULL && here[0] == '-' && here[1] == optopt && here[2] != '\0';

    if (got == ':' && option != NULL)
        return refuse_missing(cmd, option);
    if (option != NULL || optopt == 'h')
        return misuse("--%s takes no value; see 'clotho %s --help'", option != NULL ? option->name : "help", cmd->name);
    if (optopt == 0 || is_cluster)
        return refuse_word(cmd, options, count, is_cluster ? here : word);
    return misuse("-%c is no option of '%s'; see 'clotho %s --help'", optopt, cmd->name, cmd->name);
}

/* The value is an option of the command: its own value was left out. */
static bool is_option(const option_spec *options, size_t count, const char *value)
{
    if (strncmp(value, "--", 2) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strncmp(value + 2, options[i].name, strcspn(value + 2, "=")) == 0 &&
            strlen(options[i].name) == strcspn(value + 2, "="))
            return true;
    return false;
}

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');

    return dot != NULL ? dot + 1 : "";
}

bool ending_names_kind(const char *path, const char *but)
{
    static const char *const known[] = {"png",  "jpg", "jpeg", "gif", "bmp", "webp",   "tif",  "tiff",
                                        "pdf",  "ps",  "eps",  "svg", "dot", "gv",     "json", "xml",
                                        "html", "csv", "yaml", "yml", "gml", "graphml"};
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

    if (wanted == NULL || !ending_names_kind(value, wanted))
        return EXIT_GOOD;
    return misuse("--%s is '%s', but the one kind of file there is .%s; write F.%s", option->name, value, wanted,
                  wanted);
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
        if (option->kind != OPTION_FLAG && is_option(options, options_count, optarg))
            return refuse_missing(cmd, option);
        if (!store(option, optarg))
            return misuse("--%s is '%s'; write %s", option->name, optarg, expected(option->kind));
        if (check_ending(option, optarg) != EXIT_GOOD)
            return EXIT_BAD_USAGE;
    }
    *operands = argv + optind;
    *operands_count = argc - optind;
    int code = check_operands(cmd, *operands_count, *operands);
    return code == OPTIONS_GO_ON ? check_files(options, options_count, *operands_count, *operands) : code;
}
