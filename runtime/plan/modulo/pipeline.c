/* plan/pipeline.c - the planner "modulo": the shortest interval first, then the shortest latency that is found.
 *
 * The interval is a matter of the loads of executors alone (cost/bound/interval.c), so executors are assigned first
 * (cost/bound/assign.c); at any interval from the fullest load on, plan/modulo cannot fail. Below that, down to the
 * bound, it may place instances freely. Where the number of releases in flight is limited the interval grows until the
 * latency fits; at the makespan of HEFT's plan one release in flight is enough.
 *
 * Where tasks have demands the interval is a matter of capacities too, and any of these ways may fail. Then offsets are
 * packed without regard to latency, and at last the interval grows; HEFT's plan is still there at its end. */
#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "cost/bound/assign.h"
#include "graph/shape/branch.h"
#include "plan/modulo/modulo.h"
#include "plan/plan.h"
#include "plan/ports/ports.h"

#include <clotho/pipeline.h>
#include <clotho/planner.h>

#include <string.h>

enum { FINE_INSTANCES_MAX = 2000, BISECTIONS = 12 };

typedef struct search {
    const clo_cost *cost;
    clo_modulo *modulo;
    clo_plan *heft;
    clo_assignment balanced;
    uint32_t *near;              /* [instances] HEFT's executors */
    int64_t near_load_ns;        /* of the fullest of them */
    clo_placement *trial, *best; /* [instances] */
    int64_t best_makespan_ns;    /* of `best` */
    int64_t best_interval_ns;    /* 0: nothing found */
    uint32_t limit;              /* releases in flight */
    uint64_t tried;
    void *memory;
} search;

/* Makespans fit so many intervals, without overflow: both are sums of times that clo_cost_create has checked. */
static bool fits(const search *s, int64_t makespan_ns, int64_t interval_ns)
{
    return makespan_ns == 0 || (makespan_ns - 1) / interval_ns < (int64_t)s->limit;
}

static void keep(search *s, const clo_placement *placements, int64_t makespan_ns, int64_t interval_ns)
{
    s->tried++;
    if (!fits(s, makespan_ns, interval_ns) ||
        (interval_ns == s->best_interval_ns && makespan_ns >= s->best_makespan_ns))
        return;
    memcpy(s->best, placements, s->cost->graph->instances * sizeof *s->best);
    s->best_makespan_ns = makespan_ns;
    s->best_interval_ns = interval_ns;
}

/* For tasks with demands, where nothing else has found room. */
static void try_offsets(search *s, int64_t interval_ns)
{
    const uint32_t *const assigned[] = {s->balanced.load_ns <= interval_ns ? s->balanced.executor : NULL,
                                        s->near_load_ns <= interval_ns ? s->near : NULL, NULL};
    int64_t makespan_ns;

    for (size_t i = 0; i < sizeof assigned / sizeof assigned[0] && s->best_interval_ns != interval_ns; i++)
        if ((assigned[i] != NULL || i == 2) &&
            clo_modulo_offsets(s->modulo, assigned[i], interval_ns, s->trial, &makespan_ns))
            keep(s, s->trial, makespan_ns, interval_ns);
}

/* All ways to plan for this interval. True: one of them did, within the limit. */
static bool try_interval(search *s, int64_t interval_ns)
{
    int64_t makespan_ns;

    if (clo_modulo_free(s->modulo, interval_ns, s->trial, &makespan_ns))
        keep(s, s->trial, makespan_ns, interval_ns);
    if (s->balanced.load_ns <= interval_ns &&
        clo_modulo_fixed(s->modulo, s->balanced.executor, interval_ns, s->trial, &makespan_ns))
        keep(s, s->trial, makespan_ns, interval_ns);
    if (s->near_load_ns <= interval_ns && clo_modulo_fixed(s->modulo, s->near, interval_ns, s->trial, &makespan_ns))
        keep(s, s->trial, makespan_ns, interval_ns);
    if (s->heft->makespan_ns <= interval_ns)
        keep(s, s->heft->placements, s->heft->makespan_ns, interval_ns);
    if (s->best_interval_ns != interval_ns && s->cost->graph->has_demands)
        try_offsets(s, interval_ns);
    return s->best_interval_ns == interval_ns;
}

/* Between one that failed and the best, which did not. */
static void bisect(search *s, int64_t failed_ns)
{
    for (int i = 0; i < BISECTIONS && s->best_interval_ns - failed_ns > 1; i++) {
        int64_t middle_ns = failed_ns + (s->best_interval_ns - failed_ns) / 2;
        if (!try_interval(s, middle_ns))
            failed_ns = middle_ns;
    }
}

static void find_shortest(search *s, int64_t bound_ns)
{
    int64_t load_ns = s->balanced.load_ns < s->near_load_ns ? s->balanced.load_ns : s->near_load_ns;
    int64_t failed_ns = bound_ns - 1;
    int64_t part = s->cost->graph->instances <= FINE_INSTANCES_MAX ? 32 : 8, last_ns = s->heft->makespan_ns;

    load_ns = load_ns > bound_ns ? load_ns : bound_ns; /* one of the two assignments can be had at its load */
    for (int64_t quarter = 0; quarter <= 4; quarter++) {
        int64_t interval_ns = bound_ns + (load_ns - bound_ns) / 4 * quarter;
        if (quarter == 4)
            interval_ns = load_ns;
        if (interval_ns > failed_ns && try_interval(s, interval_ns))
            return;
        failed_ns = interval_ns;
        if (clo_modulo_has_failed(s->modulo))
            return;
    }
    /* Grows by a share of itself, up to HEFT's makespan, which is enough for any limit. */
    for (int64_t interval_ns = load_ns; interval_ns < last_ns && !clo_modulo_has_failed(s->modulo);) {
        interval_ns += interval_ns / part + 1;
        interval_ns = interval_ns < last_ns ? interval_ns : last_ns;
        if (try_interval(s, interval_ns)) {
            bisect(s, failed_ns);
            return;
        }
        failed_ns = interval_ns;
    }
    if (s->best_interval_ns == 0)
        (void)try_interval(s, last_ns > bound_ns ? last_ns : bound_ns);
}

/* HEFT's executors, and the load of the fullest. */
static void fill_near(search *s, int64_t *load_ns)
{
    const clo_graph *graph = s->cost->graph;

    for (size_t i = 0; i < s->heft->count; i++) {
        const clo_placement *p = &s->heft->placements[i];
        s->near[graph->first_instance[p->task] + p->instance] = p->executor;
        load_ns[p->executor] += p->finish_ns - p->start_ns;
        if (load_ns[p->executor] > s->near_load_ns)
            s->near_load_ns = load_ns[p->executor];
    }
}

static clo_status open_search(search *s, const clo_cost *cost, int64_t bound_ns)
{
    clo_plan_config heft = CLO_PLAN_CONFIG_INIT;
    size_t instances = cost->graph->instances;
    int64_t *load_ns;
    clo_block block = {0};

    s->cost = cost;
    clo_carve(&block, &s->balanced.executor, instances);
    clo_carve(&block, &s->near, instances);
    clo_carve(&block, &s->trial, instances);
    clo_carve(&block, &s->best, instances);
    clo_carve(&block, &load_ns, cost->platform->executors_count);
    s->memory = clo_block_allocate(&block);
    if (s->memory == NULL)
        return clo_fail_memory("a plan");
    heft.planner = &clo_planner_heft;
    heft.no_duplicates = 1;
    clo_status status = clo_plan_create(cost, &heft, &s->heft);
    if (status == CLO_OK)
        status = clo_assign(cost, bound_ns, &s->balanced);
    if (status == CLO_OK)
        status = clo_modulo_open(cost, &s->modulo);
    if (status == CLO_OK)
        fill_near(s, load_ns);
    return status;
}

static void close_search(search *s)
{
    clo_plan_destroy(s->heft);
    clo_modulo_close(s->modulo);
    clo_free(s->memory);
}

static clo_status refuse(const search *s, const clo_pipeline_config *config, int64_t bound_ns)
{
    if (clo_modulo_has_failed(s->modulo))
        return clo_fail_memory("a plan");
    if (config->interval_ns < bound_ns)
        return clo_fail(CLO_ERR_LIMIT, "an interval of %lld ns is too short; no plan has less than %lld ns",
                        (long long)config->interval_ns, (long long)bound_ns);
    return clo_fail(CLO_ERR_LIMIT,
                    "no plan with an interval of %lld ns and at most %u releases in flight was found; allow more of "
                    "either",
                    (long long)config->interval_ns, s->limit);
}

static clo_status plan_within(search *s, const clo_pipeline_config *config, int64_t bound_ns, clo_plan **out)
{
    clo_status status = open_search(s, s->cost, bound_ns);

    if (status != CLO_OK)
        return status;
    if (config->interval_ns == 0)
        find_shortest(s, bound_ns);
    else if (config->interval_ns >= bound_ns)
        (void)try_interval(s, config->interval_ns);
    if (s->best_interval_ns == 0 || clo_modulo_has_failed(s->modulo))
        return refuse(s, config, bound_ns);
    status = clo_plan_from_interval(s->cost, "modulo", s->best, s->cost->graph->instances, s->best_interval_ns, out);
    if (status == CLO_OK) {
        (*out)->schedules = s->tried;
        (*out)->is_optimal = s->best_interval_ns == bound_ns;
    }
    return status;
}

clo_status clo_plan_pipeline(const clo_cost *cost, const clo_pipeline_config *config, clo_plan **out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_pipeline", "cost or out");
    clo_pipeline_config mine = CLO_PIPELINE_CONFIG_INIT;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_pipeline_config");

    if (status != CLO_OK)
        return status;
    if (mine.releases_in_flight > CLO_IN_FLIGHT_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_pipeline_config.releases_in_flight is %u; use 0 to %u",
                        mine.releases_in_flight, CLO_IN_FLIGHT_MAX);
    if (mine.interval_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_pipeline_config.interval_ns is negative; use 0 for the shortest");
    status = clo_ports_refuse(clo_cost_platform(cost), "plans of pipelines do");
    if (status == CLO_OK)
        status = clo_graph_refuse_control_flow(cost->graph, "clo_plan_pipeline");
    if (status == CLO_OK)
        status = clo_cost_interval_bound(cost, &bound);
    if (status != CLO_OK)
        return status;
    search s = {.cost = cost, .limit = mine.releases_in_flight > 0 ? mine.releases_in_flight : CLO_IN_FLIGHT_MAX};
    status = plan_within(&s, &mine, bound.best_ns > 0 ? bound.best_ns : 1, out);
    close_search(&s);
    return status;
}
