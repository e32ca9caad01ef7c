/* check_host.c - what this host offers to real-time work. One line a finding: "ok", "warn" (works, with more jitter)
 * or "lack" (a guarantee cannot be given), then what, then the mend. What can be tried is tried, not guessed from
 * permissions. */
#define _GNU_SOURCE
#include "base/cgroup.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/host/host.h"
#include "platform/host/measure.h"
#include "platform/model/platform.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOCK_BYTES_WANTED (64u << 20)

typedef struct report {
    const char *root;
    const clo_host_probe *probe;
    clo_text *out;
    uint32_t lacking;
} report;

enum { OK, WARN, LACK };

static void say(report *r, int level, const char *what, const char *format, ...) __attribute__((format(printf, 4, 5)));

static void say(report *r, int level, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok  ", "warn", "lack"};
    char line[300];
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(line, sizeof line, format, arguments);
    va_end(arguments);
    clo_text_add(r->out, "%s  %-18s  %s\n", words[level], what, line);
    r->lacking += level == LACK;
}

/* First line of a file below the root, without its end; false if it cannot be read. */
static bool read_line(const report *r, const char *path, char *out, size_t bytes)
{
    char name[512];

    snprintf(name, sizeof name, "%s%s", r->root, path);
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return false;
    bool got = fgets(out, (int)bytes, file) != NULL;
    fclose(file);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

static void check_cpus(report *r)
{
    const clo_host_probe *p = r->probe;
    clo_cgroup_quota quota;

    if (p->pin_error != 0)
        say(r, LACK, "pinning", "threads cannot be pinned: %s; run with CAP_SYS_NICE or without a seccomp filter",
            strerror(p->pin_error));
    else
        say(r, OK, "pinning", "threads can be pinned");
    if (p->cpus_usable < p->cpus_online)
        say(r, WARN, "cpus", "%u of %u CPUs may be used; widen the cpuset or the affinity (taskset)", p->cpus_usable,
            p->cpus_online);
    else
        say(r, OK, "cpus", "all %u CPUs may be used", p->cpus_online);
    if (clo_cgroup_limit(r->root, &quota))
        say(r, LACK, "cpu quota", "control group %.150s stops us after %lld us of each %lld; write %s there",
            quota.folder + strlen(r->root), (long long)quota.quota_us, (long long)quota.period_us,
            quota.version == 1 ? "-1 to cpu.cfs_quota_us" : "max to cpu.max");
    else
        say(r, OK, "cpu quota", "no limit of CPU time");
}

static void check_priority(report *r)
{
    char line[64];

    if (r->probe->fifo_error != 0)
        say(r, LACK, "SCHED_FIFO", "not permitted: %s; give CAP_SYS_NICE, or rtprio 99 in /etc/security/limits.conf",
            strerror(r->probe->fifo_error));
    else
        say(r, OK, "SCHED_FIFO", "real-time priority is permitted");
    if (!read_line(r, "/proc/sys/kernel/sched_rt_runtime_us", line, sizeof line))
        say(r, WARN, "throttling", "sched_rt_runtime_us cannot be read: unknown");
    else if (strcmp(line, "-1") == 0)
        say(r, OK, "throttling", "real-time threads are not throttled");
    else
        say(r, WARN, "throttling", "real-time threads stop after %s us a second; sysctl kernel.sched_rt_runtime_us=-1",
            line);
    if (read_line(r, "/sys/kernel/debug/sched/fair_server/cpu0/runtime", line, sizeof line) && strcmp(line, "0") != 0)
        say(r, WARN, "fair server",
            "the kernel takes %s ns a second from real-time threads; write 0 to "
            "/sys/kernel/debug/sched/fair_server/cpu*/runtime",
            line);
}

static void check_memory(report *r)
{
    const clo_host_probe *p = r->probe;
    char line[128];

    if (p->lock_error != 0)
        say(r, LACK, "locked memory", "mlock fails: %s; raise memlock in /etc/security/limits.conf",
            strerror(p->lock_error));
    else if (p->lock_bytes < LOCK_BYTES_WANTED)
        say(r, LACK, "locked memory", "only %llu KiB may be locked; raise memlock in /etc/security/limits.conf",
            (unsigned long long)p->lock_bytes / 1024);
    else
        say(r, OK, "locked memory", "memory can be locked");
    if (!read_line(r, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line))
        say(r, OK, "huge pages", "no transparent huge pages");
    else if (strstr(line, "[always]") != NULL)
        say(r, WARN, "huge pages",
            "transparent huge pages are always on: pauses of 100 us; write madvise to "
            "/sys/kernel/mm/transparent_hugepage/enabled");
    else
        say(r, OK, "huge pages", "transparent huge pages only on request");
}

static void check_isolation(report *r)
{
    char line[256];

    if (read_line(r, "/sys/devices/system/cpu/isolated", line, sizeof line) && line[0] != '\0')
        say(r, OK, "isolated CPUs", "%.100s", line);
    else
        say(r, WARN, "isolated CPUs", "none: other programs share our CPUs; boot with isolcpus=LIST");
    if (read_line(r, "/sys/devices/system/cpu/nohz_full", line, sizeof line) && line[0] != '\0' && line[0] != '(')
        say(r, OK, "timer tick", "off on %.100s", line);
    else
        say(r, WARN, "timer tick", "on everywhere: 100 to 1000 interruptions a second; boot with nohz_full=LIST");
    if (read_line(r, "/sys/kernel/realtime", line, sizeof line) && strcmp(line, "1") == 0)
        say(r, OK, "kernel", "PREEMPT_RT");
    else
        say(r, WARN, "kernel", "not PREEMPT_RT: worst latencies of milliseconds; install a real-time kernel");
}

static void check_speed(report *r)
{
    char line[64], path[128];
    const char *slow = NULL;
    int known = 0;

    for (int cpu = 0; cpu < 4096 && slow == NULL; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        if (!read_line(r, path, line, sizeof line))
            continue;
        known++;
        if (strcmp(line, "performance") != 0)
            slow = line;
    }
    if (slow != NULL)
        say(r, WARN, "frequency",
            "governor %s changes speeds; write performance to "
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            slow);
    else if (known > 0)
        say(r, OK, "frequency", "governor performance");
    else
        say(r, OK, "frequency", "no frequency scaling in sight");
    if (read_line(r, "/sys/devices/system/cpu/smt/active", line, sizeof line) && strcmp(line, "1") == 0)
        say(r, WARN, "hyperthreads",
            "two threads share a core and slow each other; write off to "
            "/sys/devices/system/cpu/smt/control");
    else
        say(r, OK, "hyperthreads", "one thread a core");
}

uint32_t clo_host_report(const char *root, const clo_host_probe *probe, clo_text *out)
{
    report r = {.root = root, .probe = probe, .out = out};

    check_cpus(&r);
    check_priority(&r);
    check_memory(&r);
    check_isolation(&r);
    check_speed(&r);
    return r.lacking;
}

/* Tries on a thread of its own, so that nothing of the caller changes. */
static void *try_thread(void *argument)
{
    clo_host_probe *probe = argument;
    struct sched_param lowest = {.sched_priority = 1};

    probe->fifo_error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
    for (uint32_t cpu = 0; cpu < 65536; cpu++) {
        probe->pin_error = clo_measure_pin(cpu) == CLO_OK ? 0 : EPERM;
        if (probe->pin_error == 0)
            break;
    }
    return NULL;
}

static int try_lock(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return errno;
    int error = mlock(memory, (size_t)page) == 0 ? 0 : errno;
    munmap(memory, (size_t)page);
    return error;
}

void clo_host_probe_run(clo_host_probe *out)
{
    struct rlimit locked;
    pthread_t thread;
    cpu_set_t *mine = CPU_ALLOC(65536);

    memset(out, 0, sizeof *out);
    out->cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    out->cpus_usable = out->cpus_online;
    if (mine != NULL && sched_getaffinity(0, CPU_ALLOC_SIZE(65536), mine) == 0)
        out->cpus_usable = (uint32_t)CPU_COUNT_S(CPU_ALLOC_SIZE(65536), mine);
    CPU_FREE(mine);
    int error = pthread_create(&thread, NULL, try_thread, out);
    if (error == 0)
        pthread_join(thread, NULL);
    else
        out->pin_error = out->fifo_error = error;
    out->lock_error = try_lock();
    out->lock_bytes = getrlimit(RLIMIT_MEMLOCK, &locked) != 0              ? 0
                      : locked.rlim_cur == RLIM_INFINITY || geteuid() == 0 ? UINT64_MAX
                                                                           : locked.rlim_cur;
}

clo_status clo_platform_check_host(char **out, uint32_t *lacking)
{
    clo_text text = {0};
    clo_host_probe probe;

    if (out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_platform_check_host: out is NULL");
    clo_host_probe_run(&probe);
    uint32_t count = clo_host_report("", &probe, &text);
    if (clo_text_take(&text, out) != CLO_OK)
        return clo_fail_memory("the report");
    if (lacking != NULL)
        *lacking = count;
    return CLO_OK;
}
