/* Platform files: one refusal for each rule. Every case is the base file with pieces replaced. */
#include "fault.h"
#include "platform_text.h"
#include "support.h"

#include "platform/build/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct refusal {
    const char *text; /* the error line holds it */
    const char *pairs[7];
} refusal;

static const refusal refusals[] = {
    {"the document is a <other>, no <topology>; give an hwloc XML file",
     {"<topology version=\"2.0\">", "<other>", "</topology>", "</other>"}},
    {"hwloc 2", {"version=\"2.0\"", "version=\"1.0\""}},
    {"hwloc 2", {" version=\"2.0\"", ""}},
    {"document type", {"SYSTEM \"hwloc2.dtd\"", "[<!ENTITY a \"b\">]"}},
    {"f.xml:8: unknown object type", {"type=\"Package\"", "type=\"Packet\""}},
    {"without type", {"type=\"Package\" ", ""}},
    {"the first object is not a Machine", {"type=\"Machine\"", "type=\"Package\""}},
    {"the first object is not a Machine", {"type=\"Machine\"", "type=\"Bridge\""}},
    {"unknown attribute os_indx", {"type=\"PU\" os_index", "type=\"PU\" os_indx"}},
    {"os_index=\"-1\"", {"type=\"PU\" os_index=\"0\"", "type=\"PU\" os_index=\"-1\""}},
    {"needs an os_index", {"type=\"PU\" os_index=\"0\"", "type=\"PU\""}},
    {"needs an os_index below", {"type=\"PU\" os_index=\"0\"", "type=\"PU\" os_index=\"65536\""}},
    {"PU 1 is there twice", {"type=\"PU\" os_index=\"0\"", "type=\"PU\" os_index=\"1\""}},
    {"NUMANode 1 is there twice", {"NUMANode\" os_index=\"0\"", "NUMANode\" os_index=\"1\""}},
    {"not an hwloc set", {"cpuset=\"0x0000000f\"", "cpuset=\"0-3\""}},
    {"is not the set of the 4 PUs", {"cpuset=\"0x0000000f\"", "cpuset=\"0x0000001f\""}},
    {"is not the set of the 4 PUs", {"cpuset=\"0x0000000f\"", "cpuset=\"0xf...f\""}},
    {"is not the set of the 1 PUs",
     {"PU\" os_index=\"1\" cpuset=\"0x00000002\"", "PU\" os_index=\"1\" cpuset=\"0x00000001\""}},
    {"without cpuset", {"PU\" os_index=\"1\" cpuset=\"0x00000002\"", "PU\" os_index=\"1\""}},
    {"gp_index 5 is there twice", {"gp_index=\"6\"", "gp_index=\"5\""}},
    {"cache_size", {"cache_size=\"1048576\"", "cache_size=\"-1\""}},
    {"cache_associativity", {"cache_associativity=\"-1\"", "cache_associativity=\"-2\""}},
    {"a Package cannot lie inside a Core",
     {"type=\"Core\" os_index=\"0\"", "type=\"Package\"", "type=\"L2Cache\"", "type=\"Core\""}},
    {"a L2Cache cannot lie inside a L2Cache", {"type=\"Core\" os_index=\"0\"", "type=\"L2Cache\""}},
    {"a PU cannot lie inside a PU", {"@pu0@", "<object type=\"PU\" os_index=\"9\" cpuset=\"0x1\"/>"}},
    {"cannot lie here", {"@pu0@", "<object type=\"NUMANode\" os_index=\"9\"/>"}},
    {"a Machine cannot lie inside", {"type=\"Core\" os_index=\"0\"", "type=\"Machine\""}},
    {"no PU inside this Group", {"@misc@", "<object type=\"Group\" cpuset=\"0x1\"/>"}},
    {"unknown element <thing>", {"@misc@", "<thing/>"}},
    {"unknown element <thing>", {"@tables@", "<thing/>"}},
    {"unknown element <object>", {"@tables@", "<object type=\"Machine\"/>"}},
    {"clotho.platform", {INFO("clotho.platform", "base"), ""}},
    {"clotho.schema", {INFO("clotho.schema", "1"), ""}},
    {"reads schema 1", {INFO("clotho.schema", "1"), INFO("clotho.schema", "2")}},
    {"clotho.platform is empty", {INFO("clotho.platform", "base"), INFO("clotho.platform", "")}},
    {"is there twice", {"@machine@", INFO("clotho.platform", "again")}},
    {"unknown key clotho.sped", {"@core0@", INFO("clotho.sped", "1")}},
    {"does not belong here", {"@core0@", INFO("clotho.coherent", "1")}},
    {"does not belong here", {"@machine@", INFO("clotho.speed_q16", "1")}},
    {"does not belong here", {"@core0@", INFO("clotho.driver", "null")}},
    {"has a clotho.device, but no clotho.driver",
     {"@misc@", "<object type=\"Misc\" name=\"accel:npu\">" INFO("clotho.device", "0") "</object>"}},
    {"use 0 or 1", {"@machine@", INFO("clotho.coherent", "yes")}},
    {"use measured, published or assumed", {"@machine@", INFO("clotho.status.speed", "certain")}},
    {"from 1 to 4294967295", {"@core0@", INFO("clotho.speed_q16", "0")}},
    {"from 1 to 4294967295", {"@core0@", INFO("clotho.speed_q16.float", "4294967296")}},
    {"from 0 to 65535", {"@core0@", INFO("clotho.memory", "65536")}},
    {"from 1 to 1024", {"@misc@", "<object type=\"Misc\" name=\"accel:A\">" INFO("clotho.slots", "1025") "</object>"}},
    {"does not belong here", {"@core0@", INFO("clotho.slots", "2")}},
    {"from 1 to 4", {"@misc@", "<object type=\"Misc\" name=\"accel:A\">" INFO("clotho.depth", "5") "</object>"}},
    {"does not belong here", {"@core0@", INFO("clotho.depth", "2")}},
    {"from 0 to 9223372036854775807", {"@machine@", INFO("clotho.capacity.x", "9223372036854775808")}},
    {"more than 8 capacities",
     {"@machine@", INFO("clotho.capacity.a", "1") INFO("clotho.capacity.b", "1") INFO("clotho.capacity.c", "1") INFO(
                       "clotho.capacity.d", "1") INFO("clotho.capacity.e", "1") INFO("clotho.capacity.f", "1")
                       INFO("clotho.capacity.g", "1") INFO("clotho.capacity.h", "1") INFO("clotho.capacity.i", "1")}},
    {"an <info> without", {"@machine@", "<info name=\"x\"/>"}},
    {"executor A is there twice",
     {"@misc@", "<object type=\"Misc\" name=\"accel:A\"/><object type=\"Misc\" name=\"accel:A\"/>"}},
    {"nameless", {"@misc@", "<object type=\"Misc\" name=\"accel:\"/>"}},
    {"nbobjs", {"@tables@", LATENCY, "nbobjs=\"4\"", "nbobjs=\"-4\""}},
    {"without nbobjs", {"@tables@", LATENCY, "nbobjs=\"4\"", ""}},
    {"it takes two", {"@tables@", LATENCY, "nbobjs=\"4\"", "nbobjs=\"1\""}},
    {"it needs 5 and 25", {"@tables@", LATENCY, "nbobjs=\"4\"", "nbobjs=\"5\""}},
    {"it needs 4 and 16", {"@tables@", LATENCY, "<u64values length=\"5\">43 0 </u64values>", ""}},
    {"neither latency nor bandwidth", {"@tables@", LATENCY, "kind=\"6\"", "kind=\"14\""}},
    {"needs type=\"PU\" and kind=\"6\"", {"@tables@", LATENCY, "kind=\"6\"", "kind=\"10\""}},
    {"needs type and indexing", {"@tables@", LATENCY, "indexing=\"os\"", "indexing=\"xy\""}},
    {"with indexing=\"os\"", {"@tables@", LATENCY, "indexing=\"os\"", "indexing=\"gp\""}},
    {"index 9 of matrix", {"@tables@", LATENCY, "0 1 2 3 ", "0 1 2 9 "}},
    {"index 2 of matrix", {"@tables@", LATENCY, "0 1 2 3 ", "0 1 2 2 "}},
    {"is not a whole number >= 0", {"@tables@", LATENCY, "43 0 ", "-3 0 "}},
    {"but the text has 5 characters", {"@tables@", LATENCY, "length=\"5\"", "length=\"4\""}},
    {"<indexes> without length", {"@tables@", LATENCY, "indexes length=\"8\"", "indexes"}},
    {"is more than 1000000000000", {"@tables@", LATENCY, "length=\"5\">43 0 ", "length=\"16\">1000000000001 0 "}},
    {"is there twice", {"@tables@", LATENCY LATENCY}},
    {"from 2000 bytes; order the pieces", {"@tables@", BANDWIDTH BEYOND("2000") BEYOND("1000")}},
    {"from 2000 bytes; order the pieces", {"@tables@", BANDWIDTH BEYOND("2000") BEYOND("2000")}},
    {"must end in the bytes", {"@tables@", BANDWIDTH BEYOND("-5")}},
    {"must end in the bytes", {"@tables@", BANDWIDTH BEYOND("0")}},
    {"must end in the bytes", {"@tables@", BANDWIDTH BEYOND("")}},
    {"must end in the bytes", {"@tables@", BANDWIDTH BEYOND("9223372036854775808")}},
    {"makes more than 8 pieces",
     {"@tables@",
      BANDWIDTH BEYOND("1") BEYOND("2") BEYOND("3") BEYOND("4") BEYOND("5") BEYOND("6") BEYOND("7") BEYOND("8")}},
    {"without the matrix clotho.c2c_bandwidth_MBps", {"@tables@", LATENCY BEYOND("1000")}},
    {"needs type=\"PU\" and kind=\"10\"", {"@tables@", BEYOND("1000"), "kind=\"10\"", "kind=\"6\""}},
    {"it needs 4 and 16", {"@tables@", BEYOND("1000"), "<u64values length=\"5\">43 0 </u64values>", ""}},
    {"where a piece begins, take 2^61 ns or more", {"@tables@", BANDWIDTH BEYOND("9223372036854775807")}},
    {"use a whole number from 0 to 1000000", {"@machine@", INFO("clotho.two_flows_permille.median", "-1")}},
    {"unknown matrix \"clotho.c2c\"", {"@tables@", LATENCY, "clotho.c2c_latency_ns", "clotho.c2c"}},
    {"unknown element <x>", {"@tables@", LATENCY, "<indexes", "<x/><indexes"}},
    {"PU 1 is in two cpukinds", {"@tables@", "<cpukind cpuset=\"0x3\"/><cpukind cpuset=\"0x2\"/>"}},
    {"names PUs that this file lacks", {"@tables@", "<cpukind cpuset=\"0x11\"/>"}},
    {"names PUs that this file lacks", {"@tables@", "<cpukind cpuset=\"0x0\"/>"}},
    {"needs a cpuset", {"@tables@", "<cpukind/>"}},
    {"forced_efficiency", {"@tables@", "<cpukind cpuset=\"0x1\" forced_efficiency=\"high\"/>"}},
    {"unknown element <y>", {"@tables@", "<cpukind cpuset=\"0x1\"><y/></cpukind>"}},
    {"does not belong here", {"@tables@", "<cpukind cpuset=\"0x1\">" INFO("clotho.memory", "0") "</cpukind>"}},
    {"a <memattr> without name", {"@tables@", "<memattr/>"}},
    {"memattr \"Latency\" is there twice", {"@tables@", "<memattr name=\"Latency\"/><memattr name=\"Latency\"/>"}},
    {"<memattr_value> without value", {"@tables@", "<memattr name=\"Latency\"><memattr_value/></memattr>"}},
    {"initiator_cpuset",
     {"@tables@", "<memattr name=\"Latency\"><memattr_value value=\"1\" initiator_cpuset=\"z\"/></memattr>"}},
    {"mismatched tag", {"</topology>", "</topo>"}},
    {"text on both sides", {"@machine@", "text <info name=\"a\" value=\"b\"/> text"}},
};

static void every_rule_has_a_refusal_with_file_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        clo_platform *p = NULL;
        char *text = file_with(refusals[i].pairs);
        fails(CLO_ERR_FORMAT, refusals[i].text, clo_platform_parse("f.xml", text, strlen(text), &p));
        assert_non_null(strstr(clo_last_error(), "f.xml:"));
        assert_null(p);
        free(text);
    }
}

static void a_file_without_executors_or_memory_is_refused(void **state)
{
    (void)state;
    static const char empty[] = "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\"/></topology>";
    static const char no_numa[] = "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\">"
                                  "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\"/></object></topology>";
    static const char nothing[] = "<topology version=\"2.0\"/>";
    clo_platform *p;

    fails(CLO_ERR_FORMAT, "zero executors", clo_platform_parse("f.xml", empty, strlen(empty), &p));
    fails(CLO_ERR_FORMAT, "NUMANode", clo_platform_parse("f.xml", no_numa, strlen(no_numa), &p));
    fails(CLO_ERR_FORMAT, "<object>", clo_platform_parse("f.xml", nothing, strlen(nothing), &p));
    fails(CLO_ERR_FORMAT, "f.xml:1", clo_platform_parse("f.xml", "", 0, &p));
}

static void more_executors_than_a_platform_may_have_are_a_limit(void **state)
{
    (void)state;
    char *text = malloc(8 << 20);
    size_t used = (size_t)sprintf(text, "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\">");
    clo_platform *p;

    for (int i = 0; i < 65537; i++)
        used += (size_t)sprintf(text + used, "<object type=\"PU\" os_index=\"%d\" cpuset=\"0x1\"/>", i);
    used += (size_t)sprintf(text + used, "</object></topology>");
    fails(CLO_ERR_LIMIT, "65536", clo_platform_parse("f.xml", text, used, &p));
    free(text);
}

static clo_status read_everything(void *context)
{
    clo_platform *p;
    clo_status status = clo_platform_parse("f.xml", context, strlen(context), &p);

    if (status == CLO_OK)
        clo_platform_destroy(p);
    return status;
}

static void each_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@tables@",  LATENCY BANDWIDTH KINDS("LinuxCapacity", "512", "1024") "<memattr name=\"Latency\"/>",
        "@misc@",    "<object type=\"Misc\" name=\"accel:A\"/>",
        "@machine@", INFO("clotho.capacity.memory", "64") INFO("clotho.summary", "s") INFO("clotho.source.c2c", "b"),
        NULL};
    char *text = file_with(pairs);

    assert_true(fault_each(read_everything, text) > 50);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_refusal_with_file_and_line),
        cmocka_unit_test(a_file_without_executors_or_memory_is_refused),
        cmocka_unit_test(more_executors_than_a_platform_may_have_are_a_limit),
        cmocka_unit_test(each_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
