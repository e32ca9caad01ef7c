#include "bad.h"
#include "fault.h"

#define JSON(n, times, pred, rest) \
    "{\"name\": \"s\", \"n\": " n ",\n\"proc_time\": " times ",\n\"pred\": " pred rest "}"
#define GOOD JSON("3", "[0, 9, 4]", "[[], [0], [0, 1]]", ",\n\"optimal\": {\"2\": 13, \"16\": 13}")

static const char text_form[] = "          2\n"
                                "          0          0          0\n"
                                "          1          9          1          0\n"
                                "          2          4          2          0          1\n"
                                "          3          0          2          1          2\n"
                                "# Standard Task Graph Set Project\n";

static void a_graph_has_its_times_and_edges_and_no_platform(void **state)
{
    clo_document *d = parsed(GOOD);

    (void)state;
    assert_string_equal(clo_document_format(d), "stg");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "s");
    assert_true(clo_document_unit_ns(d) == 1000);
    assert_null(clo_document_platform(d));
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 3);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 3);
    assert_int_equal(task_of(d, 1).work_ns, 9000);
    assert_int_equal(edge_of(d, 2).from, 1);
    assert_int_equal(edge_of(d, 2).to, 2);
    uint32_t count;
    const clo_reference *references = clo_document_references(d, &count);
    assert_int_equal(count, 2);
    assert_int_equal(references[1].executors, 16);
    assert_true(references[1].lower == 13 && references[1].upper == 13);
    clo_document_destroy(d);
}

static void the_text_form_counts_without_its_dummies(void **state)
{
    clo_document *d;

    (void)state;
    ok(clo_document_parse("x/rand0000.stg", text_form, sizeof text_form - 1, NULL, &d));
    assert_string_equal(clo_document_format(d), "stg");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "rand0000");
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 4);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 5);
    assert_int_equal(task_of(d, 2).work_ns, 4000);
    assert_int_equal(edge_of(d, 4).from, 2);
    assert_int_equal(edge_of(d, 4).to, 3);
    clo_document_destroy(d);
}

static void malformed_graphs_are_refused(void **state)
{
    static const bad rows[] = {
        {JSON("0", "[]", "[]", ""), CLO_ERR_FORMAT, "f:1: n is 0; write the number of tasks, at least 1"},
        {JSON("3", "[0, 9]", "[[], [0], [0]]", ""), CLO_ERR_FORMAT,
         "f:2: proc_time has 2 entries; write 3, one for each task"},
        {JSON("2", "[0, -9]", "[[], [0]]", ""), CLO_ERR_FORMAT, "f:2: proc_time[1] is -9; write a number >= 0"},
        {JSON("2", "[0, 9]", "[[]]", ""), CLO_ERR_FORMAT, "f:3: pred has 1 entries; write 2, one for each task"},
        {JSON("2", "[0, 9]", "[[], 0]", ""), CLO_ERR_FORMAT, "f:3: pred[1] is 0; write an array [...]"},
        {JSON("2", "[0, 9]", "[[], [2]]", ""), CLO_ERR_LIMIT, "f:3: pred[1][0] is 2; the largest possible is 1"},
        {JSON("2", "[0, 9]", "[[], [0, 0]]", ""), CLO_ERR_FORMAT, NULL},
        {JSON("2", "[0, 9]", "[[1], [0]]", ""), CLO_ERR_CYCLE, NULL},
        {JSON("1", "[1]", "[[]]", ", \"optimal\": 3"), CLO_ERR_FORMAT,
         "f:3: optimal is 3; write an object {\"PROCESSORS\": MAKESPAN}"},
        {JSON("1", "[1]", "[[]]", ", \"optimal\": {\"2x\": 3}"), CLO_ERR_FORMAT,
         "f:3: optimal.2x has no number of processors for a key; write \"2\""},
        {JSON("1", "[1]", "[[]]", ", \"optimal\": {\"2\": -3}"), CLO_ERR_FORMAT,
         "f:3: optimal.2 is -3; write a number >= 0"},
        {JSON("1", "[1]", "[[]]",
              ", \"optimal\": {\"1\": 1, \"2\": 1, \"3\": 1, \"4\": 1, \"5\": 1, \"6\": 1, \"7\": 1, \"8\": 1, \"9\": "
              "1}"),
         CLO_ERR_LIMIT, "f:3: optimal has 9 entries; at most 8 are possible"},
        {"1\n0 0 0\n1 5 1 0\n", CLO_ERR_FORMAT, "f:3: the file ends before a task's number; it is truncated"},
        {"1\n0 0 0\n1 5 2 0\n2 0 1 1\n", CLO_ERR_FORMAT, NULL},
        {"1\n0 0 0\n1 -5 1 0\n2 0 1 1\n", CLO_ERR_FORMAT, "f:3: a processing time is '-5'; write a whole number >= 0"},
        {"1\n0 0 0\n1 x 1 0\n2 0 1 1\n", CLO_ERR_FORMAT, "f:3: a processing time is 'x'; write a whole number >= 0"},
        {"1\n0 0 0\n1 5 1 3\n2 0 1 1\n", CLO_ERR_LIMIT, "f:3: a predecessor is too large; the largest possible is 2"},
        {"1\n0 0 0\n2 5 1 0\n2 0 1 1\n", CLO_ERR_FORMAT,
         "f:3: task 2, not 1; write each of the 3 tasks once, in order"},
        {"1\n0 0 0\n1 5 1 0\n2 0 1 1\n3 0 1 1\n", CLO_ERR_FORMAT,
         "f:5: more than 3 tasks; the first line counts all but two"},
        {"1\n0 0 0\n1 9007199254740992 1 0\n2 0 1 1\n", CLO_ERR_LIMIT,
         "f:3: a time of more than 146 years; write a smaller one"},
        {"99999999999\n0 0 0\n", CLO_ERR_LIMIT,
         "f:1: the number of tasks is too large; the largest possible is 2147483645"},
        {"1\n0 0 0\n1 5 1 2\n2 0 1 1\n", CLO_ERR_CYCLE, NULL},
        {"12 monkeys\n", CLO_ERR_FORMAT,
         "f:1: unknown format; convert it to one of those that are read: " FORMATS_READ},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_document *d;
        if (rows[i].error != NULL)
            refuse_each(&rows[i], 1);
        else /* the graph says what is wrong; which line, the reader */
            fails(rows[i].status, "f:", clo_document_parse("f", rows[i].text, strlen(rows[i].text), NULL, &d));
        assert_true(clo_last_error()[2] >= '1' && clo_last_error()[2] <= '9');
    }
}

static void what_is_hurt_anywhere_is_handled(void **state)
{
    (void)state;
    handle_every_cut(text_form);
    handle_every_byte(text_form);
    handle_every_cut(GOOD);
    handle_every_byte(GOOD);
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    assert_true(fault_each(parse_and_drop, &(const char *){text_form}) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_has_its_times_and_edges_and_no_platform),
        cmocka_unit_test(the_text_form_counts_without_its_dummies),
        cmocka_unit_test(malformed_graphs_are_refused),
        cmocka_unit_test(what_is_hurt_anywhere_is_handled),
        cmocka_unit_test(memory_may_fail_anywhere),
    };

    return cmocka_run_group_tests_name("io_stg", tests, NULL, NULL);
}
