/* pairs.h - the instances of a graph and what passes between each two of them, expanded from the public calls: for tests
 * that judge by brute force. */
#ifndef CLO_TEST_PAIRS_H
#define CLO_TEST_PAIRS_H

#include "support.h"

/* Both lists by instance: task after task, as the library numbers them. */
typedef struct test_pairs {
    uint32_t instances, count;
    /* [tasks + 1] */
    uint32_t *first_instance;
    /* [instances] */
    uint32_t *task_of;
    /* [instances + 1], [count]: what comes before an instance, in the order of the edges; the bytes of that pair */
    uint32_t *before_first, *before;
    uint64_t *bytes;
    /* [instances + 1], [count]: what comes after an instance */
    uint32_t *after_first, *after;
} test_pairs;

/* Of a sealed graph, small enough for it. */
test_pairs pairs_of(const clo_graph *graph);
void pairs_free(test_pairs *p);

#endif
