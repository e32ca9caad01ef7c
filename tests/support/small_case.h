/* small_case.h - seeded small problems that hold everything a planner must reckon with at once: tasks of 0 ns, demands,
 * instances and grains, placement, replicas allowed or not, unlike executors, machines, memories, links of every kind,
 * ports. Same seed and features, same problem, on every machine. */
#ifndef CLO_TEST_SMALL_CASE_H
#define CLO_TEST_SMALL_CASE_H

#include <clotho/cost.h>

#include <stdbool.h>

enum {
    SMALL_PORTS = 1, /* machines have ports */
    SMALL_WIDE = 2   /* one problem of eight has up to 300 executors, others up to 8; else 6 */
};

typedef struct small_case {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost; /* NULL: some task can run nowhere; the problem is none */
    bool no_duplicates;
} small_case;

small_case small_case_new(uint64_t seed, unsigned features);
void small_case_drop(small_case *c);

#endif
