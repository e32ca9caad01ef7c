/* generate/families.h - what the graph families produce: tasks and edges with relative weights; generate.c turns
 * weights into ns and bytes. Failures latch in `failed`, so a family is a plain sequence of calls. */
#ifndef CLO_GENERATE_FAMILIES_H
#define CLO_GENERATE_FAMILIES_H

#include "base/numbers/rng.h"
#include "graph/graph.h"

typedef struct clo_shape {
    clo_graph *graph;
    clo_rng rng;
    uint32_t tasks_wanted, width; /* width 0: the family's default            */
    uint32_t *weights;            /* [tasks] relative work                    */
    size_t weights_capacity;
    uint64_t weight_sum;
    clo_status failed; /* CLO_OK, or the first failure             */
} clo_shape;

/* Adds a task; the name is formatted. Returns its id. */
uint32_t clo_shape_task(clo_shape *shape, uint32_t weight, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds an edge; its bytes are `weight` until generate.c scales them. */
void clo_shape_edge(clo_shape *shape, uint32_t from, uint32_t to, uint32_t weight);

typedef struct clo_family {
    const char *name, *summary;
    void (*build)(clo_shape *shape);
} clo_family;

/* In the order of `clotho list families`; ends with a row of NULLs. */
extern const clo_family clo_families[];

#endif
