/* plan/heft/chain.h - what planners that duplicate share: a trial of several duplicates, one behind the other on
 * one executor, before an instance. */
#ifndef CLO_PLAN_HEFT_CHAIN_H
#define CLO_PLAN_HEFT_CHAIN_H

#include "library.h"
#include "plan/schedule/arrivals.h"

enum { CLO_CHAIN_MAX = 8 };

/* An instance and, in the order of execution, what is executed once more before it. */
typedef struct clo_chain {
    uint32_t executor, instance, count;
    uint32_t duplicates[CLO_CHAIN_MAX];
    int64_t starts_ns[CLO_CHAIN_MAX];
    int64_t start_ns, finish_ns; /* of the instance */
} clo_chain;

/* True if an execution of `instance` may be added on `executor`: declared duplicable, can run there, none there. */
CLO_INTERNAL bool clo_schedule_may_duplicate(const clo_schedule *schedule, uint32_t instance, uint32_t executor);

/* How many duplicates there is room for if `unplaced` instances still need their original. */
CLO_INTERNAL uint32_t clo_schedule_room(const clo_schedule *schedule, uint32_t unplaced);

/* Places the duplicates, then the instance. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_chain_place(const clo_chain *chain, clo_schedule *schedule);

#endif
