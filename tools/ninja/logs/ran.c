/* ran.c - see ran.h. The manifest is read anew for each phase, so what is kept are paths. */
#include "ninja/logs/ran.h"

#include <stdlib.h>

static int by_hash(const void *a, const void *b)
{
    const ran_output *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

bool ran_keep(ran_steps *r, ninja_manifest *m)
{
    for (size_t n = 0; n < m->nodes_count; n++) {
        const ninja_node *node = &m->nodes[n];
        const ninja_edge *edge = node->producer != NINJA_NONE ? &m->edges[node->producer] : NULL;
        if (edge == NULL || !(edge->has_run || edge->has_failed))
            continue;
        ran_output *grown = array_grow(r->outputs, &r->capacity, r->count + 1, sizeof *grown);
        if (grown == NULL)
            return ninja_no_memory(m);
        r->outputs = grown;
        r->outputs[r->count++] = (ran_output){murmur64(node->path, node->bytes), node->is_dirty, edge->has_failed};
    }
    if (r->count > 0)
        qsort(r->outputs, r->count, sizeof *r->outputs, by_hash);
    return true;
}

const ran_output *ran_find(const ran_steps *r, const ninja_node *node)
{
    if (r->count == 0)
        return NULL;
    const ran_output wanted = {murmur64(node->path, node->bytes), false, false};
    return bsearch(&wanted, r->outputs, r->count, sizeof wanted, by_hash);
}

void ran_free(ran_steps *r)
{
    free(r->outputs);
    *r = (ran_steps){0};
}
