/* main.c - `clotho VERB ...`: the table of verbs, and what is common to all of them. */
#include "commands.h"
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *operands, *summary;
} verbs[] = {
    {"platform", cmd_platform, "show|calibrate|list|check", "show executors, kinds, speeds and links; measure them"},
    {"plan", cmd_plan, "GRAPH...", "plan, check, report"},
    {"check", cmd_check, "GRAPH PLAN", "check a plan file with the independent checker"},
    {"run", cmd_run, "GRAPH...", "execute on workers; print predicted beside measured"},
    {"simulate", cmd_simulate, "WORKLOAD", "run streams of jobs in virtual time; a policy decides"},
    {"build", cmd_build, "[DIR] [TARGETS]", "build what a build.ninja describes"},
    {"generate", cmd_generate, "KIND", "write a seeded graph of a known family"},
    {"train", cmd_train, "parametric|lachesis|edges WORKLOAD...",
     "find the numbers or the network of a policy for a workload"},
    {"model", cmd_model, "show|verify|embed|...", "networks that decide: show, check, embed and make their files"},
    {"convert", cmd_convert, "IN OUT", "convert between graph formats"},
    {"list", cmd_list, "planners|policies|...", "print names, each with one line of text"},
};

static const char *verb_at(uint32_t index)
{
    return index < sizeof verbs / sizeof verbs[0] ? verbs[index].name : NULL;
}

static int help(void)
{
    printf("usage: clotho VERB [operands] [options]\n\n"
           "Plans and runs task graphs on heterogeneous multicore systems.\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        printf("  %-9s %-26s %s\n", verbs[i].name, verbs[i].operands, verbs[i].summary);
    printf("\n'clotho VERB --help' prints the options. With --json a verb prints one JSON object per result and "
           "nothing else.\n"
           "Exit status: 0 success, 1 bad input or an invalid result, 2 bad usage.\n");
    return EXIT_GOOD;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return misuse("no verb given; see 'clotho --help'");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0) {
        printf("clotho %s\n", clo_version());
        return EXIT_GOOD;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    const char *near = nearest_name(argv[1], verb_at);
    if (near != NULL)
        return misuse("'%s' is no verb; did you mean '%s'?", argv[1], near);
    return misuse("'%s' is no verb; see 'clotho --help'", argv[1]);
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
    bool is_ninja = argc > 0 && is_called_ninja(argv[0]);

    return report_flush(is_ninja ? build_as_ninja(argc, argv) : dispatch(argc, argv));
}
