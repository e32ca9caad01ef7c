/* eft.c - each instance, when it becomes ready, is given to the executor where it is expected to finish first, counting
 * what that executor already has to do and the transfers (minimum completion time; StarPU's "dm" family decides alike).
 * Executors serve their queues in order. An executor may stay idle although work is ready elsewhere: that is the point
 * on unequal executors. */
#include "policy/policies.h"

#include "base/saturate.h"

/* Where an instance would finish first; CLO_NONE: nowhere. */
static uint32_t earliest(const clo_view *view, clo_ready_stage ready)
{
    uint32_t best = CLO_NONE;
    int64_t best_ns = INT64_MAX;

    for (uint32_t e = 0; e < clo_view_limits(view)->executors; e++) {
        int64_t execution_ns = clo_view_execution_ns(view, ready.job, ready.stage, e);
        if (execution_ns == CLO_TIME_NEVER)
            continue;
        int64_t start_ns = clo_view_available_ns(view, e);
        int64_t arrival_ns = clo_view_arrival_ns(view, ready.job, ready.stage, e);
        int64_t finish_ns = clo_time_add(start_ns > arrival_ns ? start_ns : arrival_ns, execution_ns);
        if (best == CLO_NONE || finish_ns < best_ns) {
            best_ns = finish_ns;
            best = e;
        }
    }
    return best;
}

static bool eft_decide(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        if (job->running + job->committed >= job->limit)
            continue;
        *choice = (clo_choice){at.job, at.stage, 1, earliest(view, at), CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

const clo_policy clo_policy_eft = {
    .size = sizeof(clo_policy),
    .name = "eft",
    .summary = "each ready instance to the executor that is expected to finish it first",
    .commits = 1,
    .decide = eft_decide,
};
