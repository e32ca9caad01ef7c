/* minmin, maxmin, duplex, sufferage, etf and dls against the plain form of their rules: every ready task is looked at
 * for each one that is placed. The plans are equal to the last placement, ties included, whether few or many tasks are
 * ready. */
#include "random.h"
#include "support.h"

#include "plan/schedule/ready.h"
#include "planner_named.h"

#include <clotho/generate.h>

typedef enum rule { LEAST, LARGEST, SUFFERAGE, EARLIEST, DYNAMIC, RULES } rule;

static const char *const planners[RULES] = {"minmin", "maxmin", "sufferage", "etf", "dls"};

/* [tasks] of the graph that is planned: the longest path to an exit in mean times. */
static int64_t *levels_ns;

static void find_levels(const clo_cost *cost)
{
    const clo_graph *graph = cost->graph;

    levels_ns = calloc(graph->tasks, sizeof *levels_ns);
    assert_non_null(levels_ns);
    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        levels_ns[task] += cost->mean_ns[task];
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
            if (levels_ns[clo_graph_source(graph, k)] < levels_ns[task])
                levels_ns[clo_graph_source(graph, k)] = levels_ns[task];
    }
}

/* The score of the task of `instance`, and where it would go. */
static int64_t plain_score(clo_ready *ready, uint32_t instance, rule by, clo_slot *best)
{
    clo_schedule *schedule = ready->schedule;
    uint32_t task = schedule->graph->task_of[instance];
    int64_t second_ns = INT64_MAX, start_ns = INT64_MAX;
    clo_slot first = {0, INT64_MAX, CLO_NONE};

    *best = (clo_slot){0, INT64_MAX, CLO_NONE};
    clo_schedule_find_ready(schedule, instance);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        clo_slot slot = clo_ready_append(ready, task, e, schedule->ready_ns[e]);
        if (slot.executor != CLO_NONE && slot.start_ns < start_ns) {
            start_ns = slot.start_ns;
            first = slot;
        }
        if (slot.finish_ns < best->finish_ns) {
            second_ns = best->finish_ns;
            *best = slot;
        } else if (slot.finish_ns < second_ns) {
            second_ns = slot.finish_ns;
        }
    }
    if (by == SUFFERAGE)
        return second_ns == INT64_MAX ? 0 : second_ns - best->finish_ns;
    if (by == DYNAMIC)
        return levels_ns[task] + schedule->cost->mean_ns[task] - best->finish_ns;
    if (by == LEAST || by == LARGEST)
        return by == LEAST ? -best->finish_ns : best->finish_ns;
    *best = first;
    return -start_ns;
}

/* True if of two instances with equal scores the first goes first. */
static bool wins_tie(const clo_graph *graph, uint32_t a, uint32_t b, rule by)
{
    int64_t x = levels_ns[graph->task_of[a]], y = levels_ns[graph->task_of[b]];

    return by == EARLIEST && x != y ? x > y : a < b;
}

/* Of the ready tasks, each by its next instance, the one to place; ties: the lowest instance. */
static uint32_t plain_pick(clo_ready *ready, const uint32_t *list, uint32_t count, rule by, clo_slot *best)
{
    int64_t most = INT64_MIN;
    uint32_t at = CLO_NONE;

    for (uint32_t i = 0; i < count; i++) {
        clo_slot slot;
        int64_t value = plain_score(ready, list[i], by, &slot);
        if (at != CLO_NONE &&
            (value < most || (value == most && !wins_tie(ready->schedule->graph, list[i], list[at], by))))
            continue;
        most = value;
        at = i;
        *best = slot;
    }
    return at;
}

/* minmin and maxmin empty the batch before they take what became ready meanwhile. */
static bool is_in_rounds(rule by)
{
    return by == LEAST || by == LARGEST;
}

static void plain_fill(clo_schedule *schedule, rule by)
{
    const clo_graph *graph = schedule->graph;
    uint32_t *list = calloc(graph->instances, sizeof *list), count = 0, instance;
    clo_ready ready;

    assert_non_null(list);
    ok(clo_ready_open(&ready, schedule));
    while (schedule->count < graph->instances) {
        bool takes = count == 0 || !is_in_rounds(by);
        while (takes && clo_ready_next(&ready, &instance))
            if (graph->first_instance[graph->task_of[instance]] == instance)
                list[count++] = instance;
        clo_slot slot = {0, 0, CLO_NONE};
        uint32_t at = plain_pick(&ready, list, count, by, &slot);
        instance = list[at];
        ok(clo_ready_place(&ready, instance, slot));
        if (instance + 1 < graph->first_instance[graph->task_of[instance] + 1])
            list[at]++;
        else
            list[at] = list[--count];
    }
    clo_ready_close(&ready);
    free(list);
}

static clo_plan *filled(const clo_cost *cost, rule by)
{
    clo_schedule schedule;
    clo_plan *plan = NULL;

    ok(clo_schedule_open(&schedule, cost, 1));
    plain_fill(&schedule, by);
    clo_placement *placements = calloc(schedule.count, sizeof *placements);
    assert_non_null(placements);
    for (uint32_t c = 0; c < schedule.count; c++) {
        const clo_execution *x = &schedule.executions[c];
        uint32_t task = schedule.graph->task_of[x->instance];
        placements[c] = (clo_placement){.task = task,
                                        .instance = x->instance - schedule.graph->first_instance[task],
                                        .executor = x->executor,
                                        .start_ns = x->start_ns,
                                        .finish_ns = x->finish_ns};
    }
    ok(clo_plan_from_placements(cost, NULL, placements, schedule.count, &plan));
    free(placements);
    clo_schedule_close(&schedule);
    return plan;
}

static clo_plan *planned(const clo_cost *cost, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    ok(clo_plan_create(cost, &config, &plan));
    return plan;
}

static void assert_equal_plans(const clo_plan *a, const clo_plan *b)
{
    size_t count, other;
    const clo_placement *p = clo_plan_placements(a, &count), *q = clo_plan_placements(b, &other);

    assert_int_equal(count, other);
    assert_memory_equal(p, q, count * sizeof *p);
}

/* duplex: the shorter of the first two, minmin on a tie. */
static void compare(const clo_graph *graph, const clo_platform *platform)
{
    clo_cost *cost = NULL;
    clo_plan *plain[RULES] = {NULL};

    ok(clo_cost_create(graph, platform, &cost));
    find_levels(cost);
    for (int by = LEAST; by < RULES; by++) {
        clo_plan *plan = planned(cost, planners[by]);
        plain[by] = filled(cost, (rule)by);
        assert_equal_plans(plan, plain[by]);
        clo_plan_destroy(plan);
    }
    clo_plan *duplex = planned(cost, "duplex");
    bool is_maxmin = clo_plan_makespan_ns(plain[LARGEST]) < clo_plan_makespan_ns(plain[LEAST]);
    assert_equal_plans(duplex, plain[is_maxmin ? LARGEST : LEAST]);
    clo_plan_destroy(duplex);
    for (int by = LEAST; by < RULES; by++)
        clo_plan_destroy(plain[by]);
    free(levels_ns);
    clo_cost_destroy(cost);
}

static void random_graphs_are_planned_as_the_rules_say(void **state)
{
    static const unsigned features[] = {0,
                                        RANDOM_KINDS,
                                        RANDOM_MASKS | RANDOM_KINDS,
                                        RANDOM_INSTANCES,
                                        RANDOM_DEMANDS,
                                        RANDOM_NO_BYTES | RANDOM_KINDS | RANDOM_MASKS,
                                        RANDOM_ALL};
    (void)state;

    for (uint64_t seed = 0; seed < 40; seed++)
        for (size_t f = 0; f < sizeof features / sizeof features[0]; f++) {
            clo_graph *graph = random_graph(seed, features[f]);
            clo_platform *platform = random_platform(seed, features[f]);
            compare(graph, platform);
            clo_platform_destroy(platform);
            clo_graph_destroy(graph);
        }
}

/* `speeds` different ones in turn, so that there are executors that nothing tells apart. On `machines` of them, each
 * with `capacity` of each resource; 0: one machine without limits. */
static clo_platform *make_platform(uint32_t executors, uint32_t speeds, uint32_t kinds, bool has_memories,
                                   uint32_t machines, int64_t capacity)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    int64_t capacities[4 * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor *list = calloc(executors, sizeof *list);
    int64_t *latency_ns = calloc((size_t)executors * executors, sizeof *latency_ns);
    double *bandwidth = calloc((size_t)executors * executors, sizeof *bandwidth);
    clo_platform *platform = NULL;

    assert_true(list != NULL && latency_ns != NULL && bandwidth != NULL);
    for (uint32_t e = 0; e < executors; e++) {
        list[e] = (clo_executor){.kind = e % kinds, .memory = has_memories ? e : 0, .os_index = -1};
        list[e].machine = machines > 0 ? e % machines : 0;
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE / 2 + e % speeds * 7919;
    }
    for (size_t i = 0; i < (size_t)executors * executors; i++) {
        latency_ns[i] = 500;
        bandwidth[i] = 1 + (double)(i % 3);
    }
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = kinds;
    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = capacity + i / CLO_RESOURCES_MAX * 500;
    desc.machines_count = machines > 0 ? machines : 1;
    desc.capacities = machines > 0 ? capacities : NULL;
    desc.resource_names = machines > 0 ? names : NULL;
    desc.latency_ns = latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &platform));
    free(list);
    free(latency_ns);
    free(bandwidth);
    return platform;
}

/* Many ready tasks at once: equal ones, proportional ones, with few kinds, with a time of its own on each of many. */
static void wide_graphs_are_planned_as_the_rules_say(void **state)
{
    static const char *const families[] = {"independent", "layered", "forkjoin", "wavefront"};
    static const struct {
        uint32_t executors, speeds, kinds;
        double spread, beta;
        int64_t work_ns;
    } shapes[] = {{1, 1, 1, 0.5, 0, 0}, {6, 1, 1, 0, 0, 0},     {6, 1, 1, 0.5, 0, 0},     {7, 7, 1, 0, 0, 0},
                  {7, 7, 1, 0.5, 0, 0}, {9, 3, 1, 1, 0, 20},    {16, 16, 1, 0.5, 0, 300}, {6, 2, 3, 0.5, 1, 0},
                  {8, 1, 8, 0.5, 1, 0}, {12, 12, 4, 1, 1.9, 5}, {5, 5, 5, 1, 1.9, 50},    {16, 5, 2, 0.9, 0.1, 40}};
    (void)state;

    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
                config.seed = seed;
                config.tasks = 400;
                config.width = f == 2 ? 130 : 0;
                config.work_mean_ns = shapes[k].work_ns;
                config.work_spread = shapes[k].spread;
                config.beta = shapes[k].beta;
                config.kinds = shapes[k].beta > 0 ? shapes[k].kinds : 0;
                config.ccr = seed == 0 ? 0 : 1;
                clo_graph *graph = NULL;
                ok(clo_graph_generate(families[f], &config, &graph));
                clo_platform *platform =
                    make_platform(shapes[k].executors, shapes[k].speeds, shapes[k].kinds, seed == 1, 0, 0);
                compare(graph, platform);
                clo_platform_destroy(platform);
                clo_graph_destroy(graph);
            }
}

/* Many ready tasks at once that share machines: those that rarely wait for capacity, and those that mostly do. */
static void wide_graphs_with_demands_are_planned_as_the_rules_say(void **state)
{
    static const char *const families[] = {"independent", "layered", "forkjoin"};
    static const struct {
        uint32_t executors, speeds, machines, demands;
        int64_t capacity;
        double spread;
    } shapes[] = {{8, 8, 1, 4, 2000, 0.5}, {6, 1, 1, 1, 1000, 0}, {6, 1, 1, 2, 1000, 1},    {9, 3, 3, 4, 1500, 0.5},
                  {4, 4, 2, 8, 5000, 0.9}, {5, 5, 4, 3, 1000, 1}, {16, 16, 1, 4, 4000, 0.5}};
    (void)state;

    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
                config.seed = seed;
                config.tasks = 150;
                config.width = f == 2 ? 60 : 0;
                config.work_mean_ns = k % 2 == 0 ? 0 : 40;
                config.work_spread = shapes[k].spread;
                config.demands = shapes[k].demands;
                config.instances_max = k % 3 == 1 ? 3 : 1;
                config.ccr = seed == 0 ? 0 : 1;
                clo_graph *graph = NULL;
                ok(clo_graph_generate(families[f], &config, &graph));
                clo_platform *platform = make_platform(shapes[k].executors, shapes[k].speeds, 1, seed == 1,
                                                       shapes[k].machines, shapes[k].capacity);
                compare(graph, platform);
                clo_platform_destroy(platform);
                clo_graph_destroy(graph);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_are_planned_as_the_rules_say),
        cmocka_unit_test(wide_graphs_are_planned_as_the_rules_say),
        cmocka_unit_test(wide_graphs_with_demands_are_planned_as_the_rules_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
