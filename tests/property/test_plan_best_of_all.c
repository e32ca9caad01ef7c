/* No registered planner is ahead of `best` at 1 000 schedules, on 150 random graphs: of the generated families on
 * unlike executors, and of random ones with all that a graph can say. `exact` and
 * `lachesis` are left out: they are searches of their own, which would need the whole budget. */
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/rng.h"

#include <clotho/generate.h>

#include <string.h>

enum { GRAPHS = 150, SCHEDULES = 1000 };

typedef struct problem {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} problem;

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

static problem make_problem(uint64_t seed)
{
    static const unsigned features[] = {0, RANDOM_KINDS, RANDOM_DUPLICABLE, RANDOM_DEMANDS | RANDOM_NO_BYTES,
                                        RANDOM_ALL};
    static const double ccrs[] = {0.1, 1, 5};
    problem p = {NULL, NULL, NULL};
    clo_rng rng = sample_rng(seed);

    if (seed % 3 == 0) {
        p.graph = random_graph(seed, features[seed / 3 % 5]);
        p.platform = random_platform(seed, features[seed / 3 % 5]);
    } else {
        clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
        config.seed = seed;
        config.tasks = 10 + clo_rng_below(&rng, 90);
        config.ccr = ccrs[seed / 3 % 3];
        config.work_spread = 0.8;
        config.duplicable = seed / 2 % 2;
        ok(clo_graph_generate(name_at("families", (uint32_t)seed % 11), &config, &p.graph));
        p.platform = unlike_platform(&rng);
    }
    ok(clo_cost_create(p.graph, p.platform, &p.cost));
    return p;
}

static int64_t makespan_ns(const problem *p, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner;
    config.schedules_max = SCHEDULES;
    ok(clo_plan_create(p->cost, &config, &plan));
    int64_t makespan = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return makespan;
}

static void no_planner_is_ahead_of_best(void **state)
{
    uint32_t ahead = 0;
    (void)state;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        problem p = make_problem(seed);
        int64_t best = makespan_ns(&p, "best");
        const char *planner;
        for (uint32_t i = 0; (planner = name_at("planners", i)) != NULL; i++) {
            bool is_search = strcmp(planner, "exact") == 0 || strcmp(planner, "lachesis") == 0;
            int64_t other = is_search ? best : makespan_ns(&p, planner);
            if (other >= best)
                continue;
            ahead++;
            print_message("graph %llu, %u tasks, %u executors: %s %lld, best %lld\n", (unsigned long long)seed,
                          clo_graph_tasks(p.graph), clo_platform_executors(p.platform), planner, (long long)other,
                          (long long)best);
        }
        clo_cost_destroy(p.cost);
        clo_platform_destroy(p.platform);
        clo_graph_destroy(p.graph);
    }
    assert_int_equal(ahead, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_planner_is_ahead_of_best)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
