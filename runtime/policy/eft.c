/* eft.c - each instance, when it becomes ready, is given to the executor where it is expected to finish first, counting
 * what that executor already has to do and the transfers (minimum completion time; StarPU's "dm" family decides alike).
 * Executors serve their queues in order. An executor may stay idle although work is ready elsewhere: that is the point
 * on unequal executors. */
#include "policy/policies.h"

static bool eft_decide(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        if (job->running + job->committed >= job->limit)
            continue;
        *choice = (clo_choice){at.job, at.stage, 1, clo_view_earliest(view, at.job, at.stage), CLO_NONE, 0, 0};
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
