/* What clo_stream_gantt_svg refuses, and the boxes of two jobs. tests/cli/test_simulate.py looks at its pictures. */
#include "support.h"

#include <clotho/stream.h>
#include <stdio.h>
#include <string.h>

/* A log of one body on `executor`, from `begin_ns` to 10. */
static clo_log *log_of(uint32_t executor, int64_t begin_ns, size_t capacity)
{
    const clo_log_record records[] = {
        {.what = CLO_LOG_BEGIN, .job = CLO_LOG_NO_JOB},
        {.what = CLO_LOG_FINISH, .now_ns = 10, .executor = executor, .value = begin_ns},
        {.what = CLO_LOG_END, .now_ns = 10, .job = CLO_LOG_NO_JOB},
    };
    clo_log *log;

    ok(clo_log_create(NULL, capacity, &log));
    for (size_t i = 0; i < 3; i++)
        (void)clo_log_append(log, &records[i]);
    return log;
}

static void a_log_that_is_no_run_on_the_platform_is_refused(void **state)
{
    const struct {
        uint32_t executor;
        int64_t begin_ns;
        size_t capacity;
        clo_status status;
        const char *text;
    } cases[] = {{2, 0, 0, CLO_ERR_ARGUMENT, "record 1 is no body on this platform"},
                 {0, 11, 0, CLO_ERR_ARGUMENT, "record 1 is no body on this platform"},
                 {0, -1, 0, CLO_ERR_ARGUMENT, "record 1 is no body on this platform"},
                 {0, 0, 2, CLO_ERR_STATE, "dropped records"},
                 {0, 0, 0, CLO_ERR_IO, "/nonexistent"}};
    clo_platform *platform;

    (void)state;
    ok(clo_platform_open("uniform:2", &platform));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_stream_gantt_svg(NULL, platform, NULL, "x.svg"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clo_log *log = log_of(cases[i].executor, cases[i].begin_ns, cases[i].capacity);
        fails(cases[i].status, cases[i].text, clo_stream_gantt_svg(log, platform, NULL, "/nonexistent/x.svg"));
        clo_log_destroy(log);
    }
    clo_platform_destroy(platform);
}

static void a_log_without_bodies_is_an_empty_picture(void **state)
{
    clo_platform *platform;
    clo_log *log;

    (void)state;
    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_log_create(NULL, 0, &log));
    ok(clo_stream_gantt_svg(log, platform, "empty", "/dev/null"));
    clo_log_destroy(log);
    clo_platform_destroy(platform);
}

/* Two jobs share a row: the box of each has its name and its colour. */
static void each_job_has_a_box_of_its_own(void **state)
{
    static const char path[] = CLO_BINARY "/tests/test_stream_picture.svg";
    const clo_log_record records[] = {
        {.what = CLO_LOG_BEGIN, .job = CLO_LOG_NO_JOB},
        {.what = CLO_LOG_FINISH, .now_ns = 500, .job = 3},
        {.what = CLO_LOG_FINISH, .now_ns = 1000, .job = 4, .value = 500},
        {.what = CLO_LOG_END, .now_ns = 1000, .job = CLO_LOG_NO_JOB},
    };
    clo_platform *platform;
    clo_log *log;
    char text[8000] = "";

    (void)state;
    ok(clo_platform_open("uniform:1", &platform));
    ok(clo_log_create(NULL, 0, &log));
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        assert_true(clo_log_append(log, &records[i]));
    ok(clo_stream_gantt_svg(log, platform, "two", path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    remove(path);
    assert_non_null(strstr(text, "<rect class=\"c3\""));
    assert_non_null(strstr(text, "<title>job 3\n"));
    assert_non_null(strstr(text, "<rect class=\"c4\""));
    assert_non_null(strstr(text, "<title>job 4\n"));
    assert_true(strstr(strstr(text, "job 4") + 1, "<title>") == NULL);
    clo_log_destroy(log);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_that_is_no_run_on_the_platform_is_refused),
        cmocka_unit_test(a_log_without_bodies_is_an_empty_picture),
        cmocka_unit_test(each_job_has_a_box_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
