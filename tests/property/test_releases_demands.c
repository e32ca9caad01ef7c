/* Releases in flight whose tasks demand capacities, with and without a period: plans keep capacities modulo the
 * interval, run and simulated alike, and both as an oracle says that goes from moment to moment and starts what the
 * rules of pipeline.h and job.h allow. No capacity is exceeded where bodies take as long as they like. */
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/facts.h"
#include "releases_scene.h"
#include "releases_spans.h"
#include "run/dispatch/pipeline.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS sample_size(SANITIZED ? 30 : 250, 2)

static const uint32_t limits[] = {0, 1, 2, 3, 0, 5, 0};

static unsigned features_of(uint64_t seed)
{
    unsigned features = RELEASES_FEATURES | RANDOM_DEMANDS;

    features |= seed % 4 == 3 ? (unsigned)RANDOM_STAGES : seed % 4 == 2 ? (unsigned)RANDOM_SMALL : 0u;
    return features | (seed % 9 == 8 ? (unsigned)RANDOM_NO_BYTES : 0u);
}

/* Every fifth plan is HEFT's, which counts as if its makespan were the interval. */
static void open_scene(releases_scene *s, uint64_t seed, clo_clock clock)
{
    const uint64_t releases = 1 + seed * 7 % 25;
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;

    releases_open(s, seed, features_of(seed), limits[seed % 7], releases, clock);
    if (seed % 5 == 4) {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        config.no_duplicates = 1;
        clo_plan_destroy(s->plan);
        ok(clo_plan_create(s->cost, &config, &s->plan));
    }
    clo_runtime_destroy(s->runtime);
    runtime.clock = clock;
    runtime.unpinned = runtime.copy_always = 1;
    runtime.recorder_events = (uint32_t)(s->graph->instances * releases);
    ok(clo_runtime_create(s->platform, &runtime, &s->runtime));
}

static int64_t period_of(const releases_scene *s, uint64_t seed)
{
    int64_t interval_ns =
        clo_plan_interval_ns(s->plan) > 0 ? clo_plan_interval_ns(s->plan) : clo_plan_makespan_ns(s->plan);

    return seed % 3 == 0 ? 0 : 1000 + interval_ns * (int64_t)(seed % 4) / 2;
}

/* The oracle. */
typedef struct seat {
    int64_t key[5]; /* turn, offset, length, - stage, order of the graph */
    uint64_t release;
    uint32_t instance, next; /* of its executor */
} seat;

typedef struct oracle {
    const releases_scene *s;
    uint32_t slots;
    int64_t interval_ns, period_ns;
    const clo_placement **planned;
    uint32_t *depths;
    seat *seats; /* all executions in the order of the plan */
    size_t cells;
    bool *has_begun;
    span *spans;
} oracle;

static int by_key(const void *left, const void *right)
{
    const seat *a = left, *b = right;

    for (int i = 0; i < 5; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

static uint32_t machine_of(const oracle *o, uint32_t instance)
{
    return clo_platform_executor(o->s->platform, o->planned[instance]->executor)->machine;
}

/* Of resource r of the platform, where it is limited; the resources of random graphs have no names. */
static int64_t demand_of(const oracle *o, uint32_t instance, uint32_t r)
{
    bool is_limited = clo_platform_capacity(o->s->platform, machine_of(o, instance), r) >= 0;

    return is_limited ? clo_graph_demand(o->s->graph, o->s->graph->task_of[instance])[r] : 0;
}

static const span *span_of(const oracle *o, uint64_t release, uint32_t instance)
{
    return &o->spans[release * o->s->graph->instances + instance];
}

static bool has_begun(const oracle *o, uint64_t release, uint32_t instance)
{
    return o->has_begun[release * o->s->graph->instances + instance];
}

/* The moment from which the execution waits for that other one no more; INT64_MAX: not known yet. */
static int64_t after(const oracle *o, uint64_t release, uint32_t instance, int64_t more_ns)
{
    return has_begun(o, release, instance) ? span_of(o, release, instance)->finish_ns + more_ns : INT64_MAX;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t inputs_and_readers_ns(const oracle *o, const seat *mine)
{
    const clo_graph *graph = o->s->graph;
    uint32_t task = graph->task_of[mine->instance], depth = o->depths[mine->instance];
    int64_t at_ns = 0;

    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint32_t from = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++)
            at_ns = later(
                at_ns, after(o, mine->release, i,
                             clo_platform_transfer_ns(o->s->platform, clo_graph_in_bytes(graph, k),
                                                      o->planned[i]->executor, o->planned[mine->instance]->executor)));
    }
    if (clo_graph_output(graph, task) == 0 || depth >= o->slots || mine->release < depth)
        return at_ns;
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            at_ns = later(at_ns, after(o, mine->release - depth, i, 0));
    return at_ns;
}

static int64_t gate_ns(const oracle *o, uint64_t release)
{
    int64_t at_ns = (int64_t)release * o->period_ns;

    for (uint32_t i = 0; i < o->s->graph->instances && release >= o->slots; i++)
        at_ns = later(at_ns, after(o, release - o->slots, i, 0));
    return at_ns;
}

/* All that stand before it in the queues of its resources have begun, and what it demands is free now. */
static bool has_room(const oracle *o, size_t at, int64_t now_ns)
{
    const seat *mine = &o->seats[at];
    int64_t used[CLO_RESOURCES_MAX] = {0};

    for (size_t i = 0; i < at; i++) {
        const seat *other = &o->seats[i];
        if (machine_of(o, other->instance) != machine_of(o, mine->instance))
            continue;
        bool begun = has_begun(o, other->release, other->instance);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t demand = demand_of(o, other->instance, r);
            if (demand == 0 || demand_of(o, mine->instance, r) == 0)
                continue;
            if (!begun)
                return false;
            if (span_of(o, other->release, other->instance)->finish_ns > now_ns)
                used[r] += demand;
        }
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand_of(o, mine->instance, r) >
                clo_platform_capacity(o->s->platform, machine_of(o, mine->instance), r) - used[r] &&
            demand_of(o, mine->instance, r) > 0)
            return false;
    return true;
}

/* Starts what can start now; *next_ns: when there is something to look at again. */
static bool start_some(oracle *o, size_t *head, int64_t *free_ns, int64_t now_ns, int64_t *next_ns)
{
    const clo_graph *graph = o->s->graph;
    bool has_started = false;

    for (uint32_t e = 0; e < clo_platform_executors(o->s->platform); e++) {
        if (head[e] == o->cells)
            continue;
        const seat *mine = &o->seats[head[e]];
        int64_t at_ns = later(later(free_ns[e], inputs_and_readers_ns(o, mine)), gate_ns(o, mine->release));
        if (at_ns > now_ns && at_ns < *next_ns)
            *next_ns = at_ns;
        if (at_ns > now_ns || !has_room(o, head[e], now_ns))
            continue;
        span *made = &o->spans[mine->release * graph->instances + mine->instance];
        made->start_ns = now_ns;
        made->finish_ns = now_ns + clo_cost_execution_ns(o->s->cost, graph->task_of[mine->instance], e);
        made->executor = e;
        o->has_begun[mine->release * graph->instances + mine->instance] = true;
        free_ns[e] = made->finish_ns;
        head[e] = mine->next;
        has_started = true;
    }
    for (size_t i = 0; i < o->cells; i++)
        if (o->has_begun[i] && o->spans[i].finish_ns > now_ns && o->spans[i].finish_ns < *next_ns)
            *next_ns = o->spans[i].finish_ns;
    return has_started;
}

static void sort_seats(oracle *o, size_t *head)
{
    const clo_graph *graph = o->s->graph;
    uint32_t *order = calloc(graph->instances, sizeof *order);

    assert_non_null(order);
    for (uint32_t i = 0; i < graph->instances; i++)
        order[graph->order[i]] = i;
    for (size_t i = 0; i < o->cells; i++) {
        uint32_t instance = (uint32_t)(i % graph->instances);
        const clo_placement *p = o->planned[instance];
        int64_t stage = p->start_ns / o->interval_ns, release = (int64_t)(i / graph->instances);
        o->seats[i] =
            (seat){{release + stage, p->start_ns % o->interval_ns, p->finish_ns - p->start_ns, -stage, order[instance]},
                   (uint64_t)release,
                   instance,
                   (uint32_t)o->cells};
    }
    qsort(o->seats, o->cells, sizeof *o->seats, by_key);
    for (uint32_t e = 0; e < clo_platform_executors(o->s->platform); e++) {
        head[e] = o->cells;
        for (size_t i = o->cells; i-- > 0;)
            if (o->planned[o->seats[i].instance]->executor == e) {
                o->seats[i].next = (uint32_t)head[e];
                head[e] = i;
            }
    }
    free(order);
}

/* depth_of: as the engine chose them for tasks of several instances. */
static span *oracle_spans(const releases_scene *s, uint32_t slots, int64_t period_ns, const uint32_t *depth_of)
{
    const clo_graph *graph = s->graph;
    size_t count, cells = graph->instances * s->releases;
    const clo_placement *placements = clo_plan_placements(s->plan, &count);
    int64_t interval_ns = clo_plan_interval_ns(s->plan), makespan_ns = clo_plan_makespan_ns(s->plan), now_ns = 0;
    uint32_t executors = clo_platform_executors(s->platform);
    size_t *head = calloc(executors, sizeof *head);
    int64_t *free_ns = calloc(executors, sizeof *free_ns);
    oracle o = {.s = s,
                .slots = slots,
                .interval_ns = interval_ns > 0 ? interval_ns : later(makespan_ns, 1),
                .period_ns = period_ns,
                .planned = calloc(graph->instances, sizeof *o.planned),
                .depths = calloc(graph->instances, sizeof *o.depths),
                .seats = calloc(cells, sizeof *o.seats),
                .cells = cells,
                .has_begun = calloc(cells, sizeof *o.has_begun),
                .spans = spans_of(s)};

    assert_true(head != NULL && free_ns != NULL && o.planned != NULL && o.depths != NULL && o.seats != NULL &&
                o.has_begun != NULL);
    ok(clo_plan_buffer_depths(s->plan, s->cost, o.depths));
    for (size_t i = 0; i < count; i++)
        o.planned[graph->first_instance[placements[i].task] + placements[i].instance] = &placements[i];
    for (uint32_t i = 0; i < graph->instances; i++)
        if (graph->rows[graph->task_of[i]].instances > 1)
            o.depths[i] = depth_of[i];
    sort_seats(&o, head);
    for (;;) { /* time passes */
        int64_t next_ns = INT64_MAX;
        if (start_some(&o, head, free_ns, now_ns, &next_ns))
            continue;
        if (next_ns == INT64_MAX)
            break;
        now_ns = next_ns;
    }
    for (size_t i = 0; i < cells; i++)
        assert_true(o.has_begun[i]);
    free(head);
    free(free_ns);
    free(o.planned);
    free(o.depths);
    free(o.seats);
    free(o.has_begun);
    return o.spans;
}

static clo_trace *simulate(releases_scene *s, uint32_t slots, int64_t period_ns, bool executes, clo_job_result *result,
                           clo_job_timing *timing, uint64_t *hash)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace = NULL;

    config.plan = s->plan;
    config.releases_in_flight = slots;
    config.releases = s->releases;
    config.execute = executes;
    config.period_ns = period_ns;
    config.timing = period_ns > 0 ? timing : NULL;
    s->in_flight = true;
    releases_clear(s);
    ok(clo_simulate(s->cost, &config, result, &trace, hash));
    assert_int_equal(atomic_load(&s->wrong), 0);
    ok(clo_pipeline_check_period(trace, s->plan, s->cost, slots, period_ns));
    return trace;
}

static void same_timing(const clo_job_timing *a, const clo_job_timing *b)
{
    assert_int_equal(a->released, b->released);
    assert_int_equal(a->finished, b->finished);
    assert_int_equal(a->missed, b->missed);
    assert_int_equal(a->response_ns.max_ns, b->response_ns.max_ns);
    assert_int_equal(a->response_ns.p50_ns, b->response_ns.p50_ns);
}

static void missed_as_told(const releases_scene *s, const span *spans, int64_t period_ns, const clo_job_timing *timing)
{
    uint64_t missed = 0;

    for (uint64_t r = 0; r < s->releases; r++) {
        int64_t end_ns = 0;
        for (uint32_t i = 0; i < s->graph->instances; i++)
            end_ns = later(end_ns, spans[r * s->graph->instances + i].finish_ns);
        missed += end_ns - (int64_t)r * period_ns > period_ns;
    }
    assert_int_equal(timing->missed, missed);
}

static void what_is_run_is_what_is_simulated_is_what_is_allowed(void **state)
{
    (void)state;
    uint64_t deep = 0, demanding = 0, missed = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
        clo_job_timing told = CLO_JOB_TIMING_INIT, timing = CLO_JOB_TIMING_INIT;
        uint64_t hash;

        open_scene(&s, seed, CLO_CLOCK_VIRTUAL);
        uint32_t slots = releases_slots(&s) + (uint32_t)(seed % 4);
        int64_t period_ns = period_of(&s, seed);
        ok(clo_plan_check(s.plan, s.cost, CLO_CHECK_FULL));
        clo_trace *trace = simulate(&s, slots, period_ns, true, &simulated, &told, &hash);
        ok(releases_job(&s, slots, s.releases, period_ns));
        releases_clear(&s);
        ok(clo_job_submit(s.job));
        ok(clo_job_wait(s.job, &ran));
        ok(clo_job_timing_read(s.job, &timing));
        assert_true(hash == clo_job_output_hash(s.job));
        assert_int_equal(simulated.makespan_ns, ran.makespan_ns);
        assert_int_equal(simulated.busy_ns, ran.busy_ns);
        const clo_releases *releases = s.job->pipeline->releases;
        span *mine = simulated_spans(&s, trace), *workers = ran_spans(&s),
             *allowed = oracle_spans(&s, slots, period_ns, releases->data.depth);
        same_spans(&s, mine, workers, seed, "ran");
        same_spans(&s, mine, allowed, seed, "allowed");
        if (period_ns > 0) {
            same_timing(&told, &timing);
            missed_as_told(&s, mine, period_ns, &told);
            missed += told.missed;
        }
        free(mine);
        free(workers);
        free(allowed);
        deep += slots > 1;
        demanding += releases->room.first != NULL;
        clo_trace_destroy(trace);
        releases_close(&s);
    }
    print_message("several in flight %u, demanding %u, missed %u\n", (unsigned)deep, (unsigned)demanding,
                  (unsigned)missed);
    assert_true(deep > SEEDS / 4 && demanding > SEEDS / 2 && missed > SEEDS / 8);
}

/* Two tasks that cannot run at once, with an executor each. */
static clo_graph *two_that_exclude_each_other(clo_task_fn body, void *argument)
{
    clo_graph *graph;

    ok(clo_graph_create("two", &graph));
    for (uint32_t t = 0; t < 2; t++)
        ok(clo_graph_add_task(
            graph,
            &(clo_task){
                .body = body, .argument = argument, .work_ns = 1000, .demand = {3}, .executors_mask = 1ull << t},
            NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_platform *two_executors(void)
{
    clo_platform *platform;
    const int64_t capacities[CLO_RESOURCES_MAX] = {4, -1, -1, -1, -1, -1, -1, -1};
    clo_executor executors[2] = {{.os_index = -1}, {.os_index = -1}};
    const clo_platform_desc desc = {.size = sizeof desc,
                                    .name = "two",
                                    .executors = executors,
                                    .executors_count = 2,
                                    .kinds_count = 1,
                                    .machines_count = 1,
                                    .capacities = capacities};

    for (uint32_t i = 0; i < 2 * CLO_CLASSES_BUILTIN; i++)
        executors[i / CLO_CLASSES_BUILTIN].speed_q16[i % CLO_CLASSES_BUILTIN] = 65536;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static void the_interval_is_the_sum_of_what_cannot_overlap(void **state)
{
    (void)state;
    clo_graph *graph = two_that_exclude_each_other(NULL, NULL);
    clo_platform *platform = two_executors();
    clo_cost *cost;
    clo_plan *plan;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_cost_interval_bound(cost, &bound));
    assert_int_equal(bound.resource_ns, 2000); /* not 2 * 3 * 1000 / 4: they exclude each other */
    ok(clo_plan_pipeline(cost, NULL, &plan));
    assert_int_equal(clo_plan_interval_ns(plan), 2000);
    assert_true(clo_plan_is_optimal(plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    const clo_placement overlapping[] = {{.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 1000},
                                         {.task = 1, .executor = 1, .start_ns = 1000, .finish_ns = 2000}};
    clo_plan_destroy(plan);
    ok(clo_plan_from_interval(cost, NULL, overlapping, 2, 1999, &plan));
    fails(CLO_ERR_INVALID, "it needs 3 of resource '0', but 3 of 4 are in use",
          clo_plan_check(plan, cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_run_is_what_is_simulated_is_what_is_allowed),
        cmocka_unit_test(the_interval_is_the_sum_of_what_cannot_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
