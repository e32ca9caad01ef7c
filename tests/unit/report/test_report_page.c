/* Pages of clotho/report.h from the C interface: what no file can hold, what is refused, and what happens without
 * memory. tests/cli/test_report.py reads the pages of the command. */
#include "support.h"

#include "base/memory.h"
#include "base/text.h"
#include "fault.h"
#include "report/kinds.h"
#include "trace/trace.h"

#include <clotho/report.h>
#include <clotho/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = CLO_BINARY "/tests/test_report_page.html";

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_trace *trace;
} scene;

static scene open_scene(const char *const *names, uint32_t count)
{
    scene s = {0};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    ok(clo_graph_create("g", &s.graph));
    for (uint32_t i = 0; i < count; i++)
        ok(clo_graph_add_task(s.graph, &(clo_task){.name = names[i], .work_ns = 100 + i}, NULL));
    for (uint32_t i = 1; i < count; i++)
        ok(clo_graph_add_edge(s.graph, 0, i, 8));
    ok(clo_graph_seal(s.graph));
    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    config.plan = s.plan;
    ok(clo_simulate(s.cost, &config, NULL, &s.trace, NULL));
    return s;
}

static void close_scene(scene *s)
{
    clo_trace_destroy(s->trace);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static clo_status write_page(void *context)
{
    const scene *s = context;
    const clo_report_schedule schedules[2] = {{.plan = s->plan, .trace = s->trace}, {.plan = s->plan}};

    return clo_report_plans(s->cost, schedules, 2, NULL, path);
}

/* The page; release with clo_free. */
static char *read_page(void)
{
    char *text;
    size_t bytes;

    ok(clo_file_read(path, 1 << 24, &text, &bytes));
    assert_int_equal(strlen(text), bytes);
    assert_int_equal(remove(path), 0);
    return text;
}

static void bytes_that_are_no_text_do_not_get_into_the_page(void **state)
{
    static const char *const names[] = {"\xff\xfe<script>", "\xc3", "a\xf0\x9f", "\xe2\x80"};
    scene s = open_scene(names, 4);

    (void)state;
    ok(write_page(&s));
    char *text = read_page();
    for (const char *at = text; *at != '\0'; at++) /* none of these begins or ends a character */
        assert_true((unsigned char)*at != 0xff && (unsigned char)*at != 0xfe);
    assert_non_null(strstr(text, "\"\xef\xbf\xbd\xef\xbf\xbd\\u003cscript>\""));
    assert_non_null(strstr(text, "\xef\xbf\xbd\xef\xbf\xbd&lt;script&gt;"));
    clo_free(text);
    close_scene(&s);
}

static void what_is_wrong_is_refused_and_nothing_is_written(void **state)
{
    static const char *const names[] = {"a", "b"};
    static const uint32_t failed = 2;
    scene s = open_scene(names, 2), other = open_scene(names, 1);
    const clo_report_schedule foreign = {.plan = other.plan}, mixed = {.plan = s.plan, .trace = other.trace};
    const clo_report_schedule own = {.plan = s.plan};
    clo_report_config config = CLO_REPORT_CONFIG_INIT;

    (void)state;
    (void)remove(path);
    fails(CLO_ERR_ARGUMENT, "graph", clo_report_plans(s.cost, &foreign, 1, NULL, path));
    fails(CLO_ERR_ARGUMENT, "graph", clo_report_plans(s.cost, &mixed, 1, NULL, path));
    config.failed = &failed;
    config.failed_count = 1;
    fails(CLO_ERR_ARGUMENT, "failed[0] is no task", clo_report_plans(s.cost, &own, 1, &config, path));
    fails(CLO_ERR_ARGUMENT, "failed[0] is no task", clo_report_svg(s.cost, s.plan, &config, path));
    fails(CLO_ERR_IO, "/nonexistent", clo_report_plans(s.cost, &own, 1, NULL, "/nonexistent/p.html"));
    fails(CLO_ERR_IO, "/nonexistent", clo_platform_svg(s.platform, "/nonexistent/p.svg"));
    assert_null(fopen(path, "r"));
    close_scene(&other);
    close_scene(&s);
}

static void out_of_memory_is_reported(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    scene s = open_scene(names, 3);

    (void)state;
    assert_true(fault_each(write_page, &s) > 20);
    (void)remove(path);
    close_scene(&s);
}

typedef struct streamed {
    clo_platform *platform;
    clo_workload *workload;
    clo_log *log;
    clo_stream_outcome outcomes[3];
} streamed;

static clo_status write_stream(void *context)
{
    const streamed *s = context;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;

    config.outcomes = s->outcomes;
    return clo_report_stream(s->log, s->workload, s->platform, &config, path);
}

/* Three jobs, of which the second needs an executor that the platform does not have. */
static streamed open_stream(void)
{
    static const char *const names[] = {"first", "misfit", "third"};
    streamed s = {0};
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_workload_create("w", &s.workload));
    for (uint32_t i = 0; i < 3; i++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        clo_graph *graph;
        ok(clo_graph_create("g", &graph));
        ok(clo_graph_add_task(graph, &(clo_task){.name = "t", .work_ns = 100, .executors_mask = i == 1 ? 4 : 0}, NULL));
        ok(clo_graph_seal(graph));
        ok(clo_workload_adopt(s.workload, graph));
        job.name = names[i];
        job.graph = graph;
        job.arrival_ns = 10 * (int64_t)i;
        ok(clo_workload_add(s.workload, &job));
    }
    ok(clo_log_create(NULL, 0, &s.log));
    config.log = s.log;
    config.outcomes = s.outcomes;
    config.skips_misfits = 1;
    ok(clo_stream_simulate(s.workload, s.platform, &config, &result));
    return s;
}

static void close_stream(streamed *s)
{
    clo_log_destroy(s->log);
    clo_workload_destroy(s->workload);
    clo_platform_destroy(s->platform);
}

static void jobs_that_fit_nowhere_take_no_others_name(void **state)
{
    streamed s = open_stream();

    (void)state;
    ok(write_stream(&s));
    char *text = read_page();
    assert_non_null(strstr(text, "\"first\",0,0,100,null,0,100]"));
    assert_non_null(strstr(text, "\"third\",20,20,120,null,0,100]"));
    assert_null(strstr(text, "misfit"));
    clo_free(text);
    close_stream(&s);
}

/* The first job is stopped at 40, when the other one begins that came at 20, and goes on at 95 elsewhere. */
static void what_was_stopped_waits_for_itself(void **state)
{
    const clo_log_record records[] = {
        {.what = CLO_LOG_ARRIVE},
        {.what = CLO_LOG_ARRIVE, .now_ns = 20, .job = 1, .value = 2},
        {.what = CLO_LOG_PREEMPT, .now_ns = 40},
        {.what = CLO_LOG_FINISH, .now_ns = 90, .job = 1, .value = 40},
        {.what = CLO_LOG_DONE, .now_ns = 90, .job = 1},
        {.what = CLO_LOG_FINISH, .now_ns = 155, .executor = 1, .value = 95},
        {.what = CLO_LOG_DONE, .now_ns = 155},
    };
    streamed s = open_stream();
    clo_log *log;

    (void)state;
    ok(clo_log_create(NULL, 0, &log));
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        assert_true(clo_log_append(log, &records[i]));
    ok(clo_report_stream(log, s.workload, s.platform, NULL, path));
    char *text = read_page();
    assert_non_null(strstr(text, "\"flags\":[16,0,0]"));
    assert_non_null(strstr(text, "\"wait\":[0,20,55],\n\"slack\":0,\n\"cause\":[-1,0,0]"));
    assert_non_null(strstr(text, "[0,\"first\",0,0,155,null,0,100],\n[1,\"third\",20,40,90,null,0,50]]"));
    clo_free(text);
    clo_log_destroy(log);
    close_stream(&s);
}

static void a_stream_without_memory_is_reported(void **state)
{
    streamed s = open_stream();

    (void)state;
    assert_true(fault_each(write_stream, &s) > 20);
    (void)remove(path);
    close_stream(&s);
}

static void a_log_that_is_no_run_of_the_workload_is_refused(void **state)
{
    const clo_log_record records[] = {
        {.what = CLO_LOG_BEGIN, .job = CLO_LOG_NO_JOB},
        {.what = CLO_LOG_FINISH, .now_ns = 10, .stage = 1},
    };
    const clo_log_record elsewhere = {.what = CLO_LOG_FINISH, .now_ns = 10, .executor = 2};
    streamed s = open_stream();
    clo_log *log;

    (void)state;
    ok(clo_log_create(NULL, 0, &log));
    ok(clo_report_stream(log, s.workload, s.platform, NULL, "/dev/null")); /* nothing ran */
    for (size_t i = 0; i < 2; i++)
        assert_true(clo_log_append(log, &records[i]));
    fails(CLO_ERR_ARGUMENT, "record 1 is of no task", clo_report_stream(log, s.workload, s.platform, NULL, path));
    assert_true(clo_log_append(log, &elsewhere));
    fails(CLO_ERR_ARGUMENT, "record 2 is no body", clo_report_stream(log, s.workload, s.platform, NULL, path));
    clo_log_destroy(log);
    close_stream(&s);
}

/* Of more bodies than are drawn nothing asks whether the workload has their job: no arrival is known. */
static void a_job_without_an_arrival_has_no_completion(void **state)
{
    streamed s = open_stream();
    const clo_log_record arrival = {.what = CLO_LOG_ARRIVE};
    const clo_log_record done = {.what = CLO_LOG_DONE, .now_ns = 30, .job = 7, .value = CLO_LOG_DONE_OK};
    clo_log *log;

    (void)state;
    ok(clo_log_create(NULL, 0, &log));
    assert_true(clo_log_append(log, &arrival));
    for (uint32_t i = 0; i <= CLO_REPORT_EXECUTIONS_MAX; i++)
        assert_true(clo_log_append(
            log, &(clo_log_record){.what = CLO_LOG_FINISH, .now_ns = 20, .value = 10, .job = 7, .executor = i % 2}));
    assert_true(clo_log_append(log, &done));
    ok(clo_report_stream(log, s.workload, s.platform, NULL, path));
    char *text = read_page();
    assert_non_null(strstr(text, "<dt>jobs</dt><dd>2, 1 ended</dd>"));
    assert_null(strstr(text, "mean completion"));
    assert_non_null(strstr(text, "<dt>executions</dt><dd>400001</dd>"));
    const char *row = strstr(text, "<tr data-job=\"1\"><td class=\"n\">7</td>");
    assert_non_null(row);
    /* name, outcome, arrival; first start, end; completion */
    static const char cells[] = "<td></td><td>ended</td><td class=\"n\">–</td><td class=\"n\" data-v=\"10\">10 ns</td>"
                                "<td class=\"n\" data-v=\"30\">30 ns</td><td class=\"n\">–</td>";
    assert_memory_equal(row + strlen("<tr data-job=\"1\"><td class=\"n\">7</td>"), cells, sizeof cells - 1);
    clo_free(text);
    clo_log_destroy(log);
    close_stream(&s);
}

typedef struct released {
    scene s;
    clo_trace *trace;
} released;

static clo_status write_releases(void *context)
{
    const released *r = context;

    return clo_report_releases(r->trace, r->s.cost, NULL, path);
}

static clo_status write_release_trace(void *context)
{
    const released *r = context;
    const clo_report_config config = {.size = sizeof config, .period_ns = 10, .deadline_ns = 5};

    return clo_trace_write_releases(r->trace, r->s.cost, &config, path);
}

/* Release 3 is due at 30; the other one is due beyond all times, and counts from its start. */
static void has_deadlines(const char *text)
{
    assert_non_null(
        strstr(text, "\"id\":3,\"cat\":\"late\",\"name\":\"release 3, late\",\"ts\":0.020,\"args\":{\"release\":3,"
                     "\"executions\":1,\"response_us\":0.010,\"lateness_us\":0.005}"));
    assert_non_null(strstr(text, "\"name\":\"missed deadline 3\",\"ts\":0.035}"));
    assert_non_null(strstr(text, "\"name\":\"due 18446744073709551614\",\"ts\":0.000}"));
    assert_non_null(strstr(text, "\"name\":\"releases in flight\",\"ts\":0.060,\"args\":{\"count\":0}}"));
}

static void a_series_has_the_releases_that_its_trace_has(void **state)
{
    static const char *const names[] = {"a"};
    const clo_trace_event events[] = {
        {.start_ns = 0, .finish_ns = 10, .release = UINT64_MAX - 1},
        {.start_ns = 20, .finish_ns = 40, .release = 3},
        {.start_ns = 50, .finish_ns = 60, .release = UINT64_MAX - 1},
    };
    released r = {.s = open_scene(names, 1)};

    (void)state;
    ok(clo_trace_create(r.s.cost, false, events, 3, &r.trace));
    ok(write_releases(&r));
    char *text = read_page();
    assert_non_null(
        strstr(text, "\"jobs\":[\n[3,\"\",20,20,40,null,-1,20],\n[18446744073709551614,\"\",0,0,60,null,-1,10]]"));
    assert_non_null(strstr(text, "<dt>releases</dt><dd>2, 2 ended</dd>"));
    clo_free(text);
    assert_true(fault_each(write_releases, &r) > 20);
    ok(write_release_trace(&r));
    text = read_page();
    has_deadlines(text);
    clo_free(text);
    assert_true(fault_each(write_release_trace, &r) > 5);
    clo_trace_destroy(r.trace);
    ok(clo_trace_create(r.s.cost, false, NULL, 0, &r.trace)); /* none */
    ok(write_release_trace(&r));
    ok(write_releases(&r));
    text = read_page();
    assert_non_null(strstr(text, "<dt>releases</dt><dd>0, 0 ended</dd>"));
    clo_free(text);
    clo_trace_destroy(r.trace);
    close_scene(&r.s);
}

static void sums_of_inputs_have_an_end(void **state)
{
    static const char *const names[] = {"a"};
    const clo_trace_event events[] = {
        {.start_ns = 0, .finish_ns = 10, .transfer_ns = INT64_MAX - 1},
        {.start_ns = 20, .finish_ns = 40, .transfer_ns = INT64_MAX - 1, .release = 1},
    };
    released r = {.s = open_scene(names, 1)};

    (void)state;
    ok(clo_trace_create(r.s.cost, false, events, 2, &r.trace));
    ok(write_releases(&r));
    char *text = read_page();
    assert_non_null(strstr(text, "<table id=\"executors\">"));
    assert_null(strstr(text, "data-v=\"-"));
    clo_free(text);
    clo_trace_destroy(r.trace);
    close_scene(&r.s);
}

static void cut_names_keep_both_ends_and_whole_characters(void **state)
{
    char text[CLO_KIND_NAME_BYTES];

    (void)state;
    assert_string_equal(clo_kind_name("potrf", 5, 40, text), "potrf");
    assert_string_equal(clo_kind_name("abcdefghijklmnop", 16, 9, text), "abcde\xe2\x80\xa6nop");
    assert_string_equal(clo_kind_name("abcdefghijklmnop", 16, 5, text), "abcd\xe2\x80\xa6");
    assert_string_equal(clo_kind_name("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6", 12, 5, text),
                        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x80\xa6");
    char *longest = malloc(100000);
    memset(longest, 0x80, 100000); /* no character begins */
    assert_int_equal(strlen(clo_kind_name(longest, 100000, 40, text)), 2 * (CLO_KIND_NAME_BYTES / 2 - 4) + 3);
    free(longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_are_no_text_do_not_get_into_the_page),
        cmocka_unit_test(what_is_wrong_is_refused_and_nothing_is_written),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(jobs_that_fit_nowhere_take_no_others_name),
        cmocka_unit_test(what_was_stopped_waits_for_itself),
        cmocka_unit_test(a_stream_without_memory_is_reported),
        cmocka_unit_test(a_log_that_is_no_run_of_the_workload_is_refused),
        cmocka_unit_test(a_job_without_an_arrival_has_no_completion),
        cmocka_unit_test(a_series_has_the_releases_that_its_trace_has),
        cmocka_unit_test(sums_of_inputs_have_an_end),
        cmocka_unit_test(cut_names_keep_both_ends_and_whole_characters),
    };
    return cmocka_run_group_tests_name("report_page", tests, NULL, NULL);
}
