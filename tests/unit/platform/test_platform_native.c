/* How this machine is described in a calibrated file: one line, from uname and /proc/cpuinfo. And what becomes of a
 * native platform that hwloc has no memory for; the linker puts the __wrap_ function in hwloc's place. */
#define _GNU_SOURCE
#include "support.h"

#include "platform/build/discover.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of the first "key : value" line of /proc/cpuinfo, with its blank; "" if there is none. */
static void first_value(const char *key, char *value, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char *line = NULL, *colon;
    size_t room = 0;

    assert_non_null(file);
    value[0] = '\0';
    while (value[0] == '\0' && getline(&line, &room, file) > 0)
        if (strncmp(line, key, strlen(key)) == 0 && (colon = strchr(line, ':')) != NULL)
            snprintf(value, bytes, "%.*s,", (int)strcspn(colon + 1, "\n"), colon + 1);
    free(line);
    assert_int_equal(fclose(file), 0);
}

static void the_description_is_architecture_model_and_cpus_in_one_line(void **state)
{
    (void)state;
    static const char *const keys[] = {"model name", "CPU implementer", "CPU part", "uarch"};
    struct utsname system;
    char want[1024], value[256], got[1024];

    assert_int_equal(uname(&system), 0);
    snprintf(want, sizeof want, "%s,", system.machine);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        first_value(keys[k], value, sizeof value);
        strcat(want, value);
    }
    snprintf(value, sizeof value, " %ld CPUs", sysconf(_SC_NPROCESSORS_CONF));
    strcat(want, value);
    clo_native_describe(got, sizeof got);
    assert_string_equal(got, want);
}

static void a_short_buffer_is_not_overrun(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 40; bytes++) {
        char got[41];
        memset(got, 'x', sizeof got);
        clo_native_describe(got, bytes);
        assert_true(strlen(got) < bytes);
        assert_int_equal(got[bytes], 'x');
    }
}

int __real_hwloc_topology_init(void **topology);
int __wrap_hwloc_topology_init(void **topology);

static bool hwloc_fails;

int __wrap_hwloc_topology_init(void **topology)
{
    return hwloc_fails ? -1 : __real_hwloc_topology_init(topology);
}

static void without_a_topology_there_is_an_error_and_no_leak(void **state)
{
    (void)state;
    clo_native *native = NULL;

    hwloc_fails = true;
    for (int i = 0; i < 16; i++) /* the C library keeps some of what is freed first */
        fails(CLO_ERR_MEMORY, "native", clo_native_open(&native));
    size_t before = mallinfo2().uordblks; /* 0 under a sanitizer, which looks for leaks itself */
    for (int i = 0; i < 100; i++)
        assert_int_equal(clo_native_open(&native), CLO_ERR_MEMORY);
    assert_int_equal(mallinfo2().uordblks, before);
    hwloc_fails = false;
    assert_null(native);
    ok(clo_native_open(&native));
    clo_native_close(native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_description_is_architecture_model_and_cpus_in_one_line),
        cmocka_unit_test(a_short_buffer_is_not_overrun),
        cmocka_unit_test(without_a_topology_there_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
