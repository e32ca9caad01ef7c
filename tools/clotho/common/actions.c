/* actions.c - finds the action of a verb. */
#include "clotho/common/actions.h"

#include "clotho/common/describe.h"
#include "clotho/common/json.h"
#include "clotho/common/refuse.h"
#include "clotho/common/report.h"
#include "clotho/common/wrap.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CHOICE_BYTES = 256, SUMMARY_COLUMN = 13 };

static const action *chosen; /* for action_at: the command has one thread here */

static const char *action_at(uint32_t index)
{
    return chosen[index].name;
}

/* "show, list or check" */
static const char *choice(const action *actions, char text[CHOICE_BYTES])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; actions[i].name != NULL && used < CHOICE_BYTES; i++)
        used += (size_t)snprintf(text + used, CHOICE_BYTES - used, "%s%s",
                                 i == 0                        ? ""
                                 : actions[i + 1].name == NULL ? " or "
                                                               : ", ",
                                 actions[i].name);
    return text;
}

bool actions_describe(const char *verb, const action *actions, int argc, char **argv)
{
    static char help[] = "--help", as_json[] = "--json";
    json out;

    if (argc < 3 || strcmp(argv[1], help) != 0 || !wants_description(argc, argv, 2))
        return false;
    json_begin(&out);
    json_text(&out, "name", verb);
    json_open(&out, "actions", '[');
    for (const action *a = actions; a->name != NULL; a++) {
        json_open(&out, NULL, '{');
        json_text(&out, "name", a->name);
        json_text(&out, "summary", a->summary);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    (void)json_print(&out); /* what cannot be written is told of at the end (report_flush) */
    for (const action *a = actions; a->name != NULL; a++) {
        char name[CHOICE_BYTES];
        char *words[] = {name, help, as_json, NULL};
        snprintf(name, sizeof name, "%s", a->name);
        (void)a->run(3, words);
    }
    return true;
}

int actions_run(const char *verb, const action *actions, int argc, char **argv)
{
    char text[CHOICE_BYTES];

    if (refuse_is_searching()) { /* each action has options of its own */
        for (const action *a = actions; a->name != NULL; a++)
            a->run(argc, argv);
        return EXIT_GOOD;
    }
    if (argc < 2)
        return misuse("'%s' needs %s; see 'clotho %s --help'", verb, choice(actions, text), verb);
    if (actions_describe(verb, actions, argc, argv))
        return EXIT_GOOD;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        printf("usage: clotho %s ACTION [options]\n\n", verb);
        for (const action *a = actions; a->name != NULL; a++) {
            printf("  %-10s ", a->name);
            wrap_words(a->summary, SUMMARY_COLUMN, SUMMARY_COLUMN);
        }
        printf("\n'clotho %s ACTION --help' prints the options.\n", verb);
        return EXIT_GOOD;
    }
    for (const action *a = actions; a->name != NULL; a++)
        if (strcmp(argv[1], a->name) == 0)
            return a->run(argc - 1, argv + 1);
    chosen = actions;
    const char *near = argv[1][0] == '-' ? NULL : nearest_name(argv[1], action_at);
    if (near != NULL)
        return misuse("'%s %s' is not known; did you mean '%s'?", verb, argv[1], near);
    if (argv[1][0] == '-')
        return misuse("'%s' needs a word before %s: %s", verb, argv[1], choice(actions, text));
    return misuse("'%s %s' is not known; choose %s", verb, argv[1], choice(actions, text));
}
