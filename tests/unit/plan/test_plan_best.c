/* The anytime planner `best`: what its budget, its seed and its options promise, on both kinds of problems (annealing
 * where executors differ or data move, the packing search where they do not), and inputs at the edges. */
#include "fixture.h"

#include "base/clock.h"
#include "base/numbers/rng.h"
#include "planner_named.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STARTS = 3, SPINNERS = 4 };

/* A kind of problem: layers with edges from each task to some of the layer before. */
typedef struct shape {
    uint32_t tasks, executors;
    int64_t capacity;           /* of the machine; -1: no demands           */
    bool has_memories, is_flat; /* is_flat: all tasks and executors alike   */
    bool has_no_time;           /* of 0 ns                                  */
} shape;

static const shape annealed = {30, 4, -1, true, false, false};
static const shape packed = {30, 4, 8, false, false, false};

static void add_tasks(fixture *f, const shape *s, clo_rng *rng)
{
    for (uint32_t t = 0; t < s->tasks; t++) {
        clo_task task = {.work_ns = s->is_flat ? 1000 : 100 + clo_rng_below(rng, 5000), .duplicable = 1};
        if (s->has_no_time)
            task.work_ns = 0;
        if (s->capacity > 0)
            task.demand[0] = 1 + clo_rng_below(rng, (uint32_t)s->capacity);
        ok(clo_graph_add_task(f->graph, &task, NULL));
    }
    for (uint32_t t = 5; t < s->tasks && !s->is_flat; t++)
        for (uint32_t k = 0; k < 3; k++)
            if (clo_rng_below(rng, 2) == 0)
                ok(clo_graph_add_edge(f->graph, t / 5 * 5 - 1 - k, t, s->has_no_time ? 0 : clo_rng_below(rng, 4000)));
}

static void make_platform(fixture *f, const shape *s)
{
    clo_executor *list = calloc(s->executors, sizeof *list);
    int64_t capacities[CLO_RESOURCES_MAX] = {s->capacity, -1, -1, -1, -1, -1, -1, -1};
    size_t pairs = (size_t)s->executors * s->executors;
    double *bandwidth = calloc(pairs, sizeof *bandwidth);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    assert_non_null(list);
    assert_non_null(bandwidth);
    for (uint32_t e = 0; e < s->executors; e++) {
        list[e] = (clo_executor){.memory = s->has_memories ? e : 0, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE + (s->has_memories && !s->is_flat ? CLO_SPEED_ONE / 4 * (e % 4) : 0);
    }
    for (size_t i = 0; i < pairs; i++)
        bandwidth[i] = 1;
    desc.executors_count = s->executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &f->platform));
    free(list);
    free(bandwidth);
}

static fixture shape_new(const shape *s, uint64_t seed)
{
    fixture f = fixture_new();
    clo_rng rng = clo_rng_seed(seed);

    add_tasks(&f, s, &rng);
    ok(clo_graph_seal(f.graph));
    make_platform(&f, s);
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    return f;
}

static clo_plan *best(const fixture *f, const clo_plan_config *asked)
{
    clo_plan_config config = *asked;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_best;
    ok(clo_plan_create(f->cost, &config, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_FULL));
    return plan;
}

static int64_t makespan_of(const fixture *f, const char *planner)
{
    clo_plan *plan = fixture_plan(f, planner);
    int64_t makespan = clo_plan_makespan_ns(plan);

    clo_plan_destroy(plan);
    return makespan;
}

static void assert_equal_plans(const clo_plan *a, const clo_plan *b)
{
    size_t count, other;
    const clo_placement *p = clo_plan_placements(a, &count), *q = clo_plan_placements(b, &other);

    assert_int_equal(count, other);
    assert_memory_equal(p, q, count * sizeof *p);
    assert_int_equal(clo_plan_schedules(a), clo_plan_schedules(b));
}

static void the_same_seed_and_budget_give_the_same_plan(void **state)
{
    (void)state;
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            fixture f = shape_new(shapes[k], seed);
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            config.seed = seed;
            config.schedules_max = 300;
            clo_plan *plan = best(&f, &config), *again = best(&f, &config);
            assert_equal_plans(plan, again);
            clo_plan_destroy(plan);
            clo_plan_destroy(again);
            fixture_free(&f);
        }
}

/* The plans it starts from are always finished; none is built past the budget. */
static void no_more_schedules_are_built_than_the_budget_and_the_start_allow(void **state)
{
    (void)state;
    static const uint64_t budgets[] = {1, 2, 3, 4, 5, 7, 10, 33, 100, 1000};
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++)
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            fixture f = shape_new(shapes[k], b);
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            config.schedules_max = budgets[b];
            clo_plan *plan = best(&f, &config);
            uint64_t built = clo_plan_schedules(plan);
            if (built == 0 || built > budgets[b] + STARTS || (built < budgets[b] && !clo_plan_is_optimal(plan)))
                fail_msg("shape %d: a budget of %llu built %llu schedules", k, (unsigned long long)budgets[b],
                         (unsigned long long)built);
            assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
            clo_plan_destroy(plan);
            fixture_free(&f);
        }
}

static void without_a_budget_it_searches_some_and_is_as_short_as_what_it_starts_from(void **state)
{
    (void)state;
    static const char *const starts[] = {"heft", "deft", "serial"};
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++) {
        fixture f = shape_new(shapes[k], 1);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan = best(&f, &config);
        assert_true(clo_plan_schedules(plan) > 100 || clo_plan_is_optimal(plan));
        for (int i = 0; i < 3; i++)
            assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, starts[i]));
        config.budget_ns = -1; /* no time is no limit of time: as above */
        clo_plan *negative = best(&f, &config);
        assert_equal_plans(plan, negative);
        clo_plan_destroy(negative);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

/* Large transfers, so that duplicates help where they are allowed. */
static void without_duplicates_nothing_is_executed_twice(void **state)
{
    (void)state;
    uint64_t replicas = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        fixture f = shape_new(&annealed, seed);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        size_t count;
        config.schedules_max = 100;
        config.no_duplicates = 1;
        clo_plan *plan = best(&f, &config);
        const clo_placement *p = clo_plan_placements(plan, &count);
        assert_int_equal(count, annealed.tasks);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(p[i].is_replica, 0);
        assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
        clo_plan_destroy(plan);
        config.no_duplicates = 0;
        plan = best(&f, &config);
        clo_plan_placements(plan, &count);
        replicas += count - annealed.tasks;
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
    assert_true(replicas > 0);
}

static void at_the_lower_bound_it_stops_and_says_so(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_bound bound = CLO_BOUND_INIT;

    for (int i = 0; i < 8; i++)
        fixture_task(&f, NULL, 10);
    fixture_seal(&f, 4, NULL, -1);
    config.schedules_max = 1000000;
    config.budget_ns = INT64_MAX;
    clo_plan *plan = best(&f, &config);
    ok(clo_cost_bound(f.cost, &bound));
    assert_int_equal(clo_plan_makespan_ns(plan), bound.best_ns);
    assert_true(clo_plan_is_optimal(plan));
    assert_int_equal(clo_plan_schedules(plan), 1);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Executors, tasks and times at the edges, both kinds of problem. */
static void edges_of_what_is_allowed_are_planned(void **state)
{
    (void)state;
    static const shape shapes[] = {
        {1, 1, -1, true, false, false},     {1, 1, 1, false, false, false},   {30, 1, -1, true, false, false},
        {30, 1, 3, false, false, false},    {17, 4, -1, true, true, false},   {17, 4, -1, false, true, false},
        {17, 4, 6, false, true, false},     {30, 4, -1, true, false, true},   {30, 4, 8, false, false, true},
        {20, 4096, -1, true, false, false}, {20, 4096, 8, false, true, false}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        fixture f = shape_new(&shapes[i], i);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_bound bound = CLO_BOUND_INIT;
        config.schedules_max = 20;
        clo_plan *plan = best(&f, &config);
        ok(clo_cost_bound(f.cost, &bound));
        assert_true(clo_plan_makespan_ns(plan) >= bound.best_ns);
        assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
        assert_true(clo_plan_is_optimal(plan) == (clo_plan_makespan_ns(plan) == bound.best_ns));
        if (shapes[i].has_no_time && shapes[i].capacity < 0) /* what has a demand takes 1 ns */
            assert_int_equal(clo_plan_makespan_ns(plan), 0);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

static void *spin(void *context)
{
    _Atomic bool *stop = context;

    while (!atomic_load_explicit(stop, memory_order_relaxed)) /* ends: the test sets it */
        ;
    return NULL;
}

/* Wall time counts, not CPU time: with the CPUs taken away it ends all the same. A plan of `budget_ns`; whether it took
 * about that, and no more than some turns of the operating system. */
static bool is_in_time(const fixture *f, int64_t budget_ns)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.budget_ns = budget_ns;
    int64_t begin_ns = clo_clock_ns();
    clo_plan *plan = best(f, &config);
    int64_t took_ns = clo_clock_ns() - begin_ns;
    /* The end is kept for the plan itself, and on a busy machine that may seem to take long. */
    bool is_used = took_ns >= budget_ns / 4 * 3 || clo_plan_is_optimal(plan);
    assert_true(clo_plan_makespan_ns(plan) <= makespan_of(f, "heft"));
    clo_plan_destroy(plan);
    return is_used && took_ns < 40 * budget_ns;
}

static void a_time_budget_holds_while_the_machine_is_busy(void **state)
{
    (void)state;
    const shape *const shapes[] = {&annealed, &packed};
    enum { TURNS_MAX = 50 };
    const int64_t budget_ns = 50 * 1000 * 1000;
    _Atomic bool stop = false;
    pthread_t threads[SPINNERS];

    for (int i = 0; i < SPINNERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spin, &stop), 0);
    for (int k = 0; k < 2; k++) {
        fixture f = shape_new(shapes[k], 3);
        bool was_in_time = false;
        for (int turn = 0; turn < TURNS_MAX && !was_in_time; turn++)
            was_in_time = is_in_time(&f, budget_ns);
        assert_true(was_in_time);
        fixture_free(&f);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < SPINNERS; i++)
        pthread_join(threads[i], NULL);
}

typedef struct told {
    uint32_t count;
    clo_plan_progress last;
} told;

static void listen(void *context, const clo_plan_progress *now)
{
    told *heard = context;

    assert_true(heard->count == 0 || now->makespan_ns <= heard->last.makespan_ns);
    assert_true(heard->count == 0 || now->schedules >= heard->last.schedules);
    assert_true(now->bound_ns <= now->makespan_ns);
    heard->last = *now;
    heard->count++;
}

/* Where time is the limit each thread searches on its own; where schedules are, threads change nothing. Progress is
 * told in the calling thread. */
static void threads_search_side_by_side_and_progress_is_told(void **state)
{
    (void)state;
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++) {
        fixture f = shape_new(shapes[k], 7);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        told heard = {0};
        config.schedules_max = 200;
        clo_plan *one = best(&f, &config);
        config.threads = 3;
        clo_plan *three = best(&f, &config);
        assert_equal_plans(one, three);
        clo_plan_destroy(one);
        clo_plan_destroy(three);
        config.schedules_max = 0;
        config.budget_ns = 900 * 1000 * 1000;
        config.progress = listen;
        config.progress_context = &heard;
        clo_plan *plan = best(&f, &config);
        assert_true(heard.count >= 2 || clo_plan_is_optimal(plan));
        assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

static void stop_at_once(void *context, const clo_plan_progress *now)
{
    uint32_t *calls = context;

    ++*calls;
    *now->stop = 1;
}

/* Says so once, to the first who asks. */
static void stop_once(void *context, const clo_plan_progress *now)
{
    uint32_t *calls = context;

    if (++*calls == 1)
        *now->stop = 1;
}

/* Parts of a search end, and the rest of it with them. */
static void who_is_told_to_stop_once_stops(void **state)
{
    static const char *const planners[] = {"best", "edges-best"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture f = shape_new(k == 0 ? &annealed : &packed, 7);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        uint32_t calls = 0;
        clo_plan *plan;
        config.planner = clo_planner_find(planners[k]);
        config.budget_ns = INT64_MAX / 4;
        config.progress = stop_once;
        config.progress_context = &calls;
        ok(clo_plan_create(f.cost, &config, &plan));
        assert_true(calls > 0 || clo_plan_is_optimal(plan));
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

/* No limit of time to speak of: it returns because it is told to, from all threads. */
static void a_search_that_is_told_to_stop_ends_with_its_best_plan(void **state)
{
    (void)state;
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            fixture f = shape_new(shapes[k], 7);
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            uint32_t calls = 0;
            config.threads = threads;
            config.budget_ns = INT64_MAX / 4;
            config.progress = stop_at_once;
            config.progress_context = &calls;
            clo_plan *plan = best(&f, &config);
            assert_true(calls > 0 || clo_plan_is_optimal(plan));
            assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
            clo_plan_destroy(plan);
            config.budget_ns = 0; /* all other planners after it, but not once it is told to stop */
            plan = best(&f, &config);
            assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
            clo_plan_destroy(plan);
            fixture_free(&f);
        }
}

/* A small machine beside one that has 2^40 of a resource, of which two tasks want most: the packing search counts in
 * units by which the small one has nothing. */
static void rounded_demands_still_give_heft_at_least(void **state)
{
    (void)state;
    const int64_t much = (int64_t)1 << 40;
    const clo_executor executors[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                       {0, 1, 0, -1, {65536, 65536, 65536, 65536}}};
    int64_t capacities[2 * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    fixture f = fixture_new();

    for (int i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i == 0 ? 10 : i == CLO_RESOURCES_MAX ? much : -1;
    for (int t = 0; t < 12; t++)
        ok(clo_graph_add_task(f.graph, &(clo_task){.work_ns = 100, .demand = {t < 10 ? 1 : much / 2 + 1}}, NULL));
    ok(clo_graph_seal(f.graph));
    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 2;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    for (config.schedules_max = 1; config.schedules_max < 50; config.schedules_max *= 3) {
        clo_plan *plan = best(&f, &config);
        assert_true(clo_plan_makespan_ns(plan) <= makespan_of(&f, "heft"));
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

/* 1 ns is over before anything was searched, and of two limits the first one counts. */
static void a_spent_budget_still_gives_heft_at_least(void **state)
{
    (void)state;
    const shape *const shapes[] = {&annealed, &packed};

    for (int k = 0; k < 2; k++) {
        fixture f = shape_new(shapes[k], 4);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        config.budget_ns = 1;
        clo_plan *plan = best(&f, &config);
        assert_int_equal(clo_plan_makespan_ns(plan), makespan_of(&f, "heft"));
        assert_int_equal(clo_plan_schedules(plan), 1);
        clo_plan_destroy(plan);
        config.budget_ns = INT64_MAX;
        config.schedules_max = 50;
        plan = best(&f, &config);
        assert_true(clo_plan_schedules(plan) <= 50 + STARTS);
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

/* What some planner refuses inside is not the caller's, who may still read of a failure of his own. */
static void planners_that_refuse_inside_leave_the_text_of_the_callers_failure(void **state)
{
    static const shape large = {30, 30, -1, true, false, false};
    const shape *shapes[] = {&annealed, &packed, &large};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        fixture f = shape_new(shapes[i], 5);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan;
        config.contention = 9;
        fails(CLO_ERR_ARGUMENT, "contention is 9", clo_plan_create(f.cost, &config, &plan));
        plan = best(&f, &(clo_plan_config)CLO_PLAN_CONFIG_INIT);
        assert_non_null(strstr(clo_last_error(), "contention is 9"));
        clo_plan_destroy(plan);
        fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_and_budget_give_the_same_plan),
        cmocka_unit_test(no_more_schedules_are_built_than_the_budget_and_the_start_allow),
        cmocka_unit_test(without_a_budget_it_searches_some_and_is_as_short_as_what_it_starts_from),
        cmocka_unit_test(without_duplicates_nothing_is_executed_twice),
        cmocka_unit_test(at_the_lower_bound_it_stops_and_says_so),
        cmocka_unit_test(edges_of_what_is_allowed_are_planned),
        cmocka_unit_test(a_time_budget_holds_while_the_machine_is_busy),
        cmocka_unit_test(threads_search_side_by_side_and_progress_is_told),
        cmocka_unit_test(who_is_told_to_stop_once_stops),
        cmocka_unit_test(a_search_that_is_told_to_stop_ends_with_its_best_plan),
        cmocka_unit_test(planners_that_refuse_inside_leave_the_text_of_the_callers_failure),
        cmocka_unit_test(rounded_demands_still_give_heft_at_least),
        cmocka_unit_test(a_spent_budget_still_gives_heft_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
