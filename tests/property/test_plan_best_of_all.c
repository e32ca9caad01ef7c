/* No planner is ahead of `best`. Without a budget none at all, `exact` included, whether its plan is justified or not,
 * on small random problems with everything in them (support/small_case.h), with ports and up to 300 executors.
 * CLOTHO_PROPERTY_SEEDS=N: so many problems. With a budget of 1 000 schedules none on 150 graphs of the generated
 * families on unlike executors, and on random ones with all that a graph can say, where `best` begins with their plans:
 * not with those of planners that add edges, and with none on packings; there others are ahead on few graphs. `exact`
 * and `lachesis` are left out then: they are searches of their own, which would need the whole budget. */
#include "random.h"
#include "sample.h"
#include "small_case.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/rcpsp/problem.h"
#include "planner_named.h"

#include <clotho/generate.h>

#include <string.h>

enum { PROBLEMS = SANITIZED ? 40 : 200, GRAPHS = SANITIZED ? 40 : 150, SCHEDULES = 1000 };

static clo_platform *unlike_platform(clo_rng *rng)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    uint32_t executors = 2 + clo_rng_below(rng, 11);
    clo_executor list[12];
    int64_t latency_ns[12 * 12];
    double bandwidth[12 * 12];
    clo_platform *platform = NULL;

    for (uint32_t e = 0; e < executors; e++) {
        uint32_t speed = CLO_SPEED_ONE / 2 + clo_rng_below(rng, CLO_SPEED_ONE);
        list[e] = (clo_executor){.memory = e, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = speed;
    }
    for (uint32_t i = 0; i < executors * executors; i++) {
        latency_ns[i] = 1000;
        bandwidth[i] = 1;
    }
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.latency_ns = latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static small_case family_case(uint64_t seed)
{
    static const unsigned features[] = {0, RANDOM_KINDS, RANDOM_DUPLICABLE, RANDOM_DEMANDS | RANDOM_NO_BYTES,
                                        RANDOM_ALL};
    static const double ccrs[] = {0.1, 1, 5};
    small_case c = {.no_duplicates = false};
    clo_rng rng = sample_rng(seed);

    if (seed % 3 == 0) {
        c.graph = random_graph(seed, features[seed / 3 % 5]);
        c.platform = random_platform(seed, features[seed / 3 % 5]);
    } else {
        clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
        config.seed = seed;
        config.tasks = 10 + clo_rng_below(&rng, 90);
        config.ccr = ccrs[seed / 3 % 3];
        config.work_spread = 0.8;
        config.duplicable = seed / 2 % 2;
        ok(clo_graph_generate(name_at("families", (uint32_t)seed % 11), &config, &c.graph));
        c.platform = unlike_platform(&rng);
    }
    ok(clo_cost_create(c.graph, c.platform, &c.cost));
    return c;
}

/* schedules_max 0: no budget. */
static int64_t makespan_ns(const small_case *c, const char *planner, uint64_t schedules_max, uint32_t justify)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.schedules_max = schedules_max;
    config.no_duplicates = c->no_duplicates;
    config.justify = justify;
    ok(clo_plan_create(c->cost, &config, &plan));
    ok(clo_plan_check(plan, c->cost, CLO_CHECK_FULL));
    assert_string_equal(clo_plan_planner(plan), planner);
    int64_t makespan = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return makespan;
}

/* True if `best` begins with HEFT's plan alone. */
static bool is_packing(const small_case *c)
{
    clo_rcpsp problem = {0};
    clo_status status = clo_rcpsp_open(&problem, c->cost);

    assert_true(status == CLO_OK || status == CLO_ERR_UNSUPPORTED);
    clo_rcpsp_close(&problem);
    return status == CLO_OK;
}

/* Planners ahead of `best`: with plans that it begins with, or should find without a budget; and others. */
typedef struct ahead_count {
    uint32_t known, others;
} ahead_count;

static ahead_count count_ahead(const small_case *c, uint64_t seed, uint64_t schedules_max)
{
    int64_t best = makespan_ns(c, "best", schedules_max, 0);
    bool knows_none = schedules_max > 0 && is_packing(c);
    ahead_count ahead = {0, 0};
    const char *planner;

    for (uint32_t i = 0; (planner = name_at("planners", i)) != NULL; i++) {
        if (schedules_max > 0 && (strcmp(planner, "exact") == 0 || strcmp(planner, "lachesis") == 0))
            continue;
        int64_t other = makespan_ns(c, planner, schedules_max, schedules_max == 0 && seed % 2 == 0);
        if (other >= best)
            continue;
        bool is_other = knows_none || (schedules_max > 0 && strncmp(planner, "edges", 5) == 0);
        *(is_other ? &ahead.others : &ahead.known) += 1;
        print_message("problem %llu, %u tasks, %u executors: %s %lld, best %lld\n", (unsigned long long)seed,
                      clo_graph_tasks(c->graph), clo_platform_executors(c->platform), planner, (long long)other,
                      (long long)best);
    }
    return ahead;
}

static void no_planner_is_ahead_of_best_without_a_budget(void **state)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");
    uint64_t problems = asked != NULL ? strtoull(asked, NULL, 10) : PROBLEMS, tried = 0;
    uint32_t ahead = 0;

    (void)state;
    for (uint64_t seed = 0; seed < problems; seed++) {
        small_case c = small_case_new(seed, SMALL_WIDE | (seed % 2 != 0 ? SMALL_PORTS : 0u));
        ahead += c.cost != NULL ? count_ahead(&c, seed, 0).known : 0;
        tried += c.cost != NULL;
        small_case_drop(&c);
    }
    assert_int_equal(ahead, 0);
    assert_true(tried > problems / 2);
}

static void no_planner_is_ahead_of_best_at_1000_schedules(void **state)
{
    uint32_t ahead = 0, with_others_ahead = 0;

    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        small_case c = family_case(seed);
        ahead_count count = count_ahead(&c, seed, SCHEDULES);
        ahead += count.known;
        with_others_ahead += count.others > 0;
        small_case_drop(&c);
    }
    assert_int_equal(ahead, 0);
    assert_true(with_others_ahead <= GRAPHS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_planner_is_ahead_of_best_without_a_budget),
        cmocka_unit_test(no_planner_is_ahead_of_best_at_1000_schedules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
