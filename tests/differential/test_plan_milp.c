/* test_plan_milp.c - small random graphs: the mixed integer program (milp.h) against the planner `exact`, and, with
 * demands, which `exact` does not search, against trying everything. No plan and no bound may contradict it. */
#include "milp.h"

#include "base/numbers/rng.h"

#include <clotho/planner.h>
#include <stdio.h>
#include <string.h>

enum { GRAPHS = SANITIZED ? 40 : 200, TASKS = 6, EXECUTORS = 3, CAPACITY = 10 };

typedef struct small {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    milp_problem milp;
} small;

static void make_platform(small *s, clo_rng *rng)
{
    milp_problem *p = &s->milp;
    clo_executor list[EXECUTORS] = {0};
    double bandwidth[EXECUTORS * EXECUTORS];
    int64_t latency[EXECUTORS * EXECUTORS], capacities[EXECUTORS * CLO_RESOURCES_MAX];
    const char *names[CLO_RESOURCES_MAX] = {"memory"};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t e = 0; e < p->executors; e++) {
        p->machine_of[e] = e % p->machines;
        list[e] = (clo_executor){.kind = e,
                                 .machine = p->machine_of[e],
                                 .memory = e,
                                 .os_index = -1,
                                 .speed_q16 = {65536, 65536, 65536, 65536}};
    }
    for (uint32_t i = 0; i < EXECUTORS * EXECUTORS; i++) {
        bandwidth[i] = 1 << clo_rng_below(rng, 2);
        latency[i] = clo_rng_below(rng, 3);
    }
    for (uint32_t i = 0; i < EXECUTORS * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX == 0 ? CAPACITY : -1;
    desc.executors_count = desc.kinds_count = p->executors;
    desc.machines_count = p->machines;
    desc.executors = list;
    desc.capacities = capacities;
    desc.resource_names = names;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &s->platform));
}

static void add_tasks(small *s, clo_rng *rng, bool has_demands)
{
    milp_problem *p = &s->milp;

    for (uint32_t t = 0; t < p->tasks; t++) {
        clo_task task = {.work_ns = 1 + clo_rng_below(rng, 9)};
        p->demand[t] = task.demand[0] = has_demands ? clo_rng_below(rng, CAPACITY + 1) : 0;
        if (clo_rng_below(rng, 6) == 0)
            task.executors_mask = 1 + clo_rng_below(rng, (1u << p->executors) - 1);
        ok(clo_graph_add_task(s->graph, &task, NULL));
        for (uint32_t e = 0; e < p->executors; e++) {
            char name[16];
            uint32_t kind;
            snprintf(name, sizeof name, "k%u", e);
            ok(clo_graph_kind(s->graph, name, &kind));
            if (clo_rng_below(rng, 3) == 0)
                ok(clo_graph_set_time(s->graph, t, kind, 1 + clo_rng_below(rng, 9)));
        }
    }
}

static void add_edges(small *s, clo_rng *rng)
{
    milp_problem *p = &s->milp;
    uint32_t density = clo_rng_below(rng, 80);

    for (uint32_t a = 0; a < p->tasks; a++)
        for (uint32_t b = a + 1; b < p->tasks; b++) {
            uint32_t bytes = clo_rng_below(rng, 10);
            if (clo_rng_below(rng, 100) >= density)
                continue;
            p->is_edge[a][b] = true;
            ok(clo_graph_add_edge(s->graph, a, b, bytes));
            for (uint32_t from = 0; from < p->executors; from++)
                for (uint32_t to = 0; to < p->executors; to++)
                    p->transfer[a][b][from][to] = clo_platform_transfer_ns(s->platform, bytes, from, to);
        }
}

static small small_new(uint64_t seed, bool has_demands)
{
    clo_rng rng = clo_rng_seed(seed);
    small s = {.milp = {.tasks = 2 + clo_rng_below(&rng, has_demands ? TASKS - 2 : TASKS - 1),
                        .executors = 1 + clo_rng_below(&rng, EXECUTORS)}};

    s.milp.machines = 1 + clo_rng_below(&rng, s.milp.executors < 2 ? s.milp.executors : 2);
    for (uint32_t m = 0; m < s.milp.machines; m++)
        s.milp.capacity[m] = has_demands ? CAPACITY : -1;
    make_platform(&s, &rng);
    ok(clo_graph_create("small", &s.graph));
    if (has_demands)
        ok(clo_graph_set_resource(s.graph, 0, "memory"));
    add_tasks(&s, &rng, has_demands);
    add_edges(&s, &rng);
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    for (uint32_t t = 0; t < s.milp.tasks; t++)
        for (uint32_t e = 0; e < s.milp.executors; e++)
            s.milp.time[t][e] = clo_cost_execution_ns(s.cost, t, e);
    return s;
}

static void small_free(small *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

/* A partial plan: executor CLO_NONE: the task is not placed. */
typedef struct partial {
    const milp_problem *p;
    uint32_t executor[TASKS], order[TASKS], depth;
    int64_t start[TASKS], finish[TASKS], best;
} partial;

static bool fits(const partial *a, uint32_t task, uint32_t executor, int64_t start)
{
    const milp_problem *p = a->p;
    uint32_t machine = p->machine_of[executor];
    int64_t finish = start + p->time[task][executor];

    for (uint32_t at = 0; at <= p->tasks; at++) { /* at its start, and wherever another one starts meanwhile */
        int64_t now = at == p->tasks ? start : a->start[at], held = p->demand[task];
        if (at < p->tasks && (a->executor[at] == CLO_NONE || now <= start || now >= finish))
            continue;
        for (uint32_t i = 0; i < p->tasks; i++) {
            if (a->executor[i] == CLO_NONE || a->start[i] > now || a->finish[i] <= now)
                continue;
            if (a->executor[i] == executor)
                return false;
            held += p->machine_of[a->executor[i]] == machine ? p->demand[i] : 0;
        }
        if (p->capacity[machine] >= 0 && held > p->capacity[machine])
            return false;
    }
    return true;
}

static int64_t earliest(const partial *a, uint32_t task, uint32_t executor)
{
    const milp_problem *p = a->p;
    int64_t ready = 0, best = INT64_MAX;

    for (uint32_t i = 0; i < task; i++)
        if (p->is_edge[i][task]) {
            int64_t arrival = a->finish[i] + p->transfer[i][task][a->executor[i]][executor];
            ready = arrival > ready ? arrival : ready;
        }
    if (fits(a, task, executor, ready))
        return ready;
    for (uint32_t i = 0; i < p->tasks; i++)
        if (a->executor[i] != CLO_NONE && a->finish[i] > ready && a->finish[i] < best &&
            fits(a, task, executor, a->finish[i]))
            best = a->finish[i];
    return best;
}

static bool is_ready(const partial *a, uint32_t task)
{
    bool is_ready = a->executor[task] == CLO_NONE;

    for (uint32_t i = 0; i < task; i++)
        is_ready = is_ready && (!a->p->is_edge[i][task] || a->executor[i] != CLO_NONE);
    return is_ready;
}

/* Every order of the tasks on all executors, each task as early as it fits: one of these plans is a shortest one. A
 * code counts the choices of one depth. */
static int64_t shortest(const milp_problem *p)
{
    partial a = {.p = p, .best = INT64_MAX};
    uint32_t code[TASKS] = {0}, choices = p->tasks * p->executors;

    for (uint32_t i = 0; i < p->tasks; i++)
        a.executor[i] = CLO_NONE;
    for (;;) { /* each round tries a choice, or takes one back */
        if (code[a.depth] == choices) {
            if (a.depth == 0)
                return a.best;
            a.executor[a.order[--a.depth]] = CLO_NONE;
            continue;
        }
        uint32_t task = code[a.depth] / p->executors, executor = code[a.depth] % p->executors;
        code[a.depth]++;
        if (!is_ready(&a, task) || p->time[task][executor] == CLO_TIME_NEVER)
            continue;
        int64_t start = earliest(&a, task, executor), finish = start + p->time[task][executor];
        if (finish >= a.best)
            continue;
        a.start[task] = start;
        a.finish[task] = finish;
        a.executor[task] = executor;
        a.order[a.depth++] = task;
        if (a.depth < p->tasks) {
            code[a.depth] = 0;
            continue;
        }
        a.best = 0;
        for (uint32_t i = 0; i < p->tasks; i++)
            a.best = a.finish[i] > a.best ? a.finish[i] : a.best;
        a.executor[a.order[--a.depth]] = CLO_NONE;
    }
}

static clo_plan *exact(const clo_cost *cost)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_exact;
    config.no_duplicates = true;
    ok(clo_plan_create(cost, &config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    return plan;
}

static void compare(uint64_t seed, bool has_demands, uint32_t *proved)
{
    small s = small_new(seed, has_demands);
    clo_plan *plan = exact(s.cost);
    clo_bound bound = CLO_BOUND_INIT;

    s.milp.longest = clo_plan_makespan_ns(plan);
    int64_t want = milp_shortest(&s.milp), all = shortest(&s.milp);
    ok(clo_cost_bound(s.cost, &bound));
    if (want != all || bound.best_ns > want || (clo_plan_is_optimal(plan) && s.milp.longest != want))
        fail_msg("seed %llu: MILP %lld, all tried %lld, exact %lld%s, bound %lld", (unsigned long long)seed,
                 (long long)want, (long long)all, (long long)s.milp.longest, clo_plan_is_optimal(plan) ? " proved" : "",
                 (long long)bound.best_ns);
    *proved += clo_plan_is_optimal(plan);
    clo_plan_destroy(plan);
    small_free(&s);
}

static void need_solver(void)
{
    if (!milp_has_solver())
        skip_unless_ci("no MILP solver here: libCbcSolver.so.3 cannot be loaded", "apt-get install coinor-libcbc3");
}

/* CLOTHO_PROPERTY_SEEDS: another number of graphs. */
static uint32_t graphs(void)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");

    return asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : GRAPHS;
}

static void test_the_milp_agrees_with_exact(void **state)
{
    uint32_t proved = 0, count = graphs();

    (void)state;
    need_solver();
    for (uint64_t seed = 0; seed < count; seed++)
        compare(seed, false, &proved);
    assert_int_equal(proved, count);
}

static void test_with_demands_the_milp_agrees_with_trying_everything(void **state)
{
    uint32_t proved = 0, count = graphs();

    (void)state;
    need_solver();
    for (uint64_t seed = 0; seed < count; seed++)
        compare(1000000 + seed, true, &proved);
    print_message("exact proves %u of %u by its bound alone\n", proved, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_milp_agrees_with_exact),
                                       cmocka_unit_test(test_with_demands_the_milp_agrees_with_trying_everything)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
