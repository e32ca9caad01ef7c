/* Graphs with stages (tasks of many instances), judged pair by pair: the inputs of every execution in the plans of all
 * planners are there, the checker finds the same late inputs as a look at every pair, and the transfers that a plan is
 * measured with are those between all pairs. */
#include "pairs.h"
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "planner_named.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 60, SCHEDULES = 10, MOVES = 6 };

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    test_pairs pairs;
} scene;

static scene scene_new(uint64_t seed)
{
    static const unsigned families[] = {RANDOM_STAGES, RANDOM_STAGES | RANDOM_DUPLICABLE, RANDOM_STAGES | RANDOM_ALL,
                                        RANDOM_STAGES | RANDOM_NO_BYTES | RANDOM_DEMANDS,
                                        RANDOM_INSTANCES | RANDOM_DUPLICABLE};
    unsigned features = families[seed % (sizeof families / sizeof families[0])];
    scene s = {.graph = random_graph(seed, features), .platform = random_platform(seed, features & RANDOM_DEMANDS)};

    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    s.pairs = pairs_of(s.graph);
    return s;
}

static void scene_free(scene *s)
{
    pairs_free(&s->pairs);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static uint32_t instance_of(const scene *s, const clo_placement *p)
{
    return s->pairs.first_instance[p->task] + p->instance;
}

/* Where the data of one pair come from: the execution that arrives first; ties: one on the same executor, then the
 * original. */
static const clo_placement *source_of(const scene *s, const clo_placement *p, size_t count, uint32_t pair,
                                      uint32_t executor, int64_t *arrival)
{
    const clo_placement *best = NULL;

    *arrival = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (instance_of(s, &p[i]) != s->pairs.before[pair])
            continue;
        int64_t there =
            p[i].finish_ns + clo_platform_transfer_ns(s->platform, s->pairs.bytes[pair], p[i].executor, executor);
        bool wins_tie = best != NULL && (p[i].executor == executor || (!p[i].is_replica && best->executor != executor));
        if (best == NULL || there < *arrival || (there == *arrival && wins_tie)) {
            best = &p[i];
            *arrival = there;
        }
    }
    assert_non_null(best);
    return best;
}

typedef struct verdict {
    uint64_t late, transfers, bytes; /* over all pairs */
} verdict;

static verdict judge(const scene *s, const clo_placement *p, size_t count)
{
    verdict v = {0};

    for (size_t i = 0; i < count; i++) {
        uint32_t instance = instance_of(s, &p[i]), memory = clo_platform_executor(s->platform, p[i].executor)->memory;
        for (uint32_t k = s->pairs.before_first[instance]; k < s->pairs.before_first[instance + 1]; k++) {
            int64_t arrival;
            const clo_placement *from = source_of(s, p, count, k, p[i].executor, &arrival);
            v.late += arrival > p[i].start_ns;
            if (clo_platform_executor(s->platform, from->executor)->memory == memory)
                continue;
            v.transfers++;
            v.bytes += s->pairs.bytes[k];
        }
    }
    return v;
}

static clo_plan *plan_by(const scene *s, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.schedules_max = SCHEDULES;
    config.justify = strcmp(planner, "heft") == 0 || strcmp(planner, "deft") == 0;
    ok(clo_plan_create(s->cost, &config, &plan));
    return plan;
}

static void no_input_of_any_plan_is_late_and_transfers_are_those_of_all_pairs(void **state)
{
    (void)state;
    uint64_t replicas = 0, transfers = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = scene_new(seed);
        const char *name;
        for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
            clo_plan *plan = plan_by(&s, name);
            clo_plan_metrics m = CLO_PLAN_METRICS_INIT;
            size_t count;
            const clo_placement *p = clo_plan_placements(plan, &count);
            verdict v = judge(&s, p, count);
            ok(clo_plan_check(plan, s.cost, CLO_CHECK_FULL));
            ok(clo_plan_measure(plan, s.cost, &m));
            if (v.late > 0)
                fail_msg("seed %llu, %s: %llu inputs are late", (unsigned long long)seed, name,
                         (unsigned long long)v.late);
            assert_int_equal(m.transfers, v.transfers);
            assert_int_equal(m.transferred_bytes, v.bytes);
            replicas += m.duplicates;
            transfers += v.transfers;
            clo_plan_destroy(plan);
        }
        scene_free(&s);
    }
    assert_true(replicas > 0 && transfers >= 10000); /* else the test says nothing */
}

/* Moves executions to the left; returns whether the checker names a late input. */
static bool names_a_late_input(const scene *s, const clo_placement *placements, size_t count)
{
    clo_plan *plan = NULL;

    ok(clo_plan_from_placements(s->cost, NULL, placements, count, &plan));
    clo_status status = clo_plan_check(plan, s->cost, CLO_CHECK_FULL);
    bool is_named = status == CLO_ERR_INVALID && strstr(clo_last_error(), "its input from") != NULL;
    clo_plan_destroy(plan);
    return is_named;
}

static void the_checker_sees_the_late_inputs_that_pairs_show(void **state)
{
    (void)state;
    uint32_t late = 0, in_time = 0;

    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        scene s = scene_new(seed);
        clo_plan *plan = plan_by(&s, seed % 3 == 0 ? "dfrn" : seed % 3 == 1 ? "deft-append" : "heft-append");
        clo_rng rng = sample_rng(seed);
        size_t count;
        const clo_placement *p = clo_plan_placements(plan, &count);
        clo_placement *moved = test_calloc(count, sizeof *moved);
        for (int round = 0; round < MOVES; round++) {
            clo_placement *one = &moved[clo_rng_below(&rng, (uint32_t)count)];
            memcpy(moved, p, count * sizeof *moved);
            int64_t by = clo_rng_below(&rng, 4) == 0 ? 1 : clo_rng_below(&rng, 4000);
            by = by < one->start_ns ? by : one->start_ns;
            one->start_ns -= by;
            one->finish_ns -= by;
            bool is_late = judge(&s, moved, count).late > 0;
            if (names_a_late_input(&s, moved, count) != is_late)
                fail_msg("seed %llu, round %d: the checker says otherwise", (unsigned long long)seed, round);
            late += is_late;
            in_time += !is_late;
        }
        test_free(moved);
        clo_plan_destroy(plan);
        scene_free(&s);
    }
    assert_true(late >= 50 && in_time >= 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_input_of_any_plan_is_late_and_transfers_are_those_of_all_pairs),
        cmocka_unit_test(the_checker_sees_the_late_inputs_that_pairs_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
