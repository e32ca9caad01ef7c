/* registry.c - policies by name. The default, steal, is first. */
#include "policy/policies.h"

#include <string.h>

static const clo_policy *const policies[] = {
    &clo_policy_steal,
    &clo_policy_fifo,
    &clo_policy_rank,
    &clo_policy_eft,
};

const clo_policy *clo_policy_at(uint32_t index)
{
    return index < sizeof policies / sizeof policies[0] ? policies[index] : NULL;
}

const clo_policy *clo_policy_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (uint32_t i = 0; clo_policy_at(i) != NULL; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}
