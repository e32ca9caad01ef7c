/* The two data sets whose tasks hold resources and that are JSON only: merged queries and batch jobs. */
#include "bad.h"

#define QUERIES(n, duration, demand, edges)                                                        \
    "{\"name\": \"q\", \"jobs\": 2, \"n\": " n ",\n\"capacity\": [9],\n\"duration_us\": " duration \
    ",\n\"demand\": " demand ",\n\"edges\": " edges "}"
#define JOB(tasks) "{\"job\": \"j\",\n\"tasks\": [" tasks "]}"
#define TASK(id, parents, instances, dur, cpu, mem)                                                                   \
    "\n{\"id\": " id ", \"name\": \"M" id "\", \"parents\": " parents ", \"instances\": " instances ", \"dur\": " dur \
    ", \"cpu\": " cpu ", \"mem\": " mem "}"

static void queries_count_in_milliseconds_and_last_microseconds(void **state)
{
    clo_document *d = parsed(QUERIES("3", "[1500, 7, 1]", "[[5], [1], [9]]", "[[1, 0], [1, 2]]"));

    (void)state;
    assert_string_equal(clo_document_format(d), "tpch-packing");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "q");
    assert_true(clo_document_unit_ns(d) == 1e6);
    assert_int_equal(task_of(d, 0).work_ns, 1500000);
    assert_int_equal(task_of(d, 2).demand[0], 9);
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 0), "slots");
    assert_int_equal(edge_of(d, 1).from, 1);
    assert_int_equal(edge_of(d, 1).to, 2);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 0), 9);
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 2);
    clo_document_destroy(d);
}

static void malformed_queries_are_refused(void **state)
{
    static const bad rows[] = {
        {QUERIES("2", "[1]", "[[5], [1]]", "[]"), CLO_ERR_FORMAT,
         "f:3: duration_us has 1 entries; write 2, one for each task"},
        {QUERIES("2", "[1, -1]", "[[5], [1]]", "[]"), CLO_ERR_FORMAT, "f:3: duration_us[1] is -1; write a number >= 0"},
        {QUERIES("2", "[1, 1]", "[[5], [10]]", "[]"), CLO_ERR_FORMAT,
         "f:4: demand[1][0] is 10; write at most the capacity, 9"},
        {QUERIES("2", "[1, 1]", "[[5], [1]]", "[[0]]"), CLO_ERR_FORMAT,
         "f:5: edges[0] has 1 entries; write 2, one for each end"},
        {QUERIES("2", "[1, 1]", "[[5], [1]]", "[[0, 2]]"), CLO_ERR_LIMIT,
         "f:5: edges[0][1] is 2; the largest possible is 1"},
        {QUERIES("2", "[1, 1]", "[[5], [1]]", "[[0, \"1\"]]"), CLO_ERR_FORMAT,
         "f:5: edges[0][1] is \"1\"; write a whole number >= 0"},
        {QUERIES("2", "[1, 1]", "[[5], [1]]", "7"), CLO_ERR_FORMAT, "f:5: edges is 7; write an array [...]"},
    };
    static const char cycle[] = QUERIES("2", "[1, 1]", "[[5], [1]]", "[[0, 1], [1, 0]]");
    clo_document *d;

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_CYCLE, "f:1: ", clo_document_parse("f", cycle, sizeof cycle - 1, NULL, &d));
}

static void batch_jobs_have_instances_demands_and_a_machine(void **state)
{
    clo_document *d =
        parsed(JOB(TASK("4", "[]", "3", "1.5", "0.5", "0.2") "," TASK("2", "[4]", "2", "10", "1.0", "0.39")));

    (void)state;
    assert_string_equal(clo_document_format(d), "alibaba");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "j");
    assert_true(clo_document_unit_ns(d) == 1e9);
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 2);
    assert_int_equal(clo_graph_instances(clo_document_graph(d)), 5);
    assert_string_equal(task_of(d, 0).name, "M4");
    assert_int_equal(task_of(d, 0).work_ns, 1500000000);
    assert_int_equal(task_of(d, 0).demand[0], 500);
    assert_int_equal(task_of(d, 1).demand[1], 390);
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 0), "cpu");
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 1), "memory");
    assert_int_equal(edge_of(d, 0).from, 0);
    assert_int_equal(edge_of(d, 0).to, 1);
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 96);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 0), 96000);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 1), 100000);
    clo_document_destroy(d);
}

static void malformed_jobs_are_refused(void **state)
{
    static const bad rows[] = {
        {JOB(""), CLO_ERR_FORMAT, "f:2: tasks is empty; a job needs at least one task"},
        {JOB("{}"), CLO_ERR_FORMAT, "f:2: tasks[0] has no \"id\"; add it"},
        {JOB("3"), CLO_ERR_FORMAT, "f:2: tasks[0] is 3; write an object {...}"},
        {JOB(TASK("1", "[2]", "1", "1", "1", "1")), CLO_ERR_FORMAT,
         "f:3: tasks[0].parents[0] is 2; write the id of a task of this job"},
        {JOB(TASK("1", "[]", "1", "1", "1", "1") "," TASK("1", "[]", "1", "1", "1", "1")), CLO_ERR_FORMAT,
         "f:2: tasks has two tasks of id 1; give each its own"},
        {JOB(TASK("1", "[]", "0", "1", "1", "1")), CLO_ERR_FORMAT,
         "f:3: tasks[0].instances is 0; write a whole number >= 1"},
        {JOB(TASK("1", "[]", "1", "-1", "1", "1")), CLO_ERR_FORMAT, "f:3: tasks[0].dur is -1; write a number >= 0"},
        {JOB(TASK("1", "[]", "1", "1", "null", "1")), CLO_ERR_FORMAT, "f:3: tasks[0].cpu is null; write a number >= 0"},
        {JOB(TASK("1", "[]", "1", "1", "1", "1e300")), CLO_ERR_LIMIT,
         "f:3: tasks[0].mem is too large; write a smaller amount"},
        {JOB(TASK("1", "[]", "3000000", "1", "1", "1") "," TASK("2", "[1]", "3000000", "1", "1", "1")), CLO_ERR_LIMIT,
         "f:1: more than 4194304 instances; write fewer instances"},
    };

    (void)state;
    REFUSE(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_count_in_milliseconds_and_last_microseconds),
        cmocka_unit_test(malformed_queries_are_refused),
        cmocka_unit_test(batch_jobs_have_instances_demands_and_a_machine),
        cmocka_unit_test(malformed_jobs_are_refused),
    };

    return cmocka_run_group_tests_name("io_packing", tests, NULL, NULL);
}
