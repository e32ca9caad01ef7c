/* peers.h - one way to run a graph, as the benchmark sees it. */
#ifndef CLO_BENCH_PEERS_H
#define CLO_BENCH_PEERS_H

#include "graphs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
    const char *name;
    uint32_t workers;
    /* Declares tasks and edges. NULL on failure. */
    void *(*build)(bench_graph *graph, uint32_t workers);
    /* What a program pays once, whatever it runs: the machine is read, threads start. Not timed. May be NULL. */
    bool (*start)(void *state);
    /* What this graph costs once before its first run: costs, plan, counters. May be NULL. False on failure. */
    bool (*prepare)(void *state);
    /* Runs the whole graph once; called again and again. False on failure. */
    bool (*run)(void *state);
    void (*destroy)(void *state);
} peer;

/* Tables end with a row whose name is NULL; the second and third are empty where the peer is not installed. */
extern const peer peers_clotho[], peers_openmp[], peers_tbb[], peers_serial[];

#ifdef __cplusplus
}
#endif
#endif
