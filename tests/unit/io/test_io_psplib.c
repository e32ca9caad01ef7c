#define _POSIX_C_SOURCE 200809L
#include "bad.h"
#include "fault.h"

#define JSON(n, capacity, duration, demand, rest)                                                                    \
    "{\"name\": \"p\", \"n\": " n ",\n\"capacity\": " capacity ",\n\"duration\": " duration ",\n\"demand\": " demand \
    ",\n" rest "}"
#define GOOD_CAPACITY "[3, 10]"
#define GOOD_DURATION "[0, 5, 2, 0]"
#define GOOD_DEMAND "[[0, 0], [2, 1], [0, 4], [0, 0]]"
#define GOOD_SUCCESSORS "\"successors\": [[1, 2], [3], [3], []]"

static const char text_form[] = "************************************************************************\n"
                                "file with basedata            : J30_17.BAS\n"
                                "************************************************************************\n"
                                "projects                      :  1\n"
                                "jobs (incl. supersource/sink ):  4\n"
                                "horizon                       :  9\n"
                                "RESOURCES\n"
                                "  - renewable                 :  2   R\n"
                                "  - nonrenewable              :  0   N\n"
                                "  - doubly constrained        :  0   D\n"
                                "************************************************************************\n"
                                "PRECEDENCE RELATIONS:\n"
                                "jobnr.    #modes  #successors   successors\n"
                                "   1        1          2           2   3\n"
                                "   2        1          1           4\n"
                                "   3        1          1           4\n"
                                "   4        1          0\n"
                                "************************************************************************\n"
                                "REQUESTS/DURATIONS:\n"
                                "jobnr. mode duration  R 1  R 2\n"
                                "------------------------------------------------------------------------\n"
                                "  1      1     0       0    0\n"
                                "  2      1     8       4    0\n"
                                "  3      1     4       0    3\n"
                                "  4      1     0       0    0\n"
                                "************************************************************************\n"
                                "RESOURCEAVAILABILITIES:\n"
                                "  R 1  R 2\n"
                                "   12   13\n"
                                "************************************************************************\n";

static void check_project(const clo_document *d)
{
    clo_task task = task_of(d, 1);

    assert_string_equal(clo_document_format(d), "psplib");
    assert_true(clo_document_unit_ns(d) == 1000);
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 4);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 4);
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 1), "R2");
    assert_int_equal(task_of(d, 0).work_ns, 0);
    assert_int_equal(task.work_ns, 1000 * (task.demand[0] == 4 ? 8 : 5));
    assert_int_equal(edge_of(d, 2).from, 1);
    assert_int_equal(edge_of(d, 2).to, 3);
    assert_int_equal(clo_platform_machines(clo_document_platform(d)), 1);
    assert_int_equal(clo_platform_memories(clo_document_platform(d)), 1);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 2), -1);
}

static void a_project_has_its_times_demands_and_capacities(void **state)
{
    clo_document *d = parsed(JSON("4", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS));

    (void)state;
    check_project(d);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "p");
    assert_int_equal(task_of(d, 1).demand[0], 2);
    assert_int_equal(task_of(d, 1).demand[1], 1);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 0), 3);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 1), 10);
    uint32_t count;
    (void)clo_document_references(d, &count);
    assert_int_equal(count, 0);
    clo_document_destroy(d);
}

static void the_text_form_is_the_same_project(void **state)
{
    clo_document *d;

    (void)state;
    ok(clo_document_parse("some/where/x1_1.sm", text_form, sizeof text_form - 1, NULL, &d));
    check_project(d);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "x1_1");
    assert_int_equal(task_of(d, 2).demand[1], 3);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 0), 12);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 1), 13);
    assert_int_equal(clo_document_line(d), 0);
    clo_document_destroy(d);
}

static void bounds_are_references_on_the_own_platform(void **state)
{
    static const char text[] =
        JSON("4", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS ", \"lb\": 5, \"ub\": 7");
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    config.scale = 2;
    ok(clo_document_parse("f", text, sizeof text - 1, &config, &d));
    uint32_t count;
    const clo_reference *references = clo_document_references(d, &count);
    assert_int_equal(count, 1);
    assert_int_equal(references[0].executors, 0);
    assert_true(references[0].lower == 10 && references[0].upper == 14);
    assert_int_equal(task_of(d, 1).work_ns, 10000);
    clo_document_destroy(d);
}

/* R1: 1 + 2 fit into 4, 3 does not fit any more; R2: one; one task without demands. */
static void executors_never_limit(void **state)
{
    clo_document *d =
        parsed(JSON("6", "[4, 9]", "[1, 1, 1, 1, 1, 1]", "[[3, 0], [1, 9], [2, 0], [0, 8], [0, 0], [0, 9]]",
                    "\"successors\": [[], [], [], [], [], []]"));

    (void)state;
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 4);
    for (uint32_t e = 0; e < 4; e++)
        assert_int_equal(clo_platform_executor(clo_document_platform(d), e)->speed_q16[CLO_CLASS_GENERIC],
                         CLO_SPEED_ONE);
    clo_document_destroy(d);
    d = parsed(JSON("1", "[4]", "[1]", "[[4]]", "\"successors\": [[]]"));
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 1);
    clo_document_destroy(d);
    d = parsed(JSON("2", "[]", "[1, 0]", "[[], []]", "\"successors\": [[1], []]"));
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 2);
    clo_document_destroy(d);
}

static void malformed_projects_are_refused(void **state)
{
    static const bad rows[] = {
        {JSON("0", "[]", "[]", "[]", "\"successors\": []"), CLO_ERR_FORMAT,
         "f:1: n is 0; write the number of tasks, at least 1"},
        {JSON("\"4\"", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:1: n is \"4\"; write a whole number >= 0"},
        {JSON("4", "4", GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:2: capacity is 4; write an array [...]"},
        {JSON("4", "[3, -1]", GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:2: capacity[1] is -1; write a whole number >= 0"},
        {JSON("4", "[1, 2, 3, 4, 5, 6, 7, 8, 9]", GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_LIMIT,
         "f:2: capacity has 9 entries; at most 8 resources are possible"},
        {JSON("4", GOOD_CAPACITY, "[0, 5, 2]", GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:3: duration has 3 entries; write 4, one for each task"},
        {JSON("4", GOOD_CAPACITY, "[0, 5, -2, 0]", GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:3: duration[2] is -2; write a number >= 0"},
        {JSON("4", GOOD_CAPACITY, "[0, 5, 1e16, 0]", GOOD_DEMAND, GOOD_SUCCESSORS), CLO_ERR_LIMIT,
         "f:3: duration[2] is 1e+16, with scale 1 more than 146 years; write a smaller time"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, "[[0, 0], [2, 1], [0, 4]]", GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:4: demand has 3 entries; write 4, one for each task"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, "[[0, 0], [2], [0, 4], [0, 0]]", GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:4: demand[1] has 1 entries; write 2, one for each resource"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, "[[0, 0], 2, [0, 4], [0, 0]]", GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:4: demand[1] is 2; write an array [...]"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, "[[0, 0], [2, 1.5], [0, 4], [0, 0]]", GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:4: demand[1][1] is 1.5; write a whole number >= 0"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, "[[0, 0], [4, 1], [0, 4], [0, 0]]", GOOD_SUCCESSORS), CLO_ERR_FORMAT,
         "f:4: demand[1][0] is 4; write at most the capacity, 3"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, "\"successors\": [[1, 2], [4], [3], []]"), CLO_ERR_LIMIT,
         "f:5: successors[1][0] is 4; the largest possible is 3"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, "\"successors\": [1, [3], [3], []]"), CLO_ERR_FORMAT,
         "f:5: successors[0] is 1; write an array [...]"},
        {JSON("4", GOOD_CAPACITY, GOOD_DURATION, GOOD_DEMAND, GOOD_SUCCESSORS ", \"lb\": 1, \"ub\": null"),
         CLO_ERR_FORMAT, "f:5: ub is null; write a number >= 0"},
        {"{\"n\": 1, \"capacity\": [], \"duration\": [1], \"demand\": [[]], \"successors\": [[]]}", CLO_ERR_FORMAT,
         "f:1: the file has no \"name\"; add it"},
    };

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_CYCLE, "f:1: ",
          clo_document_parse("f", JSON("2", "[]", "[1, 1]", "[[], []]", "\"successors\": [[1], [0]]"),
                             strlen(JSON("2", "[]", "[1, 1]", "[[], []]", "\"successors\": [[1], [0]]")), NULL,
                             &(clo_document *){NULL}));
}

/* The text form with the first `from` replaced by `to` must fail with `error`. */
static void refuse_changed(const char *from, const char *to, clo_status want, const char *error)
{
    char text[4096];
    const char *at = strstr(text_form, from);
    clo_document *d;

    assert_non_null(at);
    assert_true(sizeof text_form + strlen(to) < sizeof text);
    memcpy(text, text_form, (size_t)(at - text_form));
    strcpy(stpcpy(text + (at - text_form), to), at + strlen(from));
    clo_status status = clo_document_parse("f", text, strlen(text), NULL, &d);
    if (status != want || strcmp(clo_last_error(), error) != 0)
        fail_msg("%s -> %s gives %d %s", from, to, status, clo_last_error());
}

static void malformed_texts_are_refused(void **state)
{
    (void)state;
    refuse_changed("):  4", "):  5", CLO_ERR_FORMAT,
                   "f:18: a job's number is '************************'; write a whole number >= 0");
    refuse_changed("):  4", "):  3", CLO_ERR_LIMIT, "f:15: a successor is too large; the largest possible is 3");
    refuse_changed("):  4", "):  0", CLO_ERR_FORMAT, "f:6: the project has no jobs; write at least one");
    refuse_changed("  1           4\n   3", "  1           0\n   3", CLO_ERR_FORMAT,
                   "f:16: a successor is 0; jobs count from 1");
    refuse_changed("   3        1          1 ", "   2        1          1 ", CLO_ERR_FORMAT,
                   "f:16: job 2, not 3; write each of the 4 jobs once, in order");
    refuse_changed(
        "   3        1          1 ", "   3        2          1 ", CLO_ERR_FORMAT,
        "f:16: this is a project with several modes or resources that are used up (PSPLIB .mm), which is not "
        "read; convert it; formats that are read: " FORMATS_READ);
    refuse_changed("   3        1          1 ", "   3        0          1 ", CLO_ERR_FORMAT,
                   "f:16: the number of modes of job 3 is 0; write 1");
    refuse_changed("  2      1     8", "  2      1    -8", CLO_ERR_FORMAT,
                   "f:23: a duration is '-8'; write a whole number >= 0");
    refuse_changed("8       4    0", "8      14    0", CLO_ERR_FORMAT,
                   "f:23: a demand is 14; write at most the capacity, 12");
    refuse_changed("8       4    0", "9007199254740992       4    0", CLO_ERR_LIMIT,
                   "f:23: a duration of more than 146 years; write a smaller one");
    refuse_changed("0       0    0\n****", "0       0    0\n  5      1     0       0    0\n****", CLO_ERR_FORMAT,
                   "f:26: more than 4 rows; the header counts so many jobs");
    refuse_changed(":  0   N", ":  1   N", CLO_ERR_FORMAT,
                   "f:10: this is a project with several modes or resources that are used up (PSPLIB .mm), which is "
                   "not read; convert it; formats that are read: " FORMATS_READ);
    refuse_changed(":  2   R", ":  9   R", CLO_ERR_LIMIT, "f:8: - renewable is too large; the largest possible is 8");
    refuse_changed("REQUESTS", "QUESTS", CLO_ERR_FORMAT,
                   "f:18: no \"REQUESTS/DURATIONS\" from here on; the file is truncated");
}

static void a_text_with_a_cycle_names_its_line(void **state)
{
    char text[sizeof text_form];
    clo_document *d;

    (void)state;
    memcpy(text, text_form, sizeof text);
    *strstr(strstr(text, "   3        1          1"), "4\n") = '2'; /* 2 -> 4 stays, 3 -> 2 */
    *strstr(strstr(text, "   2        1          1"), "4\n") = '3';
    fails(CLO_ERR_CYCLE, "f:14: ", clo_document_parse("f", text, strlen(text), NULL, &d));
}

static void a_text_that_is_hurt_anywhere_is_handled(void **state)
{
    (void)state;
    handle_every_cut(text_form);
    handle_every_byte(text_form);
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    assert_true(fault_each(parse_and_drop, &(const char *){text_form}) > 10);
}

static void commands_are_not_to_be_had(void **state)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    config.body = "command";
    fails(CLO_ERR_ARGUMENT, "f: body \"command\": format psplib has no command lines; use spin or memory",
          clo_document_parse("f", text_form, sizeof text_form - 1, &config, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_project_has_its_times_demands_and_capacities),
        cmocka_unit_test(the_text_form_is_the_same_project),
        cmocka_unit_test(bounds_are_references_on_the_own_platform),
        cmocka_unit_test(executors_never_limit),
        cmocka_unit_test(malformed_projects_are_refused),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(a_text_with_a_cycle_names_its_line),
        cmocka_unit_test(a_text_that_is_hurt_anywhere_is_handled),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(commands_are_not_to_be_had),
    };

    return cmocka_run_group_tests_name("io_psplib", tests, NULL, NULL);
}
