/* Columns of a cost: executors that no task can tell apart, few or very many of them. */
#include "support.h"

#include "base/numbers/rng.h"
#include "cost/cost.h"

#include <string.h>

#define EXECUTORS 3000u
#define MACHINES 7u

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_executor executors[EXECUTORS];
    int64_t capacities[MACHINES * CLO_RESOURCES_MAX];
} scene;

/* speeds: how many there are of each class; the graph has demands, or not. */
static void open_scene(scene *s, uint64_t seed, uint32_t speeds, bool has_demands)
{
    clo_rng rng = clo_rng_seed(seed);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_task task = {.work_ns = 1000};

    for (uint32_t e = 0; e < EXECUTORS; e++) {
        s->executors[e] = (clo_executor){clo_rng_below(&rng, 2), clo_rng_below(&rng, MACHINES), 0, -1, {1, 1, 1, 1}};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            s->executors[e].speed_q16[c] = 65536 + clo_rng_below(&rng, speeds);
    }
    for (uint32_t i = 0; i < MACHINES * CLO_RESOURCES_MAX; i++)
        s->capacities[i] = 5 + clo_rng_below(&rng, 2);
    desc.executors_count = EXECUTORS;
    desc.executors = s->executors;
    desc.kinds_count = 2;
    desc.machines_count = MACHINES;
    desc.capacities = s->capacities;
    task.demand[0] = has_demands;
    ok(clo_graph_create("one", &s->graph));
    ok(clo_graph_add_task(s->graph, &task, NULL));
    ok(clo_graph_seal(s->graph));
    ok(clo_platform_create(&desc, &s->platform));
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
}

static void close_scene(const scene *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static bool are_alike(const scene *s, uint32_t a, uint32_t b, bool has_demands)
{
    const clo_executor *x = &s->executors[a], *y = &s->executors[b];
    const int64_t *here = &s->capacities[x->machine * CLO_RESOURCES_MAX];
    const int64_t *there = &s->capacities[y->machine * CLO_RESOURCES_MAX];

    return x->kind == y->kind && memcmp(x->speed_q16, y->speed_q16, sizeof x->speed_q16) == 0 &&
           (!has_demands || memcmp(here, there, CLO_RESOURCES_MAX * sizeof *here) == 0);
}

/* Looks at all columns before, one by one. */
static void columns_are_right(const scene *s, bool has_demands)
{
    static uint32_t first[EXECUTORS], size[EXECUTORS];
    uint32_t columns = 0;

    memset(size, 0, sizeof size);
    for (uint32_t e = 0; e < EXECUTORS; e++) {
        uint32_t c = 0;
        while (c < columns && !are_alike(s, first[c], e, has_demands))
            c++;
        if (c == columns)
            first[columns++] = e;
        assert_int_equal(s->cost->column_of[e], c);
        size[c]++;
    }
    assert_int_equal(s->cost->columns, columns);
    assert_memory_equal(s->cost->column_first, first, columns * sizeof *first);
    assert_memory_equal(s->cost->column_size, size, columns * sizeof *size);
}

static void columns_are_found_whether_few_or_many(void **state)
{
    static const uint32_t speeds[] = {1, 2, 3, 10, 100000};
    static scene s;

    (void)state;
    for (uint64_t i = 0; i < 2 * sizeof speeds / sizeof speeds[0]; i++) {
        open_scene(&s, i, speeds[i / 2], i % 2 == 1);
        columns_are_right(&s, i % 2 == 1);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_found_whether_few_or_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
