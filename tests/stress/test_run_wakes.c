/* Work for one wakes one: the other workers sleep on. */
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
    enum { WORKERS = 8, RUNS = 10 };
    clo_task task = {.body = nap};
    fixture f = {.platform = scene_platform(WORKERS, 0), .graph = scene_layers(1, 1, &task)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .spin_ns = -1};
    uint64_t least = UINT64_MAX;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_job *job = make_job(&f, NULL, NULL);
    for (int i = 0; i < RUNS; i++) {
        clo_job_result result;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* all go to sleep */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        least = result.parks < least ? result.parks : least;
    }
    assert_true(least < WORKERS / 2); /* whoever was woken for nothing sleeps again while the body naps */
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_job_of_one_task_wakes_one_worker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
