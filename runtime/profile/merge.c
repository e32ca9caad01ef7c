/* merge.c - two entries of one key become one. The result does not depend on which of them is the first: where both are
 * equally young, the one with more samples counts as younger, then the one that took longer. */
#include "profile/merge.h"

#include "platform/model/platform.h"

static int64_t absolute(int64_t value)
{
    return value < 0 ? -value : value;
}

static bool is_younger(const clo_profile_entry *a, const clo_profile_entry *b)
{
    if (a->is_assumed != b->is_assumed) /* what was measured here beats the rest */
        return a->is_assumed < b->is_assumed;
    if (a->newest_s != b->newest_s)
        return a->newest_s > b->newest_s;
    if (a->samples != b->samples)
        return a->samples > b->samples;
    if (a->location_ns != b->location_ns)
        return a->location_ns > b->location_ns;
    return a->spread_ns > b->spread_ns;
}

/* Mean of two values, weighted by samples; rounded. */
static int64_t weigh(int64_t x, uint64_t nx, int64_t y, uint64_t ny)
{
    return (int64_t)(((clo_u128)(uint64_t)x * nx + (clo_u128)(uint64_t)y * ny + (nx + ny) / 2) / (nx + ny));
}

static bool agree(const clo_profile_entry *a, const clo_profile_entry *b)
{
    int64_t spread = a->spread_ns > b->spread_ns ? a->spread_ns : b->spread_ns;

    return a->is_assumed == b->is_assumed && absolute(a->location_ns - b->location_ns) <= 3 * spread;
}

clo_profile_entry clo_profile_merge(const clo_profile_entry *a, const clo_profile_entry *b)
{
    if (a->samples == 0 || b->samples == 0)
        return a->samples == 0 ? *b : *a;
    const clo_profile_entry *young = is_younger(a, b) ? a : b, *old = young == a ? b : a;
    bool takes_old = young->samples < CLO_PROFILE_TRUSTED && old->samples >= CLO_PROFILE_TRUSTED;
    clo_profile_entry merged = takes_old && !agree(a, b) ? *old : *young;

    merged.newest_s = a->newest_s > b->newest_s ? a->newest_s : b->newest_s;
    merged.most_ns = a->most_ns > b->most_ns ? a->most_ns : b->most_ns;
    merged.level_changes =
        a->level_changes + b->level_changes < a->level_changes ? UINT32_MAX : a->level_changes + b->level_changes;
    if (!agree(a, b))
        return merged;
    merged.location_ns = weigh(a->location_ns, a->samples, b->location_ns, b->samples);
    merged.spread_ns = weigh(a->spread_ns, a->samples, b->spread_ns, b->samples);
    merged.mean_ns = a->mean_ns > 0 && b->mean_ns > 0 ? weigh(a->mean_ns, a->samples, b->mean_ns, b->samples)
                                                      : a->mean_ns + b->mean_ns;
    merged.high_ns = weigh(a->high_ns, a->samples, b->high_ns, b->samples);
    merged.samples = a->samples + b->samples;
    return merged;
}
