/* engine/state/least.h - of each resource the least that any listed stage of a job demands: a tree of minima over the
 * stages.
 *
 * Where less than that is left on a machine nothing of the job fits there, and nobody need look at each stage. Only
 * resources that the job demands have a column. */
#ifndef CLO_ENGINE_STATE_LEAST_H
#define CLO_ENGINE_STATE_LEAST_H

#include "base/carve.h"
#include "cost/cost.h"

typedef struct clo_least {
    int64_t *nodes;                      /* [2 * leaves * columns]; 1 is the root, leaves + s the stage s */
    uint32_t leaves, columns;            /* a power of two */
    uint8_t resource[CLO_RESOURCES_MAX]; /* [columns] rising, by the platform's number */
} clo_least;

/* Adds what the tree for the graph of `cost` needs; nothing if nobody demands anything that the platform names. */
void clo_least_carve(clo_least *least, const clo_cost *cost, clo_block *block);

/* Nothing is listed. O(stages). */
void clo_least_clear(clo_least *least);

/* The stage is listed and demands so much of each resource of the platform; NULL: it is not listed any more.
 * O(columns * log stages). */
void clo_least_set(clo_least *least, uint32_t stage, const int64_t *demand);

/* What any listed stage demands of the resource of a column; INT64_MAX: nothing is listed. */
static inline int64_t clo_least_of(const clo_least *least, uint32_t column)
{
    return least->nodes[least->columns + column];
}

#endif
