/* peer_openmp.c - OpenMP tasks with `depend`. OpenMP discovers the graph while it runs it, so there is nothing to build
 * before and everything to build again for every run. */
#include "peers/peer_tables.h"

#ifdef _OPENMP
#include <stdlib.h>

typedef struct openmp {
    bench_graph *graph;
    uint32_t workers;
    char *slots; /* [tasks] the storage that the dependences name */
} openmp;

static void *open_slots(bench_graph *graph, uint32_t workers)
{
    openmp *o = calloc(1, sizeof *o);

    if (o == NULL)
        return NULL;
    *o = (openmp){graph, workers, calloc(graph->tasks, 1)};
    if (o->slots != NULL)
        return o;
    free(o);
    return NULL;
}

static void close_slots(void *state)
{
    openmp *o = state;

    free(o->slots);
    free(o);
}

/* A function of its own: the list of dependences is put on the stack and stays there until the caller returns. */
__attribute__((noinline)) static void create(const openmp *o, uint32_t t)
{
    bench_graph *g = o->graph;
    char *slots = o->slots;

    (void)slots; /* named by the dependences only */
#pragma omp task depend(iterator(uint32_t e = g->pred_first[t] \
                                 : g->pred_first[t + 1]),      \
                        in                                     \
                        : slots[g->pred[e]]) depend(out        \
                                                    : slots[t]) firstprivate(g, t)
    g->body(g, t);
}

static bool run(void *state)
{
    const openmp *o = state;

#pragma omp parallel num_threads((int)o->workers)
#pragma omp single
    for (uint32_t t = 0; t < o->graph->tasks; t++)
        create(o, t);
    return true;
}

/* Which of the two: libgomp, or the one that comes with clang. */
#ifdef __clang__
#define NAME "libomp tasks"
#define LOOP_NAME "libomp taskloop, grain 500"
#else
#define NAME "libgomp tasks"
#define LOOP_NAME "libgomp taskloop, grain 500"
#endif

#ifdef __clang__ /* about what the compiler makes of the loop itself */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wsign-conversion"
#pragma clang diagnostic ignored "-Wshorten-64-to-32"
#endif
static bool run_loop(void *state)
{
    const openmp *o = state;
    bench_graph *g = o->graph;

#pragma omp parallel num_threads((int)o->workers)
#pragma omp single
#pragma omp taskloop grainsize(PEER_LOOP_GRAIN)
    for (uint32_t t = 0; t < g->tasks; t++)
        g->body(g, t);
    return true;
}

#ifdef __clang__
#pragma clang diagnostic pop
#endif

const peer loops_openmp[] = {{LOOP_NAME, 0, false, open_slots, NULL, NULL, run_loop, close_slots, NULL}, {0}};
const peer peers_openmp[] = {{NAME, 0, true, open_slots, NULL, NULL, run, close_slots, NULL}, {0}};
#else
const peer loops_openmp[] = {{0}};
const peer peers_openmp[] = {{0}};
#endif
