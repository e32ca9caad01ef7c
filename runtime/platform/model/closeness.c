/* closeness.c - see closeness.h. */
#include "platform/model/closeness.h"

#include <string.h>

clo_closeness clo_closeness_of(const clo_platform *p, uint32_t a, uint32_t b)
{
    if (p->places == NULL)
        return CLO_UNPLACED;
    const clo_place *x = &p->places[a], *y = &p->places[b];
    if (x->outside || y->outside)
        return CLO_TO_ACCELERATOR;
    if (x->core == y->core)
        return CLO_SAME_CORE;
    if (x->cluster == y->cluster)
        return CLO_SAME_CLUSTER;
    return x->package == y->package ? CLO_SAME_PACKAGE : CLO_ACROSS_PACKAGES;
}

const char *clo_closeness_name(clo_closeness closeness)
{
    static const char *const names[CLO_CLOSENESS_COUNT] = {"same core",       "same cluster",   "across clusters",
                                                           "across packages", "to accelerator", "all"};
    return names[closeness];
}

void clo_link_classes(const clo_platform *p, uint32_t piece, clo_link_class classes[CLO_CLOSENESS_COUNT])
{
    size_t first = (size_t)piece * p->executors_count * p->executors_count;

    memset(classes, 0, CLO_CLOSENESS_COUNT * sizeof classes[0]);
    for (uint32_t a = 0; a < p->executors_count; a++)
        for (uint32_t b = 0; b < p->executors_count; b++) {
            if (p->executors[a].memory == p->executors[b].memory)
                continue;
            size_t cell = first + (size_t)a * p->executors_count + b;
            int64_t latency = p->latency_ns[cell];
            uint64_t q32 = p->ns_per_byte_q32[cell];
            clo_link_class *c = &classes[clo_closeness_of(p, a, b)];
            if (c->pairs++ == 0) {
                c->latency_min_ns = c->latency_max_ns = latency;
                c->q32_min = c->q32_max = q32;
            }
            c->latency_min_ns = latency < c->latency_min_ns ? latency : c->latency_min_ns;
            c->latency_max_ns = latency > c->latency_max_ns ? latency : c->latency_max_ns;
            c->q32_min = q32 < c->q32_min ? q32 : c->q32_min;
            c->q32_max = q32 > c->q32_max ? q32 : c->q32_max;
        }
}
