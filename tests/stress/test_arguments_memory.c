/* test_arguments_memory.c - as test_arguments.c, for memory parts and streams. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <clotho/memory.h>

#include <string.h>

static void parts(void **state)
{
    const clo_profile_entry entry = {.codelet = "copy", .kind = "k", .footprint = 1, .samples = 1, .location_ns = 1};
    clo_profile_entry other = entry;
    clo_memory_part part = {65536, 5};
    clo_profile *profile;

    (void)state;
    ok(clo_profile_create(0, &profile));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add_memory_part(NULL, &entry, &part));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add_memory_part(profile, NULL, &part));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add_memory_part(profile, &entry, NULL));
    fails(CLO_ERR_ARGUMENT, "no such entry", clo_profile_add_memory_part(profile, &entry, &part));
    ok(clo_profile_add(profile, &entry));
    ok(clo_profile_add_memory_part(profile, &entry, &part));
    other.footprint = 2;
    fails(CLO_ERR_ARGUMENT, "no such entry", clo_profile_add_memory_part(profile, &other, &part));
    other.codelet = "";
    fails(CLO_ERR_ARGUMENT, "codelet", clo_profile_add_memory_part(profile, &other, &part));
    part.share_q16 = 65537;
    fails(CLO_ERR_ARGUMENT, "65537", clo_profile_add_memory_part(profile, &entry, &part));
    part = (clo_memory_part){1, 0};
    fails(CLO_ERR_ARGUMENT, "0 MB/s", clo_profile_add_memory_part(profile, &entry, &part));
    part.mbps = CLO_MEMORY_MBPS_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "1000000001", clo_profile_add_memory_part(profile, &entry, &part));
    assert_int_equal(clo_profile_memory_part(profile, 0).share_q16, 0); /* nothing is published */
    assert_int_equal(clo_profile_memory_part(NULL, 0).share_q16, 0);
    assert_int_equal(clo_memory_capacity_mbps(NULL, 0, NULL), -1);
    assert_int_equal(clo_memory_part_of(-1, 5, 5, 5, 5).share_q16, 0);
    assert_int_equal(clo_memory_part_of(1, INT64_MAX, UINT32_MAX, 5, 5).share_q16, 0);
    assert_int_equal(
        clo_memory_part_of(INT64_MAX - 1, INT64_MAX, CLO_MEMORY_MBPS_MAX, CLO_MEMORY_MBPS_MAX, 1).share_q16, 1);
    clo_profile_destroy(profile);
}

static void streams(void **state)
{
    clo_streams *started;
    clo_platform *native;
    uint32_t cpus[2] = {0, 65535};

    (void)state;
    ok(clo_platform_open("native", &native));
    cpus[0] = (uint32_t)clo_platform_executor(native, 0)->os_index;
    clo_platform_destroy(native);
    fails(CLO_ERR_ARGUMENT, "NULL", clo_streams_start(NULL, 1, &started));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_streams_start(cpus, 1, NULL));
    fails(CLO_ERR_ARGUMENT, "0 CPUs", clo_streams_start(cpus, 0, &started));
    fails(CLO_ERR_ARGUMENT, "65537", clo_streams_start(cpus, 65537, &started));
    fails(CLO_ERR_SYSTEM, "CPU 65535", clo_streams_start(cpus, 2, &started));
    ok(clo_streams_start(cpus, 1, &started));
    while (clo_streams_mbps(started, 1000000) == 0) /* it reads on and on */
        continue;
    assert_int_equal(clo_streams_mbps(started, 0), 0);
    assert_int_equal(clo_streams_mbps(started, 1000000001), 0);
    clo_streams_stop(started);
    clo_streams_stop(NULL);
    assert_int_equal(clo_streams_mbps(NULL, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(streams)};

    return cmocka_run_group_tests_name("arguments_memory", tests, NULL, NULL);
}
