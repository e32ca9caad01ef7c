/* closeness.c - see closeness.h. */
#include "report/closeness.h"

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

static void widen(clo_link_class *c, int64_t latency, uint64_t q32)
{
    if (c->pairs++ == 0) {
        c->latency_min_ns = c->latency_max_ns = latency;
        c->q32_min = c->q32_max = q32;
    }
    c->latency_min_ns = latency < c->latency_min_ns ? latency : c->latency_min_ns;
    c->latency_max_ns = latency > c->latency_max_ns ? latency : c->latency_max_ns;
    c->q32_min = q32 < c->q32_min ? q32 : c->q32_min;
    c->q32_max = q32 > c->q32_max ? q32 : c->q32_max;
}

void clo_link_classes(const clo_platform *p, uint32_t piece, clo_link_class classes[CLO_CLOSENESS_COUNT])
{
    const clo_link_span *span = &p->spans[piece];

    memset(classes, 0, CLO_CLOSENESS_COUNT * sizeof classes[0]);
    if (p->places == NULL) /* nothing is known of where they are: one class */
        classes[CLO_UNPLACED] = (clo_link_class){.pairs = span->pairs,
                                                 .latency_min_ns = span->latency_least_ns,
                                                 .latency_max_ns = span->latency_most_ns,
                                                 .q32_min = span->ns_per_byte_least_q32,
                                                 .q32_max = span->ns_per_byte_most_q32};
    for (uint32_t a = 0; a < p->executors_count && p->places != NULL && span->pairs > 0; a++)
        for (uint32_t b = 0; b < p->executors_count; b++) {
            size_t cell = clo_platform_cell(p, piece, a, b);
            if (p->executors[a].memory != p->executors[b].memory)
                widen(&classes[clo_closeness_of(p, a, b)], p->latency_ns[cell], p->ns_per_byte_q32[cell]);
        }
}
