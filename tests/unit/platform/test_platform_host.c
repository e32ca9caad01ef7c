/* The real-time report, over a made-up host and over this one. */
#define _GNU_SOURCE
#include "fault.h"
#include "support.h"

#include "base/text.h"
#include "platform/host/host.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = CLO_BINARY "/test_host_XXXXXX";
static char command[256];

/* Writes one file of the made-up host, with its folders. */
static void put(const char *path, const char *line)
{
    char name[512], text[512];

    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    snprintf(text, sizeof text, "%s\n", line);
    ok(clo_file_write(name, text, strlen(text)));
}

static uint32_t report(const clo_host_probe *probe, char **out)
{
    clo_text text = {0};
    uint32_t lacking = clo_host_report(root, probe, &text);

    ok(clo_text_take(&text, out));
    return lacking;
}

/* The line about `what` starts with `level` and holds `detail`. */
static void line_says(const char *text, const char *what, const char *level, const char *detail)
{
    const char *at = strstr(text, what);

    assert_non_null(at);
    assert_memory_equal(at - 6, level, strlen(level));
    const char *end = strchr(at, '\n'), *found = strstr(at, detail);
    if (found == NULL || found > end)
        fail_msg("'%.*s' lacks '%s'", (int)(end - at), at, detail);
}

#define VERSION_2 "32 24 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"

static const clo_host_probe fine = {4, 4, 0, 0, 0, UINT64_MAX};

static void a_well_kept_host_lacks_nothing(void **state)
{
    (void)state;
    char *text;

    put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
    put("/proc/self/cgroup", "0::/ours");
    put("/proc/self/mountinfo", VERSION_2);
    put("/sys/fs/cgroup/ours/cpu.max", "max 100000");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    put("/sys/devices/system/cpu/isolated", "2-3");
    put("/sys/devices/system/cpu/nohz_full", "2-3");
    put("/sys/kernel/realtime", "1");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
    put("/sys/devices/system/cpu/smt/active", "0");
    assert_int_equal(report(&fine, &text), 0);
    assert_null(strstr(text, "warn"));
    assert_null(strstr(text, "lack"));
    line_says(text, "isolated CPUs", "ok", "2-3");
    free(text);
}

static void every_shortcoming_is_named_with_its_mend(void **state)
{
    (void)state;
    const clo_host_probe poor = {2, 4, EPERM, EPERM, ENOMEM, 65536};
    char *text;

    put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    put("/sys/fs/cgroup/ours/cpu.max", "50000 100000");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
    put("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000");
    put("/sys/devices/system/cpu/isolated", "");
    put("/sys/devices/system/cpu/nohz_full", "(null)");
    put("/sys/kernel/realtime", "0");
    put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave");
    put("/sys/devices/system/cpu/smt/active", "1");
    assert_int_equal(report(&poor, &text), 4);
    line_says(text, "pinning", "lack", "CAP_SYS_NICE");
    line_says(text, "cpus ", "warn", "2 of 4");
    line_says(text, "cpu quota", "lack", "after 50000 us");
    line_says(text, "SCHED_FIFO", "lack", "rtprio");
    line_says(text, "throttling", "warn", "950000");
    line_says(text, "fair server", "warn", "50000000");
    line_says(text, "locked memory", "lack", "memlock");
    line_says(text, "huge pages", "warn", "madvise");
    line_says(text, "isolated CPUs", "warn", "isolcpus");
    line_says(text, "timer tick", "warn", "nohz_full");
    line_says(text, "kernel  ", "warn", "PREEMPT_RT");
    line_says(text, "frequency", "warn", "powersave");
    line_says(text, "hyperthreads", "warn", "smt/control");
    free(text);
}

static void a_small_lock_limit_is_a_lack(void **state)
{
    (void)state;
    clo_host_probe small = fine;
    char *text;

    small.lock_bytes = 8192 * 1024;
    put("/sys/fs/cgroup/ours/cpu.max", "max 100000");
    assert_int_equal(report(&small, &text), 1);
    line_says(text, "locked memory", "lack", "8192 KiB");
    free(text);
}

/* Whose limit it is, in which tree; mounts: what mountinfo says beside lines of other types. */
static const struct {
    const char *what, *groups, *mounts, *files[3][2], *said;
} quotas[] = {
    {"version 1, its own group",
     "7:memory:/x\n4:cpu,cpuacct:/x",
     "33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
     {{"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "25000"},
      {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000"}},
     "cpu,cpuacct/x stops us after 25000 us of each 100000; write -1 to cpu.cfs_quota_us"},
    {"version 1, a group above",
     "4:cpu:/slice/pod/c",
     "33 32 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu",
     {{"/cg/cpu/slice/cpu.cfs_quota_us", "150000"}, {"/cg/cpu/slice/cpu.cfs_period_us", "100000"}},
     "/cg/cpu/slice stops us after 150000"},
    {"version 2, a group above with less",
     "0::/slice/pod/c",
     VERSION_2,
     {{"/sys/fs/cgroup/slice/pod/c/cpu.max", "300000 100000"}, {"/sys/fs/cgroup/slice/cpu.max", "200000 100000"}},
     "/sys/fs/cgroup/slice stops us after 200000"},
    {"the container shows only its own part of the tree",
     "4:cpu:/docker/abc/inner",
     "33 32 0:29 /docker/abc /sys/fs/cgroup/cpu1 ro - cgroup cgroup rw,cpu",
     {{"/sys/fs/cgroup/cpu1/cpu.cfs_quota_us", "70000"}, {"/sys/fs/cgroup/cpu1/cpu.cfs_period_us", "50000"}},
     "/sys/fs/cgroup/cpu1 stops us after 70000"},
    {"a hybrid host: the controller is in version 1",
     "4:cpu:/h\n1:name=systemd:/h\n0::/user.slice",
     "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
     "33 32 0:29 / /sys/fs/cgroup/hcpu rw - cgroup cgroup rw,cpu",
     {{"/sys/fs/cgroup/hcpu/h/cpu.cfs_quota_us", "60000"}, {"/sys/fs/cgroup/hcpu/h/cpu.cfs_period_us", "100000"}},
     "/sys/fs/cgroup/hcpu/h stops us after 60000"},
    {"a hybrid host: the controller is in version 2",
     "9:memory:/h\n0::/user.slice",
     "33 32 0:29 / /sys/fs/cgroup/hmemory rw - cgroup cgroup rw,memory\n"
     "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
     {{"/sys/fs/cgroup/unified/user.slice/cpu.max", "50000 100000"}},
     "/sys/fs/cgroup/unified/user.slice stops us after 50000"},
    {"a group that is no more, a mount with a blank, and one that hides nothing",
     "0::/gone/deep",
     "30 24 0:27 / /no/where rw - cgroup2 cgroup2 rw\n31 24 0:27 / /my\\040groups rw - cgroup2 cgroup2 rw",
     {{"/my groups/gone/deep/cgroup.procs", ""}, {"/my groups/cpu.max", "90000 100000"}},
     "/my groups stops us after 90000"},
    {"no limit", "0::/free", VERSION_2, {{"/sys/fs/cgroup/free/cpu.max", "max 100000"}}, NULL},
    {"-1 of version 1",
     "4:cpu:/x",
     "33 32 0:29 / /none rw - cgroup cgroup rw,cpu",
     {{"/none/x/cpu.cfs_quota_us", "-1"}, {"/none/x/cpu.cfs_period_us", "100000"}},
     NULL},
    {"nothing is mounted", "4:cpu:/x\n0::/x", "24 1 0:22 / /sys rw - sysfs sysfs rw", {{NULL}}, NULL},
    {"no group of this process", "", VERSION_2, {{NULL}}, NULL},
};

static void a_quota_is_found_in_each_version_and_in_groups_above(void **state)
{
    (void)state;
    for (size_t q = 0; q < sizeof quotas / sizeof quotas[0]; q++) {
        char *text;
        put("/proc/self/cgroup", quotas[q].groups);
        put("/proc/self/mountinfo", quotas[q].mounts);
        for (size_t i = 0; i < 3 && quotas[q].files[i][0] != NULL; i++)
            put(quotas[q].files[i][0], quotas[q].files[i][1]);
        assert_int_equal(report(&fine, &text), quotas[q].said != NULL);
        line_says(text, "cpu quota", quotas[q].said != NULL ? "lack" : "ok",
                  quotas[q].said != NULL ? quotas[q].said : "no limit");
        free(text);
    }
}

static void this_host_is_reported_in_lines_of_three_kinds(void **state)
{
    (void)state;
    char *text, *rest;
    uint32_t lacking = 99, counted = 0, lines = 0;

    ok(clo_platform_check_host(&text, &lacking));
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        bool known =
            strncmp(line, "ok    ", 6) == 0 || strncmp(line, "warn  ", 6) == 0 || strncmp(line, "lack  ", 6) == 0;
        assert_true(known);
        counted += strncmp(line, "lack", 4) == 0;
        lines++;
    }
    assert_int_equal(counted, lacking);
    assert_true(lines >= 11);
    free(text);
    ok(clo_platform_check_host(&text, NULL));
    free(text);
    fails(CLO_ERR_ARGUMENT, "NULL", clo_platform_check_host(NULL, &lacking));
}

/* No thread of so large a stack can be had. */
static void without_a_thread_nothing_is_said_to_work(void **state)
{
    (void)state;
    pthread_attr_t usual, large;
    clo_host_probe probe;

    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_getattr_default_np(&large), 0);
    assert_int_equal(pthread_attr_setstacksize(&large, (size_t)1 << 62), 0);
    assert_int_equal(pthread_setattr_default_np(&large), 0);
    clo_host_probe_run(&probe);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&large);
    pthread_attr_destroy(&usual);
    assert_int_not_equal(probe.pin_error, 0);
    assert_int_equal(probe.fifo_error, probe.pin_error);
}

static clo_status check_this_host(void *context)
{
    char *text;
    clo_status status = clo_platform_check_host(&text, context);

    if (status == CLO_OK)
        free(text);
    return status;
}

static void each_failing_allocation_is_reported_or_mends_itself(void **state)
{
    (void)state;
    uint32_t lacking;

    for (uint64_t n = 1; n < 8; n++) { /* a probe without memory reports a lack, the report itself is an error */
        fault_fail_nth(n);
        clo_status status = check_this_host(&lacking);
        fault_fail_nth(0);
        assert_true(status == CLO_OK || status == CLO_ERR_MEMORY);
    }
    assert_int_equal(check_this_host(&lacking), CLO_OK);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_well_kept_host_lacks_nothing),
        cmocka_unit_test(every_shortcoming_is_named_with_its_mend),
        cmocka_unit_test(a_small_lock_limit_is_a_lack),
        cmocka_unit_test(a_quota_is_found_in_each_version_and_in_groups_above),
        cmocka_unit_test(this_host_is_reported_in_lines_of_three_kinds),
        cmocka_unit_test(each_failing_allocation_is_reported_or_mends_itself),
        cmocka_unit_test(without_a_thread_nothing_is_said_to_work),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
