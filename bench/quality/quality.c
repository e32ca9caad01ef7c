/* quality.c - what the parts of bench-quality share. */
#include "quality/quality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_MS = 3000, QUICK_LIMIT_MS = 500 };

bool quality_wants(const quality *q, const char *part)
{
    return q->only == NULL || strncmp(part, q->only, strlen(q->only)) == 0;
}

static bool add_planners(const quality *q, const char *const *planners, const bench_list *budgets, candidates *chosen)
{
    bool is_good = candidates_add(chosen, "heft", budgets);

    for (uint32_t i = 0; i < q->planners.count && is_good; i++)
        is_good = candidates_add(chosen, q->planners.items[i], budgets);
    if (q->planners.count > 0)
        return is_good;
    if (planners == NULL)
        return is_good && candidates_add_all(chosen, budgets);
    for (uint32_t i = 0; planners[i] != NULL && is_good; i++)
        is_good = !is_planner(planners[i]) || candidates_add(chosen, planners[i], budgets);
    return is_good;
}

candidates *quality_candidates(quality *q, const char *const *planners, const bench_list *budgets)
{
    const bench_list *asked = q->budgets.count > 0 ? &q->budgets : budgets;
    candidates *chosen = calloc(1, sizeof *chosen);
    bool is_good = chosen != NULL && q->candidates_count < COMPARISONS_MAX;

    if (!is_good) {
        free(chosen);
        fprintf(stderr, "bench: no memory for the planners\n");
        return NULL;
    }
    q->candidates[q->candidates_count++] = chosen;
    chosen->seed = q->options.seed;
    chosen->limit_ns = (q->options.quick ? QUICK_LIMIT_MS : LIMIT_MS) * 1000000LL;
    is_good = add_planners(q, planners, asked, chosen) && (!q->justifies || candidates_justify(chosen));
    return is_good ? chosen : NULL;
}

comparison *quality_comparison(quality *q, const char *name, comparison_style style, candidates *chosen,
                               const char *baseline)
{
    if (q->comparisons_count == COMPARISONS_MAX) {
        fprintf(stderr, "bench: more than %d tables\n", COMPARISONS_MAX);
        return NULL;
    }
    comparison *c = &q->comparisons[q->comparisons_count];
    if (!comparison_open(c, name, style, chosen, baseline))
        return NULL;
    q->comparisons_count++;
    return c;
}

void quality_skip(quality *q, const char *part, const char *why)
{
    q->has_skipped = true;
    fprintf(q->options.json ? stderr : stdout, "%s: skipped: %s\n\n", part, why);
}

void quality_done(quality *q, comparison *c)
{
    if (c->instances == 0)
        quality_skip(q, c->name, "no instance of it can be read");
    else if (!q->options.json)
        comparison_print(c);
}
