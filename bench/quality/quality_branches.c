/* quality_branches.c - graphs with branches, of the family switches: what plans by the chances of the arms gain in the mean over
 * sampled outcomes, and what they cost where all arms run. */
#include "quality/quality_parts.h"

#include <clotho/generate.h>

#include <stdio.h>

enum { GRAPHS = 40, OUTCOMES = 20, FIRST_SEED = 1000 };

static const struct {
    const char *platform;
    uint32_t tasks, lanes;
    double ccr;
} settings[] = {{"uniform:2", 60, 4, 0},
                {"uniform:4", 60, 4, 0},
                {"uniform:4", 200, 16, 0},
                {"uniform:8", 400, 16, 0.5},
                {"rk3588", 120, 8, 0}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* The same graphs in both tables: the mean over outcomes, and the plan itself. */
static bool add_graph(uint32_t at, const clo_platform *platform, uint32_t seed, comparison *sampled, comparison *worst)
{
    const clo_generate_config config = {.size = sizeof config,
                                        .seed = seed,
                                        .tasks = settings[at].tasks,
                                        .width = settings[at].lanes,
                                        .ccr = settings[at].ccr};
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    bool is_good =
        clo_graph_generate("switches", &config, &graph) == CLO_OK && clo_cost_create(graph, platform, &cost) == CLO_OK;
    char name[NAME_MAX_BYTES];

    snprintf(name, sizeof name, "switches %u", seed);
    if (!is_good)
        bench_fail(name);
    is_good = is_good && comparison_add(sampled, name, cost, 0) && comparison_add(worst, name, cost, 0);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return is_good;
}

static bool run_setting(quality *q, uint32_t at, const char *name, candidates *chosen)
{
    uint32_t graphs = q->options.quick ? 2 : q->instances_max > 0 ? q->instances_max : GRAPHS;
    char worst_name[NAME_MAX_BYTES];
    clo_platform *platform;

    snprintf(worst_name, sizeof worst_name, "%.48s, all arms", name);
    comparison *sampled = quality_comparison(q, name, STYLE_SET, chosen, "heft");
    comparison *worst = sampled != NULL ? quality_comparison(q, worst_name, STYLE_SET, chosen, "heft") : NULL;
    if (worst == NULL)
        return false;
    if (clo_platform_open(settings[at].platform, &platform) != CLO_OK)
        return bench_fail(name);
    sampled->outcomes = OUTCOMES;
    bool is_good = true;
    for (uint32_t i = 0; i < graphs && is_good; i++)
        is_good = add_graph(at, platform, FIRST_SEED + i, sampled, worst);
    clo_platform_destroy(platform);
    if (is_good) {
        quality_done(q, sampled);
        quality_done(q, worst);
    }
    return is_good;
}

bool quality_branches(quality *q)
{
    static const char *const planners[] = {"heft-expected", NULL};
    candidates *chosen = NULL;

    for (uint32_t i = 0; i < SETTINGS; i++) {
        char name[NAME_MAX_BYTES];

        snprintf(name, sizeof name, "branches %s, %u, %u", settings[i].platform, settings[i].tasks, settings[i].lanes);
        if (!quality_wants(q, name))
            continue;
        if (chosen == NULL)
            chosen = quality_candidates(q, planners, &(bench_list){.items = {"100ms"}, .count = 1});
        if (chosen == NULL || !run_setting(q, i, name, chosen))
            return false;
    }
    return true;
}
