/* bench_quality.c - how good are the plans? Every planner on every data set with published results, and on the
 * workloads of papers, beside HEFT, beside our lower bound and beside what is published.
 *
 * All plans pass the independent checker. Published figures below our lower bound cannot be true; they are counted,
 * named and replaced by the bound. Sets that are not there are skipped with a message. */
#include "quality/quality_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CLO_DATA
#define CLO_DATA "../shared/data"
#endif

/* LACHESIS's claim: at CCR 5 at least 15.3 % below HEFT on average. */
static const double lachesis_must = 0.153;

/* The best of a comparison by mean reduction, and how far the bound lies below the baseline: nobody can be better. */
typedef struct leader {
    const char *label;
    double reduction, room;
} leader;

static bool find_leader(const comparison *c, leader *out)
{
    summary all[CANDIDATES_MAX];
    uint32_t order[CANDIDATES_MAX], count = c->instances > 0 ? comparison_rank(c, all, order) : 0;

    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || all[order[i]].reduction > out->reduction)
            *out = (leader){c->candidates->items[order[i]].label, all[order[i]].reduction, all[c->baseline].room};
    return count > 0;
}

static void print_goals(const quality *q)
{
    const char *comma = "";
    leader l = {0};

    for (uint32_t i = 0; i < q->comparisons_count; i++) {
        const comparison *c = &q->comparisons[i];

        if (strncmp(c->name, "lachesis", 8) != 0 || strstr(c->name, "CCR 5") == NULL || !find_leader(c, &l))
            continue;
        bool holds = l.reduction >= lachesis_must;
        if (q->options.json)
            printf("%s{\"goal\": \"%s: below HEFT on average\", \"planner\": \"%s\", \"value\": %.4f, "
                   "\"bound\": %.4f, \"must\": %.3f, \"holds\": %s}",
                   comma, c->name, l.label, l.reduction, l.room, lachesis_must, holds ? "true" : "false");
        else
            printf("%s: %s is %.1f %% below HEFT on average, the bound %.1f %%; must %.1f: %s\n", c->name, l.label,
                   100 * l.reduction, 100 * l.room, 100 * lachesis_must, holds ? "holds" : "does not hold");
        comma = ", ";
    }
}

static void print_json(const quality *q)
{
    const char *comma = "";

    printf("{\"bench\": \"quality\", \"seed\": %llu, \"sets\": [", (unsigned long long)q->options.seed);
    for (uint32_t i = 0; i < q->comparisons_count; i++) {
        if (q->comparisons[i].instances == 0)
            continue;
        printf("%s", comma);
        comparison_print_json(&q->comparisons[i]);
        comma = ", ";
    }
    printf("], \"goals\": [");
    print_goals(q);
    printf("]}\n");
}

static int run(quality *q)
{
    bool is_good = quality_sets(q) && quality_papers(q) && quality_branches(q);

    if (is_good && q->comparisons_count == 0 && !q->has_skipped) {
        fprintf(stderr, "bench: no table's name begins with '%s'; leave --only out to see all\n", q->only);
        return 2;
    }
    if (is_good && q->options.json)
        print_json(q);
    else if (is_good)
        print_goals(q);
    if (is_good && q->svg != NULL)
        is_good = quality_draw(q, q->svg);
    return is_good ? 0 : 1;
}

/* NULL: the option was not given. */
static bool read_count(const char *text, const char *option, uint32_t *out)
{
    char *end;
    unsigned long number = text != NULL ? strtoul(text, &end, 10) : 0;

    if (text == NULL)
        return true;
    if (*text < '1' || *text > '9' || *end != '\0' || number > 1000000) {
        fprintf(stderr, "bench: --%s %s is no number from 1 to 1000000\n", option, text);
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

int main(int argc, char **argv)
{
    quality *q = calloc(1, sizeof *q);
    const char *instances = NULL, *jobs = NULL;

    if (q == NULL)
        return 1;
    q->data = CLO_DATA;
    const bench_flag flags[] = {
        {.name = "data DIR", .help = "the data sets", .value = &q->data},
        {.name = "only SET",
         .help = "one part: what a table's name begins with (saga, stg, lachesis, branches ...)",
         .value = &q->only},
        {.name = "planner NAME",
         .help = "may be given several times; else all that are registered",
         .list = &q->planners},
        {.name = "budget B",
         .help = "of planner best: schedules, or 100ms; may be given several times",
         .list = &q->budgets},
        {.name = "justify", .help = "each planner with double justification, too", .is_set = &q->justifies},
        {.name = "instances N", .help = "at most N of a set, spread over it", .value = &instances},
        {.name = "jobs N", .help = "of the papers' tables, only the graphs of N jobs", .value = &jobs},
        {.name = "svg F.svg", .help = "a picture of all tables", .value = &q->svg},
        {0}};
    const bench_about about = {
        .name = "quality", .question = "how good are the plans?", .flags = flags, .rounds = 10, .quick_rounds = 1};
    int exit_status = bench_options_read(&q->options, &about, argc, argv);
    if (exit_status < 0 &&
        (!read_count(instances, "instances", &q->instances_max) || !read_count(jobs, "jobs", &q->jobs)))
        exit_status = 2;
    if (exit_status < 0)
        exit_status = run(q);
    for (uint32_t i = 0; i < q->comparisons_count; i++)
        comparison_close(&q->comparisons[i]);
    for (uint32_t i = 0; i < q->candidates_count; i++)
        free(q->candidates[i]);
    free(q);
    return exit_status;
}
