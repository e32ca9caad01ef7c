/* actions.h - verbs with actions below them: "clotho platform show", "clotho model verify". */
#ifndef CLO_TOOLS_CLOTHO_COMMON_ACTIONS_H
#define CLO_TOOLS_CLOTHO_COMMON_ACTIONS_H

#include <stdbool.h>

typedef struct action {
    const char *name;
    /* argv[0] is the action's name. */
    int (*run)(int argc, char **argv);
    const char *summary;
} action;

/* Runs the action that argv[1] names, or prints the help of the verb. Ends with an entry without a name. Returns the
 * exit status; without an action that is known, one line says which there are. */
int actions_run(const char *verb, const action *actions, int argc, char **argv);

/* For `VERB --help --json`: prints one JSON object with the actions, then lets each print its own. Returns false, and
 * has done nothing, where argv asks for something else. */
bool actions_describe(const char *verb, const action *actions, int argc, char **argv);

#endif
