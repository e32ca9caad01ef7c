/* While the only body sleeps nobody computes: neither workers nor watchdog look again and again. Until a quiet run
 * comes: on a busy machine all that is done takes longer; a busy loop is in every run. */
#define _POSIX_C_SOURCE 200809L
#include "running.h"

#include <time.h>

enum { NAP_MS = 300, RUNS_MAX = 200 };

static int nap(const clo_call *call)
{
    (void)call;
    return nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
}

/* Of all threads of this process. */
static int64_t cpu_ms(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void a_job_with_a_limit_and_no_deadline_is_watched_without_a_busy_loop(void **state)
{
    (void)state;
    clo_task task = {.body = nap};
    fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(1, 1, &task)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1};
    clo_job_config watched = {.size = sizeof watched, .task_limit_ns = 10000000000};
    clo_job *job;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    ok(clo_job_create(f.runtime, f.cost, &watched, &job));
    int64_t used_ms = NAP_MS;
    for (int run = 0; run < RUNS_MAX && used_ms >= NAP_MS / 6; run++) {
        int64_t before_ms = cpu_ms();
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        used_ms = cpu_ms() - before_ms;
    }
    assert_true(used_ms < NAP_MS / 6);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_with_a_limit_and_no_deadline_is_watched_without_a_busy_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
