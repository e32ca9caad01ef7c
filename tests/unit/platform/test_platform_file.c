/* Platform files: the meaning of each key. Every case is the base file with pieces replaced. */
#include "platform_text.h"
#include "support.h"

#include "platform/build/build.h"
#include "platform/model/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clo_platform *read_with(const char *const *pairs)
{
    char *text = file_with(pairs);
    clo_platform *p;

    ok(clo_platform_parse("f.xml", text, strlen(text), &p));
    free(text);
    return p;
}

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

/* hwloc writes the size 0 where the kernel knows a cache but not its size, as on Arm without it in the device tree. */
static void a_cache_of_unknown_size_is_not_shown(void **state)
{
    (void)state;
    static const char *const pairs[] = {"cache_size=\"1048576\"", "cache_size=\"0\"", NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(p->places[1].cache_bytes[2], 0);
    assert_int_equal(p->places[1].cache_scope[2], CLO_SCOPE_NONE);
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

/* As hwloc writes them: a cpuset that is empty, with the memory whose CPUs were taken away. */
static void objects_without_cpus_are_left_out_and_their_memory_with_them(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "@misc@",
        "<object type=\"Package\" os_index=\"2\" cpuset=\"0x0\" gp_index=\"20\"><object type=\"MemCache\" "
        "gp_index=\"23\"><object type=\"NUMANode\" os_index=\"2\" gp_index=\"21\"/></object><object type=\"L3Cache\" "
        "cpuset=\"0x0\" gp_index=\"22\"/><object type=\"Misc\" name=\"accel:GPU\"/></object>",
        "@tables@",
        MATRIX("NUMANode", "3", "5", "NUMALatency", "<indexes length=\"6\">2 0 1 </indexes>",
               "<u64values length=\"27\">10 30 30 30 10 21 30 22 10 </u64values>"),
        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executors(p), 5);
    assert_int_equal(clo_platform_memories(p), 3); /* two nodes and the accelerator's */
    assert_int_equal(clo_platform_executor(p, 3)->memory, 1);
    assert_int_equal(clo_platform_executor(p, 4)->memory, 2);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 3, 0), 210);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 3), 220);
    clo_platform_destroy(p);
}

static void a_file_may_allow_a_part_of_its_cpus(void **state)
{
    (void)state;
    static const char *const pairs[] = {"cpuset=\"0x0000000f\"", "cpuset=\"0x0000000f\" allowed_cpuset=\"0x0000000a\"",
                                        "@tables@", LATENCY KINDS("CoreType", "little", "big"), NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_executors(p), 2);
    assert_string_equal(clo_platform_executor_name(p, 0), "cpu1");
    assert_string_equal(clo_platform_executor_name(p, 1), "cpu3");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 1)->kind), "big");
    assert_int_equal(clo_platform_transfer_ns(p, 0, 0, 1), 23); /* row 1, column 3 of the four */
    assert_int_equal(clo_platform_transfer_ns(p, 0, 1, 0), 42);
    clo_platform_destroy(p);
}

static void a_cpu_without_a_node_has_the_nearest_that_may_be_used(void **state)
{
    (void)state;
    static const char *const pairs[] = {"cpuset=\"0x0000000f\"", "cpuset=\"0x0000000f\" allowed_nodeset=\"0x00000002\"",
                                        NULL};
    clo_platform *p = read_with(pairs);

    assert_int_equal(clo_platform_memories(p), 1);
    assert_int_equal(clo_platform_executor(p, 0)->memory, 0);
    assert_int_equal(p->places[0].memory_bytes, 0); /* node 1 states none */
    clo_platform_destroy(p);
}

static void capacities_that_are_nearly_the_same_are_one_kind(void **state)
{
    (void)state;
    static const char *const alike[] = {"@tables@", KINDS("LinuxCapacity", "1009", "1024"), NULL};
    static const char *const apart[] = {"@tables@", KINDS("LinuxCapacity", "446", "1024"), NULL};
    clo_platform *p = read_with(alike);

    assert_int_equal(clo_platform_kinds(p), 1);
    assert_int_equal(clo_platform_executor(p, 0)->speed_q16[0], (1009 * 65536 + 512) / 1024);
    clo_platform_destroy(p);
    p = read_with(apart);
    assert_int_equal(clo_platform_kinds(p), 2);
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
            INFO("clotho.depth", "2") INFO("clotho.link_latency_ns", "500") INFO("clotho.driver", "of &lt;ours")
                INFO("clotho.device", "copy_ns=3") "</object>",
        NULL};
    clo_platform *p = read_with(pairs);
    char *text;

    assert_int_equal(clo_platform_executors(p), 8);
    assert_string_equal(clo_platform_executor_name(p, 7), "db.2");
    assert_string_equal(clo_platform_kind_name(p, clo_platform_executor(p, 5)->kind), "slot");
    assert_int_equal(clo_platform_executor(p, 4)->os_index, -1);
    assert_int_equal(clo_platform_executor(p, 7)->os_index, CLO_OS_SLOT_DEEP(2));
    assert_int_equal(clo_platform_executor(p, 5)->memory, clo_platform_executor(p, 7)->memory);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 5, 7), 0);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 7), 500);
    assert_null(clo_platform_driver(p, 0));
    assert_null(clo_platform_driver(p, 4));
    assert_null(clo_platform_device(p, 8));
    for (uint32_t e = 5; e < 8; e++) {
        assert_string_equal(clo_platform_driver(p, e), "of <ours");
        assert_string_equal(clo_platform_device(p, e), "copy_ns=3");
    }
    ok(clo_platform_describe(p, 0, &text));
    assert_non_null(strstr(text, "\ndb.0 .. db.2: driver of <ours, device copy_ns=3\n"));
    free(text);
    ok(clo_platform_describe_json(p, &text));
    assert_non_null(strstr(text, "\"driver\":\"of <ours\",\"device\":\"copy_ns=3\""));
    free(text);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pus_become_executors_in_order_of_their_numbers),
        cmocka_unit_test(a_cache_of_unknown_size_is_not_shown),
        cmocka_unit_test(without_matrices_the_memories_are_the_numa_nodes),
        cmocka_unit_test(numa_distances_count_ten_ns_a_unit),
        cmocka_unit_test(objects_without_cpus_are_left_out_and_their_memory_with_them),
        cmocka_unit_test(a_file_may_allow_a_part_of_its_cpus),
        cmocka_unit_test(a_cpu_without_a_node_has_the_nearest_that_may_be_used),
        cmocka_unit_test(capacities_that_are_nearly_the_same_are_one_kind),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
