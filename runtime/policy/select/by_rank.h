/* policy/select/by_rank.h - policies by job (by_job.h) whose jobs order their ready stages by rank_u: rank, sjf-cp.
 * O(log jobs + log stages) an event, and a decision that passes nothing. */
#ifndef CLO_POLICY_SELECT_BY_RANK_H
#define CLO_POLICY_SELECT_BY_RANK_H

#include "library.h"
#include "policy/select/by_job.h"
#include "policy/select/ranked.h"

CLO_INTERNAL size_t clo_by_rank_job_bytes(const clo_cost *cost, const void *argument);
CLO_INTERNAL clo_status clo_by_rank_prepare(void *job_state, const clo_cost *cost, const void *argument);
CLO_INTERNAL bool clo_by_rank_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice);
bool clo_by_rank_decide(void *state, const clo_view *view, clo_choice *choice);

/* True if the event may have changed the key of event->job, which is in the queue. */
CLO_INTERNAL bool clo_by_rank_event(void *state, const clo_view *view, const clo_event *event);

#endif
