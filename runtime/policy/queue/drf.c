/* drf.c - dominant resource fairness: Ghodsi, Zaharia, Hindman, Konwinski, Shenker, Stoica, "Dominant Resource
 * Fairness", NSDI 2011, algorithm 1: the next task is one of the user with the smallest dominant share, the largest
 * share that it holds of any resource. Executors count as a resource. In a user the oldest job, in it the stage that
 * became ready first. Deviations: a user whose tasks do not fit is passed over, it does not hold up the others; all
 * users have the same weight. O(log jobs) an event. */
#include "policy/select/policies.h"
#include "policy/select/users.h"

static const clo_job_order by_user = {
    .first = clo_users_first, .pass = clo_users_pass, .restore = clo_users_restore, .pick = clo_select_oldest};

static size_t drf_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_users_job_bytes(cost);
}

static clo_status drf_init(void *state, const clo_view *view)
{
    clo_users_open(state, view, true);
    return CLO_OK;
}

static void drf_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_users_event(state, view, event, event->job != CLO_NONE ? clo_view_job(view, event->job)->state : NULL);
}

static bool drf_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    if (!clo_select_by(&by_user, state, view, may, choice))
        return false;
    choice->count = 1; /* with each the share changes */
    return true;
}

static bool drf_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return drf_select(state, view, clo_select_startable, choice);
}

const clo_policy clo_policy_drf = {
    .size = sizeof(clo_policy),
    .name = "drf",
    .summary = "the user (group, or job without one) with the smallest dominant share first",
    .state_bytes = clo_users_bytes,
    .job_bytes = drf_job_bytes,
    .init = drf_init,
    .event = drf_event,
    .decide = drf_decide,
};

const clo_selector clo_selector_drf = {&clo_policy_drf, drf_select, NULL};
