/* plan/registry.c - the planners by name, in the order of `clotho list planners`; those that a program registers come
 * last. A new planner is one file, one name in clotho/planner.h and one line here. */
#include "plan/registry.h"

#include "base/status.h"
#include "sync/structure/append.h"

#include <string.h>

#include "plan/edges/planners.h"
#include "plan/make.h"

static const clo_planner *const planners[] = {
    &clo_planner_heft,
    &clo_planner_deft,
    &clo_planner_best,
    &clo_planner_exact,
    &clo_planner_serial,
    &clo_planner_cpop,
    &clo_planner_peft,
    &clo_planner_etf,
    &clo_planner_dls,
    &clo_planner_minmin,
    &clo_planner_maxmin,
    &clo_planner_duplex,
    &clo_planner_sufferage,
    &clo_planner_mct,
    &clo_planner_met,
    &clo_planner_olb,
    &clo_planner_fastestnode,
    &clo_planner_fcp,
    &clo_planner_flb,
    &clo_planner_heft_append,
    &clo_planner_heft_expected,
    &clo_planner_lookahead,
    &clo_planner_fifo,
    &clo_planner_sjf,
    &clo_planner_hrrn,
    &clo_planner_highrank,
    &clo_planner_fifo_deft,
    &clo_planner_sjf_deft,
    &clo_planner_hrrn_deft,
    &clo_planner_highrank_deft,
    &clo_planner_deft_append,
    &clo_planner_lachesis,
    &clo_planner_dfrn,
    &clo_planner_tds,
    &clo_planner_tdca,
    &clo_planner_sgs_serial,
    &clo_planner_sgs_parallel,
    &clo_planner_sgs_serial_backward,
    &clo_planner_sgs_parallel_backward,
    &clo_planner_critical_path,
    &clo_planner_tetris,
    &clo_planner_breadth_first,
    &clo_planner_random,
    &clo_planner_coffman_graham,
    &clo_planner_strip_part,
    &clo_planner_graphene,
    &clo_planner_graphene_paper,
    &clo_planner_edges,
    &clo_planner_edges_sjf,
    &clo_planner_edges_tetris,
    &clo_planner_edges_greedy,
    &clo_planner_edges_random,
    &clo_planner_edges_best,
    NULL,
};

static clo_append registered; /* the process's; all other state lives in objects */

static const void *registered_at(size_t index)
{
    return clo_append_at(&registered, index);
}

CLO_REGISTRY_ROW(clo_planner);
const clo_registry clo_planners = {.name = "planners", .rows = planners, .more = registered_at};

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

static const clo_planner *find_built_in(const char *name)
{
    for (size_t i = 0; planners[i] != NULL; i++)
        if (is_named(planners[i]->name, name))
            return planners[i];
    return NULL;
}

const clo_planner *clo_planner_find(const char *name)
{
    if (name == NULL)
        return NULL;
    const clo_planner *planner = find_built_in(name);
    return planner != NULL ? planner : find_registered(name);
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
    if (clo_planner_find(planner->name) != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_planner_register: there is a planner '%s' already; use another name",
                        planner->name);
    if (!clo_append_add(&registered, planner, &place))
        return clo_fail(CLO_ERR_LIMIT, "clo_planner_register: %u planners are registered, no more fit", CLO_APPEND_MAX);
    return CLO_OK; /* of two at once with one name both stand there, and the first is found */
}
