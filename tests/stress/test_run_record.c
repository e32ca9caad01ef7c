/* The flight recorder is read by worker; a worker that does not exist has no records. */
#include "running.h"

static void a_worker_that_does_not_exist_has_no_records(void **state)
{
    (void)state;
    enum { WORKERS = 2, TASKS = 6 };
    clo_task task = {.body = count_call};
    fixture f = {.platform = scene_platform(WORKERS, 0), .graph = scene_layers(TASKS, 1, &task)};

    for (uint32_t events = 0; events <= 16; events += 16) {
        clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .recorder_events = events};
        clo_record records[TASKS + 1];
        uint64_t dropped = 77;
        size_t count = 0;
        if (f.cost == NULL)
            ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        clo_job *job = make_job(&f, NULL, NULL);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        for (uint32_t worker = WORKERS; worker < 2 * WORKERS + 2; worker++)
            assert_int_equal(clo_runtime_record_read(f.runtime, worker, records, TASKS + 1, &dropped), 0);
        assert_int_equal(clo_runtime_record_read(f.runtime, UINT32_MAX, records, TASKS + 1, &dropped), 0);
        assert_int_equal(dropped, 77);
        for (uint32_t worker = 0; worker < WORKERS; worker++)
            count += clo_runtime_record_read(f.runtime, worker, records, TASKS + 1, NULL);
        assert_int_equal(count, events > 0 ? TASKS : 0);
        clo_job_destroy(job);
        if (events == 0)
            clo_runtime_destroy(f.runtime);
    }
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_worker_that_does_not_exist_has_no_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
