/* quality_papers.c - the tables of papers that need no arrivals, on graphs of TPC-H queries and of batch jobs.
 *
 *   lachesis   LACHESIS, fig. 7 (1 to 20 jobs) and 8 (20 to 100) at time 0 on 50 executors of unlike speeds. A node
 *              takes what all tasks of its stage take, which gives speedups as in the paper. The paper does not say its
 *              CCR, so three are taken; nor what an edge carries, so there are two laws: U(0, 2) of the same mean for
 *              all ("even"), or of what the producer takes ("producer").
 *   hua        Hua et al., tables 1 to 6: one resource of capacity 1, of which a stage holds U(0, rmax); the paper does
 *              not state its law.
 *   graphene   Graphene's comparison with its rivals, four resources. The paper's production graphs are not public.
 *
 * The gap to our lower bound stands beside every figure: it says how much a better plan could still gain. */
#include "common/tpch.h"
#include "quality/quality_parts.h"

#include <stdio.h>
#include <string.h>

/* One table on graphs that tpch_graph makes. */
typedef struct table {
    const char *name;
    tpch_mix mix; /* its jobs: in turn each of the counts */
    const uint32_t *jobs;
    uint32_t counts;
    bool is_packing; /* on tpch_machine, else on tpch_cluster */
} table;

/* Seed of workload number `w` with `jobs` jobs. */
static uint64_t seed_of(const quality *q, uint32_t jobs, uint32_t w)
{
    uint64_t state = q->options.seed * 1000003 + jobs * 1009 + w;

    return bench_random(&state);
}

static bool add_workload(const quality *q, comparison *c, const tpch *t, const table *of, uint32_t jobs, uint32_t w)
{
    char name[NAME_MAX_BYTES];
    uint64_t seed = seed_of(q, jobs, w);
    tpch_mix mix = of->mix;
    clo_cost *cost = NULL;
    bool is_good = false;

    mix.jobs = jobs;
    snprintf(name, sizeof name, "%u jobs, workload %u", jobs, w);
    clo_graph *graph = tpch_graph(t, &mix, seed);
    clo_platform *platform = NULL;
    if (graph != NULL)
        platform = of->is_packing ? tpch_machine(graph, mix.resources) : tpch_cluster(seed);
    if (platform != NULL && (clo_cost_create(graph, platform, &cost) == CLO_OK || bench_fail(name)))
        is_good = comparison_add(c, name, cost, 0);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_good;
}

static bool run_table(quality *q, const tpch *t, const table *of, candidates *chosen, const char *baseline)
{
    comparison *c = quality_comparison(q, of->name, STYLE_PAPER, chosen, baseline);
    uint32_t workloads = q->instances_max > 0 ? q->instances_max : q->options.rounds;

    if (c == NULL)
        return false;
    for (uint32_t n = 0; n < of->counts; n++) {
        if (q->options.quick && n > 0)
            break;
        if (q->jobs > 0 && q->jobs != of->jobs[n])
            continue;
        for (uint32_t w = 0; w < workloads; w++)
            if (!add_workload(q, c, t, of, of->jobs[n], w))
                return false;
    }
    quality_done(q, c);
    return true;
}

static bool run_lachesis(quality *q, const tpch *t)
{
    static const char *const planners[] = {"heft", "deft", "best", "fifo-deft", "highrank-deft", "tdca", "peft", NULL};
    static const uint32_t few[] = {1, 5, 10, 15, 20}, many[] = {20, 40, 60, 80, 100};
    static const double ccrs[] = {0.1, 1, 5};
    const bench_list full = {.items = {"100ms", "1000ms"}, .count = 2}, quick = {.items = {"20"}, .count = 1};
    candidates *chosen = quality_candidates(q, planners, q->options.quick ? &quick : &full);

    for (int i = 0; i < 12; i++) {
        bool is_first = i % 6 < 3, is_even = i < 6;
        char name[NAME_MAX_BYTES];
        table of = {.name = name,
                    .mix = {.ccr = ccrs[i % 3],
                            .has_work_of_stage = true,
                            .is_edge_like_producer = !is_even,
                            .skip_size_gb = 20},
                    .jobs = is_first ? few : many,
                    .counts = 5};

        snprintf(name, sizeof name, "lachesis fig. %d, %s, CCR %g", is_first ? 7 : 8, is_even ? "even" : "producer",
                 of.mix.ccr);
        if (quality_wants(q, name) && (chosen == NULL || !run_table(q, t, &of, chosen, "heft")))
            return false;
    }
    return true;
}

/* The rule of highest rank, under the first of its names that is registered. */
static const char *critical_path(void)
{
    return is_planner("critical-path") ? "critical-path" : "highrank";
}

static bool run_hua(quality *q, const tpch *t)
{
    static const char *const planners[] = {"critical-path", "highrank", "sjf",         "heft", "best",
                                           "tetris",        "graphene", "lp-midpoint", NULL};
    static const uint32_t jobs[] = {5, 10, 20, 50, 100};
    static const char *const limits[] = {"1", "2/3", "1/3"};
    const bench_list full = {.items = {"1000", "100ms"}, .count = 2}, quick = {.items = {"50"}, .count = 1};
    candidates *chosen = quality_candidates(q, planners, q->options.quick ? &quick : &full);

    if (chosen != NULL && !candidates_add(chosen, critical_path(), &quick))
        return false;
    for (int i = 0; i < 6; i++) {
        char name[NAME_MAX_BYTES];
        table of = {.name = name,
                    .mix = {.has_uniform_times = i >= 3, .resources = 1, .demand_max = (3 - i % 3) / 3.0},
                    .jobs = jobs,
                    .counts = 5,
                    .is_packing = true};

        snprintf(name, sizeof name, "hua, %s times, r to %s", i >= 3 ? "uniform" : "real", limits[i % 3]);
        if (quality_wants(q, name) && (chosen == NULL || !run_table(q, t, &of, chosen, critical_path())))
            return false;
    }
    return true;
}

static bool run_graphene(quality *q, const tpch *t)
{
    static const char *const planners[] = {"graphene", "tetris", "critical-path", "breadth-first", "best", NULL};
    static const uint32_t jobs[] = {1, 5, 20};
    const bench_list full = {.items = {"100ms"}, .count = 1}, quick = {.items = {"50"}, .count = 1};
    const table of = {.name = "graphene, tpch",
                      .mix = {.resources = 4, .demand_max = 0.5},
                      .jobs = jobs,
                      .counts = 3,
                      .is_packing = true};

    static const char single[] = "graphene, alibaba", merged[] = "graphene, 40 alibaba jobs";
    bool wants_tpch = quality_wants(q, of.name), wants_single = quality_wants(q, single);
    bool wants_merged = quality_wants(q, merged);

    if (!wants_tpch && !wants_single && !wants_merged)
        return true;
    candidates *chosen = quality_candidates(q, planners, q->options.quick ? &quick : &full);
    return chosen != NULL && candidates_add(chosen, "graphene", &quick) &&
           (!wants_tpch || run_table(q, t, &of, chosen, "graphene")) &&
           (!wants_single || quality_batch(q, chosen, single, false)) &&
           (!wants_merged || quality_batch(q, chosen, merged, true));
}

/* True if tables whose names begin with `paper` may be asked for. */
static bool is_asked(const quality *q, const char *paper)
{
    return quality_wants(q, paper) || strncmp(q->only, paper, strlen(paper)) == 0;
}

bool quality_papers(quality *q)
{
    const char *why = NULL;

    if (!is_asked(q, "lachesis") && !is_asked(q, "hua") && !is_asked(q, "graphene"))
        return true;
    tpch *t = tpch_open(q->data, &why);
    if (t == NULL) {
        quality_skip(q, "lachesis, hua, graphene", why);
        return true;
    }
    bool is_good = run_lachesis(q, t) && run_hua(q, t) && run_graphene(q, t);
    tpch_close(t);
    return is_good;
}
