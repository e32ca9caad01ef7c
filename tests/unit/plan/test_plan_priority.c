/* Packings with precedence: for each planner a small graph on which its rule shows. */
#include "fixture.h"

#include "base/numbers/rng.h"
#include "plan/budget/parallel.h"
#include "plan/graphene/parts.h"
#include "plan/rcpsp/priority.h"
#include <clotho/planner.h>

static uint32_t add(fixture *f, int64_t work_ns, int64_t demand, uint32_t instances)
{
    clo_task task = {.work_ns = work_ns, .demand = {demand}, .instances = instances};
    uint32_t id;

    ok(clo_graph_add_task(f->graph, &task, &id));
    return id;
}

static void edge(fixture *f, uint32_t from, uint32_t to)
{
    ok(clo_graph_add_edge(f->graph, from, to, 0));
}

/* p (3) -> q (10, needs everything) -> s (20), and r (9) beside: capacity 2. Who starts r at once makes q wait for
 * it. */
static fixture fixture_waiting(void)
{
    fixture f = fixture_new();
    uint32_t p = add(&f, 3, 1, 1), q = add(&f, 10, 2, 1), s = add(&f, 20, 1, 1);

    add(&f, 9, 1, 1);
    edge(&f, p, q);
    edge(&f, q, s);
    fixture_seal(&f, 4, NULL, 2);
    return f;
}

static void serial_generation_waits_and_parallel_generation_does_not(void **state)
{
    (void)state;
    fixture f = fixture_waiting();

    expect_makespan(&f, "sgs-serial", 33);
    expect_makespan(&f, "sgs-parallel", 39);
    expect_makespan(&f, "critical-path", 39);
    expect_makespan(&f, "breadth-first", 39);
    clo_plan *plan = fixture_plan(&f, "sgs-serial");
    expect_task(plan, 1, 0, 3);
    expect_task(plan, 3, 1, 13);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Seen from the end, s and r start together and nothing has to wait. */
static void backward_generation_starts_at_the_exits(void **state)
{
    (void)state;
    fixture f = fixture_waiting();

    expect_makespan(&f, "sgs-serial-backward", 33);
    expect_makespan(&f, "sgs-parallel-backward", 33);
    fixture_free(&f);
}

/* A chain of three behind three others: two executors. */
static void breadth_first_takes_levels_and_critical_path_takes_chains(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int t = 0; t < 6; t++)
        add(&f, 10, 0, 1);
    edge(&f, 3, 4);
    edge(&f, 4, 5);
    fixture_seal(&f, 2, NULL, -1);
    expect_makespan(&f, "breadth-first", 40);
    expect_makespan(&f, "critical-path", 30);
    expect_makespan(&f, "coffman-graham", 30);
    expect_makespan(&f, "graphene", 30);
    fixture_free(&f);
}

/* Unit times, two executors: 3, 4 wait for 0, 1, 2, but 5 for 1 and 2 only. Equal paths, so critical-path takes 0 and
 * 1 first and has nothing beside 2. */
static void coffman_graham_is_optimal_on_two_executors(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int t = 0; t < 6; t++)
        add(&f, 1, 0, 1);
    for (uint32_t t = 0; t < 3; t++) {
        edge(&f, t, 3);
        edge(&f, t, 4);
    }
    edge(&f, 1, 5);
    edge(&f, 2, 5);
    fixture_seal(&f, 2, NULL, -1);
    expect_makespan(&f, "critical-path", 4);
    expect_makespan(&f, "coffman-graham", 3);
    fixture_free(&f);
}

/* 0 and 1 lead to 2 -> 3, and 1 to 3 as well, which says nothing new: a tie, so 0 goes first. With that arc the list
 * of 1 would be longer and 1 first. */
static void coffman_graham_leaves_redundant_arcs_out(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int t = 0; t < 4; t++)
        add(&f, 1, 0, 1);
    edge(&f, 0, 2);
    edge(&f, 1, 2);
    edge(&f, 2, 3);
    edge(&f, 1, 3);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "coffman-graham");
    expect_task(plan, 0, 0, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Demands 1, 3, 4 of 4, then a join: one job. What fits best goes first. */
static void tetris_takes_the_best_match(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (uint32_t t = 0; t < 3; t++)
        add(&f, 10, t == 0 ? 1 : t + 2, 1);
    add(&f, 5, 1, 1);
    for (uint32_t t = 0; t < 3; t++)
        edge(&f, t, 3);
    fixture_seal(&f, 4, NULL, 4);
    clo_plan *plan = fixture_plan(&f, "tetris");
    expect_task(plan, 2, 0, 0);
    expect_task(plan, 1, 1, 10);
    expect_task(plan, 3, 0, 20);
    assert_int_equal(clo_plan_makespan_ns(plan), 25);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* One executor: both match as well, the second job has less left. */
static void tetris_takes_the_job_with_the_least_work_left(void **state)
{
    (void)state;
    fixture f = fixture_new();

    add(&f, 10, 0, 1);
    add(&f, 10, 0, 1);
    add(&f, 5, 0, 1);
    edge(&f, 0, 1);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "tetris");
    expect_task(plan, 2, 0, 0);
    expect_task(plan, 0, 0, 5);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* a -> b of 10, c of 4. The middle of 20 divides {a, c} from {b}; the middle of 10 then c from a. */
static void strip_part_divides_at_the_middle_of_the_longest_way(void **state)
{
    (void)state;
    fixture f = fixture_new();

    add(&f, 10, 0, 1);
    add(&f, 10, 0, 1);
    add(&f, 4, 0, 1);
    edge(&f, 0, 1);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "strip-part");
    expect_task(plan, 2, 0, 0);
    expect_task(plan, 0, 0, 4);
    expect_task(plan, 1, 0, 14);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static int64_t random_start(const fixture *f, uint64_t seed)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;
    int64_t sum = 0;
    size_t count;

    config.planner = &clo_planner_random;
    config.seed = seed;
    ok(clo_plan_create(f->cost, &config, &plan));
    const clo_placement *p = clo_plan_placements(plan, &count);
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + p[i].task;
    clo_plan_destroy(plan);
    return sum;
}

static void random_depends_on_the_seed_only(void **state)
{
    (void)state;
    fixture f = fixture_new();
    bool differs = false;

    for (int t = 0; t < 8; t++)
        add(&f, 1 + t, 0, 1);
    fixture_seal(&f, 1, NULL, -1);
    for (uint64_t seed = 1; seed < 5; seed++) {
        assert_int_equal(random_start(&f, seed), random_start(&f, seed));
        differs = differs || random_start(&f, seed) != random_start(&f, 0);
    }
    assert_true(differs);
    fixture_free(&f);
}

static void graphene_places_what_is_troublesome_first(void **state)
{
    (void)state;
    fixture f = fixture_waiting();

    expect_makespan(&f, "graphene", 33);
    expect_makespan(&f, "graphene-paper", 33);
    fixture_free(&f);
}

/* a, then two instances of b beside c, then d: every stage but b and c alone between its barriers. */
static void graphene_cuts_at_barriers(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint32_t a = add(&f, 5, 1, 1), b = add(&f, 10, 2, 2), c = add(&f, 7, 1, 1), d = add(&f, 5, 1, 1);
    clo_rcpsp problem;
    clo_parts parts;

    edge(&f, a, b);
    edge(&f, a, c);
    edge(&f, b, d);
    edge(&f, c, d);
    fixture_seal(&f, 4, NULL, 3);
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_parts_open(&parts, &problem));
    assert_int_equal(parts.count, 3);
    assert_int_equal(parts.parts[1].last - parts.parts[1].first, 2);
    assert_int_equal(parts.long_q16[c], 7 * 65536 / 10); /* of the part's longest */
    assert_int_equal(parts.frag_q16[b], 2 * 65536 / 3);  /* 2 of 3 shares while it runs */
    clo_parts_close(&parts);
    clo_rcpsp_close(&problem);
    expect_makespan(&f, "graphene", 30);
    fixture_free(&f);
}

/* a -> b -> c -> e -> h with b and e long, and g apart: c lies between troublesome stages, so it is one. */
static void graphene_closes_the_troublesome_set(void **state)
{
    (void)state;
    static const uint8_t want[6] = {CLO_SUBSET_PARENT,  CLO_SUBSET_TROUBLE, CLO_SUBSET_TROUBLE,
                                    CLO_SUBSET_TROUBLE, CLO_SUBSET_CHILD,   CLO_SUBSET_OTHER};
    static const int64_t works[6] = {5, 100, 5, 100, 5, 5};
    fixture f = fixture_new();
    clo_rcpsp problem;
    clo_parts parts;
    bool found = false;

    for (int t = 0; t < 6; t++)
        add(&f, works[t], 1, 1);
    for (uint32_t t = 0; t < 4; t++)
        edge(&f, t, t + 1);
    fixture_seal(&f, 2, NULL, 2);
    ok(clo_rcpsp_open(&problem, f.cost));
    ok(clo_parts_open(&parts, &problem));
    assert_int_equal(parts.count, 1);
    for (uint32_t c = 0; c < parts.candidates; c++) {
        bool equal = true;
        for (uint32_t t = 0; t < 6; t++)
            equal = equal && parts.subsets[parts.subsets_from[c] + parts.place_of[t]] == want[t];
        found = found || equal;
    }
    assert_true(found);
    clo_parts_close(&parts);
    clo_rcpsp_close(&problem);
    fixture_free(&f);
}

static fixture fixture_layers(uint64_t seed)
{
    enum { LAYERS = 6, WIDTH = 6 };
    fixture f = fixture_new();
    clo_rng rng = clo_rng_seed(seed);

    for (uint32_t t = 0; t < LAYERS * WIDTH; t++)
        add(&f, 1 + clo_rng_below(&rng, 50), 1 + clo_rng_below(&rng, 6), 1 + clo_rng_below(&rng, 3));
    for (uint32_t t = WIDTH; t < LAYERS * WIDTH; t++)
        for (uint32_t u = 0; u < WIDTH; u++)
            if (clo_rng_below(&rng, 3) == 0)
                edge(&f, t / WIDTH * WIDTH - WIDTH + u, t);
    fixture_seal(&f, 8, NULL, 10);
    return f;
}

static void graphene_gives_the_same_plan_with_any_number_of_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fixture f = fixture_layers(seed);
        clo_plan *alone = fixture_plan(&f, "graphene");
        for (uint32_t threads = 2; threads <= 100; threads += 49) {
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            clo_plan *plan = NULL;
            size_t count, other;
            config.planner = &clo_planner_graphene;
            config.threads = threads;
            ok(clo_plan_create(f.cost, &config, &plan));
            const clo_placement *p = clo_plan_placements(alone, &count), *q = clo_plan_placements(plan, &other);
            assert_int_equal(count, other);
            assert_memory_equal(p, q, count * sizeof *p);
            clo_plan_destroy(plan);
        }
        clo_plan_destroy(alone);
        fixture_free(&f);
    }
}

/* Executors differ and data travel: no packing, and every planner gives a plan. */
static void what_is_no_packing_is_dispatched(void **state)
{
    (void)state;
    static const char *const names[] = {"sgs-serial",
                                        "sgs-parallel",
                                        "sgs-serial-backward",
                                        "sgs-parallel-backward",
                                        "critical-path",
                                        "tetris",
                                        "breadth-first",
                                        "random",
                                        "coffman-graham",
                                        "strip-part",
                                        "graphene",
                                        "graphene-paper"};
    fixture f = fixture_topcuoglu();
    clo_rcpsp problem;

    assert_int_equal(clo_rcpsp_open(&problem, f.cost), CLO_ERR_UNSUPPORTED);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        clo_plan_destroy(fixture_plan(&f, names[i]));
    expect_makespan(&f, "sgs-serial", 80); /* HEFT's order */
    fixture_free(&f);
}

/* Four of 3 shares of 5, then eight on four executors: one at a time, then four at a time. */
static void the_bound_adds_up_what_lies_between_barriers(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint32_t a = add(&f, 10, 3, 4), b = add(&f, 10, 0, 8);
    clo_bound bound = CLO_BOUND_INIT;

    edge(&f, a, b);
    fixture_seal(&f, 4, NULL, 5);
    ok(clo_cost_bound(f.cost, &bound));
    assert_int_equal(bound.critical_path_ns, 20);
    assert_int_equal(bound.resource_ns, 24);
    assert_int_equal(bound.area_ns, 30);
    assert_int_equal(bound.combined_ns, 60);
    expect_makespan(&f, "graphene", 60);
    fixture_free(&f);
}

/* The same two stages, and one that runs beside them all the time, so that there is no barrier: the chain counts. */
static void the_bound_counts_stages_along_a_chain(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint32_t a = add(&f, 10, 3, 4), b = add(&f, 10, 0, 8);
    clo_bound bound = CLO_BOUND_INIT;

    edge(&f, a, b);
    add(&f, 1, 0, 1);
    fixture_seal(&f, 4, NULL, 5);
    ok(clo_cost_bound(f.cost, &bound));
    assert_int_equal(bound.combined_ns, 60);
    fixture_free(&f);
}

enum { ROUNDS = 1000 };

typedef struct marks {
    uint32_t worker[ROUNDS], times[ROUNDS];
} marks;

static void mark(void *context, uint32_t worker, uint32_t round)
{
    marks *m = context;

    m->worker[round] = worker;
    m->times[round]++;
}

static void a_parallel_loop_runs_each_round_once_on_its_worker(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 3, CLO_PARALLEL_MAX};

    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        marks m = {0};
        clo_parallel_for(threads[k], ROUNDS, mark, &m);
        for (uint32_t i = 0; i < ROUNDS; i++) {
            assert_int_equal(m.times[i], 1);
            assert_int_equal(m.worker[i], i % threads[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial_generation_waits_and_parallel_generation_does_not),
        cmocka_unit_test(backward_generation_starts_at_the_exits),
        cmocka_unit_test(breadth_first_takes_levels_and_critical_path_takes_chains),
        cmocka_unit_test(coffman_graham_is_optimal_on_two_executors),
        cmocka_unit_test(coffman_graham_leaves_redundant_arcs_out),
        cmocka_unit_test(tetris_takes_the_best_match),
        cmocka_unit_test(tetris_takes_the_job_with_the_least_work_left),
        cmocka_unit_test(strip_part_divides_at_the_middle_of_the_longest_way),
        cmocka_unit_test(random_depends_on_the_seed_only),
        cmocka_unit_test(graphene_places_what_is_troublesome_first),
        cmocka_unit_test(graphene_cuts_at_barriers),
        cmocka_unit_test(graphene_closes_the_troublesome_set),
        cmocka_unit_test(graphene_gives_the_same_plan_with_any_number_of_threads),
        cmocka_unit_test(what_is_no_packing_is_dispatched),
        cmocka_unit_test(the_bound_adds_up_what_lies_between_barriers),
        cmocka_unit_test(the_bound_counts_stages_along_a_chain),
        cmocka_unit_test(a_parallel_loop_runs_each_round_once_on_its_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
