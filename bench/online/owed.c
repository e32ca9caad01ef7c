/* owed.c - see owed.h. The deficits are the first member of the policy's state (runtime/policy/placement/graphene.c).
 * */
#include "online/owed.h"

#include "policy/packing/packing.h"
#include "policy/select/deficits.h"
#include "policy/select/share.h"

static _Thread_local owed seen;
static bool counts_choices;

static void look(const clo_deficits *d)
{
    double bound = (double)(d->threshold + d->largest_grant) / (double)CLO_SHARE_ONE, most = 0;
    bool is_above = false;

    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++) {
        double mine = d->jobs[g] > 0 ? (double)d->owed[g] / (double)CLO_SHARE_ONE : 0;
        most = mine > most ? mine : most;
        is_above = is_above || (d->jobs[g] > 0 && d->owed[g] > d->threshold);
    }
    seen.has_risen = seen.has_risen || most > bound;
    seen.most = most > seen.most ? most : seen.most;
    seen.bound = bound > seen.bound ? bound : seen.bound;
    seen.above += is_above;
    seen.decided++;
}

/* Some executor can start an instance now. Asks only where there is room, as the policy itself does, so that nothing
 * changes (packing.h). */
static bool fits(const clo_view *view, clo_ready_stage ready)
{
    const clo_live_job *job = clo_view_job(view, ready.job);
    clo_candidate candidate = {.job = ready.job, .stage = ready.stage, .is_quiet = true};

    return job->running + job->committed < job->limit && clo_packing_place(view, &candidate, 65536);
}

/* Before the decision. Nothing is counted where nothing fits: then nothing starts. */
static void count_choices(const clo_view *view)
{
    uint32_t ready = 0, fit = 0;

    for (clo_ready_stage r = clo_view_first_ready(view); r.job != CLO_NONE; r = clo_view_next_ready(view, r)) {
        ready++;
        fit += fits(view, r);
    }
    seen.started += fit > 0;
    seen.ready += fit > 0 ? ready : 0;
    seen.fit += fit;
    seen.several += fit > 1;
}

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    if (counts_choices)
        count_choices(view);
    bool has_choice = clo_policy_find("graphene")->decide(state, view, choice);

    look(state);
    return has_choice;
}

const clo_policy *owed_policy(void)
{
    static clo_policy watched;
    static bool is_made;

    if (!is_made) { /* contenders are opened before the threads start */
        watched = *clo_policy_find("graphene");
        watched.decide = decide;
        is_made = true;
    }
    return &watched;
}

void owed_count_choices(void)
{
    counts_choices = true;
}

owed owed_take(void)
{
    owed taken = seen;

    seen = (owed){0};
    double started = taken.started > 0 ? (double)taken.started : 1;
    taken.ready /= started;
    taken.fit /= started;
    taken.several /= started;
    taken.above = taken.decided > 0 ? taken.above / (double)taken.decided : 0;
    return taken;
}
