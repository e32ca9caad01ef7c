/* synch_case.h - workloads of parallel tasks on several machines, and judges of their plans. */
#ifndef CLO_TEST_SYNCH_CASE_H
#define CLO_TEST_SYNCH_CASE_H

#include "support.h"

/* Every planner of workloads; NULL after the last. */
extern const char *const synch_planners[];

typedef struct synch_case {
    clo_platform *platform;
    clo_workload *workload;
} synch_case;

/* `machines` machines of `executors` equal executors, each of a kind of its own ("k0" ...); one resource "memory". */
void synch_case_open(synch_case *c, uint32_t machines, uint32_t executors, int64_t memory);
void synch_case_close(synch_case *c);

/* Adds a job of `instances` tasks; machine m takes time[m] (< 0: never). */
void synch_case_add(synch_case *c, uint32_t instances, int64_t demand, const int64_t *time, int64_t arrival_ns,
                    uint32_t weight);

/* A random one: is_bound: every task has one machine; arrivals up to arrival_max. */
void synch_case_random(synch_case *c, uint64_t seed, bool is_bound, int64_t arrival_max);

/* A random one of one to three jobs, on one or two machines. Returns its tasks: at most SYNCH_TINY_MAX. */
enum { SYNCH_TINY_MAX = 7 };
uint32_t synch_case_tiny(synch_case *c, uint64_t seed);

/* Fails the test where the plan is not valid: through the log and clo_stream_check, or, of a preemptive plan, by its
 * own look at every piece. Also where a figure is wrong, or the sum is below a bound. */
void synch_case_judge(const synch_case *c, const clo_synch *plan);

#endif
