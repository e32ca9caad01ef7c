/* platform/file/tree.h - the objects of an hwloc XML topology with their infos and tables. topology.c fills in the
 * objects, tables.c the matrices, memory attributes and CPU kinds. */
#ifndef CLO_PLATFORM_FILE_TREE_H
#define CLO_PLATFORM_FILE_TREE_H

#include "platform/file/xml.h"
#include "platform/model/platform.h"

/* Slots of one accelerator. */
#define CLO_BUILD_SLOTS_MAX 1024u

#define CLO_CPUS_MAX 65536u /* os_index of a PU or a NUMA node lies below       */
#define CLO_KEY_PREFIX "clotho."

typedef enum clo_object_type {
    CLO_OBJECT_MACHINE,
    CLO_OBJECT_PACKAGE,
    CLO_OBJECT_DIE,
    CLO_OBJECT_CACHE,  /* unified or data */
    CLO_OBJECT_ICACHE, /* instruction     */
    CLO_OBJECT_GROUP,
    CLO_OBJECT_CORE,
    CLO_OBJECT_PU,
    CLO_OBJECT_NUMA,
    CLO_OBJECT_MEMCACHE,
    CLO_OBJECT_MISC,
    CLO_OBJECT_IO /* skipped with everything below */
} clo_object_type;

/* One object; they lie in document order, parents first. */
typedef struct clo_object {
    clo_object_type type;
    /* of a cache, 1..5 */
    uint32_t level;
    /* in the XML */
    uint32_t node;
    /* object; CLO_NONE: the machine */
    uint32_t parent;
    /* CLO_NONE: not given */
    uint32_t os_index;
    /* the PUs below it, of a memory object: of its parent */
    uint32_t pus_begin, pus_end;
} clo_object;

/* One <info> with a name. */
typedef struct clo_topology_entry {
    /* borrowed from the XML */
    const char *name;
    /* XML node that it describes */
    uint32_t parent;
    /* its own */
    uint32_t node;
} clo_topology_entry;

typedef struct clo_topology_numa {
    uint64_t gp_index;
    uint32_t numa;
} clo_topology_numa;

typedef struct clo_topology {
    clo_xml xml;
    /* [infos_count] by parent, name, node */
    clo_topology_entry *infos;
    size_t infos_count;
    clo_object *objects;
    size_t objects_count, objects_capacity;
    /* [pus_count] objects, in document order */
    uint32_t *pus;
    /* [numas_count] likewise */
    uint32_t *numas;
    /* [accels_count] Misc objects named "accel:NAME" */
    uint32_t *accels;
    uint32_t pus_count, numas_count, accels_count;
    /* [CLO_CPUS_MAX] os_index -> PU, CLO_NONE */
    uint32_t *pu_of_cpu;
    /* [CLO_CPUS_MAX] os_index -> NUMA node, CLO_NONE */
    uint32_t *numa_of_os;
    /* [objects_count] the first NUMA node that hangs on an object, else the first one inside it; CLO_NONE */
    uint32_t *numa_below;
    /* what may be used: the machine's allowed_cpuset and allowed_nodeset; NULL: all */
    struct clo_set *allowed_cpus, *allowed_nodes;
    /* PUs of the file that may not */
    uint32_t pus_left_out;
    /* [gps_count], sorted; those that state a gp_index */
    clo_topology_numa *numas_by_gp;
    uint32_t gps_count;
    /* [kinds_count] XML nodes of the cpukinds */
    uint32_t *kinds;
    /* [pus_count], CLO_NONE: in no cpukind */
    uint32_t *kind_of_pu;
    uint32_t kinds_count;
    /* [pus_count^2] row = from; NULL: not given */
    uint64_t *c2c_latency_ns, *c2c_bandwidth_mbps;
    /* [cuts_count] rising: where pieces of the links begin */
    uint64_t cut_bytes[CLO_LINK_PIECES_MAX - 1];
    /* [cuts_count][pus_count^2] bandwidths from there on */
    uint64_t *beyond_mbps[CLO_LINK_PIECES_MAX - 1];
    uint32_t cuts_count;
    /* [numas_count^2], 10 = local; NULL */
    uint64_t *numa_distance;
    /* [numas_count * pus_count] a PU reading a node; 0: unknown */
    uint64_t *memory_latency_ns, *memory_bandwidth_mibps;
} clo_topology;

/* Sorts the infos of the XML for clo_topology_info. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_index_infos(clo_topology *topology);

/* Value of the first <info> of this name directly below an XML node; NULL if there is none. O(log infos). */
const char *clo_topology_info(const clo_topology *topology, uint32_t node, const char *name);

/* Also of one that was filled in part. */
void clo_topology_free(clo_topology *topology);

#endif
