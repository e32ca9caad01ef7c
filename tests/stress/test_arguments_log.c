/* test_arguments_log.c - as test_arguments.c, for logs and the stream checker. */
#include "support.h"

#include "trace/log.h"

#include <clotho/stream.h>

#include <stdio.h>
#include <string.h>

#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
#define refuses_somehow(call, ...) fails(CLO_ERR_ARGUMENT, "", call(__VA_ARGS__))

/* A library without files refuses everything else first. */
#define refuses_io(call, ...)                                                           \
    do {                                                                                \
        clo_status io_status = call(__VA_ARGS__);                                       \
        assert_true(io_status == CLO_ERR_ARGUMENT || io_status == CLO_ERR_UNSUPPORTED); \
    } while (0)

#define NEVER_WRITTEN "/tmp/clotho_never_written"

static void logs(void **state)
{
    (void)state;
    clo_log *log = NULL, *none = NULL;
    size_t count = 7;

    refuses(clo_log_create, NULL, 1, NULL);
    ok(clo_log_create(NULL, 1, &log));
    clo_log_destroy(NULL);
    assert_false(clo_log_append(NULL, &(clo_log_record){0}));
    assert_false(clo_log_append(log, NULL));
    assert_null(clo_log_records(NULL, &count));
    assert_int_equal(count, 0);
    assert_non_null(clo_log_records(log, NULL));
    assert_int_equal(clo_log_dropped(NULL), 0);
    assert_null(clo_log_about(NULL));
    assert_string_equal(clo_log_kind_name(UINT32_MAX), "?");
    assert_int_equal(clo_log_first_difference(NULL, log, NULL, 0), CLO_LOG_EQUAL);
    refuses_io(clo_log_save, NULL, NEVER_WRITTEN);
    refuses_io(clo_log_save, log, NULL);
    refuses_io(clo_log_load, NULL, &none);
    refuses_io(clo_log_load, "x", NULL);
    assert_false(clo_log_is_log(NULL, 1));
    assert_null(none);
    clo_log_destroy(log);
}

/* An argument that the log does not know, and one of a policy that takes none. */
static void arguments_of_policies(const clo_replay_config *replay)
{
    const clo_log_policy named[] = {{"parametric", CLO_LOG_ARGUMENT_UNKNOWN}, {"fifo", "fast"}};
    clo_log_header header = CLO_LOG_HEADER_INIT;

    header.policies_count = 1;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        clo_log *log;
        header.policies = &named[i];
        ok(clo_log_create(&header, 4, &log));
        clo_log_set_run(log, &(clo_log_run){CLO_LOG_RUN_SIMULATED, CLO_CLOCK_REAL, 2, 1, 0});
        assert_true(clo_log_append(log, &(clo_log_record){.what = CLO_LOG_BEGIN, .job = CLO_LOG_NO_JOB}));
        assert_true(clo_log_append(log, &(clo_log_record){.what = CLO_LOG_END, .job = CLO_LOG_NO_JOB}));
        fails(CLO_ERR_ARGUMENT, "the log does not say the argument of policy 0", clo_stream_replay(replay, log, NULL));
        clo_log_destroy(log);
    }
}

static void logs_of_runs(void **state)
{
    (void)state;
    clo_platform *platform;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_replay_config replay = CLO_REPLAY_CONFIG_INIT;
    clo_replay_result result = {0};
    clo_runtime *runtime;
    clo_log *log, *growing;

    config.unpinned = 1;
    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_log_create(NULL, 8, &log));
    ok(clo_log_create(NULL, 0, &growing));
    refuses(clo_runtime_log_start, NULL, log);
    refuses(clo_runtime_log_start, runtime, NULL);
    refuses_somehow(clo_runtime_log_start, runtime, growing);
    refuses(clo_runtime_log_stop, NULL);
    refuses(clo_stream_replay, NULL, log, NULL); /* no platform */
    refuses(clo_stream_replay, &replay, NULL, NULL);
    replay.platform = platform;
    refuses_somehow(clo_stream_replay, &replay, log, &result); /* no size */
    replay.costs_count = 1;
    refuses(clo_stream_replay, &replay, log, NULL); /* no costs */
    replay.costs_count = 0;
    arguments_of_policies(&replay);
    clo_log_destroy(growing);
    clo_log_destroy(log);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
}

static void stream_checks(void **state)
{
    (void)state;
    clo_log *log = NULL;
    clo_platform *platform;
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = {0};

    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_log_create(NULL, 1, &log));
    refuses(clo_stream_check, NULL, log, NULL);
    refuses(clo_stream_check, &stream, NULL, NULL);
    refuses(clo_stream_check, &stream, log, NULL); /* no platform */
    stream.platform = platform;
    refuses_somehow(clo_stream_check, &stream, log, &report); /* no size */
    stream.jobs_count = 1;
    refuses(clo_stream_check, &stream, log, NULL); /* no jobs */
    assert_string_equal(clo_stream_fault_name(UINT32_MAX), "?");
    assert_string_equal(clo_stream_fault_meaning(UINT32_MAX), "?");
    clo_log_destroy(log);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs), cmocka_unit_test(logs_of_runs),
                                       cmocka_unit_test(stream_checks)};

    return cmocka_run_group_tests_name("arguments_log", tests, NULL, NULL);
}
