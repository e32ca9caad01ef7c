/* cpus.c - see cpus.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "ninja/step/cpus.h"
#include "base/cgroup.h"

#include <sched.h>
#include <unistd.h>

uint32_t cpus_usable(void)
{
    cpu_set_t set;
    clo_cgroup_quota quota;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t count = online > 0 ? online : 1;

    if (sched_getaffinity(getpid(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        count = CPU_COUNT(&set);
    if (!clo_cgroup_limit("", &quota) || quota.milli / 1000 >= count)
        return (uint32_t)count;
    return quota.milli < 1000 ? 1 : (uint32_t)(quota.milli / 1000);
}
