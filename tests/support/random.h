/* random.h - seeded random graphs and platforms for property tests.
 *
 * random_graph(s, f) always runs on random_platform(s, g), whatever the features f and g: every task keeps a home
 * executor that its mask, its kinds and its demand allow. Same arguments, same result, on every machine. Both never
 * return NULL (a failure fails the test); destroy what you get. */
#ifndef CLO_TEST_RANDOM_H
#define CLO_TEST_RANDOM_H

#include <clotho/graph.h>
#include <clotho/platform.h>

enum {
    RANDOM_INSTANCES = 1, /* some tasks have 2..5 instances                                       */
    RANDOM_DEMANDS = 2,   /* graph: demands on up to 3 resources; platform: finite capacities      */
    RANDOM_MASKS = 4,     /* some tasks are restricted, by a mask or to a set with executors from 64 on */
    RANDOM_KINDS = 8,     /* some tasks have times of their own for kinds, CLO_TIME_NEVER and kind bodies among them */
    RANDOM_OUTPUTS = 16,  /* tasks have output buffers of up to 512 bytes                          */
    RANDOM_DUPLICABLE = 32, /* two of three tasks are duplicable                                    */
    RANDOM_NO_BYTES = 64,   /* edges carry nothing                                                  */
    RANDOM_SMALL = 128,     /* graph: at most 12 tasks                                              */
    RANDOM_UNNAMED = 256,   /* graph: no task names                                                 */
    RANDOM_STAGES = 512,    /* graph: at most 14 tasks, three of four with 2..24 instances          */
    RANDOM_GRAIN = 1024,    /* random DAGs: tasks of many instances have some more, and a grain      */
    RANDOM_HANDLES = 2048,  /* random DAGs: up to 6 handles, used by most tasks in every way; edges follow the ids */
    RANDOM_BRANCHES = 4096, /* random DAGs: a quarter of the tasks are branches where they can be, some tasks are
                               merges, and one of two has a loop                                    */
    RANDOM_UNTIMED = 8192,  /* with RANDOM_KINDS: some tasks have no work, only times for some kinds  */
    RANDOM_ALL = 63
};

/* A sealed graph of 1..120 tasks, work 0..20 us, body clo_body_spin: any generated family, or a random DAG
 * whose ids are not in topological order. With features only random DAGs carry them, so 2 of 3 seeds give one. */
clo_graph *random_graph(uint64_t seed, unsigned features);

/* 1..12 executors on 1..2 machines, 1..3 kinds ("k0" ...), 1..12 memories, asymmetric links, some of them free,
 * speeds from 1/4 to 2. Takes RANDOM_DEMANDS only. */
clo_platform *random_platform(uint64_t seed, unsigned features);

#endif
