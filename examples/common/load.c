/* load.c - from /proc/stat (proc(5)): time that the hypervisor gave to others counts as theirs. */
#define _GNU_SOURCE
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/times.h>

load load_now(void)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    uint64_t t[FIELDS] = {0};
    load now = {0};
    struct tms own;
    FILE *file = fopen("/proc/stat", "re");

    if (file == NULL)
        return now;
    int got = fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                     " %" SCNu64, &t[USER], &t[NICE], &t[SYSTEM], &t[IDLE], &t[IOWAIT], &t[IRQ], &t[SOFTIRQ], &t[STEAL]);
    fclose(file);
    if (got != FIELDS || times(&own) == (clock_t)-1)
        return now;
    for (int i = 0; i < FIELDS; i++)
        now.all += t[i];
    now.busy = now.all - t[IDLE] - t[IOWAIT];
    now.own = (uint64_t)own.tms_utime + (uint64_t)own.tms_stime;
    return now;
}

double load_foreign(load before)
{
    load now = load_now();
    double all = (double)now.all - (double)before.all;
    double foreign = ((double)now.busy - (double)before.busy) - ((double)now.own - (double)before.own);

    return all > 0 && foreign > 0 ? foreign / all : 0.0;
}
