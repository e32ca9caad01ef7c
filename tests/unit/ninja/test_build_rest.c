/* The rest of a build as a list: every schedule keeps inputs, slots and memory; a better list is never given up; the
 * policy made of it runs every graph to its end. */
#include "support.h"

#include "tools/clotho/build_plan/packing.h"
#include "tools/clotho/build_plan/rest.h"

#include <clotho/clotho.h>

#include <sched.h>
#include <stdlib.h>

enum { SLOTS = 3, CAPACITY = 100, GRAPHS = 60, TASKS_MOST = 40 };

typedef struct fixture {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    build_rest rest;
    void *memory;
    uint32_t tasks;
} fixture;

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((*random >> 33) % below);
}

static void make_platform(fixture *f, uint32_t slots)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[SLOTS] = {0};
    int64_t capacities[CLO_RESOURCES_MAX];

    for (uint32_t i = 0; i < slots; i++) {
        executors[i].os_index = -1;
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[i].speed_q16[c] = 65536;
    }
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = r == 0 ? CAPACITY : -1;
    desc.name = "slots";
    desc.executors_count = slots;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    desc.coherent = 1;
    assert_int_equal(clo_platform_create(&desc, &f->platform), CLO_OK);
}

/* Some tasks take no time, some no memory, some all of it. */
static void make(fixture *f, uint64_t seed)
{
    uint64_t random = seed;

    *f = (fixture){.tasks = 1 + draw(&random, TASKS_MOST)};
    assert_int_equal(clo_graph_create("g", &f->graph), CLO_OK);
    for (uint32_t t = 0; t < f->tasks; t++) {
        clo_task task = {.work_ns = draw(&random, 5) == 0 ? 0 : 1000 * (1 + (int64_t)draw(&random, 50))};
        task.demand[0] = draw(&random, 8) == 0 ? CAPACITY : draw(&random, 60);
        assert_int_equal(clo_graph_add_task(f->graph, &task, NULL), CLO_OK);
        for (uint32_t p = 0; p < t; p++)
            if (draw(&random, 12) == 0)
                assert_int_equal(clo_graph_add_edge(f->graph, p, t, 0), CLO_OK);
    }
    assert_int_equal(clo_graph_seal(f->graph), CLO_OK);
    make_platform(f, 1 + draw(&random, SLOTS));
    assert_int_equal(clo_cost_create(f->graph, f->platform, &f->cost), CLO_OK);
    f->memory = calloc(1, rest_bytes(f->cost));
    assert_non_null(f->memory);
    assert_int_equal(rest_open(&f->rest, f->memory, f->cost), CLO_OK);
    rest_begin(&f->rest);
}

static void destroy(fixture *f)
{
    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
    free(f->memory);
}

static int64_t end_of(const fixture *f, uint32_t t, int64_t now_ns)
{
    const rest_task *task = &f->rest.tasks[t];

    if (task->state == REST_IS_DONE)
        return now_ns;
    return (task->state == REST_RUNS ? task->began_ns : task->start_ns) + task->time_ns;
}

static int64_t begin_of(const fixture *f, uint32_t t)
{
    const rest_task *task = &f->rest.tasks[t];

    return task->state == REST_RUNS ? task->began_ns : task->start_ns;
}

/* What is held at a time, by all that is not done. */
static int64_t held(const fixture *f, uint32_t resource, int64_t at_ns, int64_t now_ns)
{
    int64_t sum = 0;

    for (uint32_t t = 0; t < f->tasks; t++)
        if (f->rest.tasks[t].state != REST_IS_DONE && begin_of(f, t) <= at_ns && at_ns < end_of(f, t, now_ns))
            sum += f->rest.tasks[t].need[resource];
    return sum;
}

static void check(const fixture *f, int64_t now_ns)
{
    clo_edge edge;

    for (uint32_t e = 0; e < clo_graph_edges(f->graph); e++) {
        assert_int_equal(clo_graph_edge(f->graph, e, &edge), CLO_OK);
        if (f->rest.tasks[edge.to].state == REST_WAITS)
            assert_true(f->rest.tasks[edge.to].start_ns >= end_of(f, edge.from, now_ns));
    }
    for (uint32_t t = 0; t < f->tasks; t++) {
        if (f->rest.tasks[t].state != REST_WAITS)
            continue;
        assert_true(f->rest.tasks[t].start_ns >= now_ns);
        assert_true(held(f, 0, f->rest.tasks[t].start_ns, now_ns) <= clo_platform_executors(f->platform));
        assert_true(held(f, 1, f->rest.tasks[t].start_ns, now_ns) <= CAPACITY);
    }
}

static void schedules_keep_inputs_slots_and_memory(void **state)
{
    fixture f;

    (void)state;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        make(&f, seed);
        int64_t planned_ns = rest_schedule(&f.rest, 5000);
        check(&f, 5000);
        rest_improve(&f.rest, 5000, 400000);
        check(&f, 5000);
        assert_true(rest_schedule(&f.rest, 5000) <= planned_ns);
        destroy(&f);
    }
}

/* Begins what the schedule begins at once. Returns the first end of what then runs; INT64_MAX: nothing does. */
static int64_t begin_all(fixture *f, int64_t now_ns)
{
    uint32_t begin[TASKS_MOST], count = 0, at = 0, task;
    int64_t first_ns = INT64_MAX;

    while ((task = rest_next(&f->rest, &at)) != CLO_NONE)
        if (f->rest.tasks[task].time_ns > 0) /* one of no time may wait for another that is to begin now */
            begin[count++] = task;
    for (uint32_t i = 0; i < count; i++)
        rest_started(&f->rest, begin[i], now_ns);
    for (uint32_t t = 0; t < f->tasks; t++)
        if (f->rest.tasks[t].state == REST_RUNS && end_of(f, t, now_ns) < first_ns)
            first_ns = end_of(f, t, now_ns);
    return first_ns;
}

/* While steps begin and end, each schedule of the rest takes what runs into account, and the makespan never grows. */
static void a_rest_is_scheduled_beside_what_runs(void **state)
{
    fixture f;

    (void)state;
    for (uint64_t seed = 100; seed < 100 + GRAPHS; seed++) {
        int64_t now_ns = 0, last_ns = INT64_MAX;
        make(&f, seed);
        for (uint32_t t = 0; t < f.tasks; t++)
            f.rest.tasks[t].time_ns += f.rest.tasks[t].time_ns == 0;
        while (f.rest.waiting > 0) {
            int64_t end_ns = rest_schedule(&f.rest, now_ns);
            assert_true(end_ns <= last_ns);
            check(&f, now_ns);
            last_ns = end_ns;
            int64_t next_ns = begin_all(&f, now_ns);
            assert_true(next_ns < INT64_MAX && next_ns > now_ns);
            now_ns = next_ns;
            for (uint32_t t = 0; t < f.tasks; t++)
                if (f.rest.tasks[t].state == REST_RUNS && end_of(&f, t, now_ns) <= now_ns)
                    rest_ended(&f.rest, t);
            rest_improve(&f.rest, now_ns, 100000);
        }
        destroy(&f);
    }
}

/* The order of a copy is taken where it is better, though steps have begun since it was made. */
static void an_improved_copy_is_taken_though_steps_have_begun(void **state)
{
    build_rest copy = {0};
    fixture f;

    (void)state;
    for (uint64_t seed = 300; seed < 300 + GRAPHS; seed++) {
        make(&f, seed);
        int64_t before_ns = rest_schedule(&f.rest, 0);
        rest_copy(&copy, &f.rest);
        rest_improve(&copy, 0, 200000);
        assert_true(rest_schedule(&copy, 0) <= before_ns);
        uint32_t at = 0, task = rest_next(&f.rest, &at);
        if (task != CLO_NONE && seed % 2 == 0)
            rest_started(&f.rest, task, 0);
        int64_t own_ns = rest_schedule(&f.rest, 0);
        rest_adopt(&f.rest, &copy, 0);
        assert_true(rest_schedule(&f.rest, 0) <= own_ns);
        assert_int_equal(f.rest.waiting, f.tasks - (task != CLO_NONE && seed % 2 == 0));
        check(&f, 0);
        rest_expect(&f.rest, f.rest.list[f.rest.waiting - (f.rest.waiting > 0)], 5000, REST_MEMORY, 2 * CAPACITY);
        rest_schedule(&f.rest, 0);
        check(&f, 0);
        rest_free_copy(&copy);
        destroy(&f);
    }
}

/* A thread looks for better orders while steps begin and end: what it hands back keeps all bounds. */
static void a_thread_improves_the_rest_beside_its_steps(void **state)
{
    build_live live;
    build_think think;
    fixture f;

    (void)state;
    assert_true(live_open(&live, 0, 0));
    for (uint64_t seed = 400; seed < 400 + GRAPHS / 2; seed++) {
        int64_t now_ns = 0;
        make(&f, seed);
        for (uint32_t t = 0; t < f.tasks; t++)
            f.rest.tasks[t].time_ns += f.rest.tasks[t].time_ns == 0;
        live_write_cpus(&live, seed % 2 == 0 ? 0 : 1e6); /* CPUs are free, or not */
        think_open(&think, &live);
        for (bool is_over = false; !is_over; sched_yield()) {
            pthread_mutex_lock(&think.lock);
            rest_schedule(&f.rest, now_ns);
            check(&f, now_ns);
            now_ns = begin_all(&f, now_ns);
            for (uint32_t t = 0; t < f.tasks; t++)
                if (f.rest.tasks[t].state == REST_RUNS && end_of(&f, t, now_ns) <= now_ns)
                    rest_ended(&f.rest, t);
            think_again(&think, &f.rest, now_ns);
            is_over = f.rest.waiting == 0;
            pthread_mutex_unlock(&think.lock);
        }
        think_close(&think);
        destroy(&f);
    }
    live_close(&live);
}

/* Where CPUs are short there is no thread, and nothing waits for one. */
static void no_thread_looks_for_orders_where_cpus_are_short(void **state)
{
    build_live live;
    build_think think;
    fixture f;

    (void)state;
    make(&f, 7);
    assert_true(live_open(&live, 0, 0));
    live.is_cpu_bound = true;
    think_open(&think, &live);
    assert_false(think.has_thread);
    pthread_mutex_lock(&think.lock);
    think_again(&think, &f.rest, 0);
    pthread_mutex_unlock(&think.lock);
    think_close(&think);
    live_close(&live);
    destroy(&f);
}

static void the_policy_runs_every_graph_within_its_bounds(void **state)
{
    fixture f;

    (void)state;
    for (uint64_t seed = 200; seed < 200 + GRAPHS; seed++) {
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_bound bound = CLO_BOUND_INIT;
        make(&f, seed);
        config.policy = &build_packing;
        assert_int_equal(clo_simulate(f.cost, &config, &result, NULL, NULL), CLO_OK);
        assert_int_equal(clo_cost_bound(f.cost, &bound), CLO_OK);
        assert_true(result.makespan_ns >= bound.best_ns);
        assert_int_equal(result.refused, 0);
        destroy(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_keep_inputs_slots_and_memory),
        cmocka_unit_test(a_rest_is_scheduled_beside_what_runs),
        cmocka_unit_test(an_improved_copy_is_taken_though_steps_have_begun),
        cmocka_unit_test(a_thread_improves_the_rest_beside_its_steps),
        cmocka_unit_test(no_thread_looks_for_orders_where_cpus_are_short),
        cmocka_unit_test(the_policy_runs_every_graph_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
