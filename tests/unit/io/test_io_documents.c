/* Files with many instances. */
#define _POSIX_C_SOURCE 200809L
#include "bad.h"
#include "fault.h"
#include "io/text/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ONE(name, time) "{\"name\": \"" name "\", \"n\": 1, \"proc_time\": [" time "], \"pred\": [[]]}"
#define OWN "{\"format\": \"clotho.graph/1\", \"name\": \"own\", \"tasks\": [{}]}"

static const char three[] = ONE("a", "1") "\n" ONE("b", "2") "\n" OWN "\n";

static clo_documents *opened(const char *text)
{
    clo_documents *documents;

    ok(clo_documents_parse("f", text, strlen(text), NULL, &documents));
    return documents;
}

/* The instances of `text` must be these names, with "!..." an error line in place of one; NULL ends the list. */
static void expect(const char *text, const char *const *names)
{
    clo_documents *documents = opened(text);
    clo_document *d = NULL;
    size_t count = 0;

    for (; names[count] != NULL; count++) {
        clo_status status = clo_documents_next(documents, &d);
        if (names[count][0] == '!') {
            assert_int_not_equal(status, CLO_OK);
            assert_string_equal(clo_last_error(), names[count] + 1);
        } else {
            ok(status);
            assert_string_equal(clo_graph_name(clo_document_graph(d)), names[count]);
            clo_document_destroy(d);
            d = NULL;
        }
    }
    assert_int_equal(clo_documents_count(documents), count);
    fails(CLO_ERR_STATE, "f: all of its instances have been read; open it again", clo_documents_next(documents, &d));
    assert_null(d);
    clo_documents_close(documents);
}

#define EXPECT(text, ...) expect(text, (const char *const[]){__VA_ARGS__, NULL})

static void instances_come_in_order_each_of_its_own_format(void **state)
{
    (void)state;
    EXPECT(three, "a", "b", "own");
    EXPECT("\xef\xbb\xbf\r\n \n" ONE("a", "1") "\r\n\n\t\n" ONE("b", "1"), "a", "b");
}

static void a_bad_line_hides_none_of_the_others(void **state)
{
    (void)state;
    EXPECT(ONE("a", "1") "\n\n" ONE("b", "-2") "\n" OWN, "a", "!f:3: proc_time[0] is -2; write a number >= 0", "own");
    EXPECT(ONE("a", "1") "\n{\"name\":\n" OWN, "a", "!f:2: the line ends too early; it is truncated", "own");
    EXPECT("{\"name\": \"x\n" OWN, "!f:1: the line ends inside a string; it is truncated", "own");
    EXPECT(ONE("a", "1") "\n" OWN "\noops", "a", "own",
           "!f:3: unknown format; convert it to one of those that are read: " FORMATS_READ);
    EXPECT("{}\n\xff\n" ONE("b", "1"),
           "!f:1: the line is JSON of an unknown format; a graph of our own begins with {\"format\": "
           "\"clotho.graph/1\"; formats that are read: " FORMATS_READ,
           "!f:2: byte 0xff is not valid UTF-8; save the file as UTF-8", "b");
    EXPECT(OWN
           "\n{\"format\": \"clotho.graph/1\", \"tasks\": [{}, {}], \"edges\": [{\"from\": 0, \"to\": 1}, {\"from\": "
           "1, \"to\": 0}]}",
           "own", "!f:2: 2 tasks wait for each other: \"t0\" -> \"t1\" -> \"t0\"; remove one of these edges");
}

/* Nothing of a single JSON text or DOT graph is taken for an instance. */
static void other_files_are_one_instance(void **state)
{
    static const char *const texts[] = {
        "",
        "{\n\"a\": [\n{\"b\": 1},\n{\"c\": 2}\n]}",
        "{\"a\": [\n{\"b\": 1}\n,\n{\"c\": 2}\n]}",
        "{\"a\":\n{\"b\": 1}\n}",
        "digraph {\n{a}\n{b}\n}",
        "{}",
        "{}\n[]",
        "2\n0 0 0\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        clo_documents *documents = opened(texts[i]);
        if (clo_documents_count(documents) != 1)
            fail_msg("%zu instances in: %s", clo_documents_count(documents), texts[i]);
        clo_documents_close(documents);
    }
    EXPECT(OWN, "own");
    EXPECT("digraph g {\n{a}\n{b}\n}", "g");
    EXPECT("nothing", "!f:1: unknown format; convert it to one of those that are read: " FORMATS_READ);
}

static void a_document_knows_its_line(void **state)
{
    clo_documents *documents = opened("\n" ONE("a", "1") "\n\n" OWN);
    clo_document *d;

    (void)state;
    for (size_t line = 2; line <= 4; line += 2) {
        ok(clo_documents_next(documents, &d));
        assert_int_equal(clo_document_line(d), line);
        clo_document_destroy(d);
    }
    clo_documents_close(documents);
    d = parsed(OWN);
    assert_int_equal(clo_document_line(d), 0);
    clo_document_destroy(d);
}

static void one_instance_is_taken_by_its_name(void **state)
{
    static const char hurt[] = "{\n" ONE("a", "1") "\n" ONE("b", "2") "\n" ONE("b", "3");
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d = NULL;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "f: holds 3 instances, one a line; name the one to take (--instance NAME)",
          clo_document_parse("f", three, sizeof three - 1, NULL, &d));
    config.instance = "b";
    ok(clo_document_parse("f", hurt, sizeof hurt - 1, &config, &d));
    assert_int_equal(task_of(d, 0).work_ns, 2000);
    assert_int_equal(clo_document_line(d), 3);
    clo_document_destroy(d);
    config.instance = "z";
    fails(CLO_ERR_ARGUMENT, "f: no instance is called 'z', of 3 that can be read; name one that is there",
          clo_document_parse("f", hurt, sizeof hurt - 1, &config, &d));
    fails(CLO_ERR_ARGUMENT, "f: no instance is called 'z', of 1 that can be read",
          clo_document_parse("f", OWN, sizeof OWN - 1, &config, &d));
    fails(CLO_ERR_FORMAT, "f:1: ", clo_document_parse("f", "{", 1, &config, &d));
    config.instance = "own";
    ok(clo_document_parse("f", OWN, sizeof OWN - 1, &config, &d));
    clo_document_destroy(d);
}

static void files_are_read_as_texts_are(void **state)
{
    char path[] = "/tmp/clotho_many_XXXXXX";
    int fd = mkstemp(path);
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_documents *documents = NULL;
    clo_document *d;

    (void)state;
    assert_true(fd >= 0 && write(fd, three, sizeof three - 1) == (ssize_t)sizeof three - 1 && close(fd) == 0);
    config.scale = 3;
    ok(clo_documents_open(path, &config, &documents));
    assert_int_equal(clo_documents_count(documents), 3);
    ok(clo_documents_next(documents, &d));
    clo_documents_close(documents);
    assert_int_equal(task_of(d, 0).work_ns, 3000); /* lives on */
    clo_document_destroy(d);
    unlink(path);
    documents = NULL;
    fails(CLO_ERR_IO, path, clo_documents_open(path, NULL, &documents));
    config.scale = -1;
    fails(CLO_ERR_ARGUMENT, "scale is -1", clo_documents_open(path, &config, &documents));
    fails(CLO_ERR_ARGUMENT, "clo_documents_open: path or out is NULL", clo_documents_open(NULL, NULL, &documents));
    fails(CLO_ERR_ARGUMENT, "clo_documents_next: an argument is NULL", clo_documents_next(NULL, &d));
    assert_null(documents);
    clo_documents_close(NULL);
}

static clo_status read_and_drop(void *context)
{
    clo_documents *documents;
    clo_document *d;
    clo_status status = clo_documents_parse("f", three, sizeof three - 1, NULL, &documents);

    (void)context;
    if (status != CLO_OK)
        return status;
    for (size_t i = 0; i < 3 && status == CLO_OK; i++)
        if ((status = clo_documents_next(documents, &d)) == CLO_OK)
            clo_document_destroy(d);
    clo_documents_close(documents);
    return status;
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    assert_true(fault_each(read_and_drop, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_come_in_order_each_of_its_own_format),
        cmocka_unit_test(a_bad_line_hides_none_of_the_others),
        cmocka_unit_test(other_files_are_one_instance),
        cmocka_unit_test(a_document_knows_its_line),
        cmocka_unit_test(one_instance_is_taken_by_its_name),
        cmocka_unit_test(files_are_read_as_texts_are),
        cmocka_unit_test(memory_may_fail_anywhere),
    };

    return cmocka_run_group_tests_name("io_documents", tests, NULL, NULL);
}
