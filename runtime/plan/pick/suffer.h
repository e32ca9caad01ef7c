/* plan/pick/suffer.h - what a ready task with demands may suffer at most, told without a search of the capacities.
 *
 * Sufferage is the second end less the first one. The first end is no earlier than the first time at which so much is
 * free as the task demands lets it be: that time only moves back, by the few steps of the machine's profile that are
 * new. The second end is no later than in two holes on two executors: holes in which a task was found before, and all
 * that demands no more and takes no longer has room too. So most tasks are left out by some comparisons each. For
 * platforms of one machine. */
#ifndef CLO_PLAN_PICK_SUFFER_H
#define CLO_PLAN_PICK_SUFFER_H

#include "plan/pick/ready_box.h"

#define CLO_SUFFER_STEPS 128u
#define CLO_SUFFER_HOLES 32u

/* From begin_ns to end_ns so much is free, and from begin_ns on the executor too. */
typedef struct clo_suffer_hole {
    int64_t begin_ns, end_ns;
    int64_t room[CLO_RESOURCES_MAX]; /* of the machine's counted resources */
    uint32_t executor;
    uint32_t hits; /* tasks that it helped to leave out, in this pick */
} clo_suffer_hole;

typedef struct clo_suffer {
    clo_profile_step steps[CLO_SUFFER_STEPS]; /* [steps_count] the last ones of the profile */
    uint32_t steps_count;
    int64_t from_ns; /* where they begin */
    clo_suffer_hole holes[CLO_SUFFER_HOLES];
    uint32_t order[CLO_SUFFER_HOLES]; /* [holes_count] of `holes`, those that left out most in the last pick first */
    uint32_t holes_count;
} clo_suffer;

/* Before each pick. */
void clo_suffer_begin(clo_suffer *suffer, const clo_ready_tree *tree);

/* True if the task of an entry that was looked at before cannot reach `score` any more, or only as a later instance
 * than `instance`. */
bool clo_suffer_loses(clo_suffer *suffer, const clo_ready_tree *tree, clo_ready_entry *entry, int64_t score,
                      uint32_t instance);

/* Takes in what a look at an entry has found. */
void clo_suffer_learn(clo_suffer *suffer, const clo_ready_tree *tree, const clo_ready_entry *entry);

#endif
