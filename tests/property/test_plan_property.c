/* 1000 random graphs on random platforms: every planner's plan is valid, no shorter than the bound, always the same,
 * and justified it is valid and no longer; best and exact are never longer than HEFT, and nothing is shorter than what
 * they proved; and the checker sees when one of HEFT's executions starts too early. CLOTHO_PROPERTY_SEEDS=N: that many
 * graphs, for a night. */
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "planner_named.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 1000, SCHEDULES = 30 };

/* Of 53 planners each. With sanitizers it is three times as slow, and what it finds in memory it finds early. */
enum { SEEDS_HERE = SANITIZED ? SEEDS / 8 : SEEDS * 6 / 10 };

static uint64_t seeds(void)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");

    return asked != NULL ? strtoull(asked, NULL, 10) : sample_size(SEEDS_HERE, 3);
}

/* Part of what 1000 seeds must give. */
static uint64_t share(uint64_t of_thousand)
{
    return of_thousand * seeds() / SEEDS;
}

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_bound bound;
} scene;

/* Every second seed has all features at once, the others a random choice of them. */
static scene scene_new(uint64_t seed)
{
    clo_rng rng = sample_rng(seed);
    unsigned features = seed % 2 == 0 ? RANDOM_ALL | RANDOM_UNTIMED : clo_rng_below(&rng, 512);
    scene s = {.graph = random_graph(seed, features),
               .platform = random_platform(seed, features & RANDOM_DEMANDS),
               .bound = CLO_BOUND_INIT};

    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_cost_bound(s.cost, &s.bound));
    return s;
}

static void scene_free(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static clo_plan *make(const scene *s, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    bool asks = strcmp(planner, "lachesis") == 0 || strncmp(planner, "edges", 5) == 0; /* a network, often */
    bool searches = strcmp(planner, "best") == 0 || strcmp(planner, "exact") == 0;
    if (getenv("CLOTHO_PROPERTY_SEEDS") != NULL || asks || searches)
        config.schedules_max = asks ? SCHEDULES / 6 : SCHEDULES; /* there are many graphs */
    ok(clo_plan_create(s->cost, &config, &plan));
    return plan;
}

/* Sorted, as the header promises, and the end is the latest finish. */
static void assert_ordered(const clo_plan *plan)
{
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);
    int64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        end = p[i].finish_ns > end ? p[i].finish_ns : end;
        if (i == 0)
            continue;
        assert_true(p[i - 1].start_ns <= p[i].start_ns);
        if (p[i - 1].start_ns == p[i].start_ns)
            assert_true(p[i - 1].finish_ns < p[i].finish_ns ||
                        (p[i - 1].finish_ns == p[i].finish_ns && p[i - 1].executor <= p[i].executor));
    }
    assert_int_equal(end, clo_plan_makespan_ns(plan));
}

static void assert_equal_plans(const clo_plan *a, const clo_plan *b)
{
    size_t count, other;
    const clo_placement *p = clo_plan_placements(a, &count), *q = clo_plan_placements(b, &other);

    assert_int_equal(count, other);
    assert_memory_equal(p, q, count * sizeof *p);
}

static void every_plan_is_valid_not_below_the_bound_and_reproducible(void **state)
{
    (void)state;
    uint64_t replicas = 0;

    for (uint64_t seed = 0; seed < seeds(); seed++) {
        scene s = scene_new(seed);
        const char *name;
        for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
            clo_plan *plan = make(&s, name), *again = make(&s, name);
            clo_plan_metrics m = CLO_PLAN_METRICS_INIT;
            if (clo_plan_check(plan, s.cost, CLO_CHECK_FULL) != CLO_OK)
                fail_msg("seed %llu, %s: %s", (unsigned long long)seed, name, clo_last_error());
            ok(clo_plan_check(plan, s.cost, CLO_CHECK_MEASURED));
            assert_ordered(plan);
            assert_equal_plans(plan, again);
            if (clo_plan_makespan_ns(plan) < s.bound.best_ns)
                fail_msg("seed %llu, %s: makespan %lld is below the bound %lld", (unsigned long long)seed, name,
                         (long long)clo_plan_makespan_ns(plan), (long long)s.bound.best_ns);
            ok(clo_plan_measure(plan, s.cost, &m));
            assert_int_equal(m.makespan_ns, clo_plan_makespan_ns(plan));
            assert_true(m.gap >= 0 && m.slr >= 1 && m.speedup >= 0 && m.utilization >= 0 && m.utilization <= 1 + 1e-9);
            size_t count;
            clo_plan_placements(plan, &count);
            assert_int_equal(count, clo_graph_instances(s.graph) + m.duplicates);
            replicas += m.duplicates;
            clo_plan_destroy(plan);
            clo_plan_destroy(again);
        }
        scene_free(&s);
    }
    assert_true(replicas >= share(500));
}

static clo_plan *make_short(const scene *s, const char *planner, uint32_t justify)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.schedules_max = SCHEDULES;
    config.justify = justify;
    ok(clo_plan_create(s->cost, &config, &plan));
    return plan;
}

static void justified_plans_are_valid_and_never_longer(void **state)
{
    (void)state;
    uint64_t shorter = 0;

    for (uint64_t seed = 0; seed < seeds(); seed++) {
        scene s = scene_new(seed);
        const char *name;
        for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
            clo_plan *before = make_short(&s, name, 0), *after = make_short(&s, name, 1);
            if (clo_plan_check(after, s.cost, CLO_CHECK_FULL) != CLO_OK)
                fail_msg("seed %llu, %s: %s", (unsigned long long)seed, name, clo_last_error());
            assert_ordered(after);
            if (clo_plan_makespan_ns(after) > clo_plan_makespan_ns(before))
                fail_msg("seed %llu, %s: longer", (unsigned long long)seed, name);
            if (clo_plan_makespan_ns(after) < s.bound.best_ns)
                fail_msg("seed %llu, %s: below the bound", (unsigned long long)seed, name);
            assert_true(clo_plan_schedules(after) > clo_plan_schedules(before) ||
                        clo_plan_makespan_ns(before) == s.bound.best_ns || clo_plan_is_optimal(before));
            shorter += clo_plan_makespan_ns(after) < clo_plan_makespan_ns(before);
            clo_plan_destroy(before);
            clo_plan_destroy(after);
        }
        scene_free(&s);
    }
    assert_true(shorter >= share(5000));
}

static clo_plan *search(const scene *s, const char *planner, uint32_t no_duplicates)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.no_duplicates = no_duplicates;
    config.seed = 7;
    config.schedules_max = SCHEDULES;
    ok(clo_plan_create(s->cost, &config, &plan));
    return plan;
}

/* `proved`: by exact without duplicates; 0: nothing. */
static void assert_not_shorter(const clo_plan *plan, int64_t proved, uint64_t seed)
{
    if (clo_plan_makespan_ns(plan) < proved)
        fail_msg("seed %llu, %s: makespan %lld is below the proved optimum %lld", (unsigned long long)seed,
                 clo_plan_planner(plan), (long long)clo_plan_makespan_ns(plan), (long long)proved);
}

static void a_search_is_never_longer_than_heft_and_proves_what_is_true(void **state)
{
    (void)state;
    uint64_t shorter = 0, proofs = 0;

    for (uint64_t i = 0; i <= seeds(); i++) {
        uint64_t seed = i < seeds() ? i : 26113; /* there machines and executors are not in the same order */
        scene s = scene_new(seed);
        clo_plan *heft = make(&s, "heft"), *best = search(&s, "best", 0), *bare = search(&s, "best", 1);
        clo_plan *exact = search(&s, "exact", 1);
        const clo_plan *searched[] = {best, bare, exact};
        for (int k = 0; k < 3; k++) {
            if (clo_plan_check(searched[k], s.cost, CLO_CHECK_FULL) != CLO_OK)
                fail_msg("seed %llu, %s: %s", (unsigned long long)seed, clo_plan_planner(searched[k]),
                         clo_last_error());
            if (clo_plan_makespan_ns(searched[k]) > clo_plan_makespan_ns(heft))
                fail_msg("seed %llu: %s %d is longer than HEFT", (unsigned long long)seed,
                         clo_plan_planner(searched[k]), k);
        }
        size_t count;
        clo_plan_placements(bare, &count);
        assert_int_equal(count, clo_graph_instances(s.graph));
        int64_t proved = clo_plan_is_optimal(exact) ? clo_plan_makespan_ns(exact) : 0;
        assert_not_shorter(bare, proved, seed);
        assert_not_shorter(heft, proved, seed);
        if (clo_plan_is_optimal(bare))
            assert_not_shorter(exact, clo_plan_makespan_ns(bare), seed);
        if (clo_plan_is_optimal(best))
            assert_not_shorter(exact, clo_plan_makespan_ns(best), seed);
        shorter += clo_plan_makespan_ns(best) < clo_plan_makespan_ns(heft);
        proofs += proved > 0;
        clo_plan_destroy(heft);
        clo_plan_destroy(best);
        clo_plan_destroy(bare);
        clo_plan_destroy(exact);
        scene_free(&s);
    }
    print_message("of %llu: best is shorter than HEFT on %llu, exact proves %llu\n", (unsigned long long)seeds(),
                  (unsigned long long)shorter, (unsigned long long)proofs);
    assert_true(shorter >= share(200) && proofs >= share(50));
}

/* HEFT gives every execution the earliest start there is on its executor, and later ones only take more: so one ns
 * earlier breaks something, and the checker must see it. */
static void one_ns_earlier_is_always_a_violation(void **state)
{
    (void)state;
    uint32_t moved = 0;

    for (uint64_t seed = 0; seed < seeds(); seed++) {
        scene s = scene_new(seed);
        clo_plan *plan = make(&s, "heft"), *broken = NULL;
        clo_rng rng = sample_rng(seed);
        size_t count;
        const clo_placement *p = clo_plan_placements(plan, &count);
        clo_placement *copy = malloc(count * sizeof *copy);
        assert_non_null(copy);
        for (int round = 0; round < 4; round++) {
            size_t i = clo_rng_below(&rng, (uint32_t)count);
            if (p[i].start_ns == 0)
                continue;
            memcpy(copy, p, count * sizeof *copy);
            copy[i].start_ns--;
            copy[i].finish_ns--;
            ok(clo_plan_from_placements(s.cost, NULL, copy, count, &broken));
            if (clo_plan_check(broken, s.cost, CLO_CHECK_FULL) != CLO_ERR_INVALID)
                fail_msg("seed %llu: placement %zu was moved and nobody saw it", (unsigned long long)seed, i);
            clo_plan_destroy(broken);
            moved++;
        }
        free(copy);
        clo_plan_destroy(plan);
        scene_free(&s);
    }
    assert_true(moved >= seeds());
}

/* Pictures of whatever there is: they must not crash, and say something about every executor. */
static void every_plan_can_be_drawn(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed += 10) {
        scene s = scene_new(seed);
        clo_plan *plan = make(&s, "deft");
        char *text = NULL;
        size_t lines = 0;
        ok(clo_plan_gantt_text(plan, s.cost, (uint32_t)(40 + seed % 160), &text));
        for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
            lines++;
        assert_true(lines >= clo_platform_executors(s.platform) + 3);
        free(text);
        ok(clo_plan_gantt_svg(plan, s.cost, NULL, "/dev/null"));
        clo_plan_destroy(plan);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_is_valid_not_below_the_bound_and_reproducible),
        cmocka_unit_test(justified_plans_are_valid_and_never_longer),
        cmocka_unit_test(a_search_is_never_longer_than_heft_and_proves_what_is_true),
        cmocka_unit_test(one_ns_earlier_is_always_a_violation),
        cmocka_unit_test(every_plan_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
