/* owed.c - see owed.h. The deficits are the first member of the policy's state (runtime/policy/graphene.c). */
#include "online/owed.h"

#include "policy/deficits.h"
#include "policy/share.h"

static _Thread_local owed seen;

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

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
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

owed owed_take(void)
{
    owed taken = seen;

    seen = (owed){0};
    taken.above = taken.decided > 0 ? taken.above / (double)taken.decided : 0;
    return taken;
}
