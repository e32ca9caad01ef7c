/* A worker that has ended a run wakes those who wait for it before it runs anything else: here what comes next waits for
 * them. */
#include "support.h"

#include "running.h"

#include <clotho/planner.h>
#include <clotho/policy.h>
#include <pthread.h>
#include <sched.h>

#define ROUNDS (SANITIZED ? 30 : 100)

enum { STEAL, PLAN, POLICY, KINDS };

/* The first job runs; the next one was submitted; the first one's waiter is back. */
static _Atomic uint32_t runs, is_next_there, is_back;

static void wait_for(_Atomic uint32_t *flag)
{
    while (atomic_load(flag) == 0)
        sched_yield();
}

static int run_first(const clo_call *call)
{
    if (call->task == 0) {
        atomic_store(&runs, 1);
        wait_for(&is_next_there);
    }
    return 0;
}

static int run_next(const clo_call *call)
{
    (void)call;
    wait_for(&is_back);
    return 0;
}

/* A thread that waits with a limit sleeps, and runs nothing itself. */
static void *wait_first(void *job)
{
    ok(clo_job_submit(job));
    ok(clo_job_wait_for(job, INT64_MAX - 1, NULL));
    atomic_store(&is_back, 1);
    return NULL;
}

static clo_job *make(const fixture *f, const clo_cost *cost, int kind, const clo_plan *plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = kind == PLAN ? plan : NULL;
    config.policy = kind == POLICY ? clo_policy_find("fifo") : NULL;
    ok(clo_job_create(f->runtime, cost, &config, &job));
    return job;
}

/* Two tasks in a row, but one where a policy decides: the second would have to wait for the thread that has the turn,
 * and the worker may begin the next job meanwhile, which waits for the first. */
static void try_pair(int first_kind, int next_kind)
{
    uint32_t layers = first_kind == POLICY ? 1 : 2;
    fixture f = start(1, scene_layers(layers, 1, &(clo_task){.body = run_first, .work_ns = 100}), CLO_CLOCK_REAL);
    clo_graph *graph = scene_layers(1, 1, &(clo_task){.body = run_next, .work_ns = 100});
    clo_cost *cost;
    clo_plan *plans[2];

    ok(clo_cost_create(graph, f.platform, &cost));
    ok(clo_plan_create(f.cost, NULL, &plans[0]));
    ok(clo_plan_create(cost, NULL, &plans[1]));
    clo_job *first = make(&f, f.cost, first_kind, plans[0]), *next = make(&f, cost, next_kind, plans[1]);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t waiter;
        atomic_store(&runs, 0);
        atomic_store(&is_next_there, 0);
        atomic_store(&is_back, 0);
        assert_int_equal(pthread_create(&waiter, NULL, wait_first, first), 0);
        wait_for(&runs);
        for (int i = 0; i < round % 3 * 20; i++)
            sched_yield(); /* it may sleep by then, or not */
        ok(clo_job_submit(next));
        atomic_store(&is_next_there, 1);
        ok(clo_job_wait_for(next, INT64_MAX - 1, NULL));
        pthread_join(waiter, NULL);
    }
    clo_job_destroy(first);
    clo_job_destroy(next);
    clo_plan_destroy(plans[0]);
    clo_plan_destroy(plans[1]);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    stop(&f);
}

static void who_waits_is_woken_before_the_next_body(void **state)
{
    (void)state;
    for (int first = 0; first < KINDS; first++)
        for (int next = 0; next < KINDS; next++)
            try_pair(first, next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_woken_before_the_next_body),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
