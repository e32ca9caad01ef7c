/* What a search builds in a sketch (plan/search/sketch.h) is what the planners build in a schedule. */
#include "fixture.h"

#include "base/numbers/rng.h"
#include "fault.h"
#include "plan/heft/deft.h"
#include "plan/schedule/planner.h"
#include "plan/search/search.h"
#include "plan/search/sequence.h"
#include "plan/search/sketch.h"
#include "random.h"

enum { SEEDS = SANITIZED ? 60 : 400 };

typedef struct both {
    fixture f;
    clo_schedule schedule;
    clo_sketch sketch;
    bool fits;
} both;

static void open_both(both *b, uint64_t seed)
{
    const unsigned features = RANDOM_MASKS | RANDOM_KINDS | RANDOM_OUTPUTS | RANDOM_DUPLICABLE;

    *b = (both){.f = {.graph = random_graph(seed, features), .platform = random_platform(seed, 0)}};
    ok(clo_cost_create(b->f.graph, b->f.platform, &b->f.cost));
    ok(clo_schedule_open(&b->schedule, b->f.cost, 2));
    b->fits = clo_sketch_fits(&b->schedule);
    if (b->fits)
        ok(clo_sketch_open(&b->sketch, &b->schedule));
}

static void close_both(both *b)
{
    clo_sketch_close(&b->sketch);
    clo_schedule_close(&b->schedule);
    fixture_free(&b->f);
}

static void expect_alike(const both *b, uint64_t seed)
{
    assert_int_equal(b->schedule.count, b->sketch.count);
    for (uint32_t c = 0; c < b->sketch.count; c++) {
        const clo_execution *slow = &b->schedule.executions[c], *fast = &b->sketch.executions[c];
        if (slow->start_ns != fast->start_ns || slow->finish_ns != fast->finish_ns ||
            slow->instance != fast->instance || slow->executor != fast->executor || slow->next != fast->next)
            fail_msg("seed %llu, execution %u: %lld on %u, in the sketch %lld on %u", (unsigned long long)seed, c,
                     (long long)slow->start_ns, slow->executor, (long long)fast->start_ns, fast->executor);
    }
    assert_int_equal(clo_schedule_makespan_ns(&b->schedule), b->sketch.makespan_ns);
}

static void a_sketch_places_what_deft_places(void **state)
{
    uint32_t tried = 0, replicas = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        both b;
        open_both(&b, seed);
        if (b.fits) {
            ok(clo_schedule_order(&b.schedule));
            ok(clo_deft_place_ordered(&b.schedule));
            int64_t *later_ns = calloc(b.schedule.executors, sizeof *later_ns);
            assert_non_null(later_ns);
            clo_sketch_clear(&b.sketch);
            for (uint32_t i = 0; i < b.f.graph->tasks; i++)
                (void)clo_sketch_place(&b.sketch, b.schedule.order[i], later_ns);
            free(later_ns);
            expect_alike(&b, seed);
            tried++;
            replicas += b.sketch.count - b.f.graph->tasks;
        }
        close_both(&b);
    }
    assert_true(tried > SEEDS / 4);
    assert_true(replicas > 0);
}

/* Of one schedule, which is HEFT's; then plans that pass the checker, each at most as long. */
static void tails_begin_with_the_plan_of_heft(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        both b;
        open_both(&b, seed);
        clo_snapshot best = {0};
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_budget budget;
        int64_t heft_ns, last_ns = INT64_MAX;
        clo_plan *heft = b.fits ? fixture_plan(&b.f, "heft") : NULL;
        for (uint64_t schedules = 1; b.fits && schedules <= 4; schedules *= 4) {
            config.schedules_max = schedules;
            clo_budget_open(&budget, &config, 1);
            ok(clo_snapshot_open(&best, &b.schedule));
            ok(clo_tails(&b.sketch, &b.schedule, &budget, &best, &heft_ns));
            assert_true(budget.schedules == schedules || best.makespan_ns == budget.bound_ns);
            if (schedules == 1)
                assert_int_equal(best.makespan_ns, clo_plan_makespan_ns(heft));
            assert_true(best.makespan_ns <= last_ns);
            last_ns = best.makespan_ns;
            ok(clo_snapshot_restore(&best, &b.schedule)); /* asserts that nothing overlaps */
            clo_snapshot_close(&best);
        }
        clo_plan_destroy(heft);
        close_both(&b);
    }
}

/* From the plan that is kept; the same one for the same seed. */
static void a_climb_ends_with_a_valid_plan_that_is_no_longer(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        both b;
        open_both(&b, seed);
        clo_snapshot best = {0}, again = {0};
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_budget budget;
        int64_t heft_ns;
        ok(clo_snapshot_open(&best, &b.schedule));
        ok(clo_snapshot_open(&again, &b.schedule));
        for (uint64_t schedules = 4; b.fits && schedules <= 1024; schedules *= 16) {
            clo_snapshot *kept = &best;
            config.schedules_max = schedules;
            for (int run = 0; run < 2; run++, kept = &again) {
                kept->makespan_ns = INT64_MAX;
                clo_budget_open(&budget, &config, 1);
                ok(clo_tails(&b.sketch, &b.schedule, &budget, kept, &heft_ns));
                int64_t before_ns = kept->makespan_ns;
                ok(clo_climb(&b.sketch, &budget, kept));
                assert_true(kept->makespan_ns <= before_ns);
            }
            assert_int_equal(best.count, again.count);
            assert_memory_equal(best.executions, again.executions, best.count * sizeof *best.executions);
            ok(clo_snapshot_restore(&best, &b.schedule)); /* asserts that nothing overlaps */
        }
        clo_snapshot_close(&best);
        clo_snapshot_close(&again);
        close_both(&b);
    }
}

/* 24 tasks that depend on each other at random, on three executors. All times are multiples of unit_ns: tasks take 1 to
 * `work` of them, transfers less than `bytes`. */
static fixture random_fixture(uint64_t seed, int64_t unit_ns, uint32_t work, uint32_t bytes)
{
    enum { TASKS = 24 };
    clo_rng rng = clo_rng_seed(seed);
    fixture f = fixture_new();

    for (uint32_t t = 0; t < TASKS; t++)
        fixture_task(&f, NULL, unit_ns * (1 + clo_rng_below(&rng, work)));
    for (uint32_t from = 0; from < TASKS; from++)
        for (uint32_t to = from + 1; to < TASKS; to++)
            if (clo_rng_below(&rng, 6) == 0)
                ok(clo_graph_add_edge(f.graph, from, to, (uint64_t)unit_ns * clo_rng_below(&rng, bytes)));
    fixture_seal(&f, 3, NULL, -1);
    return f;
}

static clo_status climb_a_little(void *context)
{
    both *b = context;
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_budget budget;
    clo_snapshot best = {0};
    int64_t heft_ns;

    config.schedules_max = 40;
    clo_budget_open(&budget, &config, 1);
    clo_status status = clo_snapshot_open(&best, &b->schedule);
    if (status == CLO_OK)
        status = clo_tails(&b->sketch, &b->schedule, &budget, &best, &heft_ns);
    if (status == CLO_OK)
        status = clo_climb(&b->sketch, &budget, &best);
    clo_snapshot_close(&best);
    return status;
}

static void a_climb_without_memory_says_so_and_keeps_none(void **state)
{
    fixture f = random_fixture(1, 1, 100, 1000);
    both b = {.f = f};
    (void)state;

    ok(clo_schedule_open(&b.schedule, f.cost, 2));
    ok(clo_sketch_open(&b.sketch, &b.schedule));
    assert_true(fault_each(climb_a_little, &b) >= 5);
    close_both(&b);
}

/* Tasks of 1 ns on the RK3588, where a transfer takes longer: on one executor they end first. */
static void two_schedules_are_no_longer_than_one_executor(void **state)
{
    clo_generate_config generate = {.size = sizeof generate, .seed = 3, .tasks = 40, .work_mean_ns = 1, .ccr = 1};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    fixture f = {0};
    clo_plan *best = NULL;
    (void)state;

    ok(clo_graph_generate("cholesky", &generate, &f.graph));
    ok(clo_platform_open("rk3588", &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    clo_plan *heft = fixture_plan(&f, "heft"), *serial = fixture_plan(&f, "serial");
    assert_true(clo_plan_makespan_ns(serial) < clo_plan_makespan_ns(heft));
    config.planner = &clo_planner_best;
    for (config.schedules_max = 2; config.schedules_max <= 64; config.schedules_max *= 2) {
        ok(clo_plan_create(f.cost, &config, &best));
        assert_true(clo_plan_makespan_ns(best) <= clo_plan_makespan_ns(serial));
        clo_plan_destroy(best);
    }
    clo_plan_destroy(heft);
    clo_plan_destroy(serial);
    fixture_free(&f);
}

static int64_t best_of(const fixture *f, uint64_t schedules)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_best;
    config.schedules_max = schedules;
    ok(clo_plan_create(f->cost, &config, &plan));
    int64_t makespan_ns = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return makespan_ns;
}

/* The same graphs in units of 1 ns and of 16 ms: shares of a time, and noise on it, are no less there. */
static void short_times_are_searched_as_well_as_long_ones(void **state)
{
    const int64_t long_ns = 1 << 24;
    int64_t by_short = 0, by_long = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        fixture small = random_fixture(seed, 1, 32, 64), large = random_fixture(seed, long_ns, 32, 64);
        by_short += best_of(&small, 32);
        by_long += best_of(&large, 32) / long_ns;
        fixture_free(&small);
        fixture_free(&large);
    }
    if (by_short > by_long + by_long / 100)
        fail_msg("%lld in units of 1 ns, %lld in longer ones", (long long)by_short, (long long)by_long);
}

/* Where one executor beats HEFT, DEFT is the next that is tried, not one executor again. */
static void three_schedules_are_no_longer_than_deft(void **state)
{
    int64_t best_ns = 0, deft_ns = 0;
    uint32_t tried = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        fixture f = random_fixture(seed, 1, 100, 1000);
        clo_plan *heft = fixture_plan(&f, "heft"), *serial = fixture_plan(&f, "serial"),
                 *deft = fixture_plan(&f, "deft");
        if (clo_plan_makespan_ns(serial) < clo_plan_makespan_ns(heft)) {
            best_ns += best_of(&f, 3);
            deft_ns += clo_plan_makespan_ns(deft);
            tried++;
        }
        clo_plan_destroy(heft);
        clo_plan_destroy(serial);
        clo_plan_destroy(deft);
        fixture_free(&f);
    }
    assert_true(tried > 10);
    assert_true(best_ns <= deft_ns);
}

typedef struct sequence_scene {
    fixture f;
    clo_schedule schedule;
    clo_sketch sketch;
    clo_sequence sequence;
} sequence_scene;

static void open_sequence(sequence_scene *s)
{
    fixture_seal(&s->f, 2, NULL, -1);
    ok(clo_schedule_open(&s->schedule, s->f.cost, 2));
    ok(clo_sketch_open(&s->sketch, &s->schedule));
    ok(clo_sequence_open(&s->sequence, &s->sketch));
}

static void close_sequence(sequence_scene *s)
{
    clo_sequence_close(&s->sequence);
    clo_sketch_close(&s->sketch);
    clo_schedule_close(&s->schedule);
    fixture_free(&s->f);
}

/* Task 1 takes no time. In the array it stands behind the one that starts together with it. */
static void a_sequence_is_no_longer_than_its_plan_where_tasks_take_no_time(void **state)
{
    clo_execution executions[] = {{0, 10, 0, 0, CLO_NONE}, {0, 0, 1, 0, CLO_NONE}, {5, 15, 2, 1, CLO_NONE}};
    const clo_snapshot snapshot = {.executions = executions, .count = 3, .makespan_ns = 15};
    sequence_scene s = {.f = fixture_new()};
    (void)state;

    fixture_task(&s.f, NULL, 10);
    fixture_task(&s.f, NULL, 0);
    fixture_task(&s.f, NULL, 10);
    ok(clo_graph_add_edge(s.f.graph, 1, 2, 5));
    open_sequence(&s);
    clo_sequence_read(&s.sequence, &snapshot);
    assert_int_equal(s.sequence.now.makespan_ns, 15);
    close_sequence(&s);
}

/* The reader, which is free, brings a copy of its producer to where that is wished next. */
static void a_sequence_leaves_out_what_a_copy_has_brought(void **state)
{
    enum { PRODUCER, READER, OTHER };
    const clo_wish wishes[] = {{PRODUCER, 0}, {OTHER, 0}, {READER, CLO_SEQUENCE_FREE}, {PRODUCER, 1}};
    sequence_scene s = {.f = fixture_new()};
    (void)state;

    fixture_task(&s.f, NULL, 10);
    fixture_task(&s.f, NULL, 45);
    fixture_task(&s.f, NULL, 50);
    ok(clo_graph_add_edge(s.f.graph, PRODUCER, READER, 100));
    open_sequence(&s);
    memcpy(s.sequence.wishes, wishes, sizeof wishes);
    s.sequence.wishes_count = 4;
    assert_true(clo_sequence_try(&s.sequence, 60, NULL));
    assert_int_equal(s.sequence.trial.makespan_ns, 60);
    assert_int_equal(s.sequence.trial.count, 4);
    close_sequence(&s);
}

/* What is estimated adds times of the plan more than once. */
static void plans_of_years_are_searched(void **state)
{
    const int64_t long_ns = INT64_MAX / 40; /* all together just below 2^61, the most there may be */
    fixture f = fixture_new();
    (void)state;

    for (uint32_t t = 0; t < 12; t++)
        fixture_task(&f, NULL, t < 6 ? long_ns : long_ns / 3);
    for (uint32_t t = 1; t < 6; t++)
        ok(clo_graph_add_edge(f.graph, t - 1, t, 1));
    fixture_seal(&f, 3, NULL, -1);
    assert_true(best_of(&f, 500) >= 6 * long_ns);
    fixture_free(&f);
}

/* Where HEFT alone would pass each execution for each, and a budget of time would not be kept. */
static void large_graphs_are_not_sketched(void **state)
{
    (void)state;
    for (uint32_t tasks = 1000; tasks <= 16000; tasks *= 4) {
        clo_generate_config generate = {.size = sizeof generate, .seed = 1, .tasks = tasks, .ccr = 1};
        clo_schedule schedule = {0};
        fixture f = {0};
        ok(clo_graph_generate("outtree", &generate, &f.graph));
        ok(clo_platform_open("rk3588", &f.platform));
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_schedule_open(&schedule, f.cost, 2));
        assert_int_equal(clo_sketch_fits(&schedule), tasks == 1000);
        clo_schedule_close(&schedule);
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sketch_places_what_deft_places),
        cmocka_unit_test(tails_begin_with_the_plan_of_heft),
        cmocka_unit_test(a_climb_ends_with_a_valid_plan_that_is_no_longer),
        cmocka_unit_test(a_climb_without_memory_says_so_and_keeps_none),
        cmocka_unit_test(a_sequence_is_no_longer_than_its_plan_where_tasks_take_no_time),
        cmocka_unit_test(a_sequence_leaves_out_what_a_copy_has_brought),
        cmocka_unit_test(plans_of_years_are_searched),
        cmocka_unit_test(large_graphs_are_not_sketched),
        cmocka_unit_test(two_schedules_are_no_longer_than_one_executor),
        cmocka_unit_test(three_schedules_are_no_longer_than_deft),
        cmocka_unit_test(short_times_are_searched_as_well_as_long_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
