/* The lower bound is computed once a cost, by whoever needs it first. */
#include "support.h"

#include "cost/cost.h"
#include "fault.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <string.h>

enum { ASKERS = 4, ROUNDS = 50, LENGTH = 3, TASK_NS = 100 };

/* A chain of tasks on two executors. */
struct fixture {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
};

static struct fixture start(void)
{
    struct fixture f;
    const clo_task task = {.work_ns = TASK_NS};

    ok(clo_graph_create("chain", &f.graph));
    for (uint32_t t = 0; t < LENGTH; t++) {
        uint32_t id;
        ok(clo_graph_add_task(f.graph, &task, &id));
        if (t > 0)
            ok(clo_graph_add_edge(f.graph, t - 1, t, 0));
    }
    ok(clo_graph_seal(f.graph));
    ok(clo_platform_open("uniform:2", &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    return f;
}

static void drop(const struct fixture *f)
{
    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
}

static void a_cost_computes_its_bound_when_it_is_asked_for_and_once(void **state)
{
    (void)state;
    struct fixture f = start();
    clo_bound first = CLO_BOUND_INIT, again = CLO_BOUND_INIT;

    assert_false(f.cost->bound->is_known);
    fault_fail_nth(0);
    ok(clo_cost_bound(f.cost, &first));
    assert_true(fault_count() > 0);
    fault_fail_nth(1);
    ok(clo_cost_bound(f.cost, &again));
    assert_int_equal(fault_count(), 0);
    fault_fail_nth(0);
    assert_int_equal(first.best_ns, LENGTH * TASK_NS);
    assert_memory_equal(&first, &again, sizeof first);
    drop(&f);
}

/* A planner that stops at the bound leaves it to the metrics: both read what is kept. */
static void planners_and_metrics_share_the_bound(void **state)
{
    (void)state;
    struct fixture f = start();
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *plan;

    config.planner = &clo_planner_best;
    ok(clo_plan_create(f.cost, &config, &plan));
    assert_true(f.cost->bound->is_known);
    f.cost->bound->bound.best_ns = LENGTH * TASK_NS / 2; /* to be seen again */
    ok(clo_plan_measure(plan, f.cost, &metrics));
    assert_int_equal(metrics.lower_bound_ns, LENGTH * TASK_NS / 2);
    clo_plan_destroy(plan);
    drop(&f);
}

static void a_bound_without_memory_is_tried_again(void **state)
{
    (void)state;
    struct fixture f = start();
    clo_bound bound = {.size = sizeof bound, .best_ns = -1};

    fault_fail_nth(1);
    fails(CLO_ERR_MEMORY, "bound", clo_cost_bound(f.cost, &bound));
    fault_fail_nth(0);
    assert_int_equal(bound.best_ns, -1); /* untouched */
    ok(clo_cost_bound(f.cost, &bound));
    assert_int_equal(bound.best_ns, LENGTH * TASK_NS);
    drop(&f);
}

struct asker {
    const clo_cost *cost;
    clo_bound bound;
    clo_status status;
};

static void *ask(void *context)
{
    struct asker *a = context;

    a->status = clo_cost_bound(a->cost, &a->bound);
    return NULL;
}

/* The thread sanitizer sees what is not locked. */
static void threads_may_ask_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct fixture f = start();
        struct asker askers[ASKERS] = {0};
        pthread_t threads[ASKERS];
        for (int i = 0; i < ASKERS; i++) {
            askers[i].cost = f.cost;
            askers[i].bound = (clo_bound)CLO_BOUND_INIT;
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
        }
        for (int i = 0; i < ASKERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(askers[i].status, CLO_OK);
            assert_int_equal(askers[i].bound.best_ns, LENGTH * TASK_NS);
        }
        drop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_computes_its_bound_when_it_is_asked_for_and_once),
        cmocka_unit_test(planners_and_metrics_share_the_bound),
        cmocka_unit_test(a_bound_without_memory_is_tried_again),
        cmocka_unit_test(threads_may_ask_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
