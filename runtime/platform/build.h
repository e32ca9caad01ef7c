/* platform/build.h - the way from a topology to a platform, in two files: build.c (what costs are computed from) and
 * place.c (where things are and where the numbers come from: for people). */
#ifndef CLO_PLATFORM_BUILD_H
#define CLO_PLATFORM_BUILD_H

#include "platform/topology.h"

#define CLO_BUILD_NAME_BYTES 64

typedef struct clo_builder {
    const clo_topology *t;
    uint32_t count;        /* executors                                          */
    uint32_t *pu;          /* [count] its PU; CLO_NONE: an accelerator            */
    uint32_t *object;      /* [count]                                            */
    uint32_t *numa;        /* [count] its NUMA node; an accelerator's: 0          */
    uint32_t *core_of_pu;  /* [pus] ordinal of its core                          */
    uint32_t *core_object; /* [pus] the Core above, or the PU itself             */
    clo_executor *executors;
    char (*names)[CLO_BUILD_NAME_BYTES];
    char (*kinds)[CLO_BUILD_NAME_BYTES];
    uint32_t kinds_count;
    const char **name_list, **kind_list; /* pointers to the above, for the desc */
    int64_t *latency;
    double *bandwidth;   /* [1 + cuts_count][count^2] */
    bool own_memories;   /* every executor has its own: links are the c2c matrices */
    bool speeds_stated;  /* some speed comes from a clotho key                   */
    bool speeds_guessed; /* some speed comes from a frequency                    */
    int64_t capacities[CLO_RESOURCES_MAX];
    char resource_names[CLO_RESOURCES_MAX][CLO_BUILD_NAME_BYTES];
    const char *resource_list[CLO_RESOURCES_MAX];
} clo_builder;

/* The nearest object of `type` at or above `object`; CLO_NONE. */
uint32_t clo_build_nearest(const clo_topology *topology, uint32_t object, clo_object_type type);

/* The number that an info key has for an executor: on its PU, its core or its cpukind; false: nobody says. */
bool clo_build_number(const clo_builder *b, uint32_t executor, const char *key, uint64_t max, uint64_t *out);

CLO_NODISCARD clo_status clo_build_places(const clo_builder *b, clo_platform *platform);
CLO_NODISCARD clo_status clo_build_facts(const clo_builder *b, clo_platform *platform);

#endif
