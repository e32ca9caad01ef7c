/* bench_learned.c - where does a network earn its place? The tables of papers about learned schedulers: what the paper
 * says, ours, heuristics, search at equal wall time, and our lower bound. */
#include "learned/learned.h"

#include <stdio.h>
#include <string.h>

#ifndef CLO_DATA
#define CLO_DATA "../shared/data"
#endif

static const struct {
    const char *name;
    learned_part run;
} parts[] = {
    {"networks", learned_networks},
    {"edges", learned_edges},
    {"lachesis", learned_lachesis},
    {"budget", learned_budget},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

static int run(const learned *l, const char *only)
{
    const char *comma = "";
    bool has_run = false;

    if (l->options.json)
        printf("{\"bench\": \"learned\", \"seed\": %llu, \"parts\": [", (unsigned long long)l->options.seed);
    for (int i = 0; i < PARTS; i++) {
        if (only != NULL && strcmp(only, parts[i].name) != 0)
            continue;
        if (l->options.json)
            printf("%s", comma);
        comma = ", ";
        has_run = true;
        if (!parts[i].run(l))
            return 1;
    }
    if (l->options.json)
        printf("]}\n");
    if (has_run)
        return 0;
    fprintf(stderr, "bench: no part is named '%s'; leave --only out to see all\n", only);
    return 2;
}

int main(int argc, char **argv)
{
    learned l = {.data = CLO_DATA};
    const char *only = NULL;
    const bench_flag flags[] = {
        {.name = "data DIR", .help = "the data sets", .value = &l.data},
        {.name = "only PART", .help = "one part: networks, edges, lachesis or budget", .value = &only},
        {.name = "table NAME",
         .help = "only tables whose names begin so: \"fig. 7, even\", edges: \"real, r to 1\"",
         .value = &l.table},
        {.name = "model F", .help = "lachesis, budget: another model than the built-in one", .value = &l.file},
        {.name = "shuffle-weights",
         .help = "the networks' weights in another order: tables must change",
         .is_set = &l.has_shuffled_weights},
        {.name = "zero-residual",
         .help = "the priors without the networks: tables must change",
         .is_set = &l.has_zero_residual},
        {0},
    };
    const bench_about about = {.name = "learned",
                               .question = "where does a network earn its place?",
                               .flags = flags,
                               .rounds = 10,
                               .quick_rounds = 1};
    int status = bench_options_read(&l.options, &about, argc, argv);

    return status >= 0 ? status : run(&l, only);
}
