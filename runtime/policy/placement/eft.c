/* eft.c - each instance, when it becomes ready, is given to the executor where it is expected to finish first, counting
 * what that executor already has to do and the transfers (minimum completion time; StarPU's "dm" family decides alike).
 * Executors serve their queues in order, higher bands first. An executor may stay idle although work is ready
 * elsewhere: that is the point on unequal executors. With an argument, see two_phase.h. O(executors * inputs) a
 * decision. */
#include "policy/placement/two_phase.h"
#include "policy/select/policies.h"

static void place(const clo_view *view, clo_choice *choice)
{
    choice->executor = clo_view_earliest(view, choice->job, choice->stage);
}

static bool eft_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_two_phase_decide(state, view, place, choice);
}

const clo_policy clo_policy_eft = {
    .size = sizeof(clo_policy),
    .name = "eft",
    .summary =
        "each ready instance to the executor that is expected to finish it first; eft:POLICY selects by another one",
    .commits = 1,
    .state_bytes = clo_two_phase_bytes,
    .job_bytes = clo_two_phase_job_bytes,
    .prepare = clo_two_phase_prepare,
    .init = clo_two_phase_init,
    .event = clo_two_phase_event,
    .decide = eft_decide,
    .argument_bytes = sizeof(clo_two_phase),
    .parse = clo_two_phase_parse,
    .release = clo_two_phase_release,
};
