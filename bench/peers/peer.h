/* peer.h - one way to run a graph, as the benchmarks see it. */
#ifndef CLO_BENCH_PEER_H
#define CLO_BENCH_PEER_H

#include "common/graphs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
    const char *name;
    uint32_t workers_max; /* 0: any number */
    bool is_slow;         /* a microsecond a task and more, or a cost that grows with the square of a fan: gets smaller
                             graphs */
    /* What a program pays once, whatever it runs: the machine is read, threads start. Not timed. NULL on failure. */
    void *(*open)(bench_graph *graph, uint32_t workers);
    /* Declares tasks and edges. May be NULL. False on failure, as below. */
    bool (*build)(void *state);
    /* What this graph costs once before its first run: costs, plan, counters. May be NULL. */
    bool (*prepare)(void *state);
    /* Runs the whole graph once; called again and again. */
    bool (*run)(void *state);
    void (*close)(void *state);
    /* Gives back what build and prepare made, so that they may be called again; what open made stays. NULL: they leave
     * nothing. */
    void (*drop)(void *state);
} peer;

/* open, build and prepare; NULL on failure. */
void *peer_make(const peer *p, bench_graph *graph, uint32_t workers);
/* Runs the graph twice with bodies that check the order; complains and returns false if it was broken. */
bool peer_check(const peer *p, bench_graph *graph, uint32_t workers);

#ifdef __cplusplus
}
#endif
#endif
