/* deficits.c - see deficits.h. */
#include "policy/select/deficits.h"

#include <assert.h>

void clo_deficits_join(clo_deficits *deficits, uint32_t group)
{
    if (deficits->jobs[group]++ > 0)
        return;
    deficits->groups++;
    deficits->owed[group] = 0;
}

void clo_deficits_rest(clo_deficits *deficits, uint32_t group)
{
    if (deficits->owed[group] > deficits->threshold)
        deficits->owed[group] = deficits->threshold;
}

void clo_deficits_leave(clo_deficits *deficits, uint32_t group)
{
    assert(deficits->jobs[group] > 0);
    if (--deficits->jobs[group] > 0)
        return;
    deficits->groups--;
    deficits->owed[group] = 0;
    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++)
        clo_deficits_rest(deficits, g);
}

uint32_t clo_deficits_choose(const clo_deficits *deficits, uint64_t fits)
{
    uint32_t most = CLO_NONE;
    bool is_above = false;

    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++) {
        is_above = is_above || (deficits->jobs[g] > 0 && deficits->owed[g] > deficits->threshold);
        if ((fits >> g & 1) != 0 && (most == CLO_NONE || deficits->owed[g] > deficits->owed[most]))
            most = g;
    }
    return is_above ? most : CLO_NONE;
}

void clo_deficits_grant(clo_deficits *deficits, uint32_t group, uint64_t fits, int64_t amount)
{
    int64_t part = deficits->groups > 0 ? amount / deficits->groups : 0, paid = 0;

    assert(amount >= 0 && group < CLO_DEFICIT_GROUPS);
    if (amount > deficits->largest_grant)
        deficits->largest_grant = amount;
    for (uint32_t g = 0; g < CLO_DEFICIT_GROUPS; g++)
        if (g != group && (fits >> g & 1) != 0) {
            deficits->owed[g] += part;
            paid += part;
        }
    deficits->owed[group] -= paid;
}
