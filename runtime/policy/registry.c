/* registry.c - policies by name. The default, steal, is first. */
#include "policy/registry.h"

#include "base/status.h"
#include "policy/select/policies.h"

#include <string.h>

static const clo_policy *const policies[] = {
    &clo_policy_steal,
    &clo_policy_fifo,
    &clo_policy_fair,
    &clo_policy_rank,
    &clo_policy_eft,
    &clo_policy_deft,
    &clo_policy_edf,
    &clo_policy_wfair,
    &clo_policy_sjf,
    &clo_policy_sjf_cp,
    &clo_policy_hrrn,
    &clo_policy_drf,
    &clo_policy_tetris,
    &clo_policy_graphene,
    &clo_policy_graphene_star,
    &clo_policy_capacity,
    &clo_policy_replan,
    &clo_policy_parametric,
    &clo_policy_decima_fifo,
    &clo_policy_decima_fair,
    &clo_policy_decima_wfair,
    &clo_policy_decima,
    &clo_policy_auto,
    &clo_policy_wspt,
    &clo_policy_strict_sjf,
    &clo_policy_easy_sjf,
    &clo_policy_follow,
    &clo_policy_mdd,
    &clo_policy_synchpack_1,
    &clo_policy_synchpack_2,
    &clo_policy_synchpack_3,
    &clo_policy_psrs,
    &clo_policy_tetris_weighted,
    &clo_policy_jsq_maxweight,
    &clo_policy_easy_parametric,
    &clo_policy_conservative_sjf,
    NULL,
};

/* A list of their own. A decision of "lachesis" looks at every candidate, so what bounds the turns of all
 * policies of the list does not hold for it; "residual" without an argument needs a built-in model. */
static const clo_policy *const learned[] = {&clo_policy_lachesis, &clo_policy_residual, &clo_policy_easy_residual,
                                            NULL};

CLO_REGISTRY_ROW(clo_policy);
const clo_registry clo_policies = {.name = "policies", .rows = policies};
const clo_registry clo_learned_policies = {.name = "learned", .rows = learned};

static const clo_policy *find(const clo_policy *const *list, const char *name)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

const clo_policy *clo_policy_find(const char *name)
{
    if (name == NULL) {
        (void)clo_fail_null("clo_policy_find", "name");
        return NULL;
    }
    const clo_policy *policy = find(policies, name);
    if (policy == NULL)
        policy = find(learned, name);
    if (policy == NULL)
        (void)clo_fail(CLO_ERR_ARGUMENT, "unknown policy '%.100s'; `clotho list policies` shows their names", name);
    return policy;
}
