/* A clo_flight beside workers: the release that was late is there in the end, whole, however many came after it; releases
 * have their numbers on every path of dispatch, also where some are left out; what a full ring dropped is counted; and
 * histograms count each release once.
 * Mutation: 0 for the release in clo_recorder_add. */
#define _GNU_SOURCE
#include "running.h"

#include "fault.h"

#include <clotho/flight.h>
#include <stdatomic.h>
#include <time.h>

enum { TASKS = 6, PERIOD_NS = 200000, RELEASES = 60, LATE_RELEASE = 7, LAST = 4 };

/* Calls of task 0 in this series: one in each release, in order. */
static _Atomic uint32_t calls;

/* Sleeps past its deadline in one release. */
static int sleep_once(const clo_call *call)
{
    if (call->task == 0 && atomic_fetch_add(&calls, 1) == LATE_RELEASE)
        (void)nanosleep(&(struct timespec){.tv_nsec = 30 * PERIOD_NS}, NULL);
    return 0;
}

static fixture open_scene(uint32_t recorder_events)
{
    clo_task task = {.body = sleep_once, .work_ns = 1000};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .recorder_events = recorder_events};
    fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(TASKS / 2, 2, &task)};

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

typedef enum way { STEAL, REPLAY, POLICY, IN_FLIGHT, FREE_IN_FLIGHT, WAYS } way;

static clo_job *open_job(const fixture *f, way how, clo_plan **plan)
{
    clo_job_config config = {.size = sizeof config, .period_ns = PERIOD_NS, .releases = RELEASES};
    clo_job *job;

    *plan = NULL;
    if (how == REPLAY)
        ok(clo_plan_create(f->cost, NULL, plan));
    if (how == IN_FLIGHT)
        ok(clo_plan_pipeline(f->cost, NULL, plan));
    config.plan = *plan;
    config.policy = how == POLICY ? clo_policy_find("fifo") : NULL;
    config.releases_in_flight = how == IN_FLIGHT || how == FREE_IN_FLIGHT ? 3 : 0;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static clo_flight *open_flight(const fixture *f)
{
    clo_flight_config config = {.size = sizeof config, .last = LAST, .late = RELEASES, .period_ns = PERIOD_NS};
    clo_flight *flight;

    ok(clo_flight_create(f->runtime, f->cost, &config, &flight));
    return flight;
}

static void fly(clo_flight *flight, clo_job *job)
{
    clo_status status;

    atomic_store(&calls, 0);
    ok(clo_job_submit(job));
    ok(clo_flight_begin(flight, job));
    do {
        status = clo_job_wait_for(job, 1000000, NULL);
        (void)clo_flight_read(flight);
    } while (status == CLO_ERR_TIMEOUT);
    ok(status);
}

/* Each release that is there has all its executions, once. */
static void has_whole_releases(const clo_trace *trace)
{
    uint32_t seen[RELEASES][TASKS] = {{0}};
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);

    for (size_t i = 0; i < count; i++) {
        assert_in_range(events[i].release, 0, RELEASES - 1);
        seen[events[i].release][events[i].task]++;
        if (events[i].release == LATE_RELEASE && events[i].task == 0)
            assert_true(events[i].finish_ns - LATE_RELEASE * PERIOD_NS >= 30 * PERIOD_NS);
    }
    for (uint32_t r = 0; r < RELEASES; r++)
        for (uint32_t t = 0; t < TASKS; t++)
            assert_int_equal(seen[r][t], seen[r][0] > 0);
    assert_int_equal(seen[LATE_RELEASE][0], 1);
    for (uint32_t r = RELEASES - LAST; r < RELEASES; r++)
        assert_int_equal(seen[r][0], 1);
}

static void the_late_release_is_there_whole(void **state)
{
    (void)state;
    fixture f = open_scene(4096);
    clo_flight *flight = open_flight(&f);

    for (way how = STEAL; how < WAYS; how++)
        for (int again = 0; again < 2; again++) { /* the second series knows nothing of the first one */
            clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;
            clo_plan *plan;
            clo_trace *trace;
            clo_job *job = open_job(&f, how, &plan);
            fly(flight, job);
            ok(clo_flight_count(flight, &counts));
            assert_int_equal(counts.releases, RELEASES);
            assert_int_equal(counts.executions_lost, 0);
            assert_true(counts.late >= 1);
            assert_int_equal(counts.late_kept, counts.late);
            ok(clo_flight_trace(flight, &trace));
            has_whole_releases(trace);
            clo_trace_destroy(trace);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
        }
    clo_flight_destroy(flight);
    stop(&f);
}

/* Releases that come while the slow one runs are left out: their numbers are nobody's. */
static void releases_that_are_left_out_have_no_executions(void **state)
{
    (void)state;
    fixture f = open_scene(4096);
    clo_flight *flight = open_flight(&f);
    clo_job_config config = {
        .size = sizeof config, .period_ns = PERIOD_NS, .releases = RELEASES, .on_miss = CLO_MISS_SKIP};
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;
    clo_job *job;

    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    fly(flight, job);
    ok(clo_job_timing_read(job, &timing));
    ok(clo_flight_count(flight, &counts));
    assert_true(timing.skipped > 0);
    assert_int_equal(counts.releases, timing.finished);
    assert_int_equal(counts.releases + timing.skipped, RELEASES);
    clo_job_destroy(job);
    clo_flight_destroy(flight);
    stop(&f);
}

static void what_a_full_ring_dropped_is_counted(void **state)
{
    (void)state;
    fixture f = open_scene(8);
    clo_flight *flight = open_flight(&f);
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;
    clo_plan *plan;
    clo_job *job = open_job(&f, STEAL, &plan);

    ok(clo_job_submit(job));
    ok(clo_flight_begin(flight, job));
    ok(clo_job_wait(job, NULL)); /* nobody reads meanwhile */
    size_t read = clo_flight_read(flight);
    ok(clo_flight_count(flight, &counts));
    assert_int_equal(read + counts.executions_lost, RELEASES * TASKS);
    assert_in_range(read, 1, 16);
    clo_job_destroy(job);
    clo_flight_destroy(flight);
    stop(&f);
}

/* A trace with tasks that its graph does not have would be read past its end. */
static void a_job_of_another_graph_leaves_no_trace(void **state)
{
    (void)state;
    fixture f = open_scene(4096);
    clo_graph *small = scene_layers(1, 1, &(clo_task){.work_ns = 1000});
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;
    clo_flight *flight;
    clo_trace *trace;
    clo_cost *cost;
    clo_plan *plan;
    size_t count;

    ok(clo_cost_create(small, f.platform, &cost));
    ok(clo_flight_create(f.runtime, cost, NULL, &flight));
    clo_job *job = open_job(&f, STEAL, &plan);
    fly(flight, job);
    ok(clo_flight_count(flight, &counts));
    assert_int_equal(counts.executions_lost, RELEASES * (TASKS - 1));
    ok(clo_flight_trace(flight, &trace));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].task, 0);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_flight_destroy(flight);
    clo_cost_destroy(cost);
    clo_graph_destroy(small);
    stop(&f);
}

static void a_histogram_counts_each_release(void **state)
{
    (void)state;
    static uint32_t buckets[CLO_LATENCY_BUCKETS];
    fixture f = open_scene(0);

    for (way how = STEAL; how < WAYS; how++) {
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        clo_plan *plan;
        clo_job *job = open_job(&f, how, &plan);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        ok(clo_job_timing_read(job, &timing));
        for (clo_latency_kind kind = CLO_LATENCY_JITTER; kind <= CLO_LATENCY_RESPONSE; kind++) {
            const clo_latency *wanted = kind == CLO_LATENCY_JITTER  ? &timing.jitter_ns
                                        : kind == CLO_LATENCY_START ? &timing.start_ns
                                                                    : &timing.response_ns;
            uint64_t sum = 0;
            uint32_t last = 0;
            ok(clo_job_latency_read(job, kind, buckets));
            for (uint32_t b = 0; b < CLO_LATENCY_BUCKETS; b++) {
                sum += buckets[b];
                last = buckets[b] > 0 ? b : last;
            }
            assert_int_equal(sum, wanted->count);
            if (sum > 0) {
                assert_true(clo_latency_bucket_ns(last) <= wanted->max_ns);
                assert_true(clo_latency_bucket_ns(last + 1) > wanted->max_ns);
            }
        }
        clo_job_destroy(job);
        clo_plan_destroy(plan);
    }
    stop(&f);
}

static clo_status make_flight(void *context)
{
    const fixture *f = context;
    clo_flight *flight = NULL;
    clo_status status = clo_flight_create(f->runtime, f->cost, NULL, &flight);

    clo_flight_destroy(flight);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    fixture f = open_scene(64);

    assert_true(fault_each(make_flight, &f) >= 4);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_late_release_is_there_whole),
        cmocka_unit_test(releases_that_are_left_out_have_no_executions),
        cmocka_unit_test(what_a_full_ring_dropped_is_counted),
        cmocka_unit_test(a_job_of_another_graph_leaves_no_trace),
        cmocka_unit_test(a_histogram_counts_each_release),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
