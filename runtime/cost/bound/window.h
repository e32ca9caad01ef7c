/* cost/bound/window.h - what the ancestors and the descendants of a task need together. */
#ifndef CLO_COST_BOUND_WINDOW_H
#define CLO_COST_BOUND_WINDOW_H

#include "cost/bound/work.h"

/* Scratch, and what is to be looked at. */
typedef struct clo_bound_sets {
    /* [tasks * words] a bit for each ancestor, or descendant */
    uint64_t *before;
    /* [tasks] */
    uint32_t *list;
    uint32_t words;
    /* Of what work->use is about; above 0. */
    uint64_t capacity;
    int64_t grid_ns;
} clo_bound_sets;

/* Raises work->head and tail: for work->use. */
void clo_bound_tighten(const clo_bound_work *work, const clo_bound_sets *sets);

#endif
