/* From a SPEC to a platform: native, shipped, uniform, files; and never one in place of another. */
#define _GNU_SOURCE
#include "fault.h"
#include "support.h"

#include "base/text.h"
#include "platform/model/platform.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void native_is_this_machine_and_the_cpus_this_thread_may_use(void **state)
{
    (void)state;
    cpu_set_t mine, one;
    clo_platform *p;
    int first = 0;

    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    ok(clo_platform_open("native", &p));
    assert_string_equal(clo_platform_name(p), "native");
    assert_true(clo_platform_is_native(p));
    assert_true(clo_platform_is_coherent(p));
    assert_int_equal(clo_platform_executors(p), CPU_COUNT(&mine));
    for (uint32_t e = 0; e < clo_platform_executors(p); e++)
        assert_true(CPU_ISSET((size_t)clo_platform_executor(p, e)->os_index, &mine));
    clo_platform_destroy(p);
    ok(clo_platform_native(&p)); /* the same by another way */
    assert_string_equal(clo_platform_name(p), "native");
    assert_int_equal(clo_platform_executors(p), CPU_COUNT(&mine));
    clo_platform_destroy(p);

    while (!CPU_ISSET((size_t)first, &mine))
        first++;
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    clo_status status = clo_platform_open("native", &p);
    assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
    ok(status);
    assert_int_equal(clo_platform_executors(p), 1);
    assert_int_equal(clo_platform_executor(p, 0)->os_index, first);
    clo_platform_destroy(p);
}

static void native_refuses_to_describe_another_machine(void **state)
{
    (void)state;
    clo_platform *p = NULL;

    setenv("HWLOC_XMLFILE", CLO_SOURCE "/platforms/rk3588.xml", 1);
    fails(CLO_ERR_PLATFORM, "HWLOC_XMLFILE", clo_platform_open("native", &p));
    unsetenv("HWLOC_XMLFILE");
    setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
    fails(CLO_ERR_PLATFORM, "HWLOC_SYNTHETIC", clo_platform_open("native", &p));
    fails(CLO_ERR_PLATFORM, "HWLOC_SYNTHETIC", clo_platform_native(&p));
    unsetenv("HWLOC_SYNTHETIC");
    assert_null(p);
}

static void uniform_platforms_have_equal_executors_and_free_transfers(void **state)
{
    (void)state;
    clo_platform *p;

    ok(clo_platform_open("uniform:3", &p));
    assert_string_equal(clo_platform_name(p), "uniform:3");
    assert_int_equal(clo_platform_executors(p), 3);
    assert_int_equal(clo_platform_memories(p), 1);
    assert_int_equal(clo_platform_executor(p, 2)->speed_q16[CLO_CLASS_MEMORY], CLO_SPEED_ONE);
    assert_int_equal(clo_platform_executor(p, 2)->os_index, -1);
    assert_int_equal(clo_platform_transfer_ns(p, 1 << 30, 0, 2), 0);
    assert_false(clo_platform_is_native(p));
    clo_platform_destroy(p);
    ok(clo_platform_open("uniform", &p));
    assert_int_equal(clo_platform_executors(p), 4);
    clo_platform_destroy(p);
    ok(clo_platform_open("uniform:4096", &p));
    assert_int_equal(clo_platform_executors(p), 4096);
    clo_platform_destroy(p);
}

static void bad_names_are_refused_and_the_good_ones_listed(void **state)
{
    (void)state;
    static const char *const bad[] = {"uniform:",   "uniform:0",  "uniform:65537",
                                      "uniform:-1", "uniform:2x", "uniform: 2"};
    clo_platform *p = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        fails(CLO_ERR_ARGUMENT, "from 1 to 65536", clo_platform_open(bad[i], &p));
    fails(CLO_ERR_ARGUMENT, "a board (clotho platform list)", clo_platform_open("rk3589", &p));
    fails(CLO_ERR_ARGUMENT, "no platform \"\"", clo_platform_open("", &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_open(NULL, &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_open("native", NULL));
    assert_null(p);
}

static void every_shipped_name_opens_and_has_a_summary(void **state)
{
    (void)state;
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    for (; clo_registry_entry("platforms", count, &entry); count++) {
        clo_platform *p;
        assert_true(strlen(entry.summary) > 20);
        ok(clo_platform_open(entry.name, &p));
        assert_false(clo_platform_is_native(p));
        assert_true(p->facts_count >= 2);
        clo_platform_destroy(p);
    }
    assert_true(count > 30);
    assert_string_equal(entry.name, "uniform");
}

/* Puts this text as NAME.xml into a folder, of which CLOTHO_PLATFORMS tells. */
static void write_board(const char *folder, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s.xml", folder, name);
    ok(clo_file_write(path, text, strlen(text)));
}

static void boards_of_ones_own_are_found_by_name(void **state)
{
    (void)state;
    char folder[] = "/tmp/clotho-boards-XXXXXX", variable[128], path[256], *text;
    size_t bytes;
    clo_platform *p = NULL;

    assert_non_null(mkdtemp(folder));
    ok(clo_file_read(CLO_SOURCE "/platforms/rk3576.xml", 1 << 20, &text, &bytes));
    write_board(folder, "my-board", text);
    write_board(folder, "am625", text);
    fails(CLO_ERR_ARGUMENT, "no platform \"my-board\"", clo_platform_open("my-board", &p));
    snprintf(variable, sizeof variable, ":/nowhere:%s", folder);
    setenv("CLOTHO_PLATFORMS", variable, 1);
    ok(clo_platform_open("my-board", &p));
    assert_int_equal(clo_platform_executors(p), 8);
    clo_platform_destroy(p);
    ok(clo_platform_open("am625", &p)); /* the folder comes first: the shipped one has four */
    assert_int_equal(clo_platform_executors(p), 8);
    clo_platform_destroy(p);
    write_board(folder, "broken", "<topology");
    fails(CLO_ERR_FORMAT, "broken.xml:1", clo_platform_open("broken", &p));
    unsetenv("CLOTHO_PLATFORMS");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.xml", folder, i == 0 ? "my-board" : i == 1 ? "am625" : "broken");
        unlink(path);
    }
    rmdir(folder);
    free(text);
}

/* A file with these accelerators besides one CPU. */
static clo_status open_extended(const char *accelerators, clo_platform **out)
{
    char path[] = "/tmp/clotho-extend-XXXXXX", spec[64], text[2048];
    int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
    snprintf(text, sizeof text,
             "<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\">"
             "<info name=\"clotho.schema\" value=\"1\"/><info name=\"clotho.platform\" value=\"devices\"/>"
             "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>"
             "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>\n%s</object></topology>",
             accelerators);
    ok(clo_file_write(path, text, strlen(text)));
    snprintf(spec, sizeof spec, "native+%s", path);
    clo_status status = clo_platform_open(spec, out);
    unlink(path);
    return status;
}

static void this_machine_is_extended_by_accelerators(void **state)
{
    (void)state;
    clo_platform *native, *p = NULL;

    ok(clo_platform_open("native", &native));
    uint32_t cpus = clo_platform_executors(native);
    ok(open_extended(
        "<object type=\"Misc\" name=\"accel:npu\"><info name=\"clotho.kind\" value=\"n&quot;&amp;&lt;pu\"/>"
        "<info name=\"clotho.slots\" value=\"3\"/><info name=\"clotho.link_latency_ns\" value=\"700\"/>"
        "</object>\n<object type=\"Misc\" name=\"accel:dsp\"><info name=\"clotho.slots\" value=\"1\"/></object>"
        "<object type=\"Misc\" name=\"accel:gpu\"><info name=\"clotho.depth\" value=\"2\"/>"
        "<info name=\"clotho.driver\" value=\"opencl\"/></object>",
        &p));
    assert_null(clo_platform_driver(p, cpus + 3));
    assert_string_equal(clo_platform_driver(p, cpus + 4), "opencl");
    assert_string_equal(clo_platform_device(p, cpus + 4), "");
    assert_string_equal(clo_platform_name(p), "native+devices");
    assert_true(clo_platform_is_native(p)); /* jobs on it run in real time */
    assert_true(clo_platform_is_coherent(p));
    assert_int_equal(clo_platform_executors(p), cpus + 5);
    for (uint32_t e = 0; e < cpus; e++)
        assert_int_equal(clo_platform_executor(p, e)->os_index, clo_platform_executor(native, e)->os_index);
    assert_int_equal(clo_platform_executor(p, cpus)->os_index, CLO_OS_SLOT);
    assert_int_equal(clo_platform_executor(p, cpus + 4)->os_index, CLO_OS_SLOT_DEEP(2));
    assert_string_equal(clo_platform_executor_name(p, cpus + 2), "npu.2");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, cpus)->kind), "n\"&<pu");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, cpus + 3)->kind), "slot");
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, cpus), 700);
    clo_platform_destroy(p);
    clo_platform_destroy(native);
}

static void accelerators_that_cannot_be_added_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char slots[] = "<info name=\"clotho.slots\" value=\"1\"/>";
    char twice[512];
    clo_platform *p = NULL;

    fails(CLO_ERR_PLATFORM, "no accelerator", open_extended("", &p));
    fails(CLO_ERR_FORMAT, ":3: accel:npu has no clotho.slots",
          open_extended("<object type=\"Misc\" name=\"accel:npu\"/>", &p));
    fails(CLO_ERR_FORMAT, ":4: unknown key clotho.slot;",
          open_extended("\n<object type=\"Misc\" name=\"accel:n\"><info name=\"clotho.slot\" value=\"1\"/></object>",
                        &p));
    snprintf(twice, sizeof twice,
             "<object type=\"Misc\" name=\"accel:n\">%s</object>\n<object type=\"Misc\" name=\"accel:n\">%s</object>",
             slots, slots);
    fails(CLO_ERR_FORMAT, ":4: executor n.0 is there twice", open_extended(twice, &p));
    fails(CLO_ERR_PLATFORM, "rk3588: no accelerator", clo_platform_open("native+rk3588", &p));
    fails(CLO_ERR_ARGUMENT, "no platform \"nothing\"", clo_platform_open("native+nothing", &p));
    fails(CLO_ERR_ARGUMENT, "no platform \"\"", clo_platform_open("native+", &p));
    fails(CLO_ERR_IO, "/nowhere.xml", clo_platform_open("native+/nowhere.xml", &p));
    assert_null(p);
}

static void a_shipped_name_is_the_same_as_its_file(void **state)
{
    (void)state;
    clo_platform *a, *b;
    char *x, *y;

    ok(clo_platform_open("rk3588", &a));
    ok(clo_platform_open(CLO_SOURCE "/platforms/rk3588.xml", &b));
    ok(clo_platform_describe_json(a, &x));
    ok(clo_platform_describe_json(b, &y));
    assert_string_equal(x, y);
    free(x);
    free(y);
    clo_platform_destroy(a);
    clo_platform_destroy(b);
}

static void rk3588_has_three_clusters_and_costs_between_all_executors(void **state)
{
    (void)state;
    clo_platform *p;

    ok(clo_platform_open("rk3588", &p));
    assert_int_equal(clo_platform_executors(p), 8);
    assert_int_equal(clo_platform_kinds(p), 2);
    assert_int_equal(clo_platform_memories(p), 8);
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 0)->kind), "cortex-a55");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 7)->kind), "cortex-a76");
    assert_int_equal(clo_platform_executor(p, 0)->speed_q16[CLO_CLASS_GENERIC], 25408);
    assert_int_equal(clo_platform_executor(p, 0)->speed_q16[CLO_CLASS_MEMORY], 37053);
    assert_int_equal(clo_platform_executor(p, 4)->speed_q16[CLO_CLASS_FLOAT], 65536);
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < 8; b++)
            if (a != b)
                assert_true(clo_platform_transfer_ns(p, 1, a, b) > 0);
    assert_true(clo_platform_transfer_ns(p, 64, 4, 5) < clo_platform_transfer_ns(p, 64, 4, 6));
    assert_int_equal(clo_platform_transfer_ns(p, 10814000, 4, 5), 1000038);
    clo_platform_destroy(p);
}

static void a_missing_or_foreign_file_is_an_error_and_never_this_machine(void **state)
{
    (void)state;
    clo_platform *p = NULL;

    fails(CLO_ERR_IO, "no/such.xml", clo_platform_open("no/such.xml", &p));
    fails(CLO_ERR_IO, CLO_SOURCE, clo_platform_open(CLO_SOURCE, &p)); /* a folder */
    fails(CLO_ERR_FORMAT, "CMakeLists.txt:1", clo_platform_open(CLO_SOURCE "/CMakeLists.txt", &p));
    assert_null(p);
}

/* A file with this text, opened. */
static clo_status open_text(const char *xml, clo_platform **out)
{
    char path[] = CLO_BINARY "/test_platform_XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    ok(clo_file_write(path, xml, strlen(xml)));
    clo_status status = clo_platform_open(path, out);
    unlink(path);
    return status;
}

static void ten_million_levels_of_nesting_are_refused_at_once(void **state)
{
    (void)state;
    size_t levels = 10000000;
    char *text = malloc(3 * levels + 1);
    clo_platform *p = NULL;

    for (size_t i = 0; i < levels; i++)
        memcpy(text + 3 * i, "<a>", 3);
    text[3 * levels] = '\0';
    fails(CLO_ERR_FORMAT, "nested deeper than 64", open_text(text, &p));
    free(text);
    assert_null(p);
}

static void a_billion_laughs_are_refused(void **state)
{
    (void)state;
    clo_platform *p = NULL;

    fails(CLO_ERR_FORMAT, "document type",
          open_text("<!DOCTYPE a [<!ENTITY b \"ha\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>", &p));
    assert_null(p);
}

static clo_status open_spec(void *spec)
{
    clo_platform *p;
    clo_status status = clo_platform_open(spec, &p);

    if (status == CLO_OK)
        clo_platform_destroy(p);
    return status;
}

static void each_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fault_each(open_spec, (void *)(uintptr_t) "native") > 50);
    assert_true(fault_each(open_spec, (void *)(uintptr_t) "zcu102") > 50);
    assert_true(fault_each(open_spec, (void *)(uintptr_t) "native+" CLO_SOURCE "/examples/15_npu.xml") > 50);
    assert_true(fault_each(open_spec, (void *)(uintptr_t) "uniform:2") > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_is_this_machine_and_the_cpus_this_thread_may_use),
        cmocka_unit_test(native_refuses_to_describe_another_machine),
        cmocka_unit_test(uniform_platforms_have_equal_executors_and_free_transfers),
        cmocka_unit_test(bad_names_are_refused_and_the_good_ones_listed),
        cmocka_unit_test(every_shipped_name_opens_and_has_a_summary),
        cmocka_unit_test(boards_of_ones_own_are_found_by_name),
        cmocka_unit_test(this_machine_is_extended_by_accelerators),
        cmocka_unit_test(accelerators_that_cannot_be_added_are_refused_with_their_line),
        cmocka_unit_test(a_shipped_name_is_the_same_as_its_file),
        cmocka_unit_test(rk3588_has_three_clusters_and_costs_between_all_executors),
        cmocka_unit_test(a_missing_or_foreign_file_is_an_error_and_never_this_machine),
        cmocka_unit_test(ten_million_levels_of_nesting_are_refused_at_once),
        cmocka_unit_test(a_billion_laughs_are_refused),
        cmocka_unit_test(each_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
