/* The exact planner: what it proves is true, and where it cannot prove it says so. The oracle tries every order with
 * every placement, and shares no code with the planner. */
#include "fault.h"
#include "fixture.h"
#include "random.h"

#include "base/numbers/rng.h"

#include <clotho/planner.h>
#include <stdio.h>

enum { TASKS_MAX = 6, EXECUTORS_MAX = 3, GRAPHS = 1500 };

typedef struct small {
    uint32_t tasks, executors;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    uint32_t edges[TASKS_MAX][TASKS_MAX]; /* bytes + 1; 0: no edge */
} small;

/* A task without work runs on kinds that it has a time for: on k0, which is always there, and with luck on others. */
static void add_tasks(small *s, clo_rng *rng, uint32_t longest)
{
    char name[8];
    bool has_times[TASKS_MAX];

    for (uint32_t t = 0; t < s->tasks; t++) {
        clo_task task = {.work_ns = clo_rng_below(rng, longest + 1)};
        has_times[t] = task.work_ns > 0;
        if (clo_rng_below(rng, 6) == 0 && task.work_ns > 0)
            task.executors_mask = 1 + clo_rng_below(rng, (1u << s->executors) - 1);
        ok(clo_graph_add_task(s->graph, &task, NULL));
    }
    for (uint32_t k = 0; k < EXECUTORS_MAX; k++) {
        uint32_t kind;
        snprintf(name, sizeof name, "k%u", k);
        ok(clo_graph_kind(s->graph, name, &kind));
        for (uint32_t t = 0; t < s->tasks; t++)
            if (clo_rng_below(rng, 3) == 0 && (k == 0 || has_times[t])) {
                has_times[t] = true;
                ok(clo_graph_set_time(s->graph, t, kind, clo_rng_below(rng, longest + 1)));
            }
    }
}

static void add_edges(small *s, clo_rng *rng, uint32_t longest)
{
    uint32_t density = clo_rng_below(rng, 100);

    for (uint32_t a = 0; a < s->tasks; a++)
        for (uint32_t b = a + 1; b < s->tasks; b++)
            if (clo_rng_below(rng, 100) < density) {
                s->edges[a][b] = 1 + clo_rng_below(rng, longest + 1);
                ok(clo_graph_add_edge(s->graph, a, b, s->edges[a][b] - 1));
            }
}

static void make_platform(small *s, clo_rng *rng)
{
    clo_executor list[EXECUTORS_MAX] = {0};
    double bandwidth[EXECUTORS_MAX * EXECUTORS_MAX];
    int64_t latency[EXECUTORS_MAX * EXECUTORS_MAX];
    uint32_t kinds = 1 + clo_rng_below(rng, s->executors), memories = 1 + clo_rng_below(rng, s->executors);
    uint32_t links = clo_rng_below(rng, 3);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t e = 0; e < s->executors; e++)
        list[e] = (clo_executor){
            .kind = e % kinds, .memory = e % memories, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < s->executors * s->executors; i++) {
        bandwidth[i] = links == 0 ? 1 : 1 << clo_rng_below(rng, links);
        latency[i] = links < 2 ? 0 : clo_rng_below(rng, 3);
    }
    desc.executors_count = s->executors;
    desc.executors = list;
    desc.kinds_count = kinds;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &s->platform));
}

/* Small times, so that ties, twins, lengths of 0 and executors that are alike are frequent. */
static small small_new(uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    small s = {.tasks = 2 + clo_rng_below(&rng, TASKS_MAX - 1), .executors = 1 + clo_rng_below(&rng, EXECUTORS_MAX)};
    uint32_t longest = clo_rng_below(&rng, 3) == 0 ? 2 : 9;

    if (s.tasks == TASKS_MAX && seed % 4 != 0)
        s.executors = 1 + s.executors % 2; /* the oracle is slow */
    ok(clo_graph_create("small", &s.graph));
    add_tasks(&s, &rng, longest);
    add_edges(&s, &rng, longest);
    ok(clo_graph_seal(s.graph));
    make_platform(&s, &rng);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static void small_free(small *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

/* The next permutation in lexicographic order; false past the last. */
static bool next_order(uint32_t *order, uint32_t count)
{
    uint32_t i = count - 1, j = count - 1;

    while (i > 0 && order[i - 1] >= order[i])
        i--;
    if (i == 0)
        return false;
    while (order[j] <= order[i - 1])
        j--;
    uint32_t pivot = order[i - 1];
    order[i - 1] = order[j];
    order[j] = pivot;
    for (uint32_t a = i, b = count - 1; a < b; a++, b--) {
        uint32_t other = order[a];
        order[a] = order[b];
        order[b] = other;
    }
    return true;
}

/* INT64_MAX: not a plan. `executor` by task. */
static int64_t makespan_of(const small *s, const uint32_t *order, const uint32_t *executor)
{
    int64_t finish[TASKS_MAX], tail[EXECUTORS_MAX] = {0}, end = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < s->tasks; i++) {
        uint32_t t = order[i], e = executor[t];
        int64_t start = tail[e], time = clo_cost_execution_ns(s->cost, t, e);
        if (time == CLO_TIME_NEVER)
            return INT64_MAX;
        for (uint32_t p = 0; p < s->tasks; p++) {
            if (s->edges[p][t] == 0)
                continue;
            if ((done >> p & 1) == 0)
                return INT64_MAX;
            int64_t arrival = finish[p] + clo_platform_transfer_ns(s->platform, s->edges[p][t] - 1, executor[p], e);
            start = arrival > start ? arrival : start;
        }
        finish[t] = tail[e] = start + time;
        end = finish[t] > end ? finish[t] : end;
        done |= 1u << t;
    }
    return end;
}

static int64_t shortest(const small *s)
{
    uint32_t order[TASKS_MAX], executor[TASKS_MAX], placements = 1;
    int64_t best = INT64_MAX;

    for (uint32_t t = 0; t < s->tasks; t++) {
        order[t] = t;
        placements *= s->executors;
    }
    do { /* ends: finitely many orders */
        for (uint32_t code = 0; code < placements; code++) {
            uint32_t rest = code;
            for (uint32_t t = 0; t < s->tasks; t++, rest /= s->executors)
                executor[t] = rest % s->executors;
            int64_t makespan = makespan_of(s, order, executor);
            best = makespan < best ? makespan : best;
        }
    } while (next_order(order, s->tasks));
    return best;
}

static clo_plan *exact(const clo_cost *cost, bool no_duplicates, uint64_t schedules_max)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_exact;
    config.no_duplicates = no_duplicates;
    config.schedules_max = schedules_max;
    ok(clo_plan_create(cost, &config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    return plan;
}

/* Twins that nothing tells apart, all ready at the start, and a sink of all, on executors that every link tells apart:
 * it matters which of them the twins share out among themselves. */
static small twins_new(uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    small s = {.tasks = 3 + clo_rng_below(&rng, 3), .executors = EXECUTORS_MAX};
    uint32_t bytes = clo_rng_below(&rng, 9), sink = s.tasks - 1;
    int64_t length = 1 + clo_rng_below(&rng, 6);
    clo_executor list[EXECUTORS_MAX] = {0};
    double bandwidth[EXECUTORS_MAX * EXECUTORS_MAX];
    int64_t latency[EXECUTORS_MAX * EXECUTORS_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    ok(clo_graph_create("twins", &s.graph));
    for (uint32_t t = 0; t < s.tasks; t++)
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = t == sink ? (int64_t)clo_rng_below(&rng, 3) : length},
                              NULL));
    for (uint32_t t = 0; t < sink; t++) {
        s.edges[t][sink] = 1 + bytes;
        ok(clo_graph_add_edge(s.graph, t, sink, bytes));
    }
    ok(clo_graph_seal(s.graph));
    for (uint32_t e = 0; e < EXECUTORS_MAX; e++)
        list[e] = (clo_executor){.memory = e, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < EXECUTORS_MAX * EXECUTORS_MAX; i++) {
        bandwidth[i] = 1 << clo_rng_below(&rng, 3);
        latency[i] = clo_rng_below(&rng, 7);
    }
    desc.executors_count = EXECUTORS_MAX;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static void twins_are_exchanged_but_no_placement_is_lost(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        small s = twins_new(seed);
        clo_plan *plan = exact(s.cost, true, 0);
        int64_t want = shortest(&s);
        if (!clo_plan_is_optimal(plan) || clo_plan_makespan_ns(plan) != want)
            fail_msg("seed %llu: exact gives %lld, the shortest of all is %lld", (unsigned long long)seed,
                     (long long)clo_plan_makespan_ns(plan), (long long)want);
        clo_plan_destroy(plan);
        small_free(&s);
    }
}

/* CLOTHO_PROPERTY_SEEDS: another number of graphs. */
static void no_order_and_no_placement_is_shorter_and_no_bound_above(void **state)
{
    (void)state;
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");
    uint64_t graphs = asked != NULL ? strtoull(asked, NULL, 10) : GRAPHS, tight = 0;

    for (uint64_t seed = 0; seed < graphs; seed++) {
        small s = small_new(seed);
        clo_plan *plan = exact(s.cost, true, 0);
        clo_bound bound = CLO_BOUND_INIT;
        int64_t got = clo_plan_makespan_ns(plan), want = shortest(&s);
        if (!clo_plan_is_optimal(plan) || got != want)
            fail_msg("seed %llu: exact gives %lld%s, the shortest of all is %lld", (unsigned long long)seed,
                     (long long)got, clo_plan_is_optimal(plan) ? "" : " without a proof", (long long)want);
        ok(clo_cost_bound(s.cost, &bound));
        if (bound.best_ns > want)
            fail_msg("seed %llu: the bound is %lld, above the shortest plan's %lld", (unsigned long long)seed,
                     (long long)bound.best_ns, (long long)want);
        tight += bound.best_ns == want;
        clo_plan_destroy(plan);
        small_free(&s);
    }
    print_message("the bound is the optimum in %llu of %llu\n", (unsigned long long)tight, (unsigned long long)graphs);
    assert_true(tight > graphs / 2);
}

static void the_published_examples_are_proved(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan *plan = exact(f.cost, true, 0);

    assert_int_equal(clo_plan_makespan_ns(plan), 73);
    assert_true(clo_plan_is_optimal(plan));
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* 20 alike on 4 alike, and 10 of lengths of 0: without symmetry these are more than 4^20 plans. */
static void what_is_alike_is_not_tried_twice(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 22; i++)
        fixture_task(&f, NULL, 10);
    for (int i = 0; i < 10; i++)
        fixture_task(&f, NULL, 0);
    for (uint32_t t = 0; t < 20; t++)
        ok(clo_graph_add_edge(f.graph, t, 20, 1));
    fixture_seal(&f, 4, NULL, -1);
    clo_plan *plan = exact(f.cost, true, 10000);
    assert_int_equal(clo_plan_makespan_ns(plan), 61);
    assert_true(clo_plan_is_optimal(plan));
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* a, then b and c, whose inputs take longer than a itself: with a second a it ends at 20, without at 30. */
static void where_a_duplicate_could_help_nothing_is_proved(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 3; i++)
        fixture_task(&f, NULL, 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 50));
    ok(clo_graph_add_edge(f.graph, 0, 2, 50));
    fixture_seal(&f, 2, NULL, -1);
    for (int no_duplicates = 0; no_duplicates < 2; no_duplicates++) {
        clo_plan *plan = exact(f.cost, no_duplicates, 0);
        assert_int_equal(clo_plan_makespan_ns(plan), 30);
        assert_true(clo_plan_is_optimal(plan) == (no_duplicates != 0));
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

/* Two interleaved paths on two executors; capacity: of the machine in tasks at once, -1: no demands. */
static fixture costly(int64_t capacity, uint32_t tasks)
{
    fixture f = fixture_new();

    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.work_ns = 10 + t % 3, .demand = {1}};
        if (capacity < 0)
            task.demand[0] = 0;
        ok(clo_graph_add_task(f.graph, &task, NULL));
        if (t > 1)
            ok(clo_graph_add_edge(f.graph, t - 2, t, 3));
        if (t > 2)
            ok(clo_graph_add_edge(f.graph, t - 3, t, 4));
    }
    fixture_seal(&f, 2, NULL, capacity);
    return f;
}

static int64_t heft_ns(const fixture *f)
{
    clo_plan *plan = fixture_plan(f, "heft");
    int64_t makespan = clo_plan_makespan_ns(plan);

    clo_plan_destroy(plan);
    return makespan;
}

static void what_is_too_large_or_has_demands_is_not_longer_than_heft(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f = i == 0 ? costly(1, 6) : costly(-1, 65);
        clo_plan *plan = exact(f.cost, true, 0);
        clo_bound bound = CLO_BOUND_INIT;
        ok(clo_cost_bound(f.cost, &bound));
        assert_true(clo_plan_makespan_ns(plan) <= heft_ns(&f));
        assert_true(clo_plan_is_optimal(plan) == (clo_plan_makespan_ns(plan) == bound.best_ns));
        assert_true(clo_plan_schedules(plan) <= 2);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

static void a_budget_ends_the_search_without_a_proof(void **state)
{
    (void)state;
    uint32_t unproved = 0;

    for (uint64_t seed = 0; seed < 40; seed++) {
        fixture f = {.graph = random_graph(seed, 0), .platform = random_platform(seed, 0)};
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        for (uint64_t budget = 1; budget < 200 && clo_graph_instances(f.graph) <= 64; budget = budget * 3 + 1) {
            clo_plan *plan = exact(f.cost, true, budget);
            assert_true(clo_plan_makespan_ns(plan) <= heft_ns(&f));
            /* a branching is finished: one for each executor */
            assert_true(clo_plan_schedules(plan) <= budget + clo_platform_executors(f.platform));
            clo_plan_destroy(plan);
        }
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan = NULL;
        config.planner = &clo_planner_exact;
        config.budget_ns = 1;
        ok(clo_plan_create(f.cost, &config, &plan));
        assert_true(clo_plan_makespan_ns(plan) <= heft_ns(&f));
        unproved += !clo_plan_is_optimal(plan);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
    assert_true(unproved > 10);
}

static clo_status plan_and_drop(void *context)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = &clo_planner_exact;
    config.no_duplicates = 1;
    clo_status status = clo_plan_create(context, &config, &plan);
    if (status == CLO_OK)
        clo_plan_destroy(plan);
    return status;
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();

    assert_true(fault_each(plan_and_drop, f.cost) > 8);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_and_no_placement_is_shorter_and_no_bound_above),
        cmocka_unit_test(twins_are_exchanged_but_no_placement_is_lost),
        cmocka_unit_test(the_published_examples_are_proved),
        cmocka_unit_test(what_is_alike_is_not_tried_twice),
        cmocka_unit_test(where_a_duplicate_could_help_nothing_is_proved),
        cmocka_unit_test(what_is_too_large_or_has_demands_is_not_longer_than_heft),
        cmocka_unit_test(a_budget_ends_the_search_without_a_proof),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
