/* Work for one wakes one, and the other workers sleep on; work for many is spread while the first is at it. */
#define _POSIX_C_SOURCE 200809L
#include "running.h"

#include "run/records/timing.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

#include <time.h>

static int nap(const clo_call *call)
{
    (void)call;
    return nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* Nothing wakes any of them but a submit. Returns how often they went to sleep up to now. */
static uint64_t wait_until_all_sleep(const clo_runtime *runtime)
{
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        while (atomic_load(&runtime->workers[w].parker.state) != CLO_PARK_ASLEEP)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return clo_runtime_parks(runtime);
}

static void a_job_of_one_task_wakes_one_worker(void **state)
{
    (void)state;
    enum { WORKERS = 8, RUNS = 100 };
    clo_task task = {.body = nap};
    fixture f = {.platform = scene_platform(WORKERS, 0), .graph = scene_layers(1, 1, &task)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .spin_ns = -1, .help = -1};

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_job *job = make_job(&f, NULL, NULL);
    uint64_t slept = wait_until_all_sleep(f.runtime);
    for (int i = 0; i < RUNS; i++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        assert_int_equal(wait_until_all_sleep(f.runtime), ++slept); /* whoever was woken sleeps once more */
    }
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
