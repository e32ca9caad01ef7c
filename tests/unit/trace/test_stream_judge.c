/* test_stream_judge.c - the stream checker on small runs that are written by hand: the text of faults, figures, bad
 * cases. */
#include "fault.h"
#include "support.h"
#include "trace/log_kinds.h"

#include <math.h>
#include <string.h>

/* Two tasks, "pack" (two instances of 10 ns, demand 3 of 5) before "send" (4 ns), on e0, e1 of one machine and e2 of
 * another; e2 cannot send. Links take 2 ns. */
typedef struct fixture {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_stream_job jobs[2];
    clo_log_record records[40];
    size_t count;
    clo_log_header header;
} fixture;

static int set_up(void **state)
{
    static const clo_executor executors[] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                             {0, 0, 1, -1, {65536, 65536, 65536, 65536}},
                                             {1, 1, 2, -1, {65536, 65536, 65536, 65536}}};
    static const int64_t latency[9] = {0, 2, 2, 2, 0, 2, 2, 2, 0};
    static const int64_t capacities[2 * CLO_RESOURCES_MAX] = {5, -1, -1, -1, -1, -1, -1, -1,
                                                              9, -1, -1, -1, -1, -1, -1, -1};
    static const char *const resources[CLO_RESOURCES_MAX] = {"memory"};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_task pack = {.name = "pack", .work_ns = 10, .instances = 2, .duplicable = 1, .demand = {3}};
    clo_task send = {.name = "send", .work_ns = 4};
    fixture *f = calloc(1, sizeof *f);
    uint32_t kind;

    desc.executors_count = 3;
    desc.executors = executors;
    desc.kinds_count = 2;
    desc.machines_count = 2;
    desc.capacities = capacities;
    desc.resource_names = resources;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &f->platform));
    ok(clo_graph_create("mail", &f->graph));
    ok(clo_graph_set_resource(f->graph, 0, "memory"));
    ok(clo_graph_kind(f->graph, "k1", &kind));
    ok(clo_graph_add_task(f->graph, &pack, NULL));
    ok(clo_graph_add_task(f->graph, &send, NULL));
    ok(clo_graph_set_time(f->graph, 1, kind, CLO_TIME_NEVER));
    ok(clo_graph_add_edge(f->graph, 0, 1, 8));
    ok(clo_graph_seal(f->graph));
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
    f->jobs[0] = (clo_stream_job){.job = 7, .cost = f->cost, .weight = 3, .deadline_ns = 30};
    f->jobs[1] = (clo_stream_job){.job = 8, .cost = f->cost, .weight = 1, .deadline_ns = 20, .band = 1};
    f->header = (clo_log_header)CLO_LOG_HEADER_INIT;
    f->header.clock = CLO_CLOCK_VIRTUAL;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    clo_cost_destroy(f->cost);
    clo_graph_destroy(f->graph);
    clo_platform_destroy(f->platform);
    free(f);
    return 0;
}

static void add(fixture *f, int64_t now_ns, uint32_t what, uint64_t job, int64_t value)
{
    f->records[f->count++] = (clo_log_record){now_ns, job, what, CLO_NONE, CLO_NONE, CLO_NONE, value};
}

static void start(fixture *f, int64_t now_ns, uint64_t job, uint32_t stage, uint32_t instance, uint32_t executor)
{
    f->records[f->count++] = (clo_log_record){now_ns, job, CLO_LOG_START, stage, instance, executor, 0};
}

static void finish(fixture *f, int64_t now_ns, uint64_t job, uint32_t stage, uint32_t instance, uint32_t executor,
                   int64_t start_ns)
{
    f->records[f->count++] = (clo_log_record){now_ns, job, CLO_LOG_FINISH, stage, instance, executor, start_ns};
}

/* Job 7 packs on e0 and e2, and sends on e0 when the parcel from e2 is there. */
static void write_valid(fixture *f)
{
    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 2, CLO_LOG_ARRIVE, 7, 0);
    start(f, 2, 7, 0, 0, 0);
    start(f, 2, 7, 0, 1, 2);
    finish(f, 12, 7, 0, 0, 0, 2);
    finish(f, 12, 7, 0, 1, 2, 2);
    start(f, 12, 7, 1, 0, 0);
    finish(f, 18, 7, 1, 0, 0, 14);
    add(f, 18, CLO_LOG_DONE, 7, CLO_LOG_DONE_OK);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
}

static clo_log *log_of(const fixture *f)
{
    clo_log *log;

    ok(clo_log_create(&f->header, f->count + 1, &log));
    for (size_t i = 0; i < f->count; i++)
        assert_true(clo_log_append(log, &f->records[i]));
    return log;
}

static clo_stream_case case_of(const fixture *f)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;

    stream.platform = f->platform;
    stream.jobs = f->jobs;
    stream.jobs_count = 2;
    return stream;
}

static void expect(const fixture *f, const char *text)
{
    clo_log *log = log_of(f);
    clo_stream_case stream = case_of(f);
    clo_status status = clo_stream_check(&stream, log, NULL);

    if (status != (text == NULL ? CLO_OK : CLO_ERR_INVALID) || (text != NULL && strcmp(clo_last_error(), text) != 0))
        fail_msg("got %d %s\nnot %s", status, clo_last_error(), text != NULL ? text : "valid");
    clo_log_destroy(log);
}

static void figures_are_those_of_a_run_by_hand(void **state)
{
    fixture *f = *state;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_case stream = case_of(f);
    uint32_t backlog[5];

    write_valid(f);
    /* Job 8 packs both on e2, one behind the other, and is cancelled. */
    f->count -= 2;
    add(f, 18, CLO_LOG_DONE, 7, CLO_LOG_DONE_OK);
    add(f, 18, CLO_LOG_ARRIVE, 8, 1);
    start(f, 18, 8, 0, 0, 2);
    finish(f, 28, 8, 0, 0, 2, 18);
    add(f, 30, CLO_LOG_CANCEL, 8, 0);
    add(f, 30, CLO_LOG_DONE, 8, CLO_LOG_DONE_CANCELLED);
    add(f, 40, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    clo_log *log = log_of(f);
    stream.backlog = backlog;
    stream.backlog_count = 5;
    ok(clo_stream_check(&stream, log, &report));
    assert_int_equal(report.arrived, 2);
    assert_int_equal(report.finished, 1);
    assert_int_equal(report.cancelled, 1);
    assert_int_equal(report.failed + report.absent + report.faults, 0);
    assert_int_equal(report.executions, 4);
    assert_int_equal(report.decisions, 4);
    assert_int_equal(report.missed_deadlines, 1); /* what is cancelled has not been finished in time */
    assert_int_equal(report.makespan_ns, 26);
    assert_int_equal(report.busy_ns, 34);
    assert_true(fabs(report.utilization - 34.0 / 78) < 1e-12);
    assert_true(report.mean_completion_ns == 16 && report.weighted_completion_ns == 16);
    assert_int_equal(report.p95_completion_ns, 16);
    assert_true(report.mean_completion_bound_ns == 14); /* 10 + 4, more than 24 / 3 */
    static const uint32_t want[] = {0, 1, 1, 0, 0};
    assert_memory_equal(backlog, want, sizeof want);
    clo_log_destroy(log);
}

static void the_bound_of_many_jobs_is_that_of_the_pooled_machine(void **state)
{
    fixture *f = *state;
    enum { JOBS = 8 };
    clo_stream_job jobs[JOBS];
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_case stream = case_of(f);
    clo_log *log;

    ok(clo_log_create(&f->header, 0, &log));
    clo_log_append(log, &(clo_log_record){0, CLO_LOG_NO_JOB, CLO_LOG_BEGIN, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    for (uint64_t j = 0; j < JOBS; j++) {
        jobs[j] = (clo_stream_job){.job = j, .cost = f->cost};
        clo_log_append(log, &(clo_log_record){0, j, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, (int64_t)j});
    }
    int64_t now_ns = 0;
    for (uint64_t j = 0; j < JOBS; j++) { /* one behind the other on e0 */
        static const int64_t lengths[] = {10, 10, 4};
        for (uint32_t k = 0; k < 3; k++) {
            clo_log_append(log, &(clo_log_record){now_ns, j, CLO_LOG_START, k / 2, k % 2, 0, 0});
            now_ns += lengths[k];
            clo_log_append(log, &(clo_log_record){now_ns, j, CLO_LOG_FINISH, k / 2, k % 2, 0, now_ns - lengths[k]});
        }
        clo_log_append(log, &(clo_log_record){now_ns, j, CLO_LOG_DONE, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    }
    clo_log_append(log, &(clo_log_record){now_ns, CLO_LOG_NO_JOB, CLO_LOG_END, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    stream.jobs = jobs;
    stream.jobs_count = JOBS;
    ok(clo_stream_check(&stream, log, &report));
    assert_true(report.mean_completion_ns == 24 * 4.5);
    assert_true(report.weighted_completion_ns == 0);         /* nobody has a weight */
    assert_true(report.mean_completion_bound_ns == 8 * 4.5); /* 24 ns over 3 executors each, one behind the other */
    assert_int_equal(report.p95_completion_ns, 24 * 8);
    clo_log_destroy(log);
}

/* One machine has a limit, the other has none: all that are in use together have none. */
static void a_machine_without_a_limit_leaves_the_resource_out_of_the_bound(void **state)
{
    fixture *f = *state;
    static const clo_executor executors[] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                             {0, 1, 0, -1, {65536, 65536, 65536, 65536}}};
    static const int64_t capacities[2 * CLO_RESOURCES_MAX] = {3,  -1, -1, -1, -1, -1, -1, -1,
                                                              -1, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_task task = {.work_ns = 10, .instances = 4, .demand = {3}};
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;

    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 2;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 0, CLO_LOG_ARRIVE, 1, 0);
    for (uint32_t i = 0; i < 4; i += 2) {
        start(f, 5 * i, 1, 0, i, 0);
        start(f, 5 * i, 1, 0, i + 1, 1);
        finish(f, 5 * i + 10, 1, 0, i, 0, 5 * i);
        finish(f, 5 * i + 10, 1, 0, i + 1, 1, 5 * i);
    }
    add(f, 20, CLO_LOG_DONE, 1, CLO_LOG_DONE_OK);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    clo_log *log = log_of(f);
    stream.platform = platform;
    stream.jobs = &(clo_stream_job){.job = 1, .cost = cost};
    stream.jobs_count = 1;
    ok(clo_stream_check(&stream, log, &report));
    assert_true(report.mean_completion_bound_ns == 20); /* 40 ns on two executors */
    clo_log_destroy(log);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static void faults_name_the_task_the_executor_and_the_times(void **state)
{
    fixture *f = *state;

    write_valid(f);
    expect(f, NULL);
    f->records[7].value = 13; /* before the parcel from e2 is there */
    expect(f, "duration: record 7: job 7: task 'send' on executor 'e0', from 13 to 18 ns: its cost is 4 ns");
    f->records[7].now_ns = 17;
    expect(f, "transfer: record 6: job 7: task 'send' on executor 'e0', from 13 to 17 ns: its input from job 7: task "
              "'pack' instance 1 on executor 'e2' comes at 14 ns");
    f->header.clock = CLO_CLOCK_PADDED;
    expect(f, "transfer: record 6: job 7: task 'send' on executor 'e0', from 13 to 17 ns: its input from job 7: task "
              "'pack' instance 1 on executor 'e2' comes at 14 ns");
    f->header.clock = CLO_CLOCK_REAL;
    expect(f, NULL);
    f->records[3].executor = f->records[5].executor = 1; /* e0 and e1 share the machine */
    expect(f, "capacity: record 3: job 7: task 'pack' instance 1 on executor 'e1', from 2 to 12 ns: it needs 3 of "
              "resource 0 (memory), and 3 of 5 are in use");
    f->records[6].executor = f->records[7].executor = 2;
    expect(f, "placement: record 6: job 7: task 'send' on executor 'e2'; the task cannot run there");
}

static void what_depends_on_the_order_of_records_is_named_too(void **state)
{
    fixture *f = *state;

    write_valid(f);
    f->records[1].now_ns = 1;
    f->jobs[0].arrival_ns = 2;
    expect(f, "arrived-early: record 1: job 7: it arrives at 1 ns; the workload says 2 ns");
    f->jobs[0].arrival_ns = 0;
    f->jobs[0].limit = 1;
    expect(f, "limit: record 3: job 7: task 'pack' instance 1 on executor 'e2', from 2 to 12 ns: 2 executions of the "
              "job run, its limit is 1");
    f->jobs[0].limit = 0;
    f->records[9].value = 2;
    expect(f, "done-missing: END counts 2 jobs that are not done, and all are");
    f->records[9].value = 0;
    f->records[3].value = 1;
    expect(f, "no-original: record 8: job 7: it is done, and task 'pack' instance 1 was not started");
    f->records[3].value = 0;
    f->count = 0;
    expect(f, "frame: the log is empty");
}

static void a_lower_band_waits(void **state)
{
    fixture *f = *state;

    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 0, CLO_LOG_ARRIVE, 7, 0);
    add(f, 0, CLO_LOG_ARRIVE, 8, 1);
    start(f, 0, 7, 0, 0, 0);
    start(f, 0, 8, 0, 0, 2); /* instance 1 of job 7, band 0, could have gone there */
    finish(f, 10, 7, 0, 0, 0, 0);
    finish(f, 10, 8, 0, 0, 2, 0);
    add(f, 10, CLO_LOG_END, CLO_LOG_NO_JOB, 2);
    expect(f, "band: record 4: job 8: task 'pack' instance 0 on executor 'e2', band 1: job 7 of band 0 waited with "
              "task 'pack', which fits there");
    f->records[4].executor = f->records[6].executor = 1;
    f->records[4].stage = f->records[6].stage = 1; /* e1 has no room for a second parcel */
    f->records[4].instance = f->records[6].instance = 0;
    f->records[6].now_ns = 4;
    f->header.clock = CLO_CLOCK_REAL;
    clo_stream_case stream = case_of(f);
    stream.ignore = UINT64_C(1) << CLO_STREAM_PRECEDENCE;
    clo_log *log = log_of(f);
    ok(clo_stream_check(&stream, log, NULL));
    clo_log_destroy(log);
}

static void kinds_can_be_ignored_and_the_first_faults_are_kept(void **state)
{
    fixture *f = *state;
    clo_stream_fault faults[2];
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_case stream = case_of(f);

    write_valid(f);
    for (size_t i = 2; i < 4; i++)
        f->records[i].job = 99;
    clo_log *log = log_of(f);
    stream.faults = faults;
    stream.faults_max = 2;
    fails(CLO_ERR_INVALID, "unknown-job: record 2: job 99: the workload has no such job",
          clo_stream_check(&stream, log, &report));
    assert_int_equal(report.by_kind[CLO_STREAM_UNKNOWN_JOB], 2);
    assert_int_equal(report.by_kind[CLO_STREAM_FINISH_UNSTARTED], 2);
    assert_true(report.faults > 4 && report.faults_told == 2);
    assert_int_equal(faults[1].record, 3);
    assert_int_equal(faults[1].kind, CLO_STREAM_UNKNOWN_JOB);
    stream.ignore = UINT64_MAX;
    ok(clo_stream_check(&stream, log, &report));
    assert_int_equal(report.faults + report.faults_told, 0);
    clo_log_destroy(log);
}

static void what_cannot_be_judged_is_refused(void **state)
{
    fixture *f = *state;
    clo_stream_case stream = case_of(f);
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_platform *other;
    clo_log *log, *small;

    write_valid(f);
    ok(clo_log_create(NULL, 1, &small));
    clo_log_append(small, &f->records[0]);
    clo_log_append(small, &f->records[1]);
    fails(CLO_ERR_STATE, "the log was full and dropped 1 records", clo_stream_check(&stream, small, NULL));
    clo_log_destroy(small);
    f->header.executors = 4;
    log = log_of(f);
    fails(CLO_ERR_ARGUMENT, "the log is of a platform with 4 executors, this one has 3",
          clo_stream_check(&stream, log, &report));
    clo_log_destroy(log);
    f->header.executors = 3;
    log = log_of(f);
    f->jobs[1].job = 7;
    fails(CLO_ERR_ARGUMENT, "two jobs have the number 7", clo_stream_check(&stream, log, &report));
    f->jobs[1].job = CLO_LOG_NO_JOB;
    fails(CLO_ERR_ARGUMENT, "jobs[1] has the number that stands for no job", clo_stream_check(&stream, log, &report));
    f->jobs[1].job = 8;
    f->jobs[1].weight = -1;
    fails(CLO_ERR_ARGUMENT, "the weight of job 8 is no number >= 0", clo_stream_check(&stream, log, &report));
    f->jobs[1].weight = NAN;
    fails(CLO_ERR_ARGUMENT, "the weight of job 8 is no number >= 0", clo_stream_check(&stream, log, &report));
    f->jobs[1].weight = 0;
    f->jobs[1].cost = NULL;
    fails(CLO_ERR_ARGUMENT, "job 8 has no cost", clo_stream_check(&stream, log, &report));
    f->jobs[1].cost = f->cost;
    ok(clo_platform_open("uniform:3", &other));
    stream.platform = other;
    fails(CLO_ERR_ARGUMENT, "the cost of job 7 is of another platform", clo_stream_check(&stream, log, &report));
    clo_platform_destroy(other);
    stream.platform = f->platform;
    stream.jobs_count = (size_t)1 << 40;
    fails(CLO_ERR_LIMIT, "jobs; at most", clo_stream_check(&stream, log, &report));
    assert_int_equal(report.arrived, 0); /* untouched */
    clo_log_destroy(log);
}

static clo_status judge(void *context)
{
    fixture *f = context;
    clo_stream_case stream = case_of(f);
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_log *log;
    clo_status status = clo_log_create(&f->header, 20, &log);

    if (status != CLO_OK)
        return status;
    for (size_t i = 0; i < f->count; i++)
        (void)clo_log_append(log, &f->records[i]);
    status = clo_stream_check(&stream, log, &report);
    clo_log_destroy(log);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    fixture *f = *state;

    write_valid(f);
    assert_true(fault_each(judge, f) > 20);
}

/* What was queued on e0 for job 7 is dropped when that is cancelled; then job 8 may have e0. */
static void what_a_cancelled_job_had_queued_is_dropped(void **state)
{
    fixture *f = *state;

    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 2, CLO_LOG_ARRIVE, 7, 0);
    start(f, 2, 7, 0, 0, 0);
    start(f, 2, 7, 0, 1, 2);
    start(f, 2, 7, 1, 0, 1);
    f->records[f->count - 1].what = CLO_LOG_COMMIT;
    add(f, 4, CLO_LOG_CANCEL, 7, 0);
    start(f, 4, 7, 1, 0, 1);
    f->records[f->count - 1].what = CLO_LOG_DROP;
    finish(f, 12, 7, 0, 0, 0, 2);
    finish(f, 12, 7, 0, 1, 2, 2);
    add(f, 12, CLO_LOG_DONE, 7, CLO_LOG_DONE_CANCELLED);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    expect(f, NULL);
    f->records[5].what = CLO_LOG_TIMER; /* nobody cancels it */
    f->records[5].job = CLO_LOG_NO_JOB;
    f->records[9].value = CLO_LOG_DONE_FAILED;
    expect(f,
           "start-unfinished: record 6: job 7: task 'send' on executor 'e1': it is dropped, and was started or its job "
           "not cancelled");
    f->records[4].stage = 0; /* another task is queued */
    f->records[4].instance = 1;
    f->header.clock = CLO_CLOCK_REAL;
    clo_log *log = log_of(f);
    clo_stream_case stream = case_of(f);
    assert_int_equal(clo_stream_check(&stream, log, NULL), CLO_ERR_INVALID);
    clo_log_destroy(log);
}

static void expect_end(fixture *f, uint8_t end, const char *fault)
{
    clo_log *log = log_of(f);
    clo_stream_case stream = case_of(f);
    const uint8_t ends[2] = {end, CLO_STREAM_END_UNKNOWN};

    stream.ends = ends;
    if (fault == NULL)
        ok(clo_stream_check(&stream, log, NULL));
    else
        fails(end > CLO_STREAM_END_FAILED ? CLO_ERR_ARGUMENT : CLO_ERR_INVALID, fault,
              clo_stream_check(&stream, log, NULL));
    clo_log_destroy(log);
}

/* A job is done as its CANCEL says, and as the run says. */
static void a_job_ends_as_it_was_cancelled_and_as_the_run_says(void **state)
{
    fixture *f = *state;

    write_valid(f);
    expect_end(f, CLO_STREAM_END_OK, NULL);
    expect_end(f, CLO_STREAM_END_CUT,
               "job 7: DONE says that all of it finished; who waited for it was told that it was cut short");
    expect_end(f, CLO_STREAM_END_FAILED, "who waited for it was told that a body failed");
    expect_end(f, CLO_STREAM_END_FAILED + 1, "stream->ends[0] is 4");
    f->records[9] = f->records[8]; /* DONE */
    f->records[8] = f->records[7]; /* the last FINISH */
    f->records[7] = (clo_log_record){18, 7, CLO_LOG_CANCEL, CLO_NONE, CLO_NONE, CLO_NONE, 0};
    f->count = 10;
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    expect(f, "wrong-end: record 9: job 7: DONE says that all of it finished, CANCEL that it was cut short");
    f->records[9].value = CLO_LOG_DONE_CANCELLED;
    expect_end(f, CLO_STREAM_END_CUT, NULL);
    expect_end(f, CLO_STREAM_END_OK, "who waited for it was told that all of it finished");
    f->records[9].value = CLO_LOG_DONE_FAILED;
    expect(f, "wrong-end: record 9: job 7: DONE says that a body failed, CANCEL that it was cut short");
    f->records[7].value = 1;
    expect_end(f, CLO_STREAM_END_FAILED, NULL);
    f->records[7].value = 2;
    expect(f, "bad-value: record 7: job 7: CANCEL has a value of 0 or 1");
}

/* Only a job that has arrived and goes on enters, piece by piece. */
static void a_job_enters_while_it_lives(void **state)
{
    fixture *f = *state;

    write_valid(f);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    f->records[9] = f->records[8]; /* DONE */
    f->records[8] = (clo_log_record){18, 7, CLO_LOG_ENTER, CLO_NONE, CLO_NONE, CLO_NONE, 0};
    expect(f, NULL);
    f->records[8] = f->records[9];
    f->records[9] = (clo_log_record){18, 7, CLO_LOG_ENTER, CLO_NONE, CLO_NONE, CLO_NONE, 0};
    expect(f, "after-done: record 9: job 7: it enters after it is done");
    f->records[9].job = 8;
    expect(f, "not-arrived: record 9: job 8: it enters before it arrives");
    f->count = 0;
    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 2, CLO_LOG_ARRIVE, 7, 0);
    add(f, 2, CLO_LOG_CANCEL, 7, 0);
    add(f, 2, CLO_LOG_ENTER, 7, 0);
    add(f, 12, CLO_LOG_DONE, 7, CLO_LOG_DONE_CANCELLED);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    expect(f, "after-cancel: record 3: job 7: it enters after it was cancelled");
}

/* Only a cancelled job leaves, before it is done; and only a policy that came by a swap is shown more. */
static void a_cancelled_job_leaves_before_its_end(void **state)
{
    fixture *f = *state;

    f->count = 0;
    add(f, 0, CLO_LOG_BEGIN, CLO_LOG_NO_JOB, 0);
    add(f, 2, CLO_LOG_ARRIVE, 7, 0);
    add(f, 2, CLO_LOG_CANCEL, 7, 0);
    add(f, 2, CLO_LOG_MORE, 7, 0);
    add(f, 12, CLO_LOG_DONE, 7, CLO_LOG_DONE_CANCELLED);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    expect(f, NULL);
    f->records[3] = f->records[4];
    f->records[4] = (clo_log_record){12, 7, CLO_LOG_MORE, CLO_NONE, CLO_NONE, CLO_NONE, 0};
    expect(f, "after-done: record 4: job 7: it leaves after it is done");
    f->records[4].job = CLO_LOG_NO_JOB;
    expect(f, "unknown-policy: record 4: a policy is shown more, and none came by a SWAP");
    f->count = 0;
    write_valid(f);
    add(f, 20, CLO_LOG_END, CLO_LOG_NO_JOB, 0);
    f->records[9] = f->records[8]; /* DONE */
    f->records[8] = (clo_log_record){18, 7, CLO_LOG_MORE, CLO_NONE, CLO_NONE, CLO_NONE, 0};
    expect(f, "bad-value: record 8: job 7: it leaves and was not cancelled");
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {WITH(figures_are_those_of_a_run_by_hand),
                                       WITH(a_job_ends_as_it_was_cancelled_and_as_the_run_says),
                                       WITH(a_job_enters_while_it_lives),
                                       WITH(a_cancelled_job_leaves_before_its_end),
                                       WITH(the_bound_of_many_jobs_is_that_of_the_pooled_machine),
                                       WITH(faults_name_the_task_the_executor_and_the_times),
                                       WITH(what_depends_on_the_order_of_records_is_named_too),
                                       WITH(a_lower_band_waits),
                                       WITH(kinds_can_be_ignored_and_the_first_faults_are_kept),
                                       WITH(what_cannot_be_judged_is_refused),
                                       WITH(what_a_cancelled_job_had_queued_is_dropped),
                                       WITH(every_allocation_may_fail),
                                       WITH(a_machine_without_a_limit_leaves_the_resource_out_of_the_bound)};

    return cmocka_run_group_tests_name("stream_judge", tests, NULL, NULL);
}
