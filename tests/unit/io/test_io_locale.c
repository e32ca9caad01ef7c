/* Numbers in files, pictures and messages have a decimal point, whatever locale the host has chosen. The locale here
 * has a comma; localedef of the C library makes it. */
#define _GNU_SOURCE
#include "support.h"

#include "base/memory.h"
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char dot[] = "digraph g {a [work_ns=1500.5]; b [weight=0.25, work_ns=\"1.5e3\", output_bytes=2]; "
                          "a -> b [bytes=12.5]}";
static const char json[] =
    "{\"format\": \"clotho.graph/1\", \"name\": \"g\", \"tasks\": [{\"name\": \"a\", \"work_ns\": 1.5e3},"
    " {\"name\": \"b\", \"work_ns\": 2500.25}], \"edges\": [{\"from\": 0, \"to\": 1, \"bytes\": 12.75}]}";

static char temporary[] = "/tmp/clotho-locale-XXXXXX";

/* A locale that differs from "C" in its decimal point only. localedef warns of the missing parts and returns 1. */
static int make_locale(void **state)
{
    char command[300];

    (void)state;
    if (mkdtemp(temporary) == NULL)
        return -1;
    snprintf(
        command, sizeof command,
        "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\n"
        "END LC_NUMERIC\\n' > source && "
        "localedef -c -i source -f ANSI_X3.4-1968 ./comma >log 2>&1; test -e comma/LC_NUMERIC || { cat log; false; }",
        temporary);
    return system(command) == 0 ? setenv("LOCPATH", temporary, 1) : -1;
}

static int remove_locale(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", temporary);
    return system(command);
}

static void add_file(clo_text *all, const clo_document *document, const char *format)
{
    char path[80], *data;
    size_t bytes;

    snprintf(path, sizeof path, "%s/file", temporary);
    ok(clo_document_save(document, format, path));
    ok(clo_file_read(path, 1 << 20, &data, &bytes));
    clo_text_add_bytes(all, data, bytes);
    clo_free(data);
}

static void add_plan(clo_text *all, const clo_document *document)
{
    char path[80], *data;
    size_t bytes;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;

    snprintf(path, sizeof path, "%s/file", temporary);
    ok(clo_platform_open("rk3588", &platform));
    ok(clo_cost_create(clo_document_graph(document), platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    ok(clo_plan_gantt_svg(plan, cost, NULL, path));
    ok(clo_file_read(path, 1 << 20, &data, &bytes));
    clo_text_add_bytes(all, data, bytes);
    clo_free(data);
    ok(clo_plan_gantt_text(plan, cost, 80, &data));
    clo_text_add_bytes(all, data, strlen(data));
    free(data);
    ok(clo_platform_describe(platform, 80, &data));
    clo_text_add_bytes(all, data, strlen(data));
    free(data);
    ok(clo_platform_describe_json(platform, &data));
    clo_text_add_bytes(all, data, strlen(data));
    free(data);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
}

/* Everything that the library reads and writes with a fraction in it. */
static clo_text everything(void)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *document = NULL;
    clo_text all = {0};

    ok(clo_document_parse("g.dot", dot, strlen(dot), NULL, &document));
    add_file(&all, document, "dot");
    add_file(&all, document, "clotho");
    add_file(&all, document, "wfformat");
    add_plan(&all, document);
    clo_document_destroy(document);

    config.scale = 2.5;
    ok(clo_document_parse("g.json", json, strlen(json), &config, &document));
    add_file(&all, document, "clotho");
    clo_document_destroy(document);
    config.scale = -1.5;
    fails(CLO_ERR_ARGUMENT, "scale is -1.5;", clo_document_parse("g", dot, strlen(dot), &config, &document));
    clo_text_add(&all, "%s %g", clo_last_error(), 0.5);
    return all;
}

static void a_host_with_a_decimal_comma_reads_and_writes_the_same(void **state)
{
    (void)state;
    char *end, number[16];
    clo_text want = everything();

    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    snprintf(number, sizeof number, "%.1f", 1.5);
    assert_string_equal(number, "1,5"); /* the locale does what it should */
    clo_text got = everything();
    assert_true(fabs(clo_number_read("0.125x", &end) - 0.125) == 0 && *end == 'x');
    snprintf(number, sizeof number, "%.1f", 1.5);
    assert_string_equal(number, "1,5"); /* the host's locale is as it was */
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(got.data, want.data);
    clo_text_free(&want);
    clo_text_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_with_a_decimal_comma_reads_and_writes_the_same),
    };
    return cmocka_run_group_tests(tests, make_locale, remove_locale);
}
