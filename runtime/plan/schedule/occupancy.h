/* plan/schedule/occupancy.h - how much of a machine's shared capacities is in use over time.
 *
 * A step function: steps are sorted by time, the first stands at 0, each holds until the next one, the last for ever
 * and with nothing in use. The steps lie in the leaves of a B+ tree. Each entry above them keeps the most and the least
 * that is in use below it, and what has been added to all of it, so a search passes what is full or free as a whole and
 * a reservation touches two paths: O(log steps) each, but for steps that are free and too short, which are passed one
 * by one. A step that once was found so is remembered with what holds it back, which can only become more, and passed
 * by one comparison, and so is a leaf, by the least of each resource that its steps hold, and by sets of the steps that
 * leave so much of each: searches write down what they find, so no two at once. Kept only for graphs with demands. */
#ifndef CLO_PLAN_SCHEDULE_OCCUPANCY_H
#define CLO_PLAN_SCHEDULE_OCCUPANCY_H

#include "library.h"
#include <clotho/graph.h>

#define CLO_OCCUPANCY_WINDOWS 4

/* Nodes of one kind, leaves or inner ones. */
typedef struct clo_occupancy_nodes {
    int64_t *words;   /* [capacity * entries of a node * words of an entry] */
    uint32_t *counts; /* [capacity] entries in use */
    uint64_t *held;   /* of leaves: [capacity * windows * entries of a node], see occupancy_search.c; else NULL */
    uint64_t *left;   /* of leaves: [capacity] sets of their entries, see occupancy_search.c; else NULL */
    uint32_t count, capacity;
} clo_occupancy_nodes;

typedef struct clo_occupancy {
    int64_t limits[CLO_RESOURCES_MAX]; /* in the graph's order of resources; < 0: unlimited */
    /* The limited resources; those that are not are never counted: a sum might overflow. */
    uint32_t counted[CLO_RESOURCES_MAX], counted_count;
    uint32_t lanes;                     /* 4 or 8: words kept for them; the rest are 0 */
    uint32_t shifts[CLO_RESOURCES_MAX]; /* of the counted: from an amount to its field in a word of `held` */
    /* Of the counted: the limit as a field, and its half octave, see occupancy_search.c. */
    uint64_t wholes[CLO_RESOURCES_MAX];
    uint32_t tops[CLO_RESOURCES_MAX];
    /* Before clo_occupancy_open: how long something takes at least and at most, so that windows lie between; both 0: as
     * the first amount that is taken. No more than a hint. */
    int64_t shortest_ns, longest_ns;
    int64_t
        windows_ns[CLO_OCCUPANCY_WINDOWS]; /* rising lengths for which a leaf remembers what is in use from a step on */
    clo_occupancy_nodes nodes[2];          /* leaves, inner nodes */
    uint32_t root, height;                 /* of inner levels; without any the root is a leaf */
    uint64_t *looks; /* counts what searches look at: leaves, and starts in them; NULL: nobody asks */
} clo_occupancy;

/* What is free from time_ns on, until the next step begins: of the counted resources. */
typedef struct clo_occupancy_step {
    int64_t time_ns;
    int64_t free[CLO_RESOURCES_MAX];
} clo_occupancy_step;

static inline void clo_occupancy_count_look(const clo_occupancy *occupancy)
{
    if (occupancy->looks != NULL)
        ++*occupancy->looks;
}

/* Before anything else, with `limits` and the hints set, all else 0. */
void clo_occupancy_open(clo_occupancy *occupancy);

/* The earliest start >= start_ns from which `demand`, which fits an empty machine, fits for duration_ns; or
 * something not below latest_ns, if that start is not below it either. */
CLO_INTERNAL int64_t clo_occupancy_earliest_ns(const clo_occupancy *occupancy, int64_t start_ns, int64_t duration_ns,
                                               int64_t latest_ns, const int64_t *demand);

/* Reads at most `max` steps, from the one that holds at from_ns on. Returns how many there were: if fewer than `max`,
 * the last one holds for ever. */
CLO_INTERNAL uint32_t clo_occupancy_read(const clo_occupancy *occupancy, int64_t from_ns, clo_occupancy_step *steps,
                                         uint32_t max);

/* The least that is free in [from_ns, to_ns), of each counted resource; with a demand, which fits at from_ns, no longer
 * than it fits. Returns the end. O(log steps + steps between). */
CLO_INTERNAL int64_t clo_occupancy_least_free(const clo_occupancy *occupancy, int64_t from_ns, int64_t to_ns,
                                              const int64_t *demand, int64_t *room);

/* Takes `demand` during [start_ns, finish_ns), where it fits. Returns 0, or -1 if there is no memory. */
int clo_occupancy_take(clo_occupancy *occupancy, int64_t start_ns, int64_t finish_ns, const int64_t *demand);

void clo_occupancy_clear(clo_occupancy *occupancy); /* forgets what is taken, keeps limits and memory */
void clo_occupancy_free(clo_occupancy *occupancy);

#endif
