/* main.c - `clotho VERB ...`: the table of verbs, and what is common to all of them. */
#define _POSIX_C_SOURCE 200809L /* access */
#include "clotho/common/commands.h"
#include "clotho/common/json.h"
#include "clotho/common/refuse.h"
#include "clotho/common/report.h"
#include "clotho/common/wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *operands, *summary;
} verbs[] = {
    {"platform", cmd_platform, "ACTION", "show executors, kinds, speeds and links; measure them"},
    {"plan", cmd_plan, "GRAPH...", "plan, check, report"},
    {"check", cmd_check, "GRAPH PLAN", "check a plan file with the independent checker"},
    {"run", cmd_run, "GRAPH...", "execute on workers; print predicted beside measured"},
    {"simulate", cmd_simulate, "WORKLOAD", "run streams of jobs in virtual time; a policy decides"},
    {"serve", cmd_serve, "", "decide for another cluster: events in, choices out"},
    {"calibrate", cmd_calibrate, "GRAPH...", "measure what tasks take on each kind of executor"},
    {"profile", cmd_profile, "ACTION FILE...", "files of measured times: show, check, merge"},
    {"build", cmd_build, "[DIR] [TARGETS]", "build what a build.ninja describes"},
    {"generate", cmd_generate, "KIND", "write a seeded graph of a known family"},
    {"train", cmd_train, "ACTION WORKLOAD", "find the numbers or the network of a policy for a workload"},
    {"model", cmd_model, "ACTION MODEL", "networks that decide: show, check, embed and make their files"},
    {"convert", cmd_convert, "IN OUT", "convert between graph formats"},
    {"list", cmd_list, "LIST", "print names, each with one line of text"},
    {"help", NULL, "[VERB]", "print this text, or the options of a verb"},
    {"version", NULL, "", "print the version"},
};

enum { VERBS = sizeof verbs / sizeof verbs[0], WORDS_MAX = 4, NAME_BYTES = 32, SUMMARY_COLUMN = 30 };

/* The verbs, then the options that stand alone. */
static const char *word_at(uint32_t index)
{
    static const char *const options[] = {"--help", "--version", NULL};

    return index < VERBS ? verbs[index].name : options[index - VERBS];
}

static bool is_verb(const char *word)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(word, verbs[i].name) == 0)
            return true;
    return false;
}

/* What other programs call so. */
static const char *meant(const char *word)
{
    static const char *const words[][2] = {{"schedule", "plan"},
                                           {"sched", "plan"},
                                           {"optimize", "plan"},
                                           {"exec", "run"},
                                           {"execute", "run"},
                                           {"start", "run"},
                                           {"verify", "check"},
                                           {"validate", "check"},
                                           {"make", "build"},
                                           {"ninja", "build"},
                                           {"new", "generate"},
                                           {"create", "generate"},
                                           {"export", "convert"},
                                           {"import", "convert"},
                                           {"show", "platform show"},
                                           {"info", "platform show"},
                                           {"measure", "calibrate"},
                                           {"ls", "list"},
                                           {"planners", "list planners"},
                                           {"planner", "list planners"},
                                           {"policy", "list policies"},
                                           {"policies", "list policies"},
                                           {"platforms", "list platforms"},
                                           {"formats", "list formats"},
                                           {"families", "list families"},
                                           {"kernels", "list kernels"},
                                           {"drivers", "list drivers"},
                                           {"models", "list models"},
                                           {"-v", "--version"},
                                           {"-V", "--version"},
                                           {"-help", "--help"},
                                           {"--h", "--help"},
                                           {"-?", "--help"},
                                           {"/?", "--help"},
                                           {"-version", "--version"}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    return nearest_name(word, word_at);
}

/* `words` end with NULL; the first one is no verb. */
static int refuse(char **words)
{
    const char *word = words[0], *near = meant(word);

    for (size_t i = 1; word[0] == '-' && words[i] != NULL; i++)
        if (is_verb(words[i]))
            return misuse("'%s' stands before the verb; write clotho %s %s ...", word, words[i], word);
    if (access(word, F_OK) == 0)
        return misuse("'%s' is a file, no verb; write clotho plan %s, or another verb of 'clotho --help'", word, word);
    if (near != NULL)
        return misuse("'%s' is no verb; did you mean '%s'?", word, near);
    if (word[0] == '-')
        return misuse("'%s' is no verb, which comes first: clotho VERB ... %s; see 'clotho --help'", word, word);
    return misuse("'%s' is no verb; see 'clotho --help'", word);
}

/* For refuse.h: the options of all verbs. */
static void each_verb(void)
{
    static char option[] = "--help";

    for (size_t i = 0; i < VERBS; i++) {
        char *words[] = {(char *)verbs[i].name, option, NULL};
        if (verbs[i].run != NULL)
            verbs[i].run(2, words);
    }
}

static int print_verbs(void)
{
    printf("usage: clotho VERB [operands] [options]\n\n"
           "Plans and runs task graphs on heterogeneous multicore systems.\n\n");
    for (size_t i = 0; i < VERBS; i++) {
        printf("  %-9s %-16s  ", verbs[i].name, verbs[i].operands);
        wrap_words(verbs[i].summary, SUMMARY_COLUMN, SUMMARY_COLUMN);
    }
    putchar('\n');
    wrap_text(
        "'clotho help VERB' or 'clotho VERB --help' prints the options. With --json a verb prints one JSON object "
        "per result and nothing else; 'clotho help --json' prints a line about each verb.");
    wrap_text("Exit status: 0 success, 1 bad input, an invalid result or a --deadline that was missed, 2 bad usage.");
    return EXIT_GOOD;
}

static int run_verb(int argc, char **argv)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(argv[0], verbs[i].name) == 0 && verbs[i].run != NULL)
            return verbs[i].run(argc, argv);
    return refuse(argv);
}

/* `help --json`: a line with the verbs, then a line for each verb and action with its options (common/describe.h). */
static int describe_all(void)
{
    static char help[] = "--help", as_json[] = "--json";
    json out;

    json_begin(&out);
    json_text(&out, "name", "clotho");
    json_text(&out, "version", clo_version());
    json_open(&out, "verbs", '[');
    for (size_t i = 0; i < VERBS; i++) {
        json_open(&out, NULL, '{');
        json_text(&out, "name", verbs[i].name);
        json_text(&out, "operands", verbs[i].operands);
        json_text(&out, "summary", verbs[i].summary);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    int code = json_print(&out);
    for (size_t i = 0; i < VERBS && code == EXIT_GOOD; i++) {
        char name[NAME_BYTES];
        char *words[] = {name, help, as_json, NULL};
        snprintf(name, sizeof name, "%s", verbs[i].name);
        code = verbs[i].run != NULL ? verbs[i].run(3, words) : EXIT_GOOD;
    }
    return code;
}

static bool has_actions(const char *verb)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verb, verbs[i].name) == 0)
            return strncmp(verbs[i].operands, "ACTION", 6) == 0 || strcmp(verb, "generate") == 0;
    return false;
}

/* `help VERB [ACTION]`: the verb itself prints its options. */
static int help(int argc, char **argv)
{
    static char option[] = "--help";
    char *words[WORDS_MAX + 1] = {0};
    int count = argc - 1; /* words behind `help` */
    bool as_json = count > 0 && strcmp(argv[count], "--json") == 0;

    if (as_json && count == 1)
        return describe_all();
    if (count > 0 && argv[1][0] == '-' && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return misuse("%s is no option of 'help'; write clotho help VERB", argv[1]);
    if (count < 1 || argv[1][0] == '-' || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0)
        return print_verbs();
    count -= as_json;
    if (count > 1 && is_verb(argv[1]) && !has_actions(argv[1]))
        return misuse("'%s' is one word too many for 'help'; write clotho help %s", argv[2], argv[1]);
    if (count >= WORDS_MAX - 1)
        return misuse("'%s' is one word too many for 'help'; write clotho help VERB", argv[WORDS_MAX - 1]);
    memcpy(words, argv + 1, (size_t)count * sizeof *words);
    words[count] = option;
    words[count + 1] = as_json ? argv[argc - 1] : NULL;
    return run_verb(count + 1 + as_json, words);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return misuse("no verb given; see 'clotho --help'");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "version") == 0 && argc > 2)
        return misuse("'%s' is one word too many for 'version'; leave it out", argv[2]);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("clotho %s\n", clo_version());
        return EXIT_GOOD;
    }
    return run_verb(argc - 1, argv + 1);
}

/* By a link named as ninja is, say "clotho-ninja", the command is `clotho build`: CMake and Meson want one path that
 * takes ninja's words. */
static bool is_called_ninja(const char *path)
{
    static const char *const names[] = {"clotho-ninja", "ninja", "ninja-build"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    refuse_set_verbs(each_verb);
    bool is_ninja = argc > 0 && is_called_ninja(argv[0]);

    return report_flush(is_ninja ? build_as_ninja(argc, argv) : dispatch(argc, argv));
}
