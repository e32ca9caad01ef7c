/* test_stream_stretches.c - the stream checker on logs in which a task is stopped and goes on (PREEMPT), written by
 * hand. */
#include "support.h"

#include <clotho/stream_check.h>

#include <string.h>

/* One task, "read" (two instances), 10 ns on e0 of machine 0, 20 ns on e1 of machine 1, then "close" (5 ns). */
typedef struct fixture {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_log_record records[20];
    size_t count;
    clo_log_header header;
} fixture;

static int set_up(void **state)
{
    static const clo_executor executors[] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                             {1, 1, 1, -1, {65536, 65536, 65536, 65536}}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_task read = {.name = "read", .work_ns = 10, .instances = 2, .duplicable = 1};
    clo_task end = {.name = "close", .work_ns = 5};
    fixture *f = calloc(1, sizeof *f);
    uint32_t kind;

    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 2;
    desc.machines_count = 2;
    ok(clo_platform_create(&desc, &f->platform));
    ok(clo_graph_create("book", &f->graph));
    ok(clo_graph_kind(f->graph, "k1", &kind));
    ok(clo_graph_add_task(f->graph, &read, NULL));
    ok(clo_graph_add_task(f->graph, &end, NULL));
    ok(clo_graph_set_time(f->graph, 0, kind, 20));
    ok(clo_graph_add_edge(f->graph, 0, 1, 0));
    ok(clo_graph_seal(f->graph));
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
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

static void add(fixture *f, clo_log_record record)
{
    f->records[f->count++] = record;
}

/* Instance 0 runs 4 ns on e0, then 12 ns (the other six tenths) on e1. Instance 1 has e0 in between. */
static void write_valid(fixture *f)
{
    f->count = 0;
    add(f, (clo_log_record){0, CLO_LOG_NO_JOB, CLO_LOG_BEGIN, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    add(f, (clo_log_record){0, 3, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    add(f, (clo_log_record){0, 3, CLO_LOG_START, 0, 0, 0, 0});
    add(f, (clo_log_record){4, 3, CLO_LOG_PREEMPT, 0, 0, 0, 0});
    add(f, (clo_log_record){4, 3, CLO_LOG_START, 0, 1, 0, 0});
    add(f, (clo_log_record){6, 3, CLO_LOG_START, 0, 0, 1, 0});
    add(f, (clo_log_record){14, 3, CLO_LOG_FINISH, 0, 1, 0, 4});
    add(f, (clo_log_record){18, 3, CLO_LOG_FINISH, 0, 0, 1, 6});
    add(f, (clo_log_record){18, 3, CLO_LOG_START, 1, 0, 0, 0});
    add(f, (clo_log_record){23, 3, CLO_LOG_FINISH, 1, 0, 0, 18});
    add(f, (clo_log_record){23, 3, CLO_LOG_DONE, CLO_NONE, CLO_NONE, CLO_NONE, 0});
    add(f, (clo_log_record){23, CLO_LOG_NO_JOB, CLO_LOG_END, CLO_NONE, CLO_NONE, CLO_NONE, 0});
}

/* `text`: the first fault; NULL: the log is valid. */
static void expect(const fixture *f, const char *text)
{
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    const clo_stream_job job = {.job = 3, .cost = f->cost};
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_log *log;

    stream.platform = f->platform;
    stream.jobs = &job;
    stream.jobs_count = 1;
    ok(clo_log_create(&f->header, 0, &log));
    for (size_t i = 0; i < f->count; i++)
        assert_true(clo_log_append(log, &f->records[i]));
    clo_status status = clo_stream_check(&stream, log, &report);
    if (status != (text == NULL ? CLO_OK : CLO_ERR_INVALID) || (text != NULL && strcmp(clo_last_error(), text) != 0))
        fail_msg("got %d %s\nnot %s", status, clo_last_error(), text != NULL ? text : "valid");
    if (text == NULL) { /* stretches are one execution */
        assert_int_equal(report.executions, 3);
        assert_int_equal(report.busy_ns, 4 + 10 + 12 + 5);
        assert_int_equal(report.finished, 1);
    }
    clo_log_destroy(log);
}

static void what_is_stopped_goes_on_elsewhere_for_the_rest_of_its_time(void **state)
{
    fixture *f = *state;

    write_valid(f);
    expect(f, NULL);
    f->records[7].now_ns = f->records[8].now_ns = 19; /* a ns of rounding */
    f->records[9].value = 19;
    for (size_t i = 9; i < f->count; i++)
        f->records[i].now_ns = 24;
    clo_log_record after = f->records[7];
    f->records[7].now_ns = 17;
    expect(f, "preempted: record 7: job 3: task 'read' instance 0 on executor 'e1', from 6 to 17 ns: it ran for 15 ns "
              "in 2 stretches, 0.950000000 of its time");
    f->records[7] = after;
    f->records[7].now_ns = f->records[8].now_ns = f->records[9].value = 20;
    f->records[9].now_ns = f->records[10].now_ns = f->records[11].now_ns = 25;
    expect(f, "preempted: record 7: job 3: task 'read' instance 0 on executor 'e1', from 6 to 20 ns: it ran for 18 ns "
              "in 2 stretches, 1.100000000 of its time");
}

static void stretches_follow_each_other(void **state)
{
    fixture *f = *state;

    write_valid(f);
    f->records[7].value = f->records[5].now_ns = 3; /* it goes on before it is stopped */
    f->records[7].now_ns = 15;
    clo_log_record early = f->records[5];
    f->records[5] = f->records[4];
    f->records[4] = f->records[3];
    f->records[3] = early;
    expect(f, "preempted: record 3: job 3: task 'read' instance 0 on executor 'e1': its stretch before, from record 2, "
              "goes on");
    write_valid(f);
    f->records[3].what = CLO_LOG_FINISH; /* it ends, and is stopped later */
    f->records[7].what = CLO_LOG_PREEMPT;
    expect(f,
           "preempted: record 5: job 3: task 'read' instance 0 on executor 'e1': it has finished before, from record "
           "2");
}

static void what_is_stopped_has_not_finished(void **state)
{
    fixture *f = *state;

    write_valid(f);
    f->records[7].what = CLO_LOG_PREEMPT; /* and does not go on */
    expect(f, "no-original: record 10: job 3: it is done, and task 'read' instance 0 was not started");
    write_valid(f);
    f->records[8].now_ns = f->records[9].value = 14; /* instance 0 has been stopped at 4, and is not done */
    f->records[9].now_ns = 19;
    clo_log_record last = f->records[7];
    f->records[7] = f->records[8];
    f->records[8] = last;
    f->records[9].now_ns = 19;
    expect(f, "precedence: record 7: job 3: task 'close' on executor 'e0', from 14 to 19 ns: its predecessor, job 3: "
              "task 'read' instance 0 on executor 'e1', from 6 to 18 ns, is later");
    write_valid(f);
    f->records[3].stage = 1;
    expect(f, "finish-unstarted: record 3: job 3: stage 1 instance 0 on executor 0 was not started, or has finished "
              "before");
}

static void what_is_not_over_has_not_run_longer_than_it_takes(void **state)
{
    fixture *f = *state;

    write_valid(f);
    f->count = 4;
    f->records[3].now_ns = 300;
    add(f, (clo_log_record){300, CLO_LOG_NO_JOB, CLO_LOG_END, CLO_NONE, CLO_NONE, CLO_NONE, 1});
    expect(f, "preempted: record 3: job 3: task 'read' instance 0 on executor 'e0', from 0 to 300 ns: it ran for 300 ns in "
              "1 stretches, 30.000000000 of its time");
}

/* Replicas, whose times are judged as in any log, are not stopped; nor is what waited in a queue. */
static void only_what_was_started_is_stopped(void **state)
{
    fixture *f = *state;

    write_valid(f);
    f->records[2].what = CLO_LOG_COMMIT;
    expect(f, "preempted: record 3: job 3: replicas, and what is skipped or committed, are not stopped");
    write_valid(f);
    f->records[4].value = CLO_LOG_REPLICA;
    f->records[6].now_ns = 9;
    expect(f, "duration: record 6: job 3: task 'read' instance 1 on executor 'e0' (replica), from 4 to 9 ns: its cost is "
              "10 ns");
}

static void no_policy_stops_what_runs(void **state)
{
    static const clo_log_policy fifo = {"fifo", NULL};
    fixture *f = *state;

    write_valid(f);
    f->header.policies = &fifo;
    f->header.policies_count = 1;
    expect(f, "preempted: record 3: job 3: a policy decided, and no policy stops what runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_stopped_goes_on_elsewhere_for_the_rest_of_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stretches_follow_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_stopped_has_not_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_over_has_not_run_longer_than_it_takes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_was_started_is_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_policy_stops_what_runs, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
