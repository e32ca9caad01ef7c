/* load.c - from /proc/stat (proc(5)): time that the hypervisor gave to others counts as theirs. */
#define _GNU_SOURCE
#include "load.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

/* The numbers of the line "cpu  USER NICE ..."; false where there is no such line. */
static bool read_ticks(uint64_t ticks[FIELDS])
{
    char line[512], *at = line + 3;
    FILE *file = fopen("/proc/stat", "re");
    bool is_there = file != NULL && fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu ", 4) == 0;

    if (file != NULL)
        fclose(file);
    for (int i = 0; i < FIELDS && is_there; i++) {
        char *end;

        ticks[i] = strtoull(at, &end, 10);
        is_there = end != at;
        at = end;
    }
    return is_there;
}

load load_now(void)
{
    uint64_t ticks[FIELDS];
    load now = {0};
    struct tms own;

    if (!read_ticks(ticks) || times(&own) == (clock_t)-1)
        return now;
    for (int i = 0; i < FIELDS; i++)
        now.all += ticks[i];
    now.busy = now.all - ticks[IDLE] - ticks[IOWAIT];
    now.own = (uint64_t)own.tms_utime + (uint64_t)own.tms_stime + (uint64_t)own.tms_cutime + (uint64_t)own.tms_cstime;
    return now;
}

double load_foreign(load before)
{
    load now = load_now();
    double all = (double)now.all - (double)before.all;
    double foreign = ((double)now.busy - (double)before.busy) - ((double)now.own - (double)before.own);

    return all > 0 && foreign > 0 ? foreign / all : 0.0;
}
