/* platform/build/builder.h - a platform in the making, and what the topology says about its executors. build.c fills it
 * with what costs are computed from, place.c reads where things are. */
#ifndef CLO_PLATFORM_BUILD_BUILDER_H
#define CLO_PLATFORM_BUILD_BUILDER_H

#include "platform/file/tree.h"

#define CLO_BUILD_NAME_BYTES 64

typedef struct clo_builder {
    const clo_topology *t;
    /* of the platform */
    char name[256];
    /* executors */
    uint32_t count;
    /* [count] its PU; CLO_NONE: an accelerator */
    uint32_t *pu;
    /* [count] */
    uint32_t *object;
    /* [count] its NUMA node; an accelerator's: 0 */
    uint32_t *numa;
    /* [pus] ordinal of its core */
    uint32_t *core_of_pu;
    /* [pus] the Core above, or the PU itself */
    uint32_t *core_object;
    clo_executor *executors;
    char (*names)[CLO_BUILD_NAME_BYTES];
    char (*kinds)[CLO_BUILD_NAME_BYTES];
    uint32_t kinds_count;
    /* pointers to the above, for the desc */
    const char **name_list, **kind_list;
    /* [count] its group of links */
    uint32_t *group_of;
    /* [groups_count] an executor of each */
    uint32_t *group_first;
    uint32_t groups_count;
    /* [groups_count^2] */
    int64_t *latency;
    /* [1 + cuts_count][groups_count^2] */
    double *bandwidth;
    /* NUMA nodes that are the nearest of an executor; the memories are these, in the order of the file */
    uint32_t numas_used;
    /* every executor has its own: links are the c2c matrices */
    bool own_memories;
    /* some speed comes from a clotho key */
    bool speeds_stated;
    /* some speed comes from a frequency */
    bool speeds_guessed;
    int64_t capacities[CLO_RESOURCES_MAX];
    char resource_names[CLO_RESOURCES_MAX][CLO_BUILD_NAME_BYTES];
    const char *resource_list[CLO_RESOURCES_MAX];
} clo_builder;

/* The nearest object of `type` at or above `object`; CLO_NONE. */
uint32_t clo_build_nearest(const clo_topology *topology, uint32_t object, clo_object_type type);

/* The XML nodes that may say something about an executor, nearest first; returns how many. */
#define CLO_BUILD_NODES_MAX 3
uint32_t clo_build_nodes(const clo_builder *b, uint32_t executor, uint32_t nodes[CLO_BUILD_NODES_MAX]);

/* The nearest value of an info key for an executor: on its PU, its core or its cpukind; NULL: nobody says. */
const char *clo_build_key(const clo_builder *b, uint32_t executor, const char *key);

/* The number that an info key has for an executor, likewise; false: nobody says. */
bool clo_build_number(const clo_builder *b, uint32_t executor, const char *key, uint64_t max, uint64_t *out);

/* kinds.c: of which kind each executor is. */

/* Fills in the kinds and the kind of each executor. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_kinds(clo_builder *b);

/* place.c: where the executors of a platform are, and where its numbers come from: for people. */

/* Packages, clusters, cores and caches. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_places(const clo_builder *b, clo_platform *platform);

/* What is known from where. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_build_facts(const clo_builder *b, clo_platform *platform);

#endif
