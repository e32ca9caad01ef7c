/* test_log.c - the log object: it holds the beginning of the run, counts what it drops, and compares. */
#include "policy_scene.h"
#include "trace/log.h"

#include <string.h>

static clo_log_record record(int64_t now_ns, uint32_t what, uint64_t job)
{
    return (clo_log_record){now_ns, job, what, CLO_NONE, CLO_NONE, CLO_NONE, 0};
}

static clo_log *log_of(size_t capacity)
{
    clo_log *log;

    ok(clo_log_create(NULL, capacity, &log));
    return log;
}

static void a_full_log_keeps_the_beginning_and_counts_the_rest(void **state)
{
    clo_log *log = log_of(2);
    size_t count;

    (void)state;
    for (int64_t i = 0; i < 5; i++) {
        clo_log_record r = record(i, CLO_LOG_TIMER, CLO_LOG_NO_JOB);
        assert_int_equal(clo_log_append(log, &r), i < 2);
    }
    const clo_log_record *records = clo_log_records(log, &count);
    assert_int_equal(count, 2);
    assert_int_equal(records[1].now_ns, 1);
    assert_int_equal(clo_log_dropped(log), 3);
    clo_log_destroy(log);
}

static void a_log_without_a_capacity_grows(void **state)
{
    clo_log *log = log_of(0);
    size_t count;

    (void)state;
    for (int64_t i = 0; i < 100000; i++) {
        clo_log_record r = record(i, CLO_LOG_TIMER, CLO_LOG_NO_JOB);
        assert_true(clo_log_append(log, &r));
    }
    const clo_log_record *records = clo_log_records(log, &count);
    assert_int_equal(count, 100000);
    for (int64_t i = 0; i < 100000; i++)
        assert_int_equal(records[i].now_ns, i);
    assert_int_equal(clo_log_dropped(log), 0);
    clo_log_destroy(log);
}

static void the_header_is_copied(void **state)
{
    char name[] = "tuned", argument[] = "7", platform[] = "rk3588";
    clo_log_policy policies[] = {{name, argument}, {"fifo", NULL}};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;

    (void)state;
    header.platform = platform;
    header.clock = CLO_CLOCK_PADDED;
    header.policies = policies;
    header.policies_count = 2;
    ok(clo_log_create(&header, 1, &log));
    memset(name, 'x', 5);
    memset(argument, 'x', 1);
    memset(platform, 'x', 6);
    memset(policies, 0, sizeof policies);
    const clo_log_header *about = clo_log_about(log);
    assert_string_equal(about->platform, "rk3588");
    assert_null(about->workload);
    assert_int_equal(about->clock, CLO_CLOCK_PADDED);
    assert_int_equal(about->policies_count, 2);
    assert_string_equal(about->policies[0].name, "tuned");
    assert_string_equal(about->policies[0].argument, "7");
    assert_string_equal(about->policies[1].name, "fifo");
    assert_null(about->policies[1].argument);
    clo_log_destroy(log);
}

static void bad_headers_are_refused(void **state)
{
    clo_log_policy nameless = {NULL, "x"};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log = NULL;

    (void)state;
    header.clock = 3;
    fails(CLO_ERR_ARGUMENT, "a log's clock is 3", clo_log_create(&header, 1, &log));
    header.clock = 0;
    header.policies_count = 1;
    fails(CLO_ERR_ARGUMENT, "header->policies", clo_log_create(&header, 1, &log));
    header.policies = &nameless;
    fails(CLO_ERR_ARGUMENT, "policy 0 of a log has no name", clo_log_create(&header, 1, &log));
    header.policies_count = CLO_LOG_POLICIES_MAX + 1;
    fails(CLO_ERR_LIMIT, "at most 256", clo_log_create(&header, 1, &log));
    fails(CLO_ERR_MEMORY, "", clo_log_create(NULL, SIZE_MAX / 8, &log));
    assert_null(log);
}

static void the_first_difference_is_named(void **state)
{
    clo_log *a = log_of(4), *b = log_of(4);
    clo_log_record arrive = record(5, CLO_LOG_ARRIVE, 7), start = {9, 7, CLO_LOG_START, 1, 2, 3, 0};
    char text[400];

    (void)state;
    assert_int_equal(clo_log_first_difference(a, b, text, sizeof text), CLO_LOG_EQUAL);
    assert_string_equal(text, "");
    clo_log_append(a, &arrive);
    clo_log_append(b, &arrive);
    clo_log_append(a, &start);
    assert_int_equal(clo_log_first_difference(a, b, text, sizeof text), 1);
    assert_string_equal(text, "record 1: only the first log goes on: start at 9 ns, job 7, stage 1, instance 2, "
                              "executor 3, value 0");
    assert_int_equal(clo_log_first_difference(b, a, text, sizeof text), 1);
    assert_string_equal(text, "record 1: only the second log goes on: start at 9 ns, job 7, stage 1, instance 2, "
                              "executor 3, value 0");
    start.executor = 4;
    clo_log_append(b, &start);
    assert_int_equal(clo_log_first_difference(a, b, text, sizeof text), 1);
    assert_string_equal(text,
                        "record 1: start at 9 ns, job 7, stage 1, instance 2, executor 3, value 0; in the second log: "
                        "start at 9 ns, job 7, stage 1, instance 2, executor 4, value 0");
    assert_int_equal(clo_log_first_difference(a, b, NULL, 0), 1);
    assert_int_equal(clo_log_first_difference(a, a, text, sizeof text), CLO_LOG_EQUAL);
    assert_int_equal(clo_log_first_difference(NULL, NULL, text, sizeof text), CLO_LOG_EQUAL);
    assert_int_equal(clo_log_first_difference(NULL, b, text, sizeof text), 0);
    clo_log_destroy(a);
    clo_log_destroy(b);
}

static void records_are_described_without_what_they_lack(void **state)
{
    clo_log_record wake = {-3, CLO_LOG_NO_JOB, CLO_LOG_WAKE, CLO_NONE, CLO_NONE, CLO_NONE, 12}, odd = wake;
    char text[160], few[10];

    (void)state;
    assert_string_equal(clo_log_describe(&wake, text, sizeof text), "wake at -3 ns, value 12");
    odd.what = 99;
    assert_string_equal(clo_log_describe(&odd, text, sizeof text), "kind 99 at -3 ns, value 12");
    assert_string_equal(clo_log_describe(&wake, few, sizeof few), "wake at -");
    assert_string_equal(clo_log_kind_name(CLO_LOG_COMMIT), "commit");
    assert_string_equal(clo_log_kind_name(CLO_LOG_ARM), "arm");
    assert_string_equal(clo_log_kind_name(28), "?");
    odd = (clo_log_record){INT64_MIN,      UINT64_MAX - 1, CLO_LOG_CAPACITY, UINT32_MAX - 1,
                           UINT32_MAX - 1, UINT32_MAX - 1, INT64_MIN};
    assert_true(strlen(clo_log_describe(&odd, text, sizeof text)) < sizeof text - 1);
}

/* One executor, so that every input ends in decisions; the last sum stands before the end. */
static void a_sum_follows_every_64th_input_and_the_last(void **state)
{
    policy_scene s;
    size_t count, since = 0, inputs = 0;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 10, 300);
    scene_run(&s, "fifo");
    const clo_log_record *records = clo_log_records(s.log, &count);
    for (size_t i = 0; i < count; i++) {
        inputs += records[i].what < CLO_LOG_OUTPUTS;
        since += records[i].what < CLO_LOG_OUTPUTS;
        assert_true(since <= 64);
        since = records[i].what == CLO_LOG_SUM ? 0 : since;
    }
    assert_true(inputs > 300);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_full_log_keeps_the_beginning_and_counts_the_rest),
                                       cmocka_unit_test(a_log_without_a_capacity_grows),
                                       cmocka_unit_test(the_header_is_copied),
                                       cmocka_unit_test(bad_headers_are_refused),
                                       cmocka_unit_test(the_first_difference_is_named),
                                       cmocka_unit_test(a_sum_follows_every_64th_input_and_the_last),
                                       cmocka_unit_test(records_are_described_without_what_they_lack)};

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
