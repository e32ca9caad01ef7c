/* plan/schedule/profile_nodes.h - how a profile lies in memory, and the way down to a step: for profile_search.c, which
 * searches, and profile_take.c, which changes it. */
#ifndef CLO_PLAN_SCHEDULE_PROFILE_NODES_H
#define CLO_PLAN_SCHEDULE_PROFILE_NODES_H

#include "plan/schedule/profile.h"

enum {
    /* Of a node. */
    CLO_PROFILE_ENTRIES = 64,
    /* Nodes are half full at least: 16^8 steps would fill 64 GiB. */
    CLO_PROFILE_LEVELS = 12,
    /* Words of an entry: a leaf's are its time and what is in use; an inner one's are these five. */
    CLO_PROFILE_TIME = 0,
    CLO_PROFILE_CHILD = 1,
    /* [CLO_PROFILE_WINDOWS] at most what any step below holds from itself on. */
    CLO_PROFILE_HELD = 2,
    CLO_PROFILE_NO_WINDOW = CLO_PROFILE_WINDOWS,
    /* Classes of what is left of a resource, half an octave each: see profile_search.c. Class 0 needs no set. */
    CLO_PROFILE_CLASSES = 16,
    /* Added to all below it, then the most, then the least in use: [lanes] each, the first included. */
    CLO_PROFILE_BELOW = CLO_PROFILE_HELD + CLO_PROFILE_WINDOWS
};

/* Where a search stands: a node and an entry on each level, leaves are level 0; room[l]: what may be in use by an entry
 * of level l, without what the levels above add to it, for the demand to fit. */
typedef struct clo_profile_path {
    uint32_t node[CLO_PROFILE_LEVELS], at[CLO_PROFILE_LEVELS];
    int64_t room[CLO_PROFILE_LEVELS][CLO_RESOURCES_MAX];
    /* The longest that is no longer than what is searched for; CLO_PROFILE_NO_WINDOW: all are longer. */
    uint32_t window;
    uint64_t packed;                     /* what may be in use of the machine, packed */
    uint32_t classes[CLO_RESOURCES_MAX]; /* [lanes] of what must be left */
} clo_profile_path;

static inline size_t clo_profile_words(const clo_profile *profile, uint32_t level)
{
    return level == 0 ? 1 + profile->lanes : CLO_PROFILE_BELOW + 3 * profile->lanes;
}

static inline int64_t *clo_profile_entry(const clo_profile *profile, uint32_t level, uint32_t node, uint32_t at)
{
    return profile->nodes[level > 0].words +
           ((size_t)node * CLO_PROFILE_ENTRIES + at) * clo_profile_words(profile, level);
}

static inline uint64_t *clo_profile_held(const clo_profile *profile, uint32_t node, uint32_t window, uint32_t at)
{
    return profile->nodes[0].held + ((size_t)node * CLO_PROFILE_WINDOWS + window) * CLO_PROFILE_ENTRIES + at;
}

/* The steps of a leaf, a bit each, from which on at least `class`, > 0, is left of a lane's resource. */
static inline uint64_t *clo_profile_left(const clo_profile *profile, uint32_t node, uint32_t window, uint32_t lane,
                                         uint32_t class)
{
    size_t sets = ((size_t)node * CLO_PROFILE_WINDOWS + window) * (CLO_PROFILE_CLASSES - 1) + class - 1;

    return profile->nodes[0].left + sets * profile->lanes + lane; /* a search asks for like classes of all lanes */
}

static inline size_t clo_profile_left_words(const clo_profile *profile)
{
    return (size_t)CLO_PROFILE_WINDOWS * profile->lanes * (CLO_PROFILE_CLASSES - 1);
}

static inline uint32_t *clo_profile_count(const clo_profile *profile, uint32_t level, uint32_t node)
{
    return &profile->nodes[level > 0].counts[node];
}

/* The most and the least in use in or below an entry, without what the levels above add. */
static inline const int64_t *clo_profile_most(const clo_profile *profile, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + CLO_PROFILE_BELOW + profile->lanes;
}

static inline const int64_t *clo_profile_least(const clo_profile *profile, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + CLO_PROFILE_BELOW + 2 * profile->lanes;
}

static inline void clo_profile_step_down(const clo_profile *profile, clo_profile_path *p, uint32_t level)
{
    const int64_t *entry = clo_profile_entry(profile, level, p->node[level], p->at[level]);

    for (uint32_t k = 0; k < profile->lanes; k++)
        p->room[level - 1][k] = p->room[level][k] - entry[CLO_PROFILE_BELOW + k];
    p->node[level - 1] = (uint32_t)entry[CLO_PROFILE_CHILD];
    p->at[level - 1] = 0;
}

/* To the last step with time <= time_ns; the first stands at 0, so there is one. */
static inline void clo_profile_descend(const clo_profile *profile, int64_t time_ns, const int64_t *demand,
                                       clo_profile_path *p)
{
    for (uint32_t k = 0; k < profile->lanes; k++)
        p->room[profile->height][k] =
            k < profile->counted_count ? profile->limits[profile->counted[k]] - demand[profile->counted[k]] : 0;
    p->node[profile->height] = profile->root;
    for (uint32_t level = profile->height;; level--) {
        uint32_t low = 0, high = *clo_profile_count(profile, level, p->node[level]);
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (clo_profile_entry(profile, level, p->node[level], middle)[CLO_PROFILE_TIME] <= time_ns)
                low = middle;
            else
                high = middle;
        }
        p->at[level] = low;
        if (level == 0)
            return;
        clo_profile_step_down(profile, p, level);
    }
}

/* Sets windows_ns, from the hints: 0 < shortest_ns <= longest_ns. */
void clo_profile_set_windows(clo_profile *profile);

#endif
