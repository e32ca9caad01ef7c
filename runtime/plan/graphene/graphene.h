/* plan/graphene/graphene.h - shared by the files of Graphene: Grandl et al., "Graphene: Packing and dependency-aware scheduling
 * for data-parallel clusters", OSDI 2016, section 4. Stages are the tasks of a graph, the paper's tasks their
 * instances.
 *
 * graphene_space.c  an empty space of resources over time without ends, where instances are placed from both sides
 * graphene_parts.c  stages of a part between barriers, their scores, candidates of troublesome stages
 * graphene_place.c  BuildSchedule for one candidate: the orders of the four subsets
 * graphene.c        all candidates on threads, and the planners */
#ifndef CLO_PLAN_GRAPHENE_H
#define CLO_PLAN_GRAPHENE_H

#include "plan/rcpsp/problem.h"

/* Shares of the machines over all time: the first step begins at CLO_SPACE_BEGIN, in the last everything is free. */
#define CLO_SPACE_BEGIN (-INT64_MAX / 4)

typedef struct clo_space {
    const clo_rcpsp *problem;
    clo_rcpsp_steps *steps; /* [machines] each with room for 2 * tasks + 2               */
    int64_t *start_ns;     /* [tasks] may be negative                                   */
    uint32_t *machine;     /* [tasks] CLO_NONE: has no place                            */
    uint32_t *placed;      /* [placed_count] what has a place                           */
    uint32_t placed_count;
    int64_t from_ns, to_ns; /* what is placed lies in between; both 0 of an empty one   */
    void *block;
} clo_space;

enum { CLO_SPACE_FORWARD = 0, CLO_SPACE_BACKWARD = 1 };

clo_status clo_space_open(clo_space *space, const clo_rcpsp *problem);
void clo_space_close(clo_space *space);
void clo_space_clear(clo_space *space);
void clo_space_copy(clo_space *to, const clo_space *from);

/* Places v behind those of its producers and before those of its consumers that have a place; forward: as early as that
 * goes, from the begin of the space on if there is no producer; backward: as late, until its end. Only forward where
 * no consumer, and backward where no producer has a place. Ties: the lower machine. */
void clo_space_place(clo_space *space, uint32_t v, int direction);

/* What a stage is to the troublesome ones of a candidate, after closure. */
typedef enum clo_subset {
    CLO_SUBSET_OTHER,
    CLO_SUBSET_TROUBLE,
    CLO_SUBSET_PARENT, /* an ancestor of a troublesome one */
    CLO_SUBSET_CHILD,  /* a descendant                     */
} clo_subset;

/* The stages between two barriers. */
typedef struct clo_part {
    uint32_t first, last;           /* of clo_parts.members             */
    uint32_t candidate, candidates; /* first and count, at least one    */
} clo_part;

typedef struct clo_parts {
    const clo_rcpsp *problem;
    uint32_t *members;  /* [stages] part by part, in topological order                             */
    uint32_t *place_of; /* [stages] index in members                                               */
    clo_part *parts;    /* [count]                                                                 */
    uint32_t count, candidates;
    uint8_t *subsets;     /* those of one candidate after the other, by place in the part          */
    size_t *subsets_from; /* [candidates] where in subsets                                         */
    uint32_t *long_q16;   /* [stages] time / longest time of the part: LongScore                   */
    uint32_t *frag_q16;   /* [stages] work / time when it is packed alone: FragScore               */
    void *block;
} clo_parts;

/* Cuts the graph at its barriers and finds the candidates. */
clo_status clo_parts_open(clo_parts *parts, const clo_rcpsp *problem);
void clo_parts_close(clo_parts *parts);

/* The scratch of one thread, and the best it found for the part at hand. */
typedef struct clo_graphene {
    const clo_parts *parts;
    clo_space work, trouble, best;
    int64_t best_ns; /* INT64_MAX: nothing yet */
    uint32_t best_round;
    bool by_way; /* of the round at hand */
    clo_heap heap;
    uint32_t *waits_for; /* [tasks] */
    void *block;
} clo_graphene;

/* Safe to close after a failure. */
clo_status clo_graphene_open(clo_graphene *graphene, const clo_parts *parts);
void clo_graphene_close(clo_graphene *graphene);

/* Forgets what was found for the part before. */
void clo_graphene_begin(clo_graphene *graphene);

/* Tries all orders of the subsets of one candidate; keeps what is shorter than the best so far. Rounds 0 ..
 * candidates - 1: the paper's, inside a subset the longest time goes first; the next `candidates` rounds: the
 * longest way, our addition. */
void clo_graphene_build(clo_graphene *graphene, const clo_part *part, uint32_t round);

#endif
