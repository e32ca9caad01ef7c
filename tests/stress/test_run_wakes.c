/* Work for one wakes one, and the other workers sleep on; work for many is spread while the first is at it. */
#define _POSIX_C_SOURCE 200809L
#include "running.h"

#include <time.h>

static int nap(const clo_call *call)
{
    (void)call;
    return nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void a_job_of_one_task_wakes_one_worker(void **state)
{
    (void)state;
    enum { WORKERS = 8, RUNS_MAX = 1000 };
    clo_task task = {.body = nap};
    fixture f = {.platform = scene_platform(WORKERS, 0), .graph = scene_layers(1, 1, &task)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .spin_ns = -1};
    uint64_t least = UINT64_MAX;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_job *job = make_job(&f, NULL, NULL);
    for (int i = 0; i < RUNS_MAX && least >= WORKERS / 2;
         i++) { /* workers that are late to sleep are on a busy machine */
        clo_job_result result = CLO_JOB_RESULT_INIT;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* all go to sleep */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        least = result.parks < least ? result.parks : least;
    }
    assert_true(least < WORKERS / 2); /* whoever was woken for nothing sleeps again while the body naps */
    clo_job_destroy(job);
    stop(&f);
}

static _Atomic uint32_t inside;

/* Sleeps, and does not end before another such body is inside as well. */
static int meet(const clo_call *call)
{
    atomic_fetch_add(&inside, 1);
    nap(call);
    while (atomic_load(&inside) < 2)
        nap(call);
    return 0;
}

/* Five runs of a fork into eight bodies that sleep, on eight workers: ends only if they do not run one after the
 * other. */
static void run_fork(int64_t work_ns)
{
    enum { WIDTH = 8 };
    clo_task first = {.body = nap, .work_ns = work_ns}, other = {.body = meet, .work_ns = work_ns};
    fixture f = {.platform = scene_platform(WIDTH, 0)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1};

    ok(clo_graph_create("fork", &f.graph));
    for (uint32_t t = 0; t <= WIDTH; t++)
        ok(clo_graph_add_task(f.graph, t == 0 ? &first : &other, NULL));
    for (uint32_t t = 1; t <= WIDTH; t++)
        ok(clo_graph_add_edge(f.graph, 0, t, 0));
    ok(clo_graph_seal(f.graph));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_job *job = make_job(&f, NULL, NULL);
    for (int i = 0; i < 5; i++) {
        atomic_store(&inside, 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    clo_job_destroy(job);
    stop(&f);
}

static void what_a_long_body_released_runs_beside_it(void **state)
{
    (void)state;
    run_fork(5000000);
    run_fork(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_one_task_wakes_one_worker),
        cmocka_unit_test(what_a_long_body_released_runs_beside_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
