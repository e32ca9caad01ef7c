/* The texts of the shipped platforms, byte for byte, under tests/golden/platform. After a wanted change:
 * CLO_UPDATE_GOLDEN=1 build/.../test_platform_golden, then read the difference. */
#include "support.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void is_golden(const char *name, const char *text)
{
    char path[512], *wanted;
    size_t bytes;

    snprintf(path, sizeof path, CLO_SOURCE "/tests/golden/platform/%s", name);
    if (getenv("CLO_UPDATE_GOLDEN") != NULL) {
        ok(clo_file_write(path, text, strlen(text)));
        return;
    }
    ok(clo_file_read(path, 1 << 22, &wanted, &bytes));
    size_t line = 1, i = 0;
    for (; wanted[i] == text[i] && text[i] != '\0'; i++)
        line += text[i] == '\n';
    if (wanted[i] != text[i])
        fail_msg("%s differs from line %zu on", path, line);
    free(wanted);
}

static void describe(const char *spec, const char *name, uint32_t columns)
{
    char file[128], *text;
    clo_platform *p;

    ok(clo_platform_open(spec, &p));
    ok(clo_platform_describe(p, columns, &text));
    snprintf(file, sizeof file, "%s.%u.txt", name, columns);
    is_golden(file, text);
    free(text);
    if (clo_platform_executors(p) > 16) { /* the matrices would be too much to review */
        clo_platform_destroy(p);
        return;
    }
    ok(clo_platform_describe_json(p, &text));
    snprintf(file, sizeof file, "%s.json", name);
    is_golden(file, text);
    free(text);
    clo_platform_destroy(p);
}

static void the_descriptions_of_the_shipped_platforms_are_golden(void **state)
{
    (void)state;
    static const char *const names[] = {"rk3588", "zcu102", "jetson-tx2"};

    for (int i = 0; i < 3; i++) {
        describe(names[i], names[i], 80);
        describe(names[i], names[i], 120);
    }
    describe("uniform:4", "uniform-4", 80);
    describe("uniform:200", "uniform-200", 80);
}

static void a_platform_from_arrays_with_capacities_is_golden(void **state)
{
    (void)state;
    clo_executor executors[3] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                 {1, 0, 1, -1, {32768, 65536, 16384, 131072}},
                                 {0, 1, 2, -1, {65536, 65536, 65536, 65536}}};
    const char *names[] = {"left", "m\u00e4chtig", "right\n\"x\"\x1b"},
               *resources[CLO_RESOURCES_MAX] = {"memory", NULL};
    int64_t capacities[2 * CLO_RESOURCES_MAX], latency[9] = {0, 1000, 2000000, 1500, 0, 40, 3000000000, 40, 0};
    double bandwidth[9] = {0, 1, 0.5, 2, 0, 0, 0.001, 0, 0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *p;
    char *text;

    for (int i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i < 2 ? 100 + i : -1;
    desc.name = "arrays";
    desc.executors_count = 3;
    desc.executors = executors;
    desc.executor_names = names;
    desc.kinds_count = 2;
    desc.machines_count = 2;
    desc.capacities = capacities;
    desc.resource_names = resources;
    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &p));
    ok(clo_platform_describe(p, 0, &text));
    is_golden("arrays.80.txt", text);
    free(text);
    ok(clo_platform_describe_json(p, &text));
    is_golden("arrays.json", text);
    free(text);
    clo_platform_destroy(p);
}

static void columns_are_as_wide_as_their_first_row_needs(void **state)
{
    (void)state;
    const clo_executor executors[2] = {{0, 0, 0, -1, {655360, 655360, 655360, 655360}},
                                       {1, 0, 1, -1, {65536, 65536, 65536, 65536}}};
    const char *names[] = {"a-name-wider-than-all", "b"}, *kinds[] = {"a-kind-wider-than-all", "k"};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *p;
    char *text;

    desc.name = "widest first";
    desc.executors_count = 2;
    desc.executors = executors;
    desc.executor_names = names;
    desc.kinds_count = 2;
    desc.kind_names = kinds;
    ok(clo_platform_create(&desc, &p));
    ok(clo_platform_describe(p, 100, &text));
    is_golden("widest-first.100.txt", text);
    free(text);
    clo_platform_destroy(p);
}

/* Characters, not bytes: UTF-8 continuation bytes do not count. */
static size_t widest(const char *text)
{
    size_t width = 0, most = 0;

    for (; *text != '\0'; text++) {
        width = *text == '\n' ? 0 : width + ((*text & 0xc0) != 0x80);
        most = width > most ? width : most;
    }
    return most;
}

static void the_picture_and_the_sources_keep_within_the_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"rk3588", "zcu102", "jetson-tx2", "uniform:4", "uniform:300"};
    static const uint32_t columns[] = {80, 100, 120, 200};

    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 4; c++) {
            clo_platform *p;
            char *text;
            ok(clo_platform_open(names[i], &p));
            ok(clo_platform_describe(p, columns[c], &text));
            assert_true(widest(text) <= columns[c]);
            free(text);
            clo_platform_destroy(p);
        }
}

static void absent_arguments_are_refused(void **state)
{
    (void)state;
    clo_platform *p;
    char *text = NULL;

    ok(clo_platform_open("uniform:1", &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_describe(NULL, 80, &text));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_describe(p, 80, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_describe_json(NULL, &text));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_describe_json(p, NULL));
    clo_platform_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptions_of_the_shipped_platforms_are_golden),
        cmocka_unit_test(a_platform_from_arrays_with_capacities_is_golden),
        cmocka_unit_test(columns_are_as_wide_as_their_first_row_needs),
        cmocka_unit_test(the_picture_and_the_sources_keep_within_the_columns),
        cmocka_unit_test(absent_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
