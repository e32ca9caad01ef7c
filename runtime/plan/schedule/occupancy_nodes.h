/* plan/schedule/occupancy_nodes.h - how an occupancy lies in memory, and the way down to a step: for occupancy_search.c, which
 * searches, and occupancy_take.c, which changes it. */
#ifndef CLO_PLAN_SCHEDULE_OCCUPANCY_NODES_H
#define CLO_PLAN_SCHEDULE_OCCUPANCY_NODES_H

#include "plan/schedule/occupancy.h"

enum {
    /* Of a node. */
    CLO_OCCUPANCY_ENTRIES = 64,
    /* Nodes are half full at least: 16^8 steps would fill 64 GiB. */
    CLO_OCCUPANCY_LEVELS = 12,
    /* Words of an entry: a leaf's are its time and what is in use; an inner one's are these five. */
    CLO_OCCUPANCY_TIME = 0,
    CLO_OCCUPANCY_CHILD = 1,
    /* [CLO_OCCUPANCY_WINDOWS] at most what any step below holds from itself on. */
    CLO_OCCUPANCY_HELD = 2,
    CLO_OCCUPANCY_NO_WINDOW = CLO_OCCUPANCY_WINDOWS,
    /* Classes of what is left of a resource, half an octave each: see occupancy_search.c. Class 0 needs no set. */
    CLO_OCCUPANCY_CLASSES = 16,
    /* Added to all below it, then the most, then the least in use: [lanes] each, the first included. */
    CLO_OCCUPANCY_BELOW = CLO_OCCUPANCY_HELD + CLO_OCCUPANCY_WINDOWS
};

/* Where a search stands: a node and an entry on each level, leaves are level 0; room[l]: what may be in use by an entry
 * of level l, without what the levels above add to it, for the demand to fit. */
typedef struct clo_occupancy_path {
    uint32_t node[CLO_OCCUPANCY_LEVELS], at[CLO_OCCUPANCY_LEVELS];
    int64_t room[CLO_OCCUPANCY_LEVELS][CLO_RESOURCES_MAX];
    /* The longest that is no longer than what is searched for; CLO_OCCUPANCY_NO_WINDOW: all are longer. */
    uint32_t window;
    uint64_t packed;                     /* what may be in use of the machine, packed */
    uint32_t classes[CLO_RESOURCES_MAX]; /* [lanes] of what must be left */
} clo_occupancy_path;

static inline size_t clo_occupancy_words(const clo_occupancy *occupancy, uint32_t level)
{
    return level == 0 ? 1 + occupancy->lanes : CLO_OCCUPANCY_BELOW + 3 * occupancy->lanes;
}

static inline int64_t *clo_occupancy_entry(const clo_occupancy *occupancy, uint32_t level, uint32_t node, uint32_t at)
{
    return occupancy->nodes[level > 0].words +
           ((size_t)node * CLO_OCCUPANCY_ENTRIES + at) * clo_occupancy_words(occupancy, level);
}

static inline uint64_t *clo_occupancy_held(const clo_occupancy *occupancy, uint32_t node, uint32_t window, uint32_t at)
{
    return occupancy->nodes[0].held + ((size_t)node * CLO_OCCUPANCY_WINDOWS + window) * CLO_OCCUPANCY_ENTRIES + at;
}

/* The steps of a leaf, a bit each, from which on at least `class`, > 0, is left of a lane's resource. */
static inline uint64_t *clo_occupancy_left(const clo_occupancy *occupancy, uint32_t node, uint32_t window,
                                           uint32_t lane, uint32_t class)
{
    size_t sets = ((size_t)node * CLO_OCCUPANCY_WINDOWS + window) * (CLO_OCCUPANCY_CLASSES - 1) + class - 1;

    return occupancy->nodes[0].left + sets * occupancy->lanes + lane; /* a search asks for like classes of all lanes */
}

static inline size_t clo_occupancy_left_words(const clo_occupancy *occupancy)
{
    return (size_t)CLO_OCCUPANCY_WINDOWS * occupancy->lanes * (CLO_OCCUPANCY_CLASSES - 1);
}

static inline uint32_t *clo_occupancy_count(const clo_occupancy *occupancy, uint32_t level, uint32_t node)
{
    return &occupancy->nodes[level > 0].counts[node];
}

/* The most and the least in use in or below an entry, without what the levels above add. */
static inline const int64_t *clo_occupancy_most(const clo_occupancy *occupancy, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + CLO_OCCUPANCY_BELOW + occupancy->lanes;
}

static inline const int64_t *clo_occupancy_least(const clo_occupancy *occupancy, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + CLO_OCCUPANCY_BELOW + 2 * occupancy->lanes;
}

static inline void clo_occupancy_step_down(const clo_occupancy *occupancy, clo_occupancy_path *p, uint32_t level)
{
    const int64_t *entry = clo_occupancy_entry(occupancy, level, p->node[level], p->at[level]);

    for (uint32_t k = 0; k < occupancy->lanes; k++)
        p->room[level - 1][k] = p->room[level][k] - entry[CLO_OCCUPANCY_BELOW + k];
    p->node[level - 1] = (uint32_t)entry[CLO_OCCUPANCY_CHILD];
    p->at[level - 1] = 0;
}

/* To the last step with time <= time_ns; the first stands at 0, so there is one. */
static inline void clo_occupancy_descend(const clo_occupancy *occupancy, int64_t time_ns, const int64_t *demand,
                                         clo_occupancy_path *p)
{
    for (uint32_t k = 0; k < occupancy->lanes; k++)
        p->room[occupancy->height][k] =
            k < occupancy->counted_count ? occupancy->limits[occupancy->counted[k]] - demand[occupancy->counted[k]] : 0;
    p->node[occupancy->height] = occupancy->root;
    for (uint32_t level = occupancy->height;; level--) {
        uint32_t low = 0, high = *clo_occupancy_count(occupancy, level, p->node[level]);
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (clo_occupancy_entry(occupancy, level, p->node[level], middle)[CLO_OCCUPANCY_TIME] <= time_ns)
                low = middle;
            else
                high = middle;
        }
        p->at[level] = low;
        if (level == 0)
            return;
        clo_occupancy_step_down(occupancy, p, level);
    }
}

/* Sets windows_ns, from the hints: 0 < shortest_ns <= longest_ns. */
void clo_occupancy_set_windows(clo_occupancy *occupancy);

#endif
