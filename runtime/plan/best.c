/* plan/best.c - tries the planners in turn and keeps the shortest plan, so it is never worse than HEFT (DEFT alone can
 * be: a duplicate that helps its reader may be in the way of others) nor than running everything in a row.
 *
 * Ties: the earlier in the list, so duplicates are paid for only where they help. */
#include "plan/planners.h"

static int64_t makespan(const clo_draft *draft)
{
    int64_t latest = 0;

    for (uint32_t c = 0; c < draft->count; c++)
        if (draft->copies[c].finish_ns > latest)
            latest = draft->copies[c].finish_ns;
    return latest;
}

clo_status clo_best_fill(clo_draft *draft, const clo_plan_config *config)
{
    static clo_status (*const fills[])(clo_draft *, const clo_plan_config *) = {clo_heft_fill, clo_serial_fill,
                                                                                clo_deft_fill};
    enum { COUNT = sizeof fills / sizeof fills[0] };
    int64_t shortest = INT64_MAX;
    size_t best = 0;
    clo_status status = CLO_OK;

    for (size_t i = 0; status == CLO_OK && i < COUNT; i++) {
        clo_draft_clear(draft);
        status = fills[i](draft, config);
        if (status == CLO_OK && makespan(draft) < shortest) {
            shortest = makespan(draft);
            best = i;
        }
    }
    if (status != CLO_OK || best == COUNT - 1)
        return status; /* the last one is still in the draft */
    clo_draft_clear(draft);
    return fills[best](draft, config); /* again: cheaper than to keep a copy of every draft */
}
