/* Cluster files that are written again with measured links, and read. */
#define _POSIX_C_SOURCE 200809L
#include "fault.h"
#include "support.h"

#include "base/memory.h"
#include "base/text.h"
#include "io/cluster/cluster.h"
#include "platform/model/platform.h"

#include <clotho/cluster.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct scene {
    char folder[32], from[64], to[64], elsewhere[64];
} s;

static const uint64_t cuts[] = {65536, 65537};
static const clo_cluster_link both[] = {
    {0, 1, 2000, {1, 0.00001, 0.25}, "measured", "a \"ping-pong\""},
    {1, 0, 3000, {0, 0, 0.5}, "measured", NULL},
};

static void put(const char *path, const char *text)
{
    ok(clo_file_write(path, text, strlen(text)));
}

static int set_up(void **state)
{
    (void)state;
    snprintf(s.folder, sizeof s.folder, "/tmp/clotho-XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    snprintf(s.from, sizeof s.from, "%s/c.json", s.folder);
    snprintf(s.to, sizeof s.to, "%s/d.json", s.folder);
    snprintf(s.elsewhere, sizeof s.elsewhere, "%.20s/../%.20s-e.json", s.folder, s.folder + 5);
    put(s.from,
        "{\"format\": \"clotho.cluster/1\", \"name\": \"l\\u00e4b\", \"machines\": [{\"name\": \"a\\n\", \"platform\": "
        "\"uniform:2\"}, {\"name\": \"b\", \"platform\": \"uniform:1\"}], \"link\": {\"latency_ns\": 1, "
        "\"bandwidth_bytes_per_ns\": null}}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(s.from);
    (void)unlink(s.to);
    return rmdir(s.folder);
}

static void links_are_written_and_read(void **state)
{
    clo_cluster *c;

    (void)state;
    ok(clo_cluster_save_network(s.from, cuts, 2, both, 2, NULL, 0, s.to));
    ok(clo_cluster_load(s.to, &c));
    const clo_platform *p = clo_cluster_platform(c);
    assert_string_equal(clo_platform_name(p), "l\xc3\xa4"
                                              "b");
    assert_string_equal(clo_cluster_machine_name(c, 0), "a\n");
    assert_int_equal(clo_platform_executors(c->own[0]), 2);
    assert_int_equal(clo_platform_transfer_ns(p, 1000, 0, 2), 2000 + 1000);
    assert_int_equal(clo_platform_transfer_ns(p, 65536, 0, 2), 2000 + 65536);
    assert_int_equal(clo_platform_transfer_ns(p, 65537 + 1000, 0, 2), 2000 + 65536 + 100000 + 4000);
    assert_int_equal(clo_platform_transfer_ns(p, 65537, 2, 0), 3000);
    assert_int_equal(clo_platform_transfer_ns(p, 65537 + 1000, 2, 0), 3000 + 2000);
    clo_cluster_destroy(c);
    ok(clo_cluster_save_network(s.to, NULL, 0, both, 1, NULL, 0,
                                s.to)); /* in its place; one line for both directions */
    ok(clo_cluster_load(s.to, &c));
    assert_int_equal(clo_platform_transfer_ns(clo_cluster_platform(c), 1000, 2, 0), 2000 + 1000);
    clo_cluster_destroy(c);
}

static void what_cannot_be_read_again_is_not_written(void **state)
{
    static const uint64_t falling[] = {7, 5};
    clo_cluster_link bad = both[0];

    (void)state;
    bad.to = 2;
    fails(CLO_ERR_ARGUMENT, "link 0 is from machine 0 to 2 (of 2)",
          clo_cluster_save_network(s.from, cuts, 2, &bad, 1, NULL, 0, s.to));
    bad = both[0];
    bad.bandwidth_bytes_per_ns[2] = (double)NAN;
    fails(CLO_ERR_ARGUMENT, "is no number", clo_cluster_save_network(s.from, cuts, 2, &bad, 1, NULL, 0, s.to));
    fails(CLO_ERR_FORMAT, "that rise", clo_cluster_save_network(s.from, falling, 2, both, 2, NULL, 0, s.to));
    fails(CLO_ERR_FORMAT, "says nothing of the link",
          clo_cluster_save_network(s.from, cuts, 2, both, 0, NULL, 0, s.to));
    bad = both[0];
    bad.to = 0;
    fails(CLO_ERR_FORMAT, "from a machine to itself",
          clo_cluster_save_network(s.from, cuts, 2, &bad, 1, NULL, 0, s.to));
    fails(CLO_ERR_IO, "", clo_cluster_save_network("/nowhere/c.json", cuts, 2, both, 2, NULL, 0, s.to));
    assert_int_equal(access(s.to, F_OK), -1);
}

static void platforms_beside_the_file_stay_beside_it(void **state)
{
    char xml[64], *text;
    size_t bytes;

    (void)state;
    snprintf(xml, sizeof xml, "%s/b.xml", s.folder);
    ok(clo_file_read(CLO_SOURCE "/platforms/zcu102.xml", 1 << 24, &text, &bytes));
    ok(clo_file_write(xml, text, bytes));
    clo_free(text);
    put(s.from,
        "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:2\"}, "
        "{\"name\": \"b\", \"platform\": \"b.xml\"}], \"link\": {\"latency_ns\": 1, \"bandwidth_bytes_per_ns\": 1}}");
    ok(clo_cluster_save_network(s.from, cuts, 2, both, 2, NULL, 0, s.to));
    fails(CLO_ERR_ARGUMENT, "write the file there",
          clo_cluster_save_network(s.from, cuts, 2, both, 2, NULL, 0, s.elsewhere));
    assert_int_equal(access(s.elsewhere, F_OK), -1);
    assert_int_equal(unlink(xml), 0);
}

/* Of a machine, of all others, and of none; they stay when links are written. */
static void ports_are_read_and_stay(void **state)
{
    static const char *const wrong[] = {"0", "-1", "\"fast\"", "[1]", "1e-20"};
    char text[512];
    clo_cluster *c;

    (void)state;
    put(s.from, "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:2\"}, "
                "{\"name\": \"b\", \"platform\": \"uniform:1\", \"port_bytes_per_ns\": 0.25}, {\"name\": \"c\", "
                "\"platform\": \"uniform:1\", \"port_bytes_per_ns\": null}], \"port_bytes_per_ns\": 0.1, \"link\": "
                "{\"latency_ns\": 1, \"bandwidth_bytes_per_ns\": 1}}");
    clo_cluster_link three[] = {both[0], both[0], both[0]};
    three[1].from = 2;
    three[2].to = 2;
    ok(clo_cluster_save_network(s.from, cuts, 2, three, 3, NULL, 0, s.to));
    for (int written = 0; written < 2; written++) {
        ok(clo_cluster_load(written ? s.to : s.from, &c));
        for (uint32_t m = 0; m < 4; m++) {
            static const double ports[] = {0.1, 0.25, 0, 0};
            double got = clo_platform_port_bytes_per_ns(clo_cluster_platform(c), m);
            assert_true(got > ports[m] - 1e-6 && got < ports[m] + 1e-6);
        }
        clo_cluster_destroy(c);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text,
                 "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:2\", "
                 "\"port_bytes_per_ns\": %s}]}",
                 wrong[i]);
        clo_status status = clo_cluster_parse("p.json", text, strlen(text), &c);
        assert_true(status == CLO_ERR_FORMAT || status == CLO_ERR_ARGUMENT);
        assert_non_null(strstr(clo_last_error(), "port"));
    }
}

static void ports_are_written(void **state)
{
    static const double ports[] = {0.125, 0, 2.5}, wrong[] = {0.125, NAN, 2.5};
    clo_cluster *c;

    (void)state;
    put(s.from, "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:2\"}, "
                "{\"name\": \"b\", \"platform\": \"uniform:1\", \"port_bytes_per_ns\": 0.25}, {\"name\": \"c\", "
                "\"platform\": \"uniform:1\"}], \"port_bytes_per_ns\": 0.1, \"link\": "
                "{\"latency_ns\": 1, \"bandwidth_bytes_per_ns\": 1}}");
    clo_cluster_link three[] = {both[0], both[0], both[0]};
    three[1].from = 2;
    three[2].to = 2;
    ok(clo_cluster_save_network(s.from, cuts, 2, three, 3, ports, 3, s.to));
    ok(clo_cluster_load(s.to, &c));
    for (uint32_t m = 0; m < 3; m++) {
        double got = clo_platform_port_bytes_per_ns(clo_cluster_platform(c), m);
        assert_true(got > ports[m] - 1e-6 && got < ports[m] + 1e-6);
    }
    clo_cluster_destroy(c);
    fails(CLO_ERR_ARGUMENT, "2 ports", clo_cluster_save_network(s.from, cuts, 2, three, 3, ports, 2, s.to));
    fails(CLO_ERR_ARGUMENT, "machine 1 is no number",
          clo_cluster_save_network(s.from, cuts, 2, three, 3, wrong, 3, s.to));
}

static clo_status save(void *context)
{
    (void)context;
    return clo_cluster_save_network(s.from, cuts, 2, both, 2, NULL, 0, s.to);
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    assert_true(fault_each(save, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_are_written_and_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_again_is_not_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(platforms_beside_the_file_stay_beside_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ports_are_read_and_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ports_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_fail_anywhere, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("io_cluster", tests, NULL, NULL);
}
