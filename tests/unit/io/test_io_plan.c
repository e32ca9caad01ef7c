#define _POSIX_C_SOURCE 200809L
#include "bad.h"
#include "base/memory.h"
#include "io/text/parse.h"
#include "io/text/reader.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Tasks a, b (two instances), b again and an unnamed one, on executors x, y, y. */
static const char graph[] = "{\"format\": \"clotho.graph/1\", \"name\": \"g\", \"tasks\": [{\"name\": \"a\", "
                            "\"work_ns\": 10}, {\"name\": \"b\", \"instances\": 2, "
                            "\"work_ns\": 5, \"duplicable\": true}, {\"name\": \"b\", \"work_ns\": 1}, {\"work_ns\": "
                            "1}], \"edges\": [{\"from\": \"a\", \"to\": 1}], "
                            "\"platform\": {\"name\": \"p\", \"executors\": [{\"name\": \"x\", \"kind\": \"k\"}, "
                            "{\"name\": \"y\", \"kind\": \"k\"}, "
                            "{\"name\": \"y\", \"kind\": \"k\"}]}}";

static const clo_placement rows[] = {
    {.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10},
    {.task = 2, .executor = 1, .start_ns = 0, .finish_ns = 1},
    {.task = 3, .executor = 2, .start_ns = 0, .finish_ns = 1},
    {.task = 1, .instance = 0, .executor = 0, .start_ns = 10, .finish_ns = 15},
    {.task = 1, .instance = 1, .executor = 1, .start_ns = 10, .finish_ns = 15},
    {.task = 1, .instance = 1, .executor = 2, .is_replica = 1, .start_ns = 10, .finish_ns = 15},
};

typedef struct fixture {
    clo_document *document;
    clo_cost *cost;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    f->document = parsed(graph);
    ok(clo_cost_create(clo_document_graph(f->document), clo_document_platform(f->document), &f->cost));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    clo_cost_destroy(f->cost);
    clo_document_destroy(f->document);
    free(f);
    return 0;
}

static void a_plan_reads_back_as_it_was_written(void **state)
{
    fixture *f = *state;
    clo_plan *plan, *again;
    char *text;
    size_t count;

    ok(clo_plan_from_placements(f->cost, "hand", rows, 6, &plan));
    ok(clo_plan_print(plan, f->cost, &text));
    assert_non_null(strstr(text, "{\"task\": \"a\", \"executor\": \"x\", \"start_ns\": 0, \"finish_ns\": 10}"));
    assert_non_null(strstr(text, "{\"task\": 2, \"executor\": 1, \"start_ns\": 0, \"finish_ns\": 1}"));
    assert_non_null(strstr(
        text,
        "{\"task\": 1, \"instance\": 1, \"executor\": 2, \"start_ns\": 10, \"finish_ns\": 15, \"replica\": true}"));
    assert_non_null(
        strstr(text, "\"graph\": \"g\",\n  \"platform\": \"p\",\n  \"planner\": \"hand\",\n  \"makespan_ns\": 15,"));
    ok(clo_plan_parse("f", text, strlen(text), f->cost, &again));
    assert_string_equal(clo_plan_planner(again), "hand");
    assert_int_equal(clo_plan_makespan_ns(again), 15);
    const clo_placement *read = clo_plan_placements(again, &count), *written = clo_plan_placements(plan, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(&read[i], &written[i], sizeof *read);
    clo_free(text);
    clo_plan_destroy(plan);
    clo_plan_destroy(again);
}

static void a_plan_file_says_that_its_times_are_emulated(void **state)
{
    fixture *f = *state;
    clo_plan *plan, *again;
    clo_trace *trace;
    char *text;

    ok(clo_simulate(f->cost, NULL, NULL, &trace, NULL));
    ok(clo_trace_to_plan(trace, f->cost, &plan));
    ok(clo_plan_print(plan, f->cost, &text));
    assert_non_null(strstr(text, "\"planner\": \"emulated\",\n  \"emulated\": true,"));
    ok(clo_plan_parse("f", text, strlen(text), f->cost, &again));
    assert_true(again->is_emulated);
    clo_plan_destroy(again);
    *strstr(text, "emulated\",") = 'E'; /* the mark does not hang on the planner's name */
    ok(clo_plan_parse("f", text, strlen(text), f->cost, &again));
    clo_free(text);
    ok(clo_plan_gantt_text(again, f->cost, 0, &text));
    assert_non_null(strstr(text, "planner Emulated, emulated"));
    free(text);
    clo_plan_destroy(again);
    clo_plan_destroy(plan);
    clo_trace_destroy(trace);
}

static void a_plan_of_another_platform_is_not_saved(void **state)
{
    fixture *f = *state;
    clo_platform *wide;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_platform_open("uniform:9", &wide));
    ok(clo_cost_create(clo_cost_graph(f->cost), wide, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    fails(CLO_ERR_ARGUMENT, "another platform: of 9 executors", clo_plan_save(plan, f->cost, "/tmp/never-written"));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(wide);
}

static void plans_are_saved_and_loaded(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/clotho_plan_XXXXXX";
    clo_plan *plan, *again;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    ok(clo_plan_from_placements(f->cost, NULL, rows, 6, &plan));
    ok(clo_plan_save(plan, f->cost, path));
    ok(clo_plan_load(path, f->cost, &again));
    assert_int_equal(clo_plan_makespan_ns(again), 15);
    clo_plan_destroy(again);
    unlink(path);
    fails(CLO_ERR_IO, path, clo_plan_load(path, f->cost, &again));
    fails(CLO_ERR_IO, "/nowhere/at/all: ", clo_plan_save(plan, f->cost, "/nowhere/at/all"));
    fails(CLO_ERR_ARGUMENT, "clo_plan_save: an argument is NULL", clo_plan_save(NULL, f->cost, path));
    fails(CLO_ERR_ARGUMENT, "clo_plan_load: an argument is NULL", clo_plan_load(NULL, f->cost, &again));
    clo_plan_destroy(plan);
}

static void malformed_plans_are_refused(void **state)
{
#define PLAN(text) "{\"format\": \"clotho.plan/1\",\n\"placements\": [" text "]}"
#define REST ", \"executor\": 0, \"start_ns\": 0, \"finish_ns\": 1}"
    static const bad bads[] = {
        {"{}", CLO_ERR_FORMAT, "f:1: the file has no \"format\"; add it"},
        {"[]", CLO_ERR_FORMAT, "f:1: the file is an array; write an object {...}"},
        {"{\"format\": \"clotho.graph/1\"}", CLO_ERR_FORMAT,
         "f:1: format is not \"clotho.plan/1\": this is not a plan file; make one with 'clotho plan --out' or "
         "clo_plan_save"},
        {"{\"format\": \"clotho.plan/1\"}", CLO_ERR_FORMAT, "f:1: the file has no \"placements\"; add it"},
        {"{\"format\": \"clotho.plan/1\", \"x\": 1}", CLO_ERR_FORMAT,
         "f:1: x is not a known key; correct or remove it"},
        {PLAN("{}"), CLO_ERR_FORMAT, "f:2: placements[0] has no \"task\"; add it"},
        {PLAN("{\"task\": \"z\"" REST), CLO_ERR_FORMAT,
         "f:2: placements[0].task is \"z\"; write a name or index of this graph and platform"},
        {PLAN("{\"task\": \"b\"" REST), CLO_ERR_FORMAT,
         "f:2: placements[0].task is \"b\"; write the index; several have this name"},
        {PLAN("{\"task\": 4" REST), CLO_ERR_FORMAT, "f:2: placements[0].task is 4; there are 0 .. 3"},
        {PLAN("{\"task\": null" REST), CLO_ERR_FORMAT, "f:2: placements[0].task is null; write a name or an index"},
        {PLAN("{\"task\": 0, \"instance\": 1" REST), CLO_ERR_LIMIT,
         "f:2: placements[0].instance is 1; the largest possible is 0"},
        {PLAN("{\"task\": 0, \"executor\": 3, \"start_ns\": 0, \"finish_ns\": 1}"), CLO_ERR_FORMAT,
         "f:2: placements[0].executor is 3; there are 0 .. 2"},
        {PLAN("{\"task\": 0, \"executor\": \"y\", \"start_ns\": 0, \"finish_ns\": 1}"), CLO_ERR_FORMAT,
         "f:2: placements[0].executor is \"y\"; write the index; several have this name"},
        {PLAN("{\"task\": 0, \"executor\": 0, \"start_ns\": 0}"), CLO_ERR_FORMAT,
         "f:2: placements[0] has no \"finish_ns\"; add it"},
        {PLAN("{\"task\": 0, \"executor\": 0, \"start_ns\": -1, \"finish_ns\": 1}"), CLO_ERR_FORMAT,
         "f:2: placements[0].start_ns is -1; write a whole number >= 0"},
        {PLAN("{\"task\": 0, \"executor\": 0, \"start_ns\": 2, \"finish_ns\": 1}"), CLO_ERR_FORMAT,
         "f:2: placements[0] finishes before it starts; exchange start_ns and finish_ns"},
        {PLAN("{\"task\": 0, \"executor\": 0, \"start_ns\": 0, \"finish_ns\": 1e17}"), CLO_ERR_LIMIT,
         "f:2: placements[0].finish_ns is 1e+17; the largest possible is 9007199254740992"},
        {PLAN("{\"task\": 0, \"replica\": 1" REST), CLO_ERR_FORMAT,
         "f:2: placements[0].replica is 1; write true or false"},
    };
    fixture *f = *state;
    clo_plan *plan = NULL;

    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        clo_status status = clo_plan_parse("f", bads[i].text, strlen(bads[i].text), f->cost, &plan);
        if (status != bads[i].status || strcmp(clo_last_error(), bads[i].error) != 0)
            fail_msg("%s\n  gives %d %s\n  not   %d %s", bads[i].text, status, clo_last_error(), bads[i].status,
                     bads[i].error);
        assert_null(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_reads_back_as_it_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_file_says_that_its_times_are_emulated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_of_another_platform_is_not_saved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_are_saved_and_loaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_plans_are_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("io_plan", tests, NULL, NULL);
}
