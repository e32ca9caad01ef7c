/* R2, no page fault in a worker once the job is made: memory is locked and touched beforehand.
 * Mutation: the second test is one: bodies that touch a page of their own that nobody has touched are counted. */
#define _GNU_SOURCE
#include "support.h"

#include "page_faults.h"
#include "rt.h"

#include <sys/mman.h>

static uint64_t faults_of_runs(int way, int runs, bool *is_locked)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    rt_scene s;

    runtime.real_time = CLO_REAL_TIME_TRY;
    rt_open(&s, way, &runtime, &job);
    *is_locked = strstr(clo_runtime_report(s.runtime), "ok    memory is locked") != NULL;
    ok(clo_job_submit(s.job)); /* the bodies' own code and data */
    ok(clo_job_wait(s.job, NULL));
    uint64_t before = faults_of(s.runtime);
    for (int run = 0; run < runs; run++) {
        ok(clo_job_submit(s.job));
        ok(clo_job_wait(s.job, NULL));
    }
    uint64_t faults = faults_of(s.runtime) - before;
    rt_close(&s);
    return faults;
}

static void workers_take_no_page_fault(void **state)
{
    bool is_locked;

    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        uint64_t faults = 1;
        for (int series = 0; series < FAULT_SERIES_MAX && faults > 0; series++) {
            faults = faults_of_runs(way, 1000, &is_locked);
            if (SANITIZED)
                skip_because("a sanitizer touches memory of its own", "./dev test");
            if (!is_locked)
                skip_because("memory cannot be locked", "ulimit -l unlimited, or run as root");
        }
        assert_int_equal(faults, 0);
    }
}

#define PAGES 64u
static char *fresh;
static _Atomic uint32_t next_page;

static int touch_fresh_page(const clo_call *call)
{
    (void)call;
    fresh[(size_t)(atomic_fetch_add(&next_page, 1) % PAGES) * 4096] = 1;
    return 0;
}

static void a_fault_would_be_counted(void **state)
{
    clo_task task = {.body = touch_fresh_page, .work_ns = 500};
    clo_graph *graph = scene_layers(1, PAGES, &task);
    clo_platform *platform = scene_platform(2, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *job;

    (void)state;
    munlockall(); /* of the tests before; else the pages below would come touched */
    fresh = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fresh != MAP_FAILED);
    (void)madvise(fresh, (size_t)PAGES * 4096, MADV_NOHUGEPAGE);
    config.unpinned = 1;
    config.help = -1; /* the faults are counted on the workers */
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_job_create(runtime, cost, NULL, &job));
    uint64_t before = faults_of(runtime);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_true(faults_of(runtime) - before >= PAGES);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    munmap(fresh, (size_t)PAGES * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_take_no_page_fault),
        cmocka_unit_test(a_fault_would_be_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
