#include "fixture.h"

#include "pairs.h"
#include "plan/heft/deft.h"
#include "plan/schedule/compact.h"
#include "random.h"

#define FEWER (SANITIZED ? 5u : 1u) /* seeds */

static void a_parent_is_duplicated_where_its_data_would_come_late(void **state)
{
    (void)state;
    fixture f = fork_of_two(1);
    clo_plan *heft = fixture_plan(&f, "heft"), *deft = fixture_plan(&f, "deft");
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    assert_int_equal(clo_plan_makespan_ns(heft), 30);
    expect_placement(deft, 0, (clo_placement){.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10});
    expect_placement(deft, 1,
                     (clo_placement){.task = 0, .executor = 1, .is_replica = 1, .start_ns = 0, .finish_ns = 10});
    expect_placement(deft, 2, (clo_placement){.task = 1, .executor = 0, .start_ns = 10, .finish_ns = 20});
    expect_placement(deft, 3, (clo_placement){.task = 2, .executor = 1, .start_ns = 10, .finish_ns = 20});
    ok(clo_plan_measure(deft, f.cost, &metrics));
    assert_int_equal(metrics.duplicates, 1);
    assert_int_equal(metrics.transfers, 0);
    clo_plan_destroy(heft);
    clo_plan_destroy(deft);
    fixture_free(&f);
}

static void a_task_that_is_not_declared_duplicable_runs_once(void **state)
{
    (void)state;
    fixture f = fork_of_two(0);
    clo_plan *deft = fixture_plan(&f, "deft");
    size_t count;

    assert_int_equal(clo_plan_makespan_ns(deft), 30);
    clo_plan_placements(deft, &count);
    assert_int_equal(count, 3);
    clo_plan_destroy(deft);
    fixture_free(&f);
}

/* g -> a -> b, c. The execution of a on e1 needs g's data there at 10 + 5: it runs from 15 to 25, c from 25. */
static void a_duplicate_waits_for_its_own_inputs(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task g = {.name = "g", .work_ns = 10};

    ok(clo_graph_add_task(f.graph, &g, NULL));
    fixture_task(&f, "a", 10);
    fixture_task(&f, "b", 30);
    fixture_task(&f, "c", 30);
    ok(clo_graph_add_edge(f.graph, 0, 1, 5));
    ok(clo_graph_add_edge(f.graph, 1, 2, 100));
    ok(clo_graph_add_edge(f.graph, 1, 3, 100));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *deft = fixture_plan(&f, "deft");
    expect_placement(deft, 2,
                     (clo_placement){.task = 1, .executor = 1, .is_replica = 1, .start_ns = 15, .finish_ns = 25});
    expect_placement(deft, 4, (clo_placement){.task = 3, .executor = 1, .start_ns = 25, .finish_ns = 55});
    clo_plan_destroy(deft);
    fixture_free(&f);
}

/* b can only run on e1, so a's execution there is the only one read: a's original goes, and d, which stood behind it on
 * e0, moves to the beginning. */
static void an_original_that_nobody_reads_is_dropped_and_what_stood_behind_it_moves_up(void **state)
{
    (void)state;
    static const double speeds[2] = {1.25, 1};
    fixture f = fixture_new();
    clo_task b = {.name = "b", .work_ns = 10, .executors_mask = 2, .duplicable = 1};
    clo_task d = {.name = "d", .work_ns = 10, .executors_mask = 1, .duplicable = 1};
    clo_schedule schedule;

    fixture_task(&f, "a", 10);
    ok(clo_graph_add_task(f.graph, &b, NULL));
    ok(clo_graph_add_task(f.graph, &d, NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 100));
    fixture_seal(&f, 2, speeds, -1);
    ok(clo_schedule_open(&schedule, f.cost, 2));
    ok(clo_deft_place_all(&schedule));
    assert_int_equal(schedule.count, 4); /* as published: a on e0 from 0 to 8, once more on e1, d on e0 from 8 */
    assert_int_equal(schedule.executions[0].executor, 0);
    assert_int_equal(schedule.executions[3].start_ns, 8);
    clo_schedule_close(&schedule);

    clo_plan *deft = fixture_plan(&f, "deft");
    size_t count;
    clo_plan_placements(deft, &count);
    assert_int_equal(count, 3);
    expect_placement(deft, 0, (clo_placement){.task = 2, .executor = 0, .start_ns = 0, .finish_ns = 8});
    expect_placement(deft, 1, (clo_placement){.task = 0, .executor = 1, .start_ns = 0, .finish_ns = 10});
    expect_placement(deft, 2, (clo_placement){.task = 1, .executor = 1, .start_ns = 10, .finish_ns = 20});
    clo_plan_destroy(deft);
    fixture_free(&f);
}

/* ---- DEFT once more, as slowly as possible: all parents are tried, the duplicate is really reserved, gaps are
 * searched start by start. */

typedef struct span {
    int64_t start, finish;
    uint32_t instance, executor;
} span;

typedef struct slow {
    const fixture *f;
    const clo_graph *graph;
    test_pairs pairs;
    span *spans;
    uint32_t count;
} slow;

/* An execution of length 0 may not stand on the seam of two others (a property of the timeline, see there). */
static bool is_seam(const slow *s, uint32_t executor, int64_t at)
{
    bool ends = false, begins = false;

    for (uint32_t i = 0; i < s->count; i++) {
        bool counts = s->spans[i].executor == executor && s->spans[i].start < s->spans[i].finish;
        ends |= counts && s->spans[i].finish == at;
        begins |= counts && s->spans[i].start == at;
    }
    return ends && begins;
}

static bool is_idle(const slow *s, uint32_t executor, int64_t start, int64_t finish)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->spans[i].executor == executor && !(s->spans[i].finish <= start || finish <= s->spans[i].start))
            return false;
    return start < finish || !is_seam(s, executor, start);
}

static int64_t slow_slot(const slow *s, uint32_t executor, int64_t ready, int64_t duration)
{
    int64_t best = INT64_MAX;

    if (is_idle(s, executor, ready, ready + duration))
        return ready;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t start = s->spans[i].finish;
        if (s->spans[i].executor == executor && start >= ready && start < best &&
            is_idle(s, executor, start, start + duration))
            best = start;
    }
    return best;
}

static int64_t slow_ready(const slow *s, uint32_t instance, uint32_t executor)
{
    int64_t latest = 0;

    for (uint32_t k = s->pairs.before_first[instance]; k < s->pairs.before_first[instance + 1]; k++) {
        int64_t earliest = INT64_MAX;
        for (uint32_t i = 0; i < s->count; i++) {
            if (s->spans[i].instance != s->pairs.before[k])
                continue;
            int64_t arrival = s->spans[i].finish + clo_platform_transfer_ns(s->f->platform, s->pairs.bytes[k],
                                                                            s->spans[i].executor, executor);
            earliest = arrival < earliest ? arrival : earliest;
        }
        latest = earliest > latest ? earliest : latest;
    }
    return latest;
}

static bool slow_has(const slow *s, uint32_t instance, uint32_t executor)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->spans[i].instance == instance && s->spans[i].executor == executor)
            return true;
    return false;
}

/* Tries `instance` on `executor` after an execution of `parent` (CLO_NONE: none). best: the execution, the instance. */
static void slow_try(slow *s, uint32_t instance, uint32_t executor, uint32_t parent, span best[2])
{
    int64_t duration = clo_cost_execution_ns(s->f->cost, s->graph->task_of[instance], executor);
    span execution = {.instance = CLO_NONE};

    if (duration == CLO_TIME_NEVER)
        return;
    if (parent != CLO_NONE) {
        uint32_t task = s->graph->task_of[parent];
        int64_t length = clo_cost_execution_ns(s->f->cost, task, executor);
        if (!s->graph->rows[task].duplicable || length == CLO_TIME_NEVER || slow_has(s, parent, executor))
            return;
        execution = (span){.instance = parent, .executor = executor};
        execution.start = slow_slot(s, executor, slow_ready(s, parent, executor), length);
        execution.finish = execution.start + length;
        s->spans[s->count++] = execution;
    }
    int64_t start = slow_slot(s, executor, slow_ready(s, instance, executor), duration);
    s->count -= parent != CLO_NONE;
    if (start + duration < best[1].finish ||
        (start + duration == best[1].finish && parent == CLO_NONE && best[0].instance != CLO_NONE)) {
        best[0] = execution;
        best[1] = (span){start, start + duration, instance, executor};
    }
}

static void slow_place(slow *s, uint32_t instance)
{
    span best[2] = {{.instance = CLO_NONE}, {.finish = INT64_MAX}};

    for (uint32_t e = 0; e < clo_platform_executors(s->f->platform); e++) {
        slow_try(s, instance, e, CLO_NONE, best);
        for (uint32_t k = s->pairs.before_first[instance]; k < s->pairs.before_first[instance + 1]; k++)
            slow_try(s, instance, e, s->pairs.before[k], best);
    }
    if (best[0].instance != CLO_NONE)
        s->spans[s->count++] = best[0];
    s->spans[s->count++] = best[1];
}

static void the_critical_parent_is_as_good_as_the_best_of_all_parents(void **state)
{
    (void)state;
    uint32_t replicas = 0;

    for (uint64_t seed = 0; seed < 300 / FEWER; seed++) {
        fixture f = {.graph = random_graph(seed, RANDOM_ALL & ~RANDOM_DEMANDS), .platform = random_platform(seed, 0)};
        clo_schedule schedule;
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_schedule_open(&schedule, f.cost, 2));
        ok(clo_deft_place_all(&schedule));
        slow s = {.f = &f,
                  .graph = f.graph,
                  .pairs = pairs_of(f.graph),
                  .spans = calloc(2 * (size_t)f.graph->instances + 1, sizeof *s.spans)};
        for (uint32_t i = 0; i < f.graph->instances; i++)
            slow_place(&s, schedule.order[i]);
        assert_int_equal(schedule.count, s.count);
        for (uint32_t c = 0; c < s.count; c++) {
            assert_int_equal(schedule.executions[c].instance, s.spans[c].instance);
            assert_int_equal(schedule.executions[c].executor, s.spans[c].executor);
            assert_int_equal(schedule.executions[c].start_ns, s.spans[c].start);
            assert_int_equal(schedule.executions[c].finish_ns, s.spans[c].finish);
        }
        replicas += s.count - f.graph->instances;
        free(s.spans);
        pairs_free(&s.pairs);
        clo_schedule_close(&schedule);
        fixture_free(&f);
    }
    assert_true(replicas > 300 / FEWER); /* else the test says nothing */
}

static void the_clean_up_never_makes_a_plan_longer(void **state)
{
    (void)state;
    uint32_t shorter = 0, dropped = 0;

    for (uint64_t seed = 0; seed < 500 / FEWER; seed++) {
        fixture f = {.graph = random_graph(seed, RANDOM_ALL), .platform = random_platform(seed, RANDOM_DEMANDS)};
        clo_schedule schedule;
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_schedule_open(&schedule, f.cost, 2));
        ok(clo_deft_place_all(&schedule));
        int64_t before = clo_schedule_makespan_ns(&schedule);
        uint32_t executions = schedule.count;
        ok(clo_schedule_compact(&schedule));
        assert_true(clo_schedule_makespan_ns(&schedule) <= before);
        assert_true(schedule.count <= executions);
        shorter += clo_schedule_makespan_ns(&schedule) < before;
        dropped += executions - schedule.count;
        clo_schedule_close(&schedule);
        fixture_free(&f);
    }
    assert_true(shorter > 5 / FEWER);
    assert_true(dropped > 100 / FEWER);
}

static void best_is_never_longer_than_what_it_starts_from(void **state)
{
    (void)state;
    uint32_t shorter = 0;

    for (uint64_t seed = 0; seed < 200 / FEWER; seed++) {
        static const char *const names[] = {"heft", "deft", "serial"};
        fixture f = {.graph = random_graph(seed, RANDOM_DUPLICABLE), .platform = random_platform(seed, 0)};
        int64_t least = INT64_MAX;
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        clo_plan *best = fixture_plan(&f, "best");
        for (int i = 0; i < 3; i++) {
            clo_plan *plan = fixture_plan(&f, names[i]);
            least = clo_plan_makespan_ns(plan) < least ? clo_plan_makespan_ns(plan) : least;
            clo_plan_destroy(plan);
        }
        assert_true(clo_plan_makespan_ns(best) <= least);
        shorter += clo_plan_makespan_ns(best) < least;
        clo_plan_destroy(best);
        fixture_free(&f);
    }
    assert_true(shorter > 50 / FEWER);
}

/* P is duplicated right before W, and Z, which takes no time, starts where the two touch: W and Y stay. */
static void a_child_of_no_time_starts_where_its_duplicate_touches_the_next(void **state)
{
    static const struct {
        const char *name;
        int64_t work_ns;
        uint64_t executors_mask;
        uint8_t duplicable;
    } rows[] = {{"P", 1, 3, 1}, {"Q", 1, 4, 0},  {"W", 4, 2, 0},   {"Z", 0, 2, 0},
                {"Y", 1, 2, 0}, {"S", 10, 1, 0}, {"V", 100, 4, 0}, {"A", 200, 1, 0}};
    static const clo_edge edges[] = {{0, 3, 50}, {0, 7, 0}, {1, 2, 0}, {3, 5, 0}, {2, 6, 0}};
    fixture f = fixture_new();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_task task = {.name = rows[i].name,
                         .work_ns = rows[i].work_ns,
                         .executors_mask = rows[i].executors_mask,
                         .duplicable = rows[i].duplicable};
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        ok(clo_graph_add_edge(f.graph, edges[i].from, edges[i].to, edges[i].bytes));
    fixture_seal(&f, 3, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "deft");
    expect_placement(plan, 3, (clo_placement){.task = 3, .executor = 1, .start_ns = 1, .finish_ns = 1});
    expect_placement(plan, 4, (clo_placement){.task = 2, .executor = 1, .start_ns = 1, .finish_ns = 5});
    expect_placement(plan, 6, (clo_placement){.task = 4, .executor = 1, .start_ns = 5, .finish_ns = 6});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* b and c side by side look good until d has to wait for 100 bytes: in a row it is 1 + 10 + 10 + 1. */
static void best_does_not_fall_behind_everything_in_a_row(void **state)
{
    (void)state;
    fixture f = fixture_new();
    static const int64_t works[4] = {1, 10, 10, 1};

    for (int i = 0; i < 4; i++) {
        clo_task task = {.work_ns = works[i]};
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    ok(clo_graph_add_edge(f.graph, 0, 1, 5));
    ok(clo_graph_add_edge(f.graph, 0, 2, 5));
    ok(clo_graph_add_edge(f.graph, 1, 3, 100));
    ok(clo_graph_add_edge(f.graph, 2, 3, 100));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *heft = fixture_plan(&f, "heft"), *best = fixture_plan(&f, "best");
    assert_int_equal(clo_plan_makespan_ns(heft), 112);
    assert_int_equal(clo_plan_makespan_ns(best), 22);
    clo_plan_destroy(heft);
    clo_plan_destroy(best);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_of_no_time_starts_where_its_duplicate_touches_the_next),
        cmocka_unit_test(a_parent_is_duplicated_where_its_data_would_come_late),
        cmocka_unit_test(a_task_that_is_not_declared_duplicable_runs_once),
        cmocka_unit_test(a_duplicate_waits_for_its_own_inputs),
        cmocka_unit_test(an_original_that_nobody_reads_is_dropped_and_what_stood_behind_it_moves_up),
        cmocka_unit_test(the_critical_parent_is_as_good_as_the_best_of_all_parents),
        cmocka_unit_test(the_clean_up_never_makes_a_plan_longer),
        cmocka_unit_test(best_is_never_longer_than_what_it_starts_from),
        cmocka_unit_test(best_does_not_fall_behind_everything_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
