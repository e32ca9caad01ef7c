/* follow.h - the argument of the policy "follow", which carries out a schedule that is there already: the plan of a whole
 * workload (clo_synch_log), or what any other run did.
 *
 *     clo_follow_argument argument = {.plan = log};
 *     config.policy = clo_policy_find("follow");
 *     config.argument = &argument;
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_FOLLOW_H
#define CLOTHO_FOLLOW_H

#include <clotho/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Job k of the log is the k-th that is submitted to the scheduler, from 0. Its tasks are started on the executors of the
 * log, on each machine in the order of the log, and each as soon as it can be; so where times are as in the log, and data
 * take no time to move, nothing starts later than there. What is late is overtaken by what should have started by then.
 * A task that was stopped in the log (PREEMPT) is not stopped: it runs as a whole, in the order of the starts of last
 * stretches. Jobs that the log does not have, or has nothing more of, are started when nothing of it can be, oldest first.
 * What the log has of executors that there are not is left out.
 *
 * The library reads no more of the log than which bodies ended (FINISH), and when jobs arrived. Without a size field: it
 * does not grow. */
typedef struct clo_follow_argument {
    /* Borrowed while the policy is in use. NULL: nothing is planned. */
    const clo_log *plan;

    /* Is destroyed with the argument (clo_policy.release): `plan`, if the caller gives it away; else NULL. */
    clo_log *owned;
} clo_follow_argument;

#ifdef __cplusplus
}
#endif
#endif
