/* Calibration: what it writes can be read, belongs to this machine, and leaves the caller as he was. No figure is
 * judged. */
#define _GNU_SOURCE
#include "fault.h"
#include "support.h"

#include "base/text.h"
#include "platform/host/measure.h"
#include "platform/model/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct heard {
    unsigned lines, fits, predictions, pairs;
} heard;

static void count_lines(void *context, const char *line)
{
    heard *h = context;

    assert_true(strlen(line) > 0);
    assert_null(strchr(line, '\n'));
    h->lines++;
    unsigned a, b;
    if (sscanf(line, "cpu%u - cpu%u:", &a, &b) == 2) {
        assert_int_not_equal(a, b);
        h->pairs++;
    }
    h->fits += strstr(line, "links in pieces, with the worst error of each: 0B .. ") == line;
    h->predictions += strstr(line, "sizes that no fit has seen are predicted within: 768B ") == line;
}

/* What all CPUs together read; and no more pieces of links than there may be. */
static void check_memory(const clo_platform *p)
{
    uint32_t first, other, last = clo_platform_executors(p) - 1;

    assert_true(clo_platform_link_pieces(p) <= CLO_LINK_PIECES_MAX);
    assert_true(clo_memory_capacity_mbps(p, 0, &first) > 0);
    assert_int_equal(clo_memory_capacity_mbps(p, last, &other), clo_memory_capacity_mbps(p, 0, NULL));
    assert_int_equal(other, first);
    assert_string_equal(p->facts[5].fact, "memory");
    assert_string_equal(p->facts[5].status, "measured");
}

static void a_calibrated_file_is_native_measured_and_readable(void **state)
{
    (void)state;
    char path[] = CLO_BINARY "/test_calibrate_XXXXXX", *json;
    int fd = mkstemp(path);
    cpu_set_t before, after;
    clo_platform *p, *again;
    heard h = {0};

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    ok(clo_platform_calibrate(1, count_lines, &h, path, &p));
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    uint32_t n = clo_platform_executors(p);
    assert_true(h.lines >= (n > 1 ? 5 : 1));
    assert_int_equal(h.fits, n > 1);
    assert_int_equal(h.predictions, n > 1);
    assert_int_equal(n, CPU_COUNT(&before));
    if (n <= 8) /* of more, some are told */
        assert_int_equal(h.pairs, n * (n - 1) / 2);
    assert_true(clo_platform_is_native(p));
    assert_true(clo_platform_is_coherent(p));
    assert_string_equal(clo_platform_name(p), "calibrated");
    for (uint32_t c = 1; c < CLO_CLASSES_BUILTIN; c++) {
        uint32_t fastest = 0;
        for (uint32_t e = 0; e < n; e++)
            fastest = p->executors[e].speed_q16[c] > fastest ? p->executors[e].speed_q16[c] : fastest;
        assert_int_equal(fastest, CLO_SPEED_ONE);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (a != b) {
                assert_true(clo_platform_transfer_ns(p, 0, a, b) > 0);
                assert_true(clo_platform_transfer_ns(p, 1 << 24, a, b) > clo_platform_transfer_ns(p, 1 << 12, a, b));
            }
    assert_int_equal(clo_platform_memories(p), n > 1 ? n : 1);
    assert_string_equal(p->facts[0].fact, "speed");
    assert_string_equal(p->facts[0].status, "measured");
    if (n > 1) {
        static const char *const facts[] = {"c2c", "c2c.pieces", "c2c.held_aside", "c2c.two_flows"};
        for (size_t f = 0; f < 4; f++) {
            assert_string_equal(p->facts[1 + f].fact, facts[f]);
            assert_string_equal(p->facts[1 + f].status, "measured");
        }
        assert_non_null(strstr(p->facts[2].source, "worst error of the fit in each piece: 0B .. "));
        assert_non_null(strstr(p->facts[3].source, "worst error at sizes that no fit has seen: 768B "));
        assert_non_null(strstr(p->facts[4].source, "each of two flows at once"));
        check_memory(p);
    }

    ok(clo_platform_open(path, &again));
    char *first;
    ok(clo_platform_describe_json(p, &first));
    ok(clo_platform_describe_json(again, &json));
    assert_string_equal(first, json);
    free(first);
    free(json);
    clo_platform_destroy(again);
    clo_platform_destroy(p);
    unlink(path);
}

static void a_calibrated_file_of_another_machine_is_not_native(void **state)
{
    (void)state;
    char path[] = CLO_BINARY "/test_calibrate_XXXXXX", *text;
    int fd = mkstemp(path);
    size_t bytes;
    clo_platform *p;

    assert_true(fd >= 0);
    close(fd);
    ok(clo_platform_calibrate(1, NULL, NULL, path, NULL));
    ok(clo_file_read(path, 1 << 20, &text, &bytes));
    char *machine = strstr(text, "name=\"clotho.machine\" value=\"");
    assert_non_null(machine);
    machine[strlen("name=\"clotho.machine\" value=\"")] ^= 1;
    ok(clo_file_write(path, text, bytes));
    ok(clo_platform_open(path, &p));
    assert_false(clo_platform_is_native(p));
    assert_int_equal(clo_platform_executor(p, 0)->os_index, -1);
    clo_platform_destroy(p);
    free(text);
    unlink(path);
}

static void a_path_that_cannot_be_written_is_an_io_error_and_leaves_nothing(void **state)
{
    (void)state;
    clo_platform *p = NULL;
    cpu_set_t before, after;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    fails(CLO_ERR_IO, "no/such/folder", clo_platform_calibrate(1, NULL, NULL, CLO_BINARY "/no/such/folder/x.xml", &p));
    assert_null(p);
    fails(CLO_ERR_IO, "full", clo_platform_calibrate(1, NULL, NULL, "/dev/full", &p));
    assert_null(p);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void a_cpu_that_does_not_exist_cannot_be_measured(void **state)
{
    (void)state;
    clo_measured_way ways[2] = {0};
    clo_affinity *affinity;

    ok(clo_affinity_save(&affinity));
    fails(CLO_ERR_SYSTEM, "CPU 60000", clo_measure_pin(60000));
    fails(CLO_ERR_SYSTEM, "CPU 100000", clo_measure_pin(100000));
    fails(CLO_ERR_SYSTEM, "CPU 6000", clo_measure_link(60000, 60001, 1000000, ways));
    clo_affinity_restore(affinity);
    assert_int_equal(ways[0].line_ns, 0);
}

/* A run takes a second, so not every allocation fails in its turn, but some of each phase. */
static void failing_allocations_are_reported_and_leak_nothing(void **state)
{
    (void)state;
    cpu_set_t before, after;
    clo_platform *p;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    fault_fail_nth(0);
    ok(clo_platform_calibrate(1, NULL, NULL, NULL, &p));
    uint64_t count = fault_count();
    clo_platform_destroy(p);
    assert_true(count > 100);
    for (uint64_t step = 0; step < 6; step++) {
        p = NULL;
        fault_fail_nth(1 + step * (count - 1) / 5);
        clo_status status = clo_platform_calibrate(1, NULL, NULL, NULL, &p);
        int happened = fault_happened();
        fault_fail_nth(0);
        if (happened) {
            assert_int_equal(status, CLO_ERR_MEMORY);
            assert_null(p);
        } else { /* the number of allocations varies a little with the text of the measured figures */
            assert_int_equal(status, CLO_OK);
            clo_platform_destroy(p);
        }
    }
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void work_of_every_class_takes_time(void **state)
{
    (void)state;
    clo_work *work;

    ok(clo_work_create(&work));
    for (uint32_t which = 0; which < CLO_WORKS; which++) {
        int64_t start = clo_measure_cpu_ns();
        clo_work_run(work, which, 20000);
        assert_true(clo_measure_cpu_ns() - start > 100000); /* 20000 units of about a microsecond */
    }
    clo_work_destroy(work);
    clo_work_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_calibrated_file_is_native_measured_and_readable),
        cmocka_unit_test(a_calibrated_file_of_another_machine_is_not_native),
        cmocka_unit_test(a_path_that_cannot_be_written_is_an_io_error_and_leaves_nothing),
        cmocka_unit_test(a_cpu_that_does_not_exist_cannot_be_measured),
        cmocka_unit_test(failing_allocations_are_reported_and_leak_nothing),
        cmocka_unit_test(work_of_every_class_takes_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
