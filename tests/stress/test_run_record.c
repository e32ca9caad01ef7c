/* The flight recorder is read by worker; a worker that does not exist has no records. Of a task with a grain the trace
 * and the recorder name ranges, on every path. Of tasks that come round it takes a share of each. A run that the waiting
 * thread has alone is recorded as any other.
 * Mutation: a fixed distance in clo_recorder_takes. */
#include "running.h"

#include <pthread.h>

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

/* The last range is shorter, and its first instance has a larger number than there are ranges. */
static void a_trace_of_ranges_has_each_range_once(void **state)
{
    (void)state;
    enum { INSTANCES = 41, GRAIN = 8, RANGES = 6, TASKS = 3 };
    clo_task task = {.body = count_call, .instances = INSTANCES, .grain = GRAIN};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .trace = 1};
    fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(TASKS, 1, &task)}; /* no data: the fast path */
    clo_plan *plan;
    size_t count;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    ok(clo_plan_create(f.cost, NULL, &plan));
    for (int way = 0; way < 3; way++) {
        uint32_t seen[TASKS][RANGES] = {0};
        clo_job *job = make_job(&f, way == 1 ? clo_policy_find("fifo") : NULL, way == 2 ? plan : NULL);
        clo_trace *trace;
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        ok(clo_job_trace(job, &trace));
        const clo_trace_event *events = clo_trace_events(trace, &count);
        assert_int_equal(count, TASKS * RANGES);
        for (size_t i = 0; i < count; i++) {
            assert_true(events[i].task < TASKS && events[i].instance < RANGES);
            assert_int_equal(seen[events[i].task][events[i].instance]++, 0);
        }
        clo_trace_destroy(trace);
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

/* Where emulated time has stopped, records stay: they do not go beyond it, and round. */
static void times_at_the_end_of_time_stay_there(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    clo_runtime_config config = {
        .size = sizeof config, .unpinned = 1, .recorder_events = 16, .clock = CLO_CLOCK_VIRTUAL};
    clo_job_config series = CLO_JOB_CONFIG_INIT;
    fixture f = {.platform = scene_platform(1, 0), .graph = scene_layers(2, 1, &task)};
    clo_record records[16];
    clo_plan *plan;
    clo_job *job;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    ok(clo_plan_create(f.cost, NULL, &plan));
    series.plan = plan;
    series.period_ns = INT64_MAX / 2;
    series.releases = 4;
    series.releases_in_flight = 2;
    ok(clo_job_create(f.runtime, f.cost, &series, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    size_t count = clo_runtime_record_read(f.runtime, 0, records, 16, NULL);
    assert_int_equal(count, 8);
    for (size_t r = 0; r < count; r++)
        assert_true(records[r].start_ns >= 0 && records[r].finish_ns >= records[r].start_ns);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

/* Eight tasks in a row, again and again: each eighth one would always be the same. With and without a trace, by work
 * stealing and under a policy, which has another path. */
static void one_of_eight_is_recorded_and_none_of_the_tasks_is_left_out(void **state)
{
    (void)state;
    enum { TASKS = 8, RUNS = 500, PAST = TASKS * RUNS / 8 };
    clo_task task = {.body = count_call};

    for (int way = 0; way < 4; way++) {
        clo_runtime_config config = {.size = sizeof config,
                                     .unpinned = 1,
                                     .trace = way % 2 == 1,
                                     .recorder_events = 2 * PAST,
                                     .recorder_every = 8};
        fixture f = {.platform = scene_platform(1, 0), .graph = scene_layers(TASKS, 1, &task)};
        static clo_record records[2 * PAST];
        uint32_t seen[TASKS] = {0};
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        clo_job *job = make_job(&f, way >= 2 ? clo_policy_find("fifo") : NULL, NULL);
        for (int run = 0; run < RUNS; run++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
        }
        size_t count = clo_runtime_record_read(f.runtime, 0, records, 2 * PAST, NULL);
        for (size_t i = 0; i < count; i++)
            seen[records[i].task]++;
        assert_true(count > PAST * 3 / 4 && count < PAST * 5 / 4); /* a mean of 8 out of 1 .. 15, 500 times */
        for (uint32_t t = 0; t < TASKS; t++)
            assert_true(seen[t] > PAST / TASKS / 3);
        clo_job_destroy(job);
        stop(&f);
    }
}

/* Short jobs are run by whoever waits for them, in the place of a worker: of few tasks, of so many that a run is judged
 * first, and with a plan. */

typedef struct watched {
    pthread_t waiter;
    _Atomic uint32_t here;
} watched;

static int note_place(const clo_call *call)
{
    watched *w = call->argument;

    if (pthread_equal(pthread_self(), w->waiter))
        atomic_fetch_add(&w->here, 1);
    return 0;
}

/* Each task once, one after the other, during the run. */
static void check_records(clo_runtime *runtime, uint32_t tasks, int64_t begin_ns, int64_t end_ns)
{
    static clo_record records[4096];
    static int64_t starts_ns[2048], finishes_ns[2048];
    size_t count = 0;
    uint64_t dropped = 0;

    for (uint32_t w = 0; w < 2; w++)
        count += clo_runtime_record_read(runtime, w, records + count, 2048, &dropped);
    assert_int_equal(dropped, 0);
    assert_int_equal(count, tasks);
    memset(starts_ns, 0, sizeof starts_ns);
    for (size_t i = 0; i < count; i++) {
        assert_true(records[i].task < tasks && records[i].executor < 2 && starts_ns[records[i].task] == 0);
        starts_ns[records[i].task] = records[i].start_ns;
        finishes_ns[records[i].task] = records[i].finish_ns;
    }
    for (uint32_t t = 0; t < tasks; t++) {
        assert_true(starts_ns[t] <= finishes_ns[t]);
        assert_true(starts_ns[t] >= (t == 0 ? begin_ns : finishes_ns[t - 1]) - 2); /* ticks become ns one by one */
    }
    assert_true(finishes_ns[tasks - 1] <= end_ns + 1000000);
}

static void a_run_of_the_waiting_thread_is_recorded_as_any_other(void **state)
{
    (void)state;
    const struct {
        uint32_t tasks;
        bool is_planned;
    } ways[] = {{8, false}, {1200, false}, {8, true}};

    for (size_t way = 0; way < 3; way++) {
        watched w = {.waiter = pthread_self()};
        clo_task task = {.body = note_place, .argument = &w};
        clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .recorder_events = 2048};
        fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(ways[way].tasks, 1, &task)};
        clo_plan *plan = NULL;
        int64_t since_ns = clo_clock_ns();
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        if (ways[way].is_planned)
            ok(clo_plan_create(f.cost, NULL, &plan));
        clo_job *job = make_job(&f, NULL, plan);
        for (int run = 0; run < 40 || (atomic_load(&w.here) == 0 && may_still_happen(since_ns)); run++) {
            int64_t begin_ns = clo_clock_ns();
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
            check_records(f.runtime, ways[way].tasks, begin_ns, clo_clock_ns());
        }
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
        skip_unless_seen(w.here > 0, "the waiting thread never had such a run");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_at_the_end_of_time_stay_there),
                                       cmocka_unit_test(a_worker_that_does_not_exist_has_no_records),
                                       cmocka_unit_test(a_trace_of_ranges_has_each_range_once),
                                       cmocka_unit_test(a_run_of_the_waiting_thread_is_recorded_as_any_other),
                                       cmocka_unit_test(one_of_eight_is_recorded_and_none_of_the_tasks_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
