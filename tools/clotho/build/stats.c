/* stats.c - see stats.h. */
#include "clotho/build/stats.h"

#include "clotho/common/clock.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[STATS_COUNT] = {".ninja parse", "logs load", "dirty check", "steps"};

void stats_begin(build_stats *s)
{
    if (s->is_on)
        s->begun_ns = monotonic_ns();
}

void stats_end(build_stats *s, uint32_t part)
{
    if (!s->is_on)
        return;
    s->total_ns[part] += monotonic_ns() - s->begun_ns;
    s->calls[part]++;
}

void stats_manifest(build_stats *s, const ninja_manifest *m)
{
    s->nodes = m->nodes_count;
    s->slots = m->node_slots_count;
}

void stats_print(const build_stats *s)
{
    if (!s->is_on)
        return;
    printf("%-12s\t%-6s\t%-9s\t%s\n", "metric", "count", "avg (us)", "total (ms)");
    for (uint32_t i = 0; i < STATS_COUNT; i++)
        if (s->calls[i] > 0)
            printf("%-12s\t%-6" PRIu32 "\t%-8.1f\t%.1f\n", names[i], s->calls[i],
                   (double)s->total_ns[i] / 1e3 / s->calls[i], (double)s->total_ns[i] / 1e6);
    printf("\npath->node hash load %.2f (%zu entries / %zu buckets)\n",
           s->slots > 0 ? (double)s->nodes / (double)s->slots : 0, s->nodes, s->slots);
}
