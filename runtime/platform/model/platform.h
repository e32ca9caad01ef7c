/* platform/model/platform.h - the platform as the other modules read it: plain arrays, immutable. */
#ifndef CLO_PLATFORM_MODEL_PLATFORM_H
#define CLO_PLATFORM_MODEL_PLATFORM_H

#include "library.h"
#include <clotho/platform.h>
#include <string.h>

#define CLO_LATENCY_NS_MAX (INT64_MAX / 4) /* so that latency + transfer never overflows */
#define CLO_CUT_BYTES_MAX (UINT64_MAX / 2)

/* A fact and where it comes from, e.g. {"c2c", "assumed", "default formula ..."}; for the describe calls. */
typedef struct clo_platform_fact {
    char *fact, *status, *source;
} clo_platform_fact;

/* The driver of the slots [first, first + count) of an accelerator, and which device that is in its words. */
typedef struct clo_platform_drive {
    uint32_t first, count;
    char *driver, *device;
} clo_platform_drive;

#define CLO_CACHE_LEVELS 6 /* cache level n is entry n; entry 0 is unused */

/* How far a cache reaches, for the picture. */
enum { CLO_SCOPE_NONE, CLO_SCOPE_CORE, CLO_SCOPE_CLUSTER, CLO_SCOPE_PACKAGE };

/* Where an executor sits. Cluster and core are numbered over the whole platform; a cluster is the smallest
 * group or shared cache that holds more than one core. Only drawn and named, never used to compute a cost. */
typedef struct clo_place {
    uint32_t package, cluster, core;
    uint32_t outside;      /* 1: an accelerator, not a CPU of the operating system */
    int32_t cpu;           /* CPU number in the description; -1: none              */
    uint32_t power_mw;     /* while it runs tasks; 0: unknown                      */
    uint64_t memory_bytes; /* of its NUMA node; 0: unknown                         */
    uint64_t cache_bytes[CLO_CACHE_LEVELS];
    uint8_t cache_scope[CLO_CACHE_LEVELS];
} clo_place;

__extension__ typedef unsigned __int128 clo_u128;

/* One piece of all links between two memories; all 0 where there is one memory only. Latencies are the times at which
 * the piece begins; sums go over ordered pairs of executors. */
typedef struct clo_link_span {
    int64_t latency_least_ns, latency_most_ns;
    uint64_t ns_per_byte_least_q32, ns_per_byte_most_q32;
    uint64_t pairs, finite; /* finite: those with a bandwidth */
    clo_u128 latency_sum_ns, ns_per_byte_sum_q32;
    clo_u128 inverse_sum; /* of 2^95 / ns_per_byte_q32, of the finite ones */
    /* Of all pairs of executors, those that share a memory with 0 (Topcuoglu 2002, eq. 2). */
    clo_u128 mean_latency_q32;
    uint64_t mean_ns_per_byte_q32;
} clo_link_span;

/* Executions that a slot begins before the first has ended; below 1: no slot. */
static inline int32_t clo_slot_depth(const clo_executor *executor)
{
    return CLO_OS_SLOT + 1 - executor->os_index;
}

struct clo_platform {
    char *name;
    char *summary; /* one line; may be NULL                          */
    bool native;   /* executors are CPUs of this machine             */
    bool coherent;
    bool mean_includes_self;
    uint32_t executors_count, kinds_count, machines_count, memories_count;
    clo_executor *executors;                 /* [executors_count]                              */
    char **executor_names;                   /* [executors_count]                              */
    char **kind_names;                       /* [kinds_count]                                  */
    char *resource_names[CLO_RESOURCES_MAX]; /* entries may be NULL                */
    int64_t *capacities;                     /* [machines_count * CLO_RESOURCES_MAX]; < 0: unlimited */
    /* A link is a line in pieces: piece k begins at cut_bytes[k], the same for all links, so that means and bounds over
     * links are lines with the same pieces. cut_bytes[0] is 0. */
    uint32_t pieces_count; /* >= 1 */
    uint64_t cut_bytes[CLO_LINK_PIECES_MAX];
    /* Executors whose links to and from other memories are equal are of one group. */
    uint32_t groups_count;
    bool is_group_each;        /* executor e is group e */
    uint32_t *group_of;        /* [executors_count] */
    int64_t *latency_ns;       /* [pieces_count][groups_count^2] what cut_bytes[k] bytes take; never falls with k */
    uint64_t *ns_per_byte_q32; /* [pieces_count][groups_count^2] beyond that; 0: infinite bandwidth               */
    clo_link_span spans[CLO_LINK_PIECES_MAX]; /* [pieces_count] */
    uint32_t memory_width;                    /* the most executors that share a memory */
    /* Executors that share a memory and whose links to all other memories are equal are one *source* of data. */
    uint32_t sources_count;
    uint32_t *source_of;    /* [executors_count] numbered as they first come up */
    uint32_t *source_first; /* [sources_count] the first executor of each; with source_of in one piece of memory */
    uint64_t *port_q32;     /* [machines_count] bytes/ns of a port, 0: infinite; NULL: all are */
    clo_platform_fact *facts;
    uint32_t facts_count;
    clo_platform_drive *drives; /* [drives_count], by `first` */
    uint32_t drives_count;
    clo_place *places; /* [executors_count]; NULL: made from arrays, nothing known */
};

/* The resource says what a memory moves (CLO_MEMORY_RESOURCE; of one memory with its number behind it): it has a meaning of
 * its own, so a demand without a name is none of it. */
static inline bool clo_is_memory_rate(const char *resource)
{
    return resource != NULL && strncmp(resource, CLO_MEMORY_RESOURCE, sizeof CLO_MEMORY_RESOURCE - 1) == 0;
}

/* latency + bytes * ns_per_byte, rounded to nearest; the second part is at most INT64_MAX / 4. Never falls with
 * bytes. */
static inline int64_t clo_link_ns(int64_t latency_ns, uint64_t ns_per_byte_q32, uint64_t bytes)
{
    clo_u128 q32 = (clo_u128)bytes * ns_per_byte_q32 + (1ull << 31);
    uint64_t high = (uint64_t)(q32 >> 64), ns = (uint64_t)(q32 >> 32);

    if (high >> 30 != 0 || ns > (uint64_t)INT64_MAX / 4)
        return latency_ns + INT64_MAX / 4;
    return latency_ns + (int64_t)ns;
}

/* The piece that `bytes` lie in, the same on all links. */
static inline uint32_t clo_platform_piece(const clo_platform *platform, uint64_t bytes)
{
    uint32_t piece = platform->pieces_count - 1;

    while (bytes < platform->cut_bytes[piece]) /* ends: cut 0 is 0 */
        piece--;
    return piece;
}

/* The cell of the link between two executors in the piece. */
static inline size_t clo_platform_cell(const clo_platform *platform, uint32_t piece, uint32_t from, uint32_t to)
{
    size_t groups = platform->groups_count;

    return (piece * groups + platform->group_of[from]) * groups + platform->group_of[to];
}

/* Time of a transfer between two executors that do not share a memory. */
static inline int64_t clo_platform_link_ns(const clo_platform *platform, uint32_t from, uint32_t to, uint64_t bytes)
{
    uint32_t piece = clo_platform_piece(platform, bytes);
    size_t cell = clo_platform_cell(platform, piece, from, to);

    return clo_link_ns(platform->latency_ns[cell], platform->ns_per_byte_q32[cell], bytes - platform->cut_bytes[piece]);
}

/* True if links from group a to b and from c to d take the same time for any number of bytes. */
bool clo_platform_cells_equal(const clo_platform *platform, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* The same of executors; a link inside a memory is no link, and equals another such. */
CLO_INTERNAL bool clo_platform_links_equal(const clo_platform *platform, uint32_t a, uint32_t b, uint32_t c,
                                           uint32_t d);

/* Adds a fact; on failure (CLO_ERR_MEMORY) the platform is unchanged. Only while it is being built. */
CLO_NODISCARD clo_status clo_platform_add_fact(clo_platform *platform, const char *fact, const char *status,
                                               const char *source);

/* What leaves or enters a machine, in bytes/ns; 0: its port is infinite, or there is no such machine. */
CLO_INTERNAL double clo_platform_port_bytes_per_ns(const clo_platform *platform, uint32_t machine);

#endif
