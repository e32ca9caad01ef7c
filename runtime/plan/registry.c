/* plan/registry.c - the planners by name, in the order of `clotho list planners`. A new planner is one file, one line
 * in its folder's planners.h and one here. */
#include "plan/registry.h"

#include "plan/duplicate/planners.h"
#include "plan/edges/planners.h"
#include "plan/graphene/planners.h"
#include "plan/learned/planners.h"
#include "plan/list/planners.h"
#include "plan/rcpsp/planners.h"
#include "plan/search/planners.h"

static const clo_planner_desc *const planners[] = {
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

CLO_REGISTRY_ROW(clo_planner_desc);
const clo_registry clo_planners = {.name = "planners", .rows = planners};

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

const clo_planner_desc *clo_planner_find(const char *name)
{
    for (size_t i = 0; planners[i] != NULL; i++)
        if (is_named(planners[i]->name, name))
            return planners[i];
    return NULL;
}
