/* Releases in flight, run and simulated: the same starts and ends for every execution of every release, on random
 * graphs, intervals and depths; as early as the rules allow, by an oracle that knows the rules only; and the checker
 * takes what happened, and finds every planted lie. */
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/facts.h"
#include "releases_scene.h"
#include "releases_spans.h"
#include "run/dispatch/pipeline.h"
#include "sample.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS sample_size(SANITIZED ? 60 : 400, 2)
#define LIES 24u

static const uint32_t limits[] = {0, 1, 2, 3, 0, 5, 0};

static unsigned features_of(uint64_t seed)
{
    unsigned features = RELEASES_FEATURES;

    features |= seed % 4 == 3 ? (unsigned)RANDOM_STAGES : seed % 4 == 2 ? (unsigned)RANDOM_SMALL : 0u;
    return features | (seed % 9 == 8 ? (unsigned)RANDOM_NO_BYTES : 0u);
}

/* A scene under the virtual clock whose workers remember everything; every third plan is for a longer interval than the
 * shortest, every seventh for none. */
static void open_scene(releases_scene *s, uint64_t seed)
{
    const uint64_t releases = 1 + seed * 7 % 30;
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
    clo_plan *plan;

    releases_open(s, seed, features_of(seed), limits[seed % 7], releases, CLO_CLOCK_VIRTUAL);
    pipeline.releases_in_flight = limits[seed % 7];
    pipeline.interval_ns = clo_plan_interval_ns(s->plan) * (int64_t)(2 + seed % 3) / 2 + (int64_t)(seed % 5);
    if (seed % 3 == 1 && clo_plan_pipeline(s->cost, &pipeline, &plan) == CLO_OK) {
        clo_plan_destroy(s->plan);
        s->plan = plan;
    }
    if (seed % 7 == 5) {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        config.no_duplicates = 1;
        clo_plan_destroy(s->plan);
        ok(clo_plan_create(s->cost, &config, &s->plan));
    }
    clo_runtime_destroy(s->runtime);
    runtime.clock = CLO_CLOCK_VIRTUAL;
    runtime.unpinned = runtime.copy_always = 1;
    runtime.trace = seed % 2;
    runtime.recorder_events = (uint32_t)(s->graph->instances * releases);
    ok(clo_runtime_create(s->platform, &runtime, &s->runtime));
}

static uint32_t slots_of(const releases_scene *s, uint64_t seed)
{
    return releases_slots(s) + (uint32_t)(seed % 4);
}

static clo_trace *simulate(releases_scene *s, uint32_t slots, bool executes, clo_job_result *result, uint64_t *hash)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace = NULL;

    config.plan = s->plan;
    config.releases_in_flight = slots;
    config.releases = s->releases;
    config.execute = executes;
    s->in_flight = true;
    releases_clear(s);
    ok(clo_simulate(s->cost, &config, result, &trace, hash));
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->calls), executes ? s->graph->instances * s->releases : 0);
    return trace;
}

/* The oracle: the least starts that the rules of pipeline.h and job.h allow, by repeated relaxation. */
typedef struct oracle {
    const releases_scene *s;
    uint32_t slots;
    int64_t interval_ns;
    const clo_placement **planned; /* [instances] */
    uint32_t *depths, *order;      /* [instances]; the order of the graph */
    span *spans;
} oracle;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t inputs_ns(const oracle *o, uint64_t release, uint32_t instance)
{
    const clo_graph *graph = o->s->graph;
    uint32_t task = graph->task_of[instance];
    const span *spans = o->spans + release * graph->instances;
    int64_t latest_ns = 0;

    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint32_t from = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++)
            latest_ns = later(latest_ns, spans[i].finish_ns +
                                             clo_platform_transfer_ns(o->s->platform, clo_graph_in_bytes(graph, k),
                                                                      spans[i].executor, spans[instance].executor));
    }
    return latest_ns;
}

static int64_t readers_ns(const oracle *o, uint64_t release, uint32_t instance)
{
    const clo_graph *graph = o->s->graph;
    uint32_t task = graph->task_of[instance], depth = o->depths[instance];
    int64_t latest_ns = 0;

    if (clo_graph_output(graph, task) == 0 || depth >= o->slots || release < depth)
        return 0;
    const span *spans = o->spans + (release - depth) * graph->instances;
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        for (uint32_t i = graph->first_instance[graph->out[k]]; i < graph->first_instance[graph->out[k] + 1]; i++)
            latest_ns = later(latest_ns, spans[i].finish_ns);
    return latest_ns;
}

static int64_t ended_ns(const oracle *o, uint64_t release)
{
    int64_t latest_ns = 0;

    for (uint32_t i = 0; i < o->s->graph->instances; i++)
        latest_ns = later(latest_ns, o->spans[release * o->s->graph->instances + i].finish_ns);
    return latest_ns;
}

/* An execution in the order of its executor: turn, offset, length, later stage first, order of the graph. */
typedef struct seat {
    int64_t key[6];
    uint64_t release;
    uint32_t instance;
} seat;

static int by_key(const void *left, const void *right)
{
    const seat *a = left, *b = right;

    for (int i = 0; i < 6; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

static seat *seats_of(const oracle *o)
{
    const clo_graph *graph = o->s->graph;
    size_t cells = graph->instances * o->s->releases;
    seat *seats = calloc(cells, sizeof *seats);

    assert_non_null(seats);
    for (size_t i = 0; i < cells; i++) {
        uint32_t instance = (uint32_t)(i % graph->instances);
        const clo_placement *p = o->planned[instance];
        int64_t stage = p->start_ns / o->interval_ns, release = (int64_t)(i / graph->instances);
        seats[i] = (seat){{p->executor, release + stage, p->start_ns % o->interval_ns, p->finish_ns - p->start_ns,
                           -stage, o->order[instance]},
                          (uint64_t)release,
                          instance};
    }
    qsort(seats, cells, sizeof *seats, by_key);
    return seats;
}

static bool relax(const oracle *o, const seat *seats, const int64_t *gates_ns)
{
    const clo_graph *graph = o->s->graph;
    size_t cells = graph->instances * o->s->releases;
    bool has_moved = false;
    int64_t free_ns = 0;

    for (size_t i = 0; i < cells; i++) {
        span *mine = &o->spans[seats[i].release * graph->instances + seats[i].instance];
        int64_t length_ns = clo_cost_execution_ns(o->s->cost, graph->task_of[seats[i].instance], mine->executor);
        if (i == 0 || seats[i].key[0] != seats[i - 1].key[0])
            free_ns = 0;
        int64_t start_ns = later(free_ns, inputs_ns(o, seats[i].release, seats[i].instance));
        start_ns = later(start_ns, readers_ns(o, seats[i].release, seats[i].instance));
        start_ns = later(start_ns, gates_ns[seats[i].release]);
        has_moved = has_moved || start_ns != mine->start_ns || start_ns + length_ns != mine->finish_ns;
        mine->start_ns = start_ns;
        mine->finish_ns = free_ns = start_ns + length_ns;
    }
    return has_moved;
}

/* depth_of: of tasks of several instances, for whose outputs the engine may choose to have more room. */
static span *oracle_spans(const releases_scene *s, uint32_t slots, const uint32_t *depth_of)
{
    const clo_graph *graph = s->graph;
    size_t count;
    const clo_placement *placements = clo_plan_placements(s->plan, &count);
    int64_t interval_ns = clo_plan_interval_ns(s->plan), makespan_ns = clo_plan_makespan_ns(s->plan);
    oracle o = {.s = s,
                .slots = slots,
                .interval_ns = interval_ns > 0 ? interval_ns : later(makespan_ns, 1),
                .planned = calloc(graph->instances, sizeof *o.planned),
                .depths = calloc(graph->instances, sizeof *o.depths),
                .order = calloc(graph->instances, sizeof *o.order),
                .spans = spans_of(s)};
    int64_t *gates_ns = calloc(s->releases, sizeof *gates_ns);

    assert_non_null(o.planned);
    assert_non_null(o.depths);
    assert_non_null(o.order);
    assert_non_null(gates_ns);
    ok(clo_plan_buffer_depths(s->plan, s->cost, o.depths));
    for (size_t i = 0; i < count; i++)
        o.planned[graph->first_instance[placements[i].task] + placements[i].instance] = &placements[i];
    for (uint32_t i = 0; i < graph->instances; i++) {
        o.order[graph->order[i]] = i;
        if (graph->rows[graph->task_of[i]].instances > 1)
            o.depths[i] = depth_of[i];
        for (uint64_t r = 0; r < s->releases; r++)
            o.spans[r * graph->instances + i].executor = o.planned[i]->executor;
    }
    seat *seats = seats_of(&o);
    while (relax(&o, seats, gates_ns)) /* starts only grow, up to what is true */
        for (uint64_t r = slots; r < s->releases; r++)
            gates_ns[r] = ended_ns(&o, r - slots);
    free(seats);
    free(gates_ns);
    free(o.planned);
    free(o.depths);
    free(o.order);
    return o.spans;
}

static void same_results(const clo_job_result *a, const clo_job_result *b)
{
    assert_int_equal(a->makespan_ns, b->makespan_ns);
    assert_int_equal(a->executed, b->executed);
    assert_int_equal(a->transfers, b->transfers);
    assert_int_equal(a->transferred_bytes, b->transferred_bytes);
    assert_int_equal(a->busy_ns, b->busy_ns);
}

/* Its first release is a plan like any other; so is the whole, says the checker. */
static void check_trace(const releases_scene *s, const clo_trace *trace, uint32_t slots)
{
    clo_plan *first;

    ok(clo_pipeline_check_period(trace, s->plan, s->cost, slots, 0));
    ok(clo_trace_to_plan(trace, s->cost, &first));
    ok(clo_plan_check(first, s->cost, CLO_CHECK_FULL));
    clo_plan_destroy(first);
}

static void workers_under_the_virtual_clock_do_what_the_simulator_says_of_every_release(void **state)
{
    (void)state;
    uint64_t deep = 0, copied = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_result simulated = CLO_JOB_RESULT_INIT, dry = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
        uint64_t hash;

        open_scene(&s, seed);
        uint32_t slots = slots_of(&s, seed);
        clo_trace *trace = simulate(&s, slots, true, &simulated, &hash);
        clo_trace *unexecuted = simulate(&s, slots, false, &dry, NULL);
        ok(releases_job(&s, slots, s.releases, 0));
        releases_clear(&s);
        ok(clo_job_submit(s.job));
        ok(clo_job_wait(s.job, &ran));
        assert_true(hash == clo_job_output_hash(s.job));
        same_results(&simulated, &ran);
        same_results(&simulated, &dry);
        assert_int_equal(simulated.copied_bytes, ran.copied_bytes);
        check_trace(&s, trace, slots);
        span *mine = simulated_spans(&s, trace),
             *others[] = {simulated_spans(&s, unexecuted), ran_spans(&s),
                          oracle_spans(&s, slots, s.job->pipeline->releases->data.depth)};
        static const char *const names[] = {"without bodies", "ran", "allowed"};
        for (size_t i = 0; i < 3; i++) {
            same_spans(&s, mine, others[i], seed, names[i]);
            free(others[i]);
        }
        free(mine);
        deep += slots > 1;
        copied += ran.copied_bytes;
        clo_trace_destroy(trace);
        clo_trace_destroy(unexecuted);
        releases_close(&s);
    }
    assert_true(deep > SEEDS / 4 && copied > 0);
}

/* Tasks of 0 to 3 ns, half of them of 0 ns, each after up to two others; on three executors. */
static clo_cost *short_tasks(uint64_t seed, clo_graph **graph, clo_platform **platform)
{
    clo_rng rng = sample_rng(seed);
    uint32_t tasks = 2 + clo_rng_below(&rng, 7);
    clo_cost *cost;

    ok(clo_graph_create(NULL, graph));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = CLO_TASK_INIT;
        task.work_ns = clo_rng_below(&rng, 2) * clo_rng_below(&rng, 4);
        task.output_bytes = clo_rng_below(&rng, 2);
        ok(clo_graph_add_task(*graph, &task, NULL));
        for (uint32_t from = t > 2 ? t - 2 : 0; from < t; from++)
            if (clo_rng_below(&rng, 4) > 0)
                ok(clo_graph_add_edge(*graph, from, t, 0));
    }
    ok(clo_graph_seal(*graph));
    ok(clo_platform_open("uniform:3", platform));
    ok(clo_cost_create(*graph, *platform, &cost));
    return cost;
}

/* Where a plan ends with tasks of 0 ns, they begin where the next interval does, and need no further release. */
static void as_many_releases_as_a_plan_says_are_enough(void **state)
{
    (void)state;
    uint32_t at_the_end = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph;
        clo_platform *platform;
        clo_cost *cost = short_tasks(seed, &graph, &platform);
        clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_plan *plan;
        clo_trace *trace;

        pipeline.releases_in_flight = limits[seed % 4];
        ok(seed % 5 == 0 ? clo_plan_create(cost, NULL, &plan) : clo_plan_pipeline(cost, &pipeline, &plan));
        const int64_t makespan_ns = clo_plan_makespan_ns(plan);
        const int64_t interval_ns = clo_plan_interval_ns(plan) > 0 ? clo_plan_interval_ns(plan) : makespan_ns;
        size_t count;
        const clo_placement *last = clo_plan_placements(plan, &count);
        last += count - 1;
        config.plan = plan;
        config.releases_in_flight = clo_plan_in_flight(plan);
        config.releases = 9;
        ok(clo_simulate(cost, &config, &result, &trace, NULL));
        ok(clo_pipeline_check_period(trace, plan, cost, config.releases_in_flight, 0));
        assert_true(result.makespan_ns <= makespan_ns + 8 * interval_ns);
        at_the_end += last->start_ns > 0 && last->start_ns == config.releases_in_flight * interval_ns;
        clo_trace_destroy(trace);
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    assert_true(at_the_end > SEEDS / 20);
}

static void found(const releases_scene *s, const clo_trace *trace, uint32_t slots, const char *lie, uint64_t seed)
{
    if (clo_pipeline_check_period(trace, s->plan, s->cost, slots, 0) != CLO_ERR_INVALID)
        fail_msg("seed %u: %s was not found out", (unsigned)seed, lie);
}

/* Each event begins as early as it may. So each one that begins earlier is a lie; but not where the order is open or
 * there may be more room for outputs (see clo_pipeline_check_period). */
static bool tell_of_an_early_start(const releases_scene *s, clo_trace *trace, clo_trace_event *event, uint32_t slots,
                                   uint64_t seed)
{
    bool keeps_more = s->graph->rows[event->task].instances > 1 && clo_graph_output(s->graph, event->task) > 0;

    if (event->start_ns == 0 || event->finish_ns == event->start_ns || keeps_more)
        return false;
    event->start_ns--, event->finish_ns--;
    found(s, trace, slots, "an early start", seed);
    event->start_ns++, event->finish_ns++;
    return true;
}

static void tell_of_one_event(const releases_scene *s, clo_trace *trace, size_t at, uint32_t slots, uint64_t seed)
{
    clo_trace_event *event = &trace->events[at], kept = *event;
    uint32_t executors = clo_platform_executors(s->platform);

    event->finish_ns++;
    found(s, trace, slots, "a longer execution", seed);
    *event = kept;
    event->executor = (event->executor + 1) % executors;
    if (executors > 1)
        found(s, trace, slots, "another executor", seed);
    *event = kept;
    event->release++;
    found(s, trace, slots, "another release", seed);
    event->release = UINT64_MAX;
    found(s, trace, slots, "a release far away", seed);
    *event = kept;
    event->is_replica = 1;
    found(s, trace, slots, "a replica", seed);
    *event = kept;
    if (trace->count > 1) {
        *event = trace->events[(at + 1) % trace->count];
        found(s, trace, slots, "an execution told twice", seed);
        *event = kept;
        trace->count--;
        if (s->graph->instances > 1)
            found(s, trace, slots, "one that is left out", seed);
        trace->count++;
    }
}

/* Two releases of one instance change places. */
static bool tell_of_releases_in_another_order(const releases_scene *s, clo_trace *trace, size_t at, uint32_t slots,
                                              uint64_t seed)
{
    clo_trace_event *event = &trace->events[at];

    for (size_t i = at + 1; i < trace->count && event->finish_ns > event->start_ns; i++) {
        clo_trace_event *other = &trace->events[i];
        if (other->task != event->task || other->instance != event->instance)
            continue;
        uint64_t release = event->release;
        event->release = other->release;
        other->release = release;
        found(s, trace, slots, "releases in another order", seed);
        other->release = event->release;
        event->release = release;
        return true;
    }
    return false;
}

static void planted_lies_are_found(void **state)
{
    (void)state;
    uint32_t early = 0, swapped = 0, crowded = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_rng rng = sample_rng(seed);

        open_scene(&s, seed);
        uint32_t slots = slots_of(&s, seed);
        clo_trace *trace = simulate(&s, slots, false, &result, NULL);
        for (uint32_t lie = 0; lie < LIES; lie++) {
            size_t at = (size_t)(clo_rng_next(&rng) % trace->count);
            early += tell_of_an_early_start(&s, trace, &trace->events[at], slots, seed);
            tell_of_one_event(&s, trace, at, slots, seed);
            swapped += tell_of_releases_in_another_order(&s, trace, at, slots, seed);
        }
        ok(clo_pipeline_check_period(trace, s.plan, s.cost, slots, 0));
        for (uint32_t fewer = slots - 1; fewer > 0; fewer--) /* said to be in less memory than it was */
            crowded += clo_pipeline_check_period(trace, s.plan, s.cost, fewer, 0) == CLO_ERR_INVALID;
        clo_trace_destroy(trace);
        releases_close(&s);
    }
    print_message("early starts %u, orders %u, crowds %u\n", early, swapped, crowded);
    assert_true(early > SEEDS && swapped > SEEDS && crowded > SEEDS / 8);
}

static void a_body_that_fails_ends_the_simulation_with_its_name(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
        releases_scene s;
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_trace *trace = NULL;

        open_scene(&s, seed);
        releases_clear(&s);
        config.plan = s.plan;
        config.releases_in_flight = slots_of(&s, seed);
        config.releases = s.releases;
        config.execute = 1;
        s.in_flight = true;
        s.fail_instance = (uint32_t)(seed * 7 % s.graph->instances);
        s.fail_release = seed % s.releases;
        fails(CLO_ERR_TASK, "", clo_simulate(s.cost, &config, &result, &trace, NULL));
        assert_null(trace);
        assert_int_equal(result.status, CLO_ERR_TASK);
        assert_int_equal(result.failed_task, s.graph->task_of[s.fail_instance]);
        assert_int_equal(result.failed_code, 7);
        releases_close(&s);
    }
}

static void what_it_cannot_have_is_refused(void **state)
{
    (void)state;
    releases_scene s;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    releases_open(&s, 4, RELEASES_FEATURES, 0, 3, CLO_CLOCK_VIRTUAL);
    config.releases = 3;
    fails(CLO_ERR_ARGUMENT, "without releases_in_flight", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.releases_in_flight = 2;
    fails(CLO_ERR_ARGUMENT, "without a plan", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.plan = s.plan;
    config.releases_in_flight = CLO_IN_FLIGHT_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "1025", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    config.releases_in_flight = releases_slots(&s);
    config.timing = &timing;
    fails(CLO_ERR_ARGUMENT, "without period_ns", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.period_ns = -1;
    fails(CLO_ERR_ARGUMENT, "period_ns is negative", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.period_ns = INT64_MAX;
    ok(clo_simulate(s.cost, &config, NULL, NULL, NULL)); /* never due: time stops at its end */
    timing.size = 3;
    fails(CLO_ERR_ARGUMENT, "size", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    config.releases = config.releases_in_flight = 0;
    fails(CLO_ERR_ARGUMENT, "without releases_in_flight", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    releases_close(&s);
}

static void what_memory_cannot_hold_is_refused(void **state)
{
    (void)state;
    releases_scene s;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    releases_open(&s, 4, RELEASES_FEATURES, 0, 3, CLO_CLOCK_VIRTUAL);
    config.plan = s.plan;
    config.releases_in_flight = releases_slots(&s);
    config.releases = UINT64_MAX;
    fails(CLO_ERR_LIMIT, "memory", clo_simulate(s.cost, &config, NULL, &trace, NULL));
    config.releases = 1000000;
    config.memory_limit_bytes = 1 << 20;
    fails(CLO_ERR_LIMIT, "memory_limit_bytes", clo_simulate(s.cost, &config, NULL, &trace, NULL));
    config.releases = 3;
    config.memory_limit_bytes = 0;
    ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
    config.recorded = trace;
    fails(CLO_ERR_ARGUMENT, "recorded", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "releases_in_flight", clo_pipeline_check_period(trace, s.plan, s.cost, 0, 0));
    clo_trace_destroy(trace);
    releases_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_under_the_virtual_clock_do_what_the_simulator_says_of_every_release),
        cmocka_unit_test(as_many_releases_as_a_plan_says_are_enough),
        cmocka_unit_test(planted_lies_are_found),
        cmocka_unit_test(a_body_that_fails_ends_the_simulation_with_its_name),
        cmocka_unit_test(what_it_cannot_have_is_refused),
        cmocka_unit_test(what_memory_cannot_hold_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
