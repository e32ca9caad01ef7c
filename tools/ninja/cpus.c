/* cpus.c - see cpus.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpus.h"
#include "groups.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first two numbers of a file, 0 for one that is not there; false: no file, or it begins with none, as "max". */
static bool read_numbers(const char *folder, const char *name, int64_t numbers[2])
{
    char path[1100], line[64] = "", *end, *last;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;

    if (file == NULL)
        return false;
    bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    numbers[0] = strtoll(line, &end, 10); /* out of range: the nearest, which is no sane limit */
    numbers[1] = strtoll(end, &last, 10);
    return is_read && end != line;
}

/* Of one group: in thousandths of a CPU; 0: no limit. */
static int64_t quota_milli(int version, const char *folder)
{
    int64_t quota[2], period[2];

    if (version == 2) {
        if (!read_numbers(folder, "cpu.max", quota))
            return 0;
        period[0] = quota[1];
    } else if (!read_numbers(folder, "cpu.cfs_quota_us", quota) || !read_numbers(folder, "cpu.cfs_period_us", period)) {
        return 0;
    }
    bool is_sane = quota[0] > 0 && quota[0] < INT64_MAX / 1000 && period[0] > 0;
    return is_sane ? 1000 * quota[0] / period[0] + 1 : 0;
}

uint32_t cpus_of_quota(int version, const char *folder)
{
    int64_t least = 0;
    char path[1024];

    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return 0;
    for (char *end = path + strlen(path); end != NULL; end = strrchr(path, '/')) {
        *end = '\0';
        int64_t milli = quota_milli(version, path);
        if (milli > 0 && (least == 0 || milli < least))
            least = milli;
    }
    if (least == 0 || least > (int64_t)1000 * UINT16_MAX)
        return 0;
    return least < 1000 ? 1 : (uint32_t)(least / 1000);
}

uint32_t cpus_usable(void)
{
    cpu_set_t set;
    char folder[1024];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t count = online > 0 ? (uint32_t)online : 1;

    if (sched_getaffinity(getpid(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        count = (uint32_t)CPU_COUNT(&set);
    int version = groups_find("cpu", folder);
    uint32_t quota = version > 0 ? cpus_of_quota(version, folder) : 0;
    return quota > 0 && quota < count ? quota : count;
}
