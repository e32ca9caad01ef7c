/* busy_time.h - a bound of the sum of completion times on one machine that jobs may share as they like, from their mean
 * busy times (Goemans, "Improved approximation algorithms for scheduling with release dates", SODA 1997).
 *
 * The mean busy time M of a job is the mean of the times at which its work is done. Over all preemptive schedules the
 * sum of M is least where the job of the least work goes first; work is there from its release on. A job ends no sooner
 * than M and its *tail*: what its last tasks, and the paths behind all others, keep back from the end. */
#ifndef CLO_BENCH_BUSY_TIME_H
#define CLO_BENCH_BUSY_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* All instances of a task, which may run at once. Seconds. */
typedef struct busy_task {
    double head_s;     /* the longest path before it */
    double duration_s; /* of an instance */
    double tail_s;     /* the longest path behind it */
    double need_s;     /* of the machine, of all instances */
} busy_task;

typedef struct busy_job {
    double arrival_s;
    double alone_s;                /* what the job takes at least: the bound of those that are left out */
    uint32_t first_task, end_task; /* in the list of tasks: those that need the machine */
} busy_job;

/* No schedule of the jobs has a smaller sum of completion times, each from its arrival. 0: no memory. */
double busy_time_sum_s(const busy_job *jobs, uint32_t count, const busy_task *tasks);

/* The least time between the mean busy time of a job with these tasks and its end. Negative: no memory. */
double busy_time_tail_s(const busy_task *tasks, uint32_t count);

#endif
