/* peer.c - makes a peer ready, and checks that it keeps the order. */
#include "peers/peer.h"

#include <stdio.h>

void *peer_make(const peer *p, bench_graph *g, uint32_t workers)
{
    void *state = p->open(g, workers);

    if (state == NULL)
        return NULL;
    if ((p->build == NULL || p->build(state)) && (p->prepare == NULL || p->prepare(state)))
        return state;
    p->close(state);
    return NULL;
}

bool peer_check(const peer *p, bench_graph *g, uint32_t workers)
{
    bench_body kept = g->body;
    void *state;
    bool is_right;

    bench_graph_reset(g);
    g->body = bench_visit;
    state = peer_make(p, g, workers);
    is_right = state != NULL && p->run(state) && p->run(state) && bench_graph_is_right(g, 2);
    if (state != NULL)
        p->close(state);
    g->body = kept;
    if (!is_right)
        fprintf(stderr, "bench: %s with %u workers does not run %s in order\n", p->name, workers, g->name);
    return is_right;
}
