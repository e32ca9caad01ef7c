/* Platform files: the meaning of each key, and one refusal for each rule. Every case is the base file with pieces
 * replaced. */
#include "fault.h"
#include "support.h"

#include "platform/open.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two NUMA nodes, cores 0 and 1 on the first, core 2 with two PUs on the second. */
static const char base[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
    "<topology version=\"2.0\">\n"
    " <object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\" nodeset=\"0x3\" gp_index=\"1\">\n"
    "  <info name=\"clotho.schema\" value=\"1\"/>\n"
    "  <info name=\"clotho.platform\" value=\"base\"/>\n"
    "  @machine@\n"
    "  <object type=\"Package\" os_index=\"0\" cpuset=\"0x00000003\" gp_index=\"2\">\n"
    "   <object type=\"NUMANode\" os_index=\"0\" gp_index=\"3\" local_memory=\"4096\"><page_type size=\"4096\" "
    "count=\"1\"/></object>\n"
    "   <object type=\"L2Cache\" cpuset=\"0x00000003\" gp_index=\"4\" cache_size=\"1048576\" depth=\"2\" "
    "cache_associativity=\"-1\">\n"
    "    <object type=\"Core\" os_index=\"0\" cpuset=\"0x00000001\" gp_index=\"5\">@core0@\n"
    "     <object type=\"PU\" os_index=\"0\" cpuset=\"0x00000001\" gp_index=\"6\">@pu0@</object></object>\n"
    "    <object type=\"Core\" os_index=\"1\" cpuset=\"0x00000002\" gp_index=\"7\">\n"
    "     <object type=\"PU\" os_index=\"1\" cpuset=\"0x00000002\" gp_index=\"8\"/></object></object></object>\n"
    "  <object type=\"Package\" os_index=\"1\" cpuset=\"0x0000000c\" gp_index=\"9\">\n"
    "   <object type=\"NUMANode\" os_index=\"1\" gp_index=\"10\"/>\n"
    "   <object type=\"Core\" os_index=\"2\" cpuset=\"0x0000000c\" gp_index=\"11\">\n"
    "     <object type=\"PU\" os_index=\"3\" cpuset=\"0x00000008\" gp_index=\"12\"/>\n"
    "     <object type=\"PU\" os_index=\"2\" cpuset=\"0x00000004\" gp_index=\"13\"/></object></object>\n"
    "  @misc@\n"
    " </object>\n"
    " @tables@\n"
    "</topology>\n";

static void replace(char **text, const char *what, const char *with)
{
    char *at = strstr(*text, what);

    if (at == NULL)
        fail_msg("'%s' is not in the file", what);
    size_t head = (size_t)(at - *text);
    char *made = malloc(strlen(*text) + strlen(with) + 1);
    memcpy(made, *text, head);
    strcpy(made + head, with);
    strcat(made, at + strlen(what));
    free(*text);
    *text = made;
}

/* The base file, with pairs of (what, with) replaced in turn up to NULL, and no markers left. */
static char *file_with(const char *const *pairs)
{
    static const char *const markers[] = {"@machine@", "@core0@", "@pu0@", "@misc@", "@tables@"};
    char *text = malloc(sizeof base);

    memcpy(text, base, sizeof base);
    for (; pairs != NULL && pairs[0] != NULL; pairs += 2)
        replace(&text, pairs[0], pairs[1]);
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
        if (strstr(text, markers[i]) != NULL)
            replace(&text, markers[i], "");
    return text;
}

static clo_platform *read_with(const char *const *pairs)
{
    char *text = file_with(pairs);
    clo_platform *p;

    ok(clo_platform_parse("f.xml", text, strlen(text), &p));
    free(text);
    return p;
}

#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"
#define MATRIX(type, n, kind, name, indexes, values)                                \
    "<distances2 type=\"" type "\" nbobjs=\"" n "\" kind=\"" kind "\" name=\"" name \
    "\" indexing=\"os\">" indexes values "</distances2>"
#define INDEXES4 "<indexes length=\"8\">0 1 2 3 </indexes>"
#define VALUES4                                                                                                 \
    "<u64values length=\"39\">0 11 12 13 21 0 22 23 31 32 0 33 41 42 </u64values><u64values length=\"5\">43 0 " \
    "</u64values>"
#define LATENCY MATRIX("PU", "4", "6", "clotho.c2c_latency_ns", INDEXES4, VALUES4)
#define BANDWIDTH MATRIX("PU", "4", "10", "clotho.c2c_bandwidth_MBps", INDEXES4, VALUES4)
#define BEYOND(bytes) MATRIX("PU", "4", "10", "clotho.c2c_bandwidth_MBps." bytes, INDEXES4, VALUES4)

static void pus_become_executors_in_order_of_their_numbers(void **state)
{
    (void)state;
    clo_platform *p = read_with(NULL);

    assert_string_equal(clo_platform_name(p), "base");
    assert_int_equal(clo_platform_executors(p), 4);
    assert_int_equal(clo_platform_kinds(p), 1);
    assert_string_equal(clo_platform_kind_name(p, 0), "cpu");
    assert_string_equal(clo_platform_executor_name(p, 2), "cpu2");
    assert_int_equal(clo_platform_executor(p, 2)->os_index, -1);
    assert_false(clo_platform_is_native(p));
    assert_true(clo_platform_is_coherent(p));
    assert_int_equal(p->places[0].cluster, p->places[1].cluster);
    assert_int_not_equal(p->places[0].core, p->places[1].core);
    assert_int_equal(p->places[2].core, p->places[3].core);
    assert_int_not_equal(p->places[0].package, p->places[2].package);
    assert_int_equal(p->places[1].cache_bytes[2], 1048576);
    assert_int_equal(p->places[1].cache_scope[2], CLO_SCOPE_CLUSTER);
    assert_int_equal(p->places[0].memory_bytes, 4096);
    clo_platform_destroy(p);
}

static void without_matrices_the_memories_are_the_numa_nodes(void **state)
{
    (void)state;
    clo_platform *p = read_with(NULL);

    assert_int_equal(clo_platform_memories(p), 2);
    assert_int_equal(clo_platform_executor(p, 1)->memory, 0);
    assert_int_equal(clo_platform_executor(p, 3)->memory, 1);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 3), 0);
    clo_platform_destroy(p);
}

static void numa_distances_count_ten_ns_a_unit(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@",
                                        MATRIX("NUMANode", "2", "5", "NUMALatency",
                                               "<indexes length=\"4\">0 1 </indexes>",
                                               "<u64values length=\"12\">10 21 22 10 </u64values>"),
                                        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 1), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 3, 0), 210); /* the reader at node 0 of memory 1 */
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 3), 220);
    clo_platform_destroy(p);
}

static void memory_attributes_come_before_numa_distances(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@tables@",
        "<memattr name=\"Latency\" flags=\"6\"><memattr_value target_obj_gp_index=\"3\" target_obj_type=\"NUMANode\" "
        "value=\"150\" initiator_cpuset=\"0x0000000c\"/></memattr><memattr name=\"Bandwidth\" "
        "flags=\"5\"><memattr_value "
        "target_obj_gp_index=\"3\" target_obj_type=\"NUMANode\" value=\"1000\" "
        "initiator_cpuset=\"0x00000004\"/></memattr>"
        "<memattr name=\"Capacity\" flags=\"1\"/><support name=\"x\"/>",
        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_transfer_ns(p, 1048576, 0, 3), 150);
    assert_int_equal(clo_platform_transfer_ns(p, 1048576, 0, 2), 150 + 1000000); /* 1 MiB at 1000 MiB/s */
    assert_int_equal(clo_platform_transfer_ns(p, 1048576, 3, 0), 0);
    clo_platform_destroy(p);
}

static void with_matrices_every_executor_has_a_memory_and_rows_are_from(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@", LATENCY BANDWIDTH, NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_memories(p), 4);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 3), 13);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 3, 0), 41);
    assert_int_equal(clo_platform_transfer_ns(p, 1000000, 1, 2), 22 + 45454545); /* 22 MB/s */
    clo_platform_destroy(p);
}

static void matrix_indexes_may_come_in_any_order(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@", LATENCY, "0 1 2 3 ", "3 2 1 0 ", NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_transfer_ns(p, 0, 3, 0), 13);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 3), 41);
    clo_platform_destroy(p);
}

static void one_matrix_is_enough(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@", BANDWIDTH, NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_memories(p), 4);
    assert_int_equal(clo_platform_transfer_ns(p, 11000, 0, 1), 1000000);
    clo_platform_destroy(p);
}

static void pieces_of_links_begin_at_the_bytes_in_the_name(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@",
                                        BANDWIDTH LATENCY BEYOND("1000") BEYOND("2001"),
                                        "clotho.c2c_bandwidth_MBps.2001\" indexing=\"os\">"
                                        "<indexes length=\"8\">0 1 2 3 ",
                                        "clotho.c2c_bandwidth_MBps.2001\" indexing=\"os\">"
                                        "<indexes length=\"8\">3 2 1 0 ",
                                        "@misc@",
                                        "<object type=\"Misc\" gp_index=\"20\" name=\"accel:DSP\">" INFO(
                                            "clotho.link_bandwidth_MBps", "100") "</object>",
                                        NULL};
    clo_platform *p = read_with(pairs);
    char *text;

    assert_int_equal(clo_platform_link_pieces(p), 3);
    assert_int_equal(clo_platform_cut_bytes(p, 1), 1000);
    assert_int_equal(clo_platform_cut_bytes(p, 2), 2001);
    assert_int_equal(clo_platform_transfer_ns(p, 11, 0, 1), 11 + 1000); /* 11 ns and 11 MB/s */
    assert_int_equal(clo_platform_transfer_ns(p, 2001, 0, 1), 11 + 90909 + 91000);
    assert_int_equal(clo_platform_transfer_ns(p, 2001 + 43, 0, 1), 11 + 90909 + 91000 + 1000); /* 43 MB/s */
    assert_int_equal(clo_platform_transfer_ns(p, 2100, 4, 1), 21000); /* an accelerator: one bandwidth */
    ok(clo_platform_describe(p, 100, &text));
    assert_non_null(strstr(text, "\n  from 1000B "));
    assert_non_null(strstr(text, "\n  from 2001B "));
    free(text);
    ok(clo_platform_describe_json(p, &text));
    assert_non_null(strstr(text, "\"cut_bytes\":[1000,2001],\"bandwidth_beyond_MBps\":[[["));
    free(text);
    clo_platform_destroy(p);
}

static void a_memory_key_overrides_the_memory(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@", LATENCY, "@core0@", INFO("clotho.memory", "1"), NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executor(p, 0)->memory, 1);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 1), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 2), 12);
    clo_platform_destroy(p);
}

static void speeds_come_from_the_nearest_key(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@tables@",
        "<cpukind cpuset=\"0x0000000f\" forced_efficiency=\"-1\">" INFO("CoreType", "big")
            INFO("clotho.speed_q16", "1000") INFO("clotho.speed_q16.float", "2000")
                INFO("LinuxCapacity", "7") "</cpukind>",
        "@core0@",
        INFO("clotho.speed_q16", "3000"),
        "@pu0@",
        INFO("clotho.speed_q16.memory", "4000"),
        NULL};
    clo_platform *p = read_with(pairs);
    const clo_executor *x = clo_platform_executor(p, 0), *y = clo_platform_executor(p, 1);

    assert_string_equal(clo_platform_kind_name(p, 0), "big");
    assert_int_equal(x->speed_q16[CLO_CLASS_GENERIC], 3000);
    assert_int_equal(x->speed_q16[CLO_CLASS_FLOAT], 3000);
    assert_int_equal(x->speed_q16[CLO_CLASS_MEMORY], 4000);
    assert_int_equal(y->speed_q16[CLO_CLASS_GENERIC], 1000);
    assert_int_equal(y->speed_q16[CLO_CLASS_INTEGER], 1000);
    assert_int_equal(y->speed_q16[CLO_CLASS_FLOAT], 2000);
    clo_platform_destroy(p);
}

#define KINDS(key, low, high)                                     \
    "<cpukind cpuset=\"0x00000003\">" INFO(key, low) "</cpukind>" \
                                                     "<cpukind cpuset=\"0x0000000c\">" INFO(key, high) "</cpukind>"

static void capacity_then_frequency_stand_in_for_speeds(void **state)
{
    (void)state;
    static const char *const capacity[] = {"@tables@", KINDS("LinuxCapacity", "512", "1024"), NULL};
    static const char *const frequency[] = {"@tables@", KINDS("FrequencyMaxMHz", "3000", "1000"), NULL};
    clo_platform *p = read_with(capacity);

    assert_int_equal(clo_platform_kinds(p), 2);
    assert_string_equal(clo_platform_kind_name(p, 0), "cap512");
    assert_string_equal(clo_platform_kind_name(p, 1), "cap1024");
    assert_int_equal(clo_platform_executor(p, 0)->speed_q16[0], 32768);
    assert_int_equal(clo_platform_executor(p, 3)->speed_q16[0], 65536);
    assert_string_equal(p->facts[0].status, "published");
    clo_platform_destroy(p);
    p = read_with(frequency);
    assert_string_equal(clo_platform_kind_name(p, 0), "kind0");
    assert_int_equal(clo_platform_executor(p, 0)->speed_q16[0], 65536);
    assert_int_equal(clo_platform_executor(p, 3)->speed_q16[0], 21845);
    assert_string_equal(p->facts[0].status, "assumed");
    clo_platform_destroy(p);
}

static void kinds_of_one_name_are_one_kind(void **state)
{
    (void)state;
    static const char *const pairs[] = {"@tables@", KINDS("clotho.kind", "same", "same"), NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_kinds(p), 1);
    assert_string_equal(clo_platform_kind_name(p, 0), "same");
    clo_platform_destroy(p);
}

static void accelerators_follow_the_cpus(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@misc@",
        "<object type=\"Misc\" gp_index=\"20\" name=\"accel:DSP\">" INFO("clotho.link_latency_ns", "500")
            INFO("clotho.link_bandwidth_MBps", "100")
                INFO("clotho.speed_q16",
                     "32768") "</object>"
                              "<object type=\"Misc\" gp_index=\"21\" name=\"accel:M7\">" INFO("clotho.link_latency_ns",
                                                                                              "700")
                                  INFO("clotho.kind",
                                       "mcu") "</object><object type=\"Misc\" gp_index=\"22\" name=\"slot 3\"/>",
        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executors(p), 6);
    assert_string_equal(clo_platform_executor_name(p, 4), "DSP");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 4)->kind), "DSP");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 5)->kind), "mcu");
    assert_int_equal(clo_platform_executor(p, 4)->os_index, -1);
    assert_int_equal(clo_platform_executor(p, 4)->speed_q16[2], 32768);
    assert_int_equal(clo_platform_executor(p, 5)->speed_q16[2], 65536);
    assert_int_equal(clo_platform_memories(p), 4);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 4), 500 + 10000);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 5, 1), 700);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 4, 5), 700 + 10000);
    assert_false(clo_platform_is_coherent(p));
    clo_platform_destroy(p);
}

static void an_accelerator_with_slots_stands_for_as_many_executors(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@misc@",
        "<object type=\"Misc\" name=\"accel:DSP\"/><object type=\"Misc\" name=\"accel:db\">" INFO("clotho.slots", "3")
            INFO("clotho.link_latency_ns", "500") "</object>",
        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executors(p), 8);
    assert_string_equal(clo_platform_executor_name(p, 7), "db.2");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 5)->kind), "slot");
    assert_int_equal(clo_platform_executor(p, 4)->os_index, -1);
    assert_int_equal(clo_platform_executor(p, 7)->os_index, CLO_OS_SLOT);
    assert_int_equal(clo_platform_executor(p, 5)->memory, clo_platform_executor(p, 7)->memory);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 5, 7), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 7), 500);
    clo_platform_destroy(p);
}

static void capacities_facts_and_flags_are_read_from_the_machine(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@machine@",
        INFO("clotho.capacity.memory", "64") INFO("clotho.capacity.power", "0") INFO("clotho.coherent", "0")
            INFO("clotho.summary", "a &amp; b") INFO("clotho.mean_includes_self", "1")
                INFO("clotho.source.speed", "a book") INFO("clotho.status.speed", "published")
                    INFO("clotho.source.c2c", "a guess") INFO("Other", ""),
        NULL};
    clo_platform *p = read_with(pairs);

    assert_string_equal(clo_platform_resource_name(p, 0), "memory");
    assert_int_equal(clo_platform_capacity(p, 0, 0), 64);
    assert_int_equal(clo_platform_capacity(p, 0, 1), 0);
    assert_int_equal(clo_platform_capacity(p, 0, 2), -1);
    assert_false(clo_platform_is_coherent(p));
    assert_true(p->mean_includes_self);
    assert_string_equal(p->summary, "a & b");
    assert_int_equal(p->facts_count, 2);
    assert_string_equal(p->facts[0].status, "published");
    assert_string_equal(p->facts[0].source, "a book");
    assert_string_equal(p->facts[1].status, "assumed");
    clo_platform_destroy(p);
}

static void io_objects_and_foreign_tables_are_passed_over(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@misc@",
        "<object type=\"Bridge\" gp_index=\"30\" bridge_type=\"0-1\"><object type=\"PCIDev\" what=\"ever\"/></object>",
        "@tables@",
        MATRIX("Package", "2", "9", "", "<indexes length=\"4\">0 1 </indexes>",
               "<u64values length=\"8\">1 2 3 4 </u64values>") "<distances2hetero/>",
        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executors(p), 4);
    clo_platform_destroy(p);
}

typedef struct refusal {
    const char *text; /* the error line holds it */
    const char *pairs[7];
} refusal;

static const refusal refusals[] = {
    {"not an hwloc <topology>", {"<topology version=\"2.0\">", "<other>", "</topology>", "</other>"}},
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
    {"use 0 or 1", {"@machine@", INFO("clotho.coherent", "yes")}},
    {"use measured, published or assumed", {"@machine@", INFO("clotho.status.speed", "certain")}},
    {"from 1 to 4294967295", {"@core0@", INFO("clotho.speed_q16", "0")}},
    {"from 1 to 4294967295", {"@core0@", INFO("clotho.speed_q16.float", "4294967296")}},
    {"from 0 to 16383", {"@core0@", INFO("clotho.memory", "16384")}},
    {"from 1 to 1024", {"@misc@", "<object type=\"Misc\" name=\"accel:A\">" INFO("clotho.slots", "1025") "</object>"}},
    {"does not belong here", {"@core0@", INFO("clotho.slots", "2")}},
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
    char *text = malloc(2 << 20);
    size_t used = (size_t)sprintf(text, "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\">");
    clo_platform *p;

    for (int i = 0; i < 16385; i++)
        used += (size_t)sprintf(text + used, "<object type=\"PU\" os_index=\"%d\" cpuset=\"0x1\"/>", i);
    used += (size_t)sprintf(text + used, "</object></topology>");
    fails(CLO_ERR_LIMIT, "16384", clo_platform_parse("f.xml", text, used, &p));
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
        cmocka_unit_test(pus_become_executors_in_order_of_their_numbers),
        cmocka_unit_test(without_matrices_the_memories_are_the_numa_nodes),
        cmocka_unit_test(numa_distances_count_ten_ns_a_unit),
        cmocka_unit_test(memory_attributes_come_before_numa_distances),
        cmocka_unit_test(with_matrices_every_executor_has_a_memory_and_rows_are_from),
        cmocka_unit_test(matrix_indexes_may_come_in_any_order),
        cmocka_unit_test(one_matrix_is_enough),
        cmocka_unit_test(pieces_of_links_begin_at_the_bytes_in_the_name),
        cmocka_unit_test(a_memory_key_overrides_the_memory),
        cmocka_unit_test(speeds_come_from_the_nearest_key),
        cmocka_unit_test(capacity_then_frequency_stand_in_for_speeds),
        cmocka_unit_test(kinds_of_one_name_are_one_kind),
        cmocka_unit_test(accelerators_follow_the_cpus),
        cmocka_unit_test(an_accelerator_with_slots_stands_for_as_many_executors),
        cmocka_unit_test(capacities_facts_and_flags_are_read_from_the_machine),
        cmocka_unit_test(io_objects_and_foreign_tables_are_passed_over),
        cmocka_unit_test(every_rule_has_a_refusal_with_file_and_line),
        cmocka_unit_test(a_file_without_executors_or_memory_is_refused),
        cmocka_unit_test(more_executors_than_a_platform_may_have_are_a_limit),
        cmocka_unit_test(each_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
