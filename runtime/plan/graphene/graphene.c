/* plan/graphene/graphene.c - Graphene: Grandl, Kandula, Rao, Akella, Kulkarni, "Graphene: Packing and dependency-aware
 * scheduling for data-parallel clusters", OSDI 2016: BuildSchedule (section 4), all of it but the online part, which
 * divides a cluster among users.
 *
 *   space.c     an empty space of resources over time without ends, where instances are placed from both sides
 *   parts.c     stages of a part between barriers, their scores, candidates of troublesome stages
 *   place.c     BuildSchedule for one candidate: the orders of the four subsets
 *   graphene.c  all candidates on threads, and the planners
 *
 * The graph is cut at its barriers; for each part, of all candidates of troublesome stages and all orders of subsets
 * the shortest schedule is kept; the parts follow each other. Candidates are tried on config->threads threads: the plan
 * is the same with any number of them.
 *
 *   graphene-paper  this; the instances then start in its order of starts, as early as the machines' executors let them
 *   graphene        our additions: every candidate is also built with the longest path first inside a subset, where
 *                   the paper has the longest time; the result is justified from both ends as long as that helps, and
 *                   a short genetic search goes on from it (rcpsp/search.h)
 *
 * Where the problem is no packing there is no empty space to place into from both sides. Then the same idea is a
 * dispatch: for thresholds of LongScore by mean times, the troublesome stages with what lies between them and all their
 * ancestors go first, in order of rank_u; the shortest plan is kept. */
#include "plan/budget/budget.h"
#include "plan/budget/parallel.h"
#include "plan/graphene/parts.h"
#include "plan/graphene/place.h"
#include "plan/rcpsp/priority.h"
#include "plan/rcpsp/search.h"
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

enum { PASSES_MAX = 32, DISPATCHES = 8, SEARCHED = 256 /* schedules */, SEARCHED_TASKS = 4000 };

typedef struct trial {
    const clo_part *part;
    clo_graphene *workers;
} trial;

static void try_candidate(void *context, uint32_t worker, uint32_t round)
{
    const trial *t = context;

    clo_graphene_build(&t->workers[worker], t->part, round);
}

/* The part's best, behind what is in `out`. */
static void append(const clo_space *best, clo_packing *out)
{
    for (uint32_t i = 0; i < best->placed_count; i++) {
        uint32_t v = best->placed[i];
        out->start_ns[v] = out->makespan_ns + best->start_ns[v] - best->from_ns;
        out->machine[v] = best->machine[v];
    }
    out->makespan_ns += best->to_ns - best->from_ns;
}

static void build_part(const clo_part *part, clo_graphene *workers, uint32_t threads, bool improved, clo_packing *out)
{
    trial t = {.part = part, .workers = workers};
    uint32_t best = 0;

    for (uint32_t w = 0; w < threads; w++)
        clo_graphene_begin(&workers[w]);
    clo_parallel_for(threads, part->candidates * (improved ? 2 : 1), try_candidate, &t);
    for (uint32_t w = 1; w < threads; w++)
        if (workers[w].best_ns < workers[best].best_ns ||
            (workers[w].best_ns == workers[best].best_ns && workers[w].best_round < workers[best].best_round))
            best = w;
    append(&workers[best].best, out);
}

static clo_status build(const clo_parts *parts, uint32_t threads, bool improved, clo_packing *out)
{
    clo_graphene *workers = clo_allocate(threads, sizeof *workers);
    clo_status status = workers == NULL ? clo_fail_memory("a plan") : CLO_OK;

    for (uint32_t w = 0; w < threads && status == CLO_OK; w++)
        status = clo_graphene_open(&workers[w], parts);
    out->makespan_ns = 0;
    for (uint32_t p = 0; p < parts->count && status == CLO_OK; p++)
        build_part(&parts->parts[p], workers, threads, improved, out);
    for (uint32_t w = 0; w < threads && workers != NULL; w++)
        clo_graphene_close(&workers[w]);
    clo_free(workers);
    return status;
}

/* Double justification as long as it gets shorter. `best` is a forward schedule and remains one. */
static void justify(clo_rcpsp_builder *builder, int64_t *keys, clo_packing *scratch, clo_packing *best)
{
    const clo_rcpsp *problem = builder->problem;
    bool shorter = true;

    for (int pass = 0; pass < PASSES_MAX && shorter; pass++) {
        clo_rcpsp_turn(problem, best, keys);
        clo_rcpsp_serial(builder, CLO_RCPSP_BACKWARD, keys, scratch);
        clo_rcpsp_turn(problem, scratch, keys);
        clo_rcpsp_serial(builder, CLO_RCPSP_FORWARD, keys, scratch);
        shorter = scratch->makespan_ns < best->makespan_ns;
        if (shorter)
            clo_packing_copy(problem, best, scratch);
    }
}

/* From `best` on; *direction receives how what is best then was built. */
static clo_status search_on(const clo_rcpsp *problem, uint64_t seed, clo_packing *best, int *direction)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_packing found = {0};
    clo_budget budget;
    int found_direction = CLO_RCPSP_FORWARD;

    config.seed = seed;
    clo_budget_open(&budget, &config, SEARCHED);
    budget.best_ns = best->makespan_ns;
    clo_status status = clo_packing_open(&found, problem);
    if (status == CLO_OK)
        status = clo_rcpsp_search(problem, best->start_ns, &budget, &found, &found_direction);
    if (status == CLO_OK && found.makespan_ns < best->makespan_ns) {
        clo_packing_copy(problem, best, &found);
        *direction = found_direction;
    }
    clo_packing_close(&found);
    return status;
}

static clo_status improve(const clo_rcpsp *problem, clo_packing *best)
{
    clo_rcpsp_builder builder;
    clo_packing scratch = {0};
    int64_t *keys = clo_allocate(problem->tasks, sizeof *keys);
    clo_status status = clo_rcpsp_builder_open(&builder, problem);

    if (status == CLO_OK && keys == NULL)
        status = clo_fail_memory("a plan");
    if (status == CLO_OK)
        status = clo_packing_open(&scratch, problem);
    if (status == CLO_OK)
        justify(&builder, keys, &scratch, best);
    clo_packing_close(&scratch);
    clo_rcpsp_builder_close(&builder);
    clo_free(keys);
    return status;
}

static clo_status pack(const clo_rcpsp *problem, const clo_plan_config *config, uint32_t threads, bool improved,
                       clo_schedule *schedule)
{
    int direction = CLO_RCPSP_FORWARD;
    clo_parts parts;
    clo_packing packing = {0};
    clo_status status = clo_parts_open(&parts, problem);

    if (status == CLO_OK)
        status = clo_packing_open(&packing, problem);
    if (status == CLO_OK)
        status = build(&parts, threads, improved, &packing);
    if (status == CLO_OK && improved)
        status = improve(problem, &packing);
    if (status == CLO_OK && improved && problem->tasks <= SEARCHED_TASKS)
        status = search_on(problem, config->seed, &packing, &direction);
    if (status == CLO_OK)
        status = clo_rcpsp_realise(problem, &packing, direction, schedule);
    schedule->schedules = (uint64_t)parts.candidates * (improved ? 2 : 1);
    clo_packing_close(&packing);
    clo_parts_close(&parts);
    return status;
}

/* Keys by rank_u, those before which nothing may come first: mean time >= least_ns, and their ancestors. */
static void fill_keys(const clo_cost *cost, const int64_t *rank_ns, int64_t least_ns, int64_t *keys)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        bool first = cost->mean_ns[task] >= least_ns;
        for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1] && !first; at++)
            first = keys[graph->first_instance[graph->out[at]]] < 0;
        for (uint32_t v = graph->first_instance[task]; v < graph->first_instance[task + 1]; v++)
            keys[v] = first ? -rank_ns[task] - 1 : INT64_MAX - rank_ns[task];
    }
}

static clo_status dispatch(clo_schedule *schedule, int64_t *ranks, int64_t *keys, clo_snapshot *best)
{
    const clo_cost *cost = schedule->cost;
    int64_t longest = 0;
    clo_status status = CLO_OK;

    clo_cost_rank_u(cost, ranks);
    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        longest = cost->mean_ns[t] > longest ? cost->mean_ns[t] : longest;
    for (int64_t k = 0; k < DISPATCHES && status == CLO_OK; k++) { /* from all of them to the longest */
        clo_schedule_clear(schedule);
        fill_keys(cost, ranks, k == DISPATCHES - 1 ? longest : longest / (DISPATCHES - 1) * k, keys);
        status = clo_priority_dispatch(schedule, keys, false);
        if (status == CLO_OK)
            clo_snapshot_keep(best, schedule);
    }
    schedule->schedules = DISPATCHES;
    return status == CLO_OK ? clo_snapshot_restore(best, schedule) : status;
}

static clo_status dispatch_best(clo_schedule *schedule)
{
    size_t tasks = schedule->graph->tasks;
    int64_t *ranks = clo_allocate(tasks + schedule->graph->instances, sizeof *ranks);
    clo_snapshot best = {0};
    clo_status status = ranks == NULL ? clo_fail_memory("a plan") : clo_snapshot_open(&best, schedule);

    if (status == CLO_OK)
        status = dispatch(schedule, ranks, ranks + tasks, &best);
    clo_snapshot_close(&best);
    clo_free(ranks);
    return status;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config, bool improved)
{
    uint32_t threads = config->threads;
    clo_rcpsp problem;
    clo_status status = clo_rcpsp_open(&problem, schedule->cost);

    threads = threads == 0 ? 1 : threads > CLO_PARALLEL_MAX ? CLO_PARALLEL_MAX : threads;
    if (status == CLO_OK)
        status = pack(&problem, config, threads, improved, schedule);
    else if (status == CLO_ERR_UNSUPPORTED)
        status = dispatch_best(schedule);
    clo_rcpsp_close(&problem);
    return status;
}

static clo_status graphene_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, true);
}

static clo_status graphene_paper_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, false);
}

const clo_planner clo_planner_graphene = {
    .name = "graphene",
    .summary = "packing: troublesome stages first, from both ends, then justified (Grandl et al. 2016)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = graphene_fill,
};

const clo_planner clo_planner_graphene_paper = {
    .name = "graphene-paper",
    .summary = "graphene without the justification that we add",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = graphene_paper_fill,
};
