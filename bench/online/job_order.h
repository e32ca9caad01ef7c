/* job_order.h - the best order of jobs that are all there at once (Decima, appendix H): the executors always go to the
 * first job of the order that can use them, there to the stage with the highest rank_u. */
#ifndef CLO_BENCH_JOB_ORDER_H
#define CLO_BENCH_JOB_ORDER_H

#include "common/platform.h"

enum { ORDER_JOBS_MAX = 12 };

/* Argument of the policy below. */
typedef struct job_order {
    uint32_t jobs;
    uint32_t order[ORDER_JOBS_MAX]; /* numbers of the jobs in the workload, the first one first */
    double mean_s;                  /* mean completion time */
    double least_s;                 /* no order is below; mean_s: this one is proven to be the best */
    uint64_t steps;
} job_order;

/* Searches all orders, by branch and bound, in at most about `steps_max` ends of executions. The platform's executors
 * are equal, and all jobs arrive at 0. False, with a line why: too many jobs or stages, or no memory. */
bool job_order_search(const clo_workload *workload, const clo_platform *platform, uint64_t steps_max, job_order *out);

/* Follows an order. Needs its argument. */
extern const clo_policy job_order_policy;

/* An environment in which executions take what they cost: the jobs of a batch are known together (environment.h). */
extern const clo_environment job_order_environment;

#endif
