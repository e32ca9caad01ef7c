/* plan/pick/ready_fit.h - the earliest ends of ready tasks with demands, and of boxes of them. */
#ifndef CLO_PLAN_PICK_READY_FIT_H
#define CLO_PLAN_PICK_READY_FIT_H

#include "plan/pick/ready_box.h"

/* The two earliest ends, and their executors. */
typedef struct clo_ready_ends {
    int64_t first_ns, second_ns;
    uint32_t first, second;
} clo_ready_ends;

static const clo_ready_ends clo_ready_no_ends = {INT64_MAX, INT64_MAX, CLO_NONE, CLO_NONE};

static inline void clo_ready_take_end(clo_ready_ends *found, uint32_t executor, int64_t end_ns)
{
    if (end_ns < found->first_ns) {
        found->second_ns = found->first_ns;
        found->second = found->first;
        found->first_ns = end_ns;
        found->first = executor;
    } else if (end_ns < found->second_ns) {
        found->second_ns = end_ns;
        found->second = executor;
    }
}

/* The earliest end, and for sufferage the second earliest, of what demands `demand`, starts on e at tree->from_ns[e] or
 * later and takes tree->times_ns[e] there (CLO_TIME_NEVER: it cannot); both arrays are used up. Ties: the lowest
 * executor. For other rules there is no second.
 *
 *   base_ns  on a platform of one machine: no start before; raised to what was found. Else not used. */
clo_ready_ends clo_ready_fit(const clo_ready_tree *tree, const int64_t *demand, int64_t *base_ns);

/* True if what was found to end on `executor` at end_ns after time_ns, from from_ns on, still can. */
bool clo_ready_still_fits(const clo_ready_tree *tree, const int64_t *demand, uint32_t executor, int64_t from_ns,
                          int64_t time_ns, int64_t end_ns);

#endif
