/* plan/graphene/space.h - what is free on each machine over a time without ends, where instances are placed from both
 * sides. */
#ifndef CLO_PLAN_GRAPHENE_SPACE_H
#define CLO_PLAN_GRAPHENE_SPACE_H

#include "plan/rcpsp/problem.h"

/* Where the first step of a machine begins; in the first and in the last one everything is free. */
#define CLO_SPACE_BEGIN (-INT64_MAX / 4)

typedef struct clo_space {
    const clo_rcpsp *problem;
    /* [machines] each with room for 2 * tasks + 2 */
    clo_rcpsp_steps *steps;
    /* [tasks] may be negative */
    int64_t *start_ns;
    /* [tasks] CLO_NONE: has no place */
    uint32_t *machine;
    /* [stages] the latest finish and the earliest start of the instances that have a place; INT64_MIN and INT64_MAX
     * without any */
    int64_t *last_ns, *first_ns;
    /* [placed_count] what has a place */
    uint32_t *placed;
    uint32_t placed_count;
    /* What is placed lies in between; both 0 of an empty space. */
    int64_t from_ns, to_ns;
    void *block;
} clo_space;

enum { CLO_SPACE_FORWARD = 0, CLO_SPACE_BACKWARD = 1 };

/* Safe to close after a failure. */
clo_status clo_space_open(clo_space *space, const clo_rcpsp *problem);
void clo_space_close(clo_space *space);
void clo_space_clear(clo_space *space);
void clo_space_copy(clo_space *to, const clo_space *from);

/* Places v behind those of its producers and before those of its consumers that have a place; forward: as early as that
 * goes, from the begin of the space on if there is no producer; backward: as late, until its end. Only forward where
 * no consumer, and backward where no producer has a place. Ties: the lower machine. */
void clo_space_place(clo_space *space, uint32_t v, int direction);

#endif
