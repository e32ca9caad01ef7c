/* peer_serial.c - the floor: counters and a stack in one thread, nothing else. */
#include "peers/peer_tables.h"

#include <stdlib.h>

typedef struct serial {
    bench_graph *graph;
    uint32_t *counts, *stack;
} serial;

static void close_arrays(void *state)
{
    serial *s = state;

    free(s->counts);
    free(s->stack);
    free(s);
}

static void *open_arrays(bench_graph *graph, uint32_t workers)
{
    serial *s = calloc(1, sizeof *s);

    (void)workers;
    if (s == NULL)
        return NULL;
    *s = (serial){graph, calloc(graph->tasks, sizeof(uint32_t)), calloc(graph->tasks, sizeof(uint32_t))};
    if (s->counts != NULL && s->stack != NULL)
        return s;
    close_arrays(s);
    return NULL;
}

static bool run(void *state)
{
    serial *s = state;
    bench_graph *g = s->graph;
    uint32_t top = 0;

    for (uint32_t t = g->tasks; t-- > 0;) {
        s->counts[t] = g->pred_first[t + 1] - g->pred_first[t];
        if (s->counts[t] == 0)
            s->stack[top++] = t;
    }
    while (top > 0) {
        uint32_t task = s->stack[--top];

        g->body(g, task);
        for (uint32_t e = g->succ_first[task]; e < g->succ_first[task + 1]; e++)
            if (--s->counts[g->succ[e]] == 0)
                s->stack[top++] = g->succ[e];
    }
    return true;
}

const peer peers_serial[] = {{"serial floor", 1, false, open_arrays, NULL, NULL, run, close_arrays, NULL}, {0}};
