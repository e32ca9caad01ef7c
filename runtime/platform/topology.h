/* platform/topology.h - an hwloc XML topology, read and checked by ourselves.
 *
 * hwloc describes this machine and writes it as XML; files come as XML; both are read here. hwloc's own reader never
 * sees a byte: it accepts impossible topologies, crashes on some broken ones, and falls back to the running machine
 * on others (hwloc 2.9). What this reader accepts is a tree in which every set is the union of what lies below it. */
#ifndef CLO_PLATFORM_TOPOLOGY_H
#define CLO_PLATFORM_TOPOLOGY_H

#include "platform/platform.h"
#include "platform/xml.h"

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
    uint32_t level;              /* of a cache, 1..5                                    */
    uint32_t node;               /* in the XML                                          */
    uint32_t parent;             /* object; CLO_NONE: the machine                       */
    uint32_t os_index;           /* CLO_NONE: not given                                 */
    uint32_t pus_begin, pus_end; /* the PUs below it, of a memory object: of its parent */
} clo_object;

/* One <info> with a name. */
typedef struct clo_topology_entry {
    const char *name; /* borrowed from the XML                   */
    uint32_t parent;  /* XML node that it describes              */
    uint32_t node;    /* its own                                 */
} clo_topology_entry;

typedef struct clo_topology_numa {
    uint64_t gp_index;
    uint32_t numa;
} clo_topology_numa;

typedef struct clo_topology {
    clo_xml xml;
    clo_topology_entry *infos; /* [infos_count] by parent, name, node */
    size_t infos_count;
    clo_object *objects;
    size_t objects_count, objects_capacity;
    uint32_t *pus;    /* [pus_count] objects, in document order          */
    uint32_t *numas;  /* [numas_count] likewise                          */
    uint32_t *accels; /* [accels_count] Misc objects named "accel:NAME"  */
    uint32_t pus_count, numas_count, accels_count;
    uint32_t *pu_of_cpu;  /* [CLO_CPUS_MAX] os_index -> PU, CLO_NONE         */
    uint32_t *numa_of_os; /* [CLO_CPUS_MAX] os_index -> NUMA node, CLO_NONE  */
    uint32_t *numa_below; /* [objects_count] the first NUMA node that hangs on an object, CLO_NONE */
    clo_topology_numa *numas_by_gp; /* [gps_count], sorted; those that state a gp_index */
    uint32_t gps_count;
    uint32_t *kinds;      /* [kinds_count] XML nodes of the cpukinds         */
    uint32_t *kind_of_pu; /* [pus_count], CLO_NONE: in no cpukind            */
    uint32_t kinds_count;
    uint64_t *c2c_latency_ns, *c2c_bandwidth_mbps;  /* [pus_count^2] row = from; NULL: not given */
    uint64_t cut_bytes[CLO_LINK_PIECES_MAX - 1];    /* [cuts_count] rising: where pieces of the links begin */
    uint64_t *beyond_mbps[CLO_LINK_PIECES_MAX - 1]; /* [cuts_count][pus_count^2] bandwidths from there on   */
    uint32_t cuts_count;
    uint64_t *numa_distance; /* [numas_count^2], 10 = local; NULL         */
    uint64_t *memory_latency_ns,
        *memory_bandwidth_mibps; /* [numas_count * pus_count] a PU reading a node; 0: unknown */
} clo_topology;

/* Reads and checks. `file` names the text in error lines and is borrowed during the call only.
 * Returns CLO_OK, CLO_ERR_FORMAT, CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_read(const char *file, const char *data, size_t bytes, clo_topology *out);
void clo_topology_free(clo_topology *topology);

/* Value of the first <info> of this name directly below an XML node; NULL if there is none. O(log infos). */
const char *clo_topology_info(const clo_topology *topology, uint32_t node, const char *name);

/* The distances2, memattr and cpukind elements below the root (tables.c); after the objects. */
CLO_NODISCARD clo_status clo_topology_read_tables(clo_topology *topology);

/* The platform a topology describes. Returns CLO_OK, CLO_ERR_FORMAT (names a duplicate), CLO_ERR_LIMIT,
 * CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_topology_to_platform(const clo_topology *topology, clo_platform **out);

/* An info that belongs to us is known, well placed and well typed (keys.c); others pass. */
CLO_NODISCARD clo_status clo_topology_check_infos(const clo_topology *topology, uint32_t node, clo_object_type type,
                                                  bool is_cpukind);

#endif
