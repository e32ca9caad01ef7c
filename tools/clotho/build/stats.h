/* stats.h - `-d stats`: how long the parts of a build took that are no steps. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_STATS_H
#define CLO_TOOLS_CLOTHO_BUILD_STATS_H

#include "ninja/manifest/manifest.h"

enum { STATS_PARSE, STATS_LOGS, STATS_DIRTY, STATS_RUN, STATS_COUNT };

typedef struct build_stats {
    bool is_on;
    int64_t begun_ns; /* of the part that is being measured */
    int64_t total_ns[STATS_COUNT];
    uint32_t calls[STATS_COUNT];
    size_t nodes, slots; /* of the last manifest */
} build_stats;

/* Around one part; parts do not nest. */
void stats_begin(build_stats *s);
void stats_end(build_stats *s, uint32_t part);
/* A manifest was used; its tables are described. */
void stats_manifest(build_stats *s, const ninja_manifest *m);
/* The table, as ninja prints it; nothing where it is off. */
void stats_print(const build_stats *s);

#endif
