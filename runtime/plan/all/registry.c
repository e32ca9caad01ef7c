/* plan/all/registry.c - the planners by name, in the order of `clotho list planners`; those that a program registers
 * come last. The table is in all.c. */
#include "plan/all/registry.h"

#include "base/status.h"
#include "plan/all/all.h"
#include "sync/structure/append.h"

#include <string.h>

#include "plan/make.h"

static clo_append registered; /* the process's; all other state lives in objects */

static const void *registered_at(size_t index)
{
    return clo_append_at(&registered, index);
}

CLO_REGISTRY_ROW(clo_planner);
const clo_registry clo_planners = {.name = "planners", .rows = clo_planners_built_in, .more = registered_at};

/* The next character of a name that counts, in lower case; 0 at the end. Without tolower, which asks the locale. */
static char next_letter(const char **at)
{
    while (**at == '-' || **at == '_')
        ++*at;
    char letter = **at;
    if (letter != 0)
        ++*at;
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_named(const char *name, const char *asked)
{
    char letter;

    do { /* ends: each round goes on in both, or finds a difference */
        letter = next_letter(&name);
        if (next_letter(&asked) != letter)
            return false;
    } while (letter != 0);
    return true;
}

static const clo_planner *find_registered(const char *name)
{
    const clo_planner *planner = clo_append_at(&registered, 0);

    for (size_t i = 1; planner != NULL && !is_named(planner->name, name); i++) /* ends: the table does */
        planner = clo_append_at(&registered, i);
    return planner;
}

/* Found by its name only: plans of the others are the same on every machine, and need no solver. */
static const clo_planner *const by_name_only = &clo_planner_lp_midpoint;

static const clo_planner *find_built_in(const char *name)
{
    if (is_named(by_name_only->name, name))
        return by_name_only;
    for (size_t i = 0; clo_planners_built_in[i] != NULL; i++)
        if (is_named(clo_planners_built_in[i]->name, name))
            return clo_planners_built_in[i];
    return NULL;
}

static const clo_planner *find(const char *name)
{
    const clo_planner *planner = find_built_in(name);

    return planner != NULL ? planner : find_registered(name);
}

const clo_planner *clo_planner_find(const char *name)
{
    const clo_planner *planner = name != NULL ? find(name) : NULL;

    if (name == NULL)
        (void)clo_fail_null("clo_planner_find", "name");
    else if (planner == NULL)
        (void)clo_fail(CLO_ERR_ARGUMENT, "unknown planner '%.100s'; `clotho list planners` shows their names", name);
    return planner;
}

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    return name[strspn(name, allowed)] == 0 && name[strspn(name, "-_")] != 0;
}

clo_status clo_planner_register(const clo_planner *planner)
{
    clo_status status = clo_planner_check(planner, "clo_planner_register");
    size_t place;

    if (status != CLO_OK)
        return status;
    if (!is_name(planner->name))
        return clo_fail(CLO_ERR_ARGUMENT, "clo_planner_register: '%.60s' is no name; use letters, digits, '-' and '_'",
                        planner->name);
    if (find(planner->name) != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_planner_register: there is a planner '%s' already; use another name",
                        planner->name);
    if (!clo_append_add(&registered, planner, &place))
        return clo_fail(CLO_ERR_LIMIT, "clo_planner_register: %u planners are registered, no more fit", CLO_APPEND_MAX);
    return CLO_OK; /* of two at once with one name both stand there, and the first is found */
}
