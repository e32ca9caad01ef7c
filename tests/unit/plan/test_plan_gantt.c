#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include "base/memory.h"
#include "base/text.h"
#include "fault.h"
#include "report/gantt.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char path[] = "test_plan_gantt.svg";

/* The SVG of a plan, read back; release with clo_free. */
static char *draw(const fixture *f, const clo_plan *plan, const char *title)
{
    char *text = NULL;
    size_t bytes;

    ok(clo_plan_gantt_svg(plan, f->cost, title, path));
    ok(clo_file_read(path, 1 << 24, &text, &bytes));
    assert_int_equal(remove(path), 0);
    return text;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;

    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        count++;
    return count;
}

/* Two executors, kinds of task "load" and "gemm", a replica. */
static fixture small_case(clo_plan **plan)
{
    fixture f = fixture_new();
    static const clo_placement own[4] = {{.task = 0, .executor = 0, .finish_ns = 1000},
                                         {.task = 0, .executor = 1, .is_replica = 1, .finish_ns = 1000},
                                         {.task = 1, .executor = 0, .start_ns = 1000, .finish_ns = 4000},
                                         {.task = 2, .executor = 1, .start_ns = 1000, .finish_ns = 4000}};

    fixture_task(&f, "load_1", 1000);
    fixture_task(&f, "gemm(1,2)", 3000);
    fixture_task(&f, "gemm(<&>)", 3000);
    ok(clo_graph_add_edge(f.graph, 0, 1, 9000));
    ok(clo_graph_add_edge(f.graph, 0, 2, 9000));
    fixture_seal(&f, 2, NULL, -1);
    ok(clo_plan_from_placements(f.cost, NULL, own, 4, plan));
    ok(clo_plan_check(*plan, f.cost, CLO_CHECK_FULL));
    return f;
}

static void the_svg_has_a_bar_an_execution_a_legend_and_hover_texts(void **state)
{
    (void)state;
    clo_plan *plan;
    fixture f = small_case(&plan);
    char *svg = draw(&f, plan, "a < b & \"c\"");

    assert_int_equal(strncmp(svg, "<svg xmlns=", 11), 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_non_null(strstr(svg, "a &lt; b &amp; &quot;c&quot;"));
    assert_int_equal(occurrences(svg, "<rect class=\"b "), 4);
    assert_int_equal(occurrences(svg, "<title>"), 4);
    assert_non_null(strstr(svg, "<title>load_1 (replica)\n0 µs to 1 µs (1 µs)</title>"));
    assert_non_null(strstr(svg, "<title>gemm(&lt;&amp;&gt;)\n1 µs to 4 µs (3 µs)</title>"));
    assert_non_null(strstr(svg, ">gemm</text>")); /* the legend: most time, so the first colour */
    assert_non_null(strstr(svg, ">load</text>"));
    assert_non_null(strstr(svg, ">replica</text>"));
    assert_non_null(strstr(svg, "class=\"b r1\"")); /* hatched in load's colour */
    assert_non_null(strstr(svg, ">makespan 4 µs</text>"));
    assert_non_null(strstr(svg, ">lower bound 4 µs</text>"));
    assert_non_null(strstr(svg, ">100 %</text>"));
    clo_free(svg);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void the_size_of_the_svg_is_bounded_for_any_number_of_executions(void **state)
{
    (void)state;
    enum { TASKS = 100000 };
    fixture f = fixture_new();
    clo_task stage = {.name = "stage", .work_ns = 7, .instances = TASKS / 2};

    ok(clo_graph_add_task(f.graph, &stage, NULL));
    stage.name = "other";
    ok(clo_graph_add_task(f.graph, &stage, NULL));
    fixture_seal(&f, 4, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    char *svg = draw(&f, plan, NULL);
    assert_true(strlen(svg) < 100000);
    assert_true(occurrences(svg, "<path class=\"c") >= 4); /* a row each at least */
    assert_non_null(strstr(svg, "12500 short executions of this colour in this row"));
    assert_non_null(strstr(svg, "100000 executions"));
    clo_free(svg);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void nothing_is_left_where_the_svg_cannot_be_written(void **state)
{
    (void)state;
    clo_plan *plan;
    fixture f = small_case(&plan);

    fails(CLO_ERR_IO, "/nonexistent", clo_plan_gantt_svg(plan, f.cost, NULL, "/nonexistent/x.svg"));
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void the_text_has_a_line_an_executor_and_an_axis(void **state)
{
    (void)state;
    clo_plan *plan;
    fixture f = small_case(&plan);
    char *text = NULL;

    ok(clo_plan_gantt_text(plan, f.cost, 51, &text)); /* 40 columns of 100 ns */
    assert_string_equal(text, "test  planner own  makespan 4 µs  lower bound 4 µs (gap 0.0 %)\n"
                              "e0 │██load_1██▓▓▓▓▓▓▓▓▓▓gemm(1,2)▓▓▓▓▓▓▓▓▓▓▓│ 100 %\n"
                              "e1 │▒▒load_1▒▒▓▓▓▓▓▓▓▓▓▓gemm(<&>)▓▓▓▓▓▓▓▓▓▓▓│ 100 %\n"
                              "   └────────────────────┴───────────────────┘\n"
                              "    0                   2 µs                4 µs\n"
                              "    ▒ replica\n");
    free(text);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void every_line_of_bars_has_the_width_asked_for(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan *plan = fixture_plan(&f, "deft");

    for (uint32_t columns = 0; columns < 300; columns += 7) {
        char *text = NULL, line[1024];
        ok(clo_plan_gantt_text(plan, f.cost, columns, &text));
        uint32_t want = columns == 0 ? 80 : columns < 40 ? 40 : columns, lines = 0;
        for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
            size_t bytes = strcspn(at, "\n");
            assert_true(bytes < sizeof line);
            memcpy(line, at, bytes);
            line[bytes] = '\0';
            if (strstr(line, "│") != NULL) {
                assert_int_equal(clo_gantt_characters(line), want);
                lines++;
            }
        }
        assert_int_equal(lines, 3);
        free(text);
    }
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void a_plan_of_length_zero_and_an_empty_one_can_be_drawn(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan *plan = NULL;

    fixture_task(&f, "zero", 0);
    fixture_seal(&f, 2, NULL, -1);
    for (size_t count = 0; count < 2; count++) {
        char *text = NULL;
        ok(clo_plan_from_placements(f.cost, "own", &(clo_placement){.task = 0}, count, &plan));
        ok(clo_plan_gantt_text(plan, f.cost, 60, &text));
        assert_non_null(strstr(text, "makespan 0 ns"));
        free(text);
        char *svg = draw(&f, plan, NULL);
        assert_int_equal(occurrences(svg, "<path class=\"c0"), count); /* a trace of the one of length 0 */
        clo_free(svg);
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

/* The drawing of one thin bar of `tenths` of a pixel, beside a bar of full length whose width in pixels is *width. */
static char *draw_thin(int tenths, int *width)
{
    fixture f = fixture_new();
    clo_plan *plan;
    const clo_placement own[2] = {{.task = 0, .executor = 0, .finish_ns = (int64_t)1000 * tenths},
                                  {.task = 1, .executor = 1, .finish_ns = (int64_t)10000 * *width}};

    fixture_task(&f, "thin", own[0].finish_ns);
    fixture_task(&f, "long", own[1].finish_ns);
    fixture_seal(&f, 2, NULL, -1);
    ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
    char *svg = draw(&f, plan, NULL);
    const char *bar = strstr(svg, "<rect class=\"b c0\"");
    assert_non_null(bar);
    *width = (int)strtol(strstr(bar, "width=\"") + 7, NULL, 10);
    clo_plan_destroy(plan);
    fixture_free(&f);
    return svg;
}

/* A column of pixels is pale while less than half of it is covered. */
static void a_column_is_pale_below_one_half(void **state)
{
    (void)state;
    int width = 1000;

    clo_free(draw_thin(1, &width));
    for (int tenths = 1; tenths <= 9; tenths++) {
        int same = width;
        char *svg = draw_thin(tenths, &same);
        assert_int_equal(same, width);
        assert_int_equal(occurrences(svg, "<path class=\"c1 pale\""), tenths < 5);
        assert_int_equal(occurrences(svg, "<path class=\"c1\""), tenths >= 5);
        clo_free(svg);
    }
}

static void what_could_drive_a_terminal_is_not_printed(void **state)
{
    (void)state;
    fixture f = fixture_new();
    char *text = NULL;

    fixture_task(&f, "bad\033[2Jname", 10);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = NULL;
    ok(clo_plan_from_placements(f.cost, "own\033[2J\n", &(clo_placement){.finish_ns = 10}, 1, &plan));
    ok(clo_plan_gantt_text(plan, f.cost, 0, &text));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "planner own\\x1b[2J\\x0a"));
    free(text);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void the_kind_of_a_task_is_read_from_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *kind;
    } cases[] = {{"potrf(3,1)", "potrf"}, {"mProject_ID0000001", "mProject"},
                 {"gemm_1_2", "gemm"},    {"t12", "t"},
                 {"load", "load"},        {"fft-7", "fft"},
                 {"3mm", "3mm"},          {"a b 4", "a b"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(clo_gantt_prefix(cases[i].name), strlen(cases[i].kind));
        assert_memory_equal(cases[i].name, cases[i].kind, strlen(cases[i].kind));
    }
}

static void times_and_ticks_are_round(void **state)
{
    (void)state;
    char text[24];

    assert_string_equal(clo_gantt_time(999, 999, text), "999 ns");
    assert_string_equal(clo_gantt_time(1500, 1500, text), "1.5 µs");
    assert_string_equal(clo_gantt_time(500000, 12000000, text), "0.5 ms");
    assert_string_equal(clo_gantt_time(12345678900, 12345678900, text), "12.346 s");
    assert_string_equal(clo_gantt_time(INT64_MAX, INT64_MAX, text), "9223372037 s");
    assert_int_equal(clo_gantt_step(0, 10), 1);
    assert_int_equal(clo_gantt_step(10, 10), 1);
    assert_int_equal(clo_gantt_step(11, 10), 2);
    assert_int_equal(clo_gantt_step(21, 10), 2);
    assert_int_equal(clo_gantt_step(22, 10), 5);
    assert_int_equal(clo_gantt_step(60, 10), 10);
    assert_int_equal(clo_gantt_step(10588000, 12), 1000000);
    int64_t step = clo_gantt_step(INT64_MAX, 10);
    assert_true(INT64_MAX / step <= 10 && INT64_MAX / step >= 1);
}

typedef struct drawn {
    fixture f;
    clo_plan *plan;
} drawn;

static clo_status draw_both(void *context)
{
    const drawn *d = context;
    clo_text svg = {0};
    char *text = NULL;
    size_t count;
    const clo_placement *placements = clo_plan_placements(d->plan, &count);
    clo_gantt chart = {.cost = d->f.cost,
                       .placements = placements,
                       .count = count,
                       .planner = "x",
                       .makespan_ns = clo_plan_makespan_ns(d->plan)};
    clo_status status = clo_gantt_svg(&chart, &svg);

    clo_text_free(&svg);
    if (status == CLO_OK)
        status = clo_plan_gantt_text(d->plan, d->f.cost, 0, &text);
    free(text);
    if (status == CLO_OK)
        status = clo_plan_gantt_svg(d->plan, d->f.cost, NULL, path);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    drawn d = {.plan = NULL};

    d.f = small_case(&d.plan);
    assert_true(fault_each(draw_both, &d) > 10);
    remove(path);
    clo_plan_destroy(d.plan);
    fixture_free(&d.f);
}

/* The programs of a test run share no directory that way. */
static int use_own_directory(void **state)
{
    static char directory[] = "/tmp/clotho-gantt-XXXXXX";

    *state = directory;
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int leave_directory(void **state)
{
    return chdir("/") != 0 || rmdir(*state) != 0;
}

/* The shortest plan that has a length. */
static void a_branch_at_the_end_of_one_nanosecond_is_marked(void **state)
{
    (void)state;
    fixture f = fixture_new();
    static const clo_placement own[2] = {{.finish_ns = 1}, {.task = 1, .start_ns = 1, .finish_ns = 1}};
    clo_plan *plan;
    char *text;

    ok(clo_graph_add_task(f.graph, &(clo_task){.work_ns = 1}, NULL));
    ok(clo_graph_add_task(f.graph, &(clo_task){0}, NULL));
    ok(clo_graph_set_branch(f.graph, 0, 2, NULL));
    ok(clo_graph_add_arm(f.graph, 0, 1, 0, 1));
    fixture_seal(&f, 1, NULL, -1);
    ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
    ok(clo_plan_gantt_text(plan, f.cost, 60, &text));
    assert_int_equal(occurrences(text, "◆"), 2); /* and the legend */
    free(text);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_svg_has_a_bar_an_execution_a_legend_and_hover_texts),
        cmocka_unit_test(the_size_of_the_svg_is_bounded_for_any_number_of_executions),
        cmocka_unit_test(nothing_is_left_where_the_svg_cannot_be_written),
        cmocka_unit_test(the_text_has_a_line_an_executor_and_an_axis),
        cmocka_unit_test(every_line_of_bars_has_the_width_asked_for),
        cmocka_unit_test(a_plan_of_length_zero_and_an_empty_one_can_be_drawn),
        cmocka_unit_test(a_column_is_pale_below_one_half),
        cmocka_unit_test(what_could_drive_a_terminal_is_not_printed),
        cmocka_unit_test(the_kind_of_a_task_is_read_from_its_name),
        cmocka_unit_test(times_and_ticks_are_round),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(a_branch_at_the_end_of_one_nanosecond_is_marked),
    };
    return cmocka_run_group_tests(tests, use_own_directory, leave_directory);
}
