/* policy/select/select.h - selection, the part that most policies share: jobs in some order, in each job one stage.
 *
 * A policy that only selects does not say where a stage runs: any free executor that has room will do. So its selection
 * serves two-phase policies too, which place what it selects by a rule of their own (placement/two_phase.h). */
#ifndef CLO_POLICY_SELECT_SELECT_H
#define CLO_POLICY_SELECT_SELECT_H

#include "library.h"
#include <clotho/policy.h>

/* True if the stage may be selected. */
typedef bool (*clo_may_select)(const clo_view *view, uint32_t job, uint32_t stage);

/* Some executor can take it now. */
CLO_INTERNAL bool clo_select_startable(const clo_view *view, uint32_t job, uint32_t stage);

/* Stages of the job of which it is known without a look at each that none of them may be selected. It is known only
 * when somebody waits for the capacity, as one does that was looked at: so that is asked after 0, 1, 2, 4 ... looks. */
static inline uint32_t clo_select_unfit(const clo_view *view, uint32_t job, clo_may_select may, uint32_t looks)
{
    return may == clo_select_startable && (looks & (looks - 1)) == 0 ? clo_view_unfit(view, job) : 0;
}

/* A policy that only selects. `policy` decides by itself with clo_select_startable. */
typedef struct clo_selector {
    const clo_policy *policy;

    /* `state` is that of the policy. Sets job, stage and count of *choice. False: nothing is to be had. */
    bool (*select)(void *state, const clo_view *view, clo_may_select may, clo_choice *choice);

    /* In place of policy->init, for a selection that needs its argument there (NULL: none was given): that of the view is
     * the placement's. NULL: policy->init. */
    clo_status (*init)(void *state, const clo_view *view, const void *argument);
} clo_selector;

/* Live jobs in an order of the policy's, those of one band apart from those of others. */
typedef struct clo_job_order {
    /* The first job of the band; CLO_NONE: none. */
    uint32_t (*first)(void *order, const clo_view *view, uint32_t band);

    /* Looks past the first one of the band; `restore` puts back what was passed. */
    void (*pass)(void *order, const clo_view *view, uint32_t band);
    void (*restore)(void *order, const clo_view *view);

    /* The stage of the job that comes first and may be selected; CLO_NONE: there is none, or *is_cut: the decision has
     * reached its bound. */
    uint32_t (*pick)(const clo_view *view, uint32_t job, clo_may_select may, bool *is_cut);
} clo_job_order;

/* The ready stage that became ready first. Where none may start for want of capacity, the rest is passed at once, each
 * of them a step as if it was looked at. */
static inline uint32_t clo_select_oldest(const clo_view *view, uint32_t slot, clo_may_select may, bool *is_cut)
{
    uint32_t stage = clo_view_job(view, slot)->first_ready, unfit;

    for (uint32_t looks = 0; stage != CLO_NONE; stage = clo_view_stage(view, slot, stage)->next_ready, looks++) {
        if ((unfit = clo_select_unfit(view, slot, may, looks)) > 0) {
            *is_cut = !clo_view_steps(view, unfit - looks);
            return CLO_NONE;
        }
        if ((*is_cut = !clo_view_step(view)))
            return CLO_NONE;
        if (may(view, slot, stage))
            return stage;
    }
    return CLO_NONE;
}

/* The first job in the order that is below its limit and has such a stage, all instances of the stage. O(jobs and
 * stages that are passed); inline, so that the calls through `by` are not indirect. */
static inline bool clo_select_by(const clo_job_order *by, void *order, const clo_view *view, clo_may_select may,
                                 clo_choice *choice)
{
    uint32_t band = clo_view_band(view), slot, stage = CLO_NONE;
    bool is_cut = false, has_passed = false;

    while (stage == CLO_NONE && !is_cut && (slot = by->first(order, view, band)) != CLO_NONE) {
        const clo_live_job *job = clo_view_job(view, slot);
        if (job->running + job->committed < job->limit)
            stage = by->pick(view, slot, may, &is_cut);
        else
            is_cut = !clo_view_step(view);
        if (stage != CLO_NONE) {
            *choice = (clo_choice){slot, stage, UINT32_MAX, CLO_NONE, CLO_NONE, 0, 0};
        } else if (!is_cut) {
            by->pass(order, view, band);
            has_passed = true;
        }
    }
    if (has_passed)
        by->restore(order, view);
    return stage != CLO_NONE;
}

#endif
