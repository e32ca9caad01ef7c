/* plan/graphene/parts.h - the parts of a graph between its barriers, and for each part the candidates of troublesome
 * stages. Stages are the tasks of a graph, the paper's tasks their instances. */
#ifndef CLO_PLAN_GRAPHENE_PARTS_H
#define CLO_PLAN_GRAPHENE_PARTS_H

#include "plan/rcpsp/problem.h"

/* What a stage is to the troublesome ones of a candidate, after closure. */
typedef enum clo_subset {
    CLO_SUBSET_OTHER,
    CLO_SUBSET_TROUBLE,
    CLO_SUBSET_PARENT, /* an ancestor of a troublesome one */
    CLO_SUBSET_CHILD,  /* a descendant                     */
} clo_subset;

/* The stages between two barriers. */
typedef struct clo_part {
    /* Of clo_parts.members. */
    uint32_t first, last;
    /* First and count, at least one. */
    uint32_t candidate, candidates;
} clo_part;

typedef struct clo_parts {
    const clo_rcpsp *problem;
    /* [stages] part by part, in topological order */
    uint32_t *members;
    /* [stages] index in members */
    uint32_t *place_of;
    /* [count] */
    clo_part *parts;
    uint32_t count, candidates;
    /* Those of one candidate after the other, by place in the part. */
    uint8_t *subsets;
    /* [candidates] where in subsets */
    size_t *subsets_from;
    /* [stages] time / longest time of the part: LongScore */
    uint32_t *long_q16;
    /* [stages] work / time when it is packed alone: FragScore */
    uint32_t *frag_q16;
    void *block;
} clo_parts;

/* Cuts the graph at its barriers and finds the candidates. Safe to close after a failure. */
clo_status clo_parts_open(clo_parts *parts, const clo_rcpsp *problem);
void clo_parts_close(clo_parts *parts);

#endif
