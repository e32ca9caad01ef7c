/* plan/registry.c - the planners by name. A new planner is one file and one row here. */
#include "plan/planners.h"

/* Of each instance, on average, where the paper knows no bound. */
enum { COPIES_EACH = 4 };

static const clo_planner_row rows[] = {
    {"heft", "earliest finish time in order of rank_u, filling gaps (Topcuoglu, Hariri, Wu 2002)", 1, clo_heft_fill},
    {"deft", "HEFT that duplicates the critical parent where that helps (LACHESIS)", 2, clo_deft_fill},
    {"best", "anytime: proof, annealing or packing search from the best of several planners, until the budget ends",
     COPIES_EACH, clo_best_fill},
    {"exact", "branch and bound without duplicates for small graphs: proved shortest, or the best found", 1,
     clo_exact_fill},
    {"serial", "one task after another on the best single executor: the baseline of speedup", 1, clo_serial_fill},
    {"cpop", "critical path on one processor, the rest by earliest finish time (Topcuoglu, Hariri, Wu 2002)", 1,
     clo_cpop_fill},
    {"peft", "earliest finish time plus an optimistic table of what follows (Arabnejad, Barbosa 2014)", 1,
     clo_peft_fill},
    {"etf", "of all ready tasks and executors the pair with the earliest start (Hwang et al. 1989)", 1, clo_etf_fill},
    {"dls", "of all ready tasks and executors the pair with the highest dynamic level (Sih, Lee 1993)", 1,
     clo_dls_fill},
    {"minmin", "of all ready tasks the one that can end first, where it ends first (Ibarra, Kim 1977)", 1,
     clo_minmin_fill},
    {"maxmin", "of all ready tasks the one that ends last, where it ends first (Ibarra, Kim 1977)", 1, clo_maxmin_fill},
    {"duplex", "the shorter of minmin and maxmin", 1, clo_duplex_fill},
    {"sufferage", "of all ready tasks the one that would lose most on its second best executor (Maheswaran 1999)", 1,
     clo_sufferage_fill},
    {"mct", "in topological order, where each task ends first (Maheswaran 1999)", 1, clo_mct_fill},
    {"met", "in topological order, where each task takes least, however busy (Maheswaran 1999)", 1, clo_met_fill},
    {"olb", "in topological order, where an executor is idle first, however slow (Maheswaran 1999)", 1, clo_olb_fill},
    {"fastestnode", "everything on the fastest executor", 1, clo_fastestnode_fill},
    {"fcp", "fast critical path: a bounded sorted queue, two executors to choose from (Radulescu 1999)", 1,
     clo_fcp_fill},
    {"flb", "fast load balancing: the earlier start of two pairs (Radulescu 1999)", 1, clo_flb_fill},
    {"heft-append", "HEFT that fills no gaps", 1, clo_heft_append_fill},
    {"lookahead", "HEFT that looks where the children would end (Bittencourt, Sakellariou, Madeira 2010)", 1,
     clo_lookahead_fill},
    {"fifo", "first executable, first placed, where it ends first", 1, clo_fifo_fill},
    {"sjf", "of the executable tasks the shortest, where it ends first", 1, clo_sjf_fill},
    {"hrrn", "of the executable tasks the one with the highest response ratio, where it ends first", 1, clo_hrrn_fill},
    {"highrank", "of the executable tasks the one with the highest rank_u, where it ends first", 1, clo_highrank_fill},
    {"fifo-deft", "fifo with the allocation of deft", 2, clo_fifo_deft_fill},
    {"sjf-deft", "sjf with the allocation of deft", 2, clo_sjf_deft_fill},
    {"hrrn-deft", "hrrn with the allocation of deft", 2, clo_hrrn_deft_fill},
    {"highrank-deft", "highrank with the allocation of deft", 2, clo_highrank_deft_fill},
    {"deft-append", "DEFT that fills no gaps", 2, clo_deft_append_fill},
    {"dfrn", "duplicates parents in order of arrival, two executors to choose from (DFRN-like; Park 1997)", COPIES_EACH,
     clo_dfrn_fill},
    {"tds", "clusters along favourite predecessors, which are duplicated (Darbha, Agrawal 1998)", COPIES_EACH,
     clo_tds_fill},
    {"tdca", "clusters, then chains of duplicates where they help (TDCA-like; He 2019)", COPIES_EACH, clo_tdca_fill},
    {"sgs-serial", "packing: longest way to an end first, each at its earliest time (Kolisch 1996)", 1,
     clo_sgs_serial_fill},
    {"sgs-parallel", "packing: by a clock, of what fits the longest way to an end first (Kolisch 1996)", 1,
     clo_sgs_parallel_fill},
    {"sgs-serial-backward", "sgs-serial from the end of the graph", 1, clo_sgs_serial_backward_fill},
    {"sgs-parallel-backward", "sgs-parallel from the end of the graph", 1, clo_sgs_parallel_backward_fill},
    {"critical-path", "the packing baseline: sgs-parallel by its usual name", 1, clo_sgs_parallel_fill},
    {"tetris", "packing: the best match of demand and what is free, short jobs first (Grandl et al. 2014)", 1,
     clo_tetris_fill},
    {"breadth-first", "packing: by a clock, level by level", 1, clo_breadth_first_fill},
    {"random", "packing: by a clock, in random order", 1, clo_random_fill},
    {"coffman-graham", "packing: by a clock, highest label first (Coffman, Graham 1972)", 1, clo_coffman_graham_fill},
    {"strip-part", "packing: strips around the middle of the longest way (Augustine, Banerjee, Irani 2006)", 1,
     clo_strip_part_fill},
    {"graphene", "packing: troublesome stages first, from both ends, then justified (Grandl et al. 2016)", 1,
     clo_graphene_fill},
    {"graphene-paper", "graphene without the justification that we add", 1, clo_graphene_paper_fill},
};

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

const clo_planner_row *clo_planner_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_named(rows[i].name, name))
            return &rows[i];
    return NULL;
}

bool clo_planner(uint32_t index, const char **name, const char **summary)
{
    if (index >= sizeof rows / sizeof rows[0])
        return false;
    if (name != NULL)
        *name = rows[index].name;
    if (summary != NULL)
        *summary = rows[index].summary;
    return true;
}
