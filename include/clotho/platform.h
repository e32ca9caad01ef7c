/* platform.h - machines, executors, memories and links.
 *
 * A platform is immutable after creation; every const call is thread-safe. It comes
 * from the running machine (hwloc), from an hwloc XML file, from a shipped file, or
 * from plain arrays. */
#ifndef CLOTHO_PLATFORM_H
#define CLOTHO_PLATFORM_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLO_SPEED_ONE 65536u /* Q16: the reference executor */

#define CLO_LINK_PIECES_MAX 8 /* of a link: see clo_platform_desc.cuts_count */

typedef struct clo_platform clo_platform; /* opaque */

/* One processing element. Plain values. */
typedef struct clo_executor {
    uint32_t kind;                           /* index of its kind                                               */
    uint32_t machine;                        /* index of its machine                                            */
    uint32_t memory;                         /* index of the memory its outputs live in                         */
    int32_t os_index;                        /* the CPU number of the operating system; -1: not on this machine */
    uint32_t speed_q16[CLO_CLASSES_BUILTIN]; /* by task class; > 0                        */
} clo_executor;

/* What clo_platform_create takes. All arrays are copied. Matrices are row-major
 * [executors_count * executors_count], row = from, column = to; the diagonal is ignored. */
typedef struct clo_platform_desc {
    size_t size;              /* CLO_PLATFORM_DESC_INIT                                 */
    const char *name;         /* NULL: "platform"                                       */
    uint32_t executors_count; /* >= 1                                                   */
    const clo_executor *executors;
    const char *const *executor_names;    /* NULL: "e0", "e1" ...                                  */
    uint32_t kinds_count;                 /* >= 1                                                   */
    const char *const *kind_names;        /* NULL: "k0" ...                                         */
    uint32_t machines_count;              /* 0: one machine                                         */
    const int64_t *capacities;            /* [machines_count * CLO_RESOURCES_MAX]; NULL: all unlimited; a
                                         negative entry is unlimited                            */
    const char *const *resource_names;    /* [CLO_RESOURCES_MAX], entries may be NULL; NULL: unnamed */
    const int64_t *latency_ns;            /* NULL: 0                                                */
    const double *bandwidth_bytes_per_ns; /* NULL or <= 0 entry: infinite (GB/s and bytes/ns are the same number) */
    uint32_t coherent;                    /* 1: executors can read each other's memory in place; a transfer
                                         still costs time but needs no copy                     */
    uint32_t mean_includes_self;          /* 1: the mean transfer time counts each executor's free link to
                                         itself (SAGA's convention); 0: distinct pairs (Topcuoglu 2002) */
    /* Links in pieces, as caches make them: from cut_bytes[k] bytes on, what comes on top moves with bandwidth_beyond
     * [k * executors_count^2 + from * executors_count + to] bytes/ns, <= 0: infinite. bandwidth_bytes_per_ns holds up
     * to cut_bytes[0]. */
    uint32_t cuts_count;            /* < CLO_LINK_PIECES_MAX; 0: every link has one bandwidth       */
    const uint64_t *cut_bytes;      /* [cuts_count] > 0, rising, the same for all links              */
    const double *bandwidth_beyond; /* [cuts_count * executors_count^2]                             */
} clo_platform_desc;

#define CLO_PLATFORM_DESC_INIT CLO_SIZED_INIT(clo_platform_desc)

/* Creates a platform from arrays. Returns CLO_OK, CLO_ERR_ARGUMENT (an index or speed out of
 * range, negative latency, cuts that do not rise, a cut that is reached after 2^61 ns or more), CLO_ERR_LIMIT (more
 * than 4096 executors, too many cuts), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_platform_create(const clo_platform_desc *desc, clo_platform **out);

/* Opens a platform by SPEC: "native" (this machine, through hwloc: only CPUs this process may use), a shipped name
 * ("rk3588" ...), "uniform:P" (P equal executors, no transfer cost), or the path of an hwloc XML file. A file is read
 * and checked strictly by this library; hwloc never sees it. Returns CLO_OK, CLO_ERR_ARGUMENT (unknown name),
 * CLO_ERR_IO, CLO_ERR_FORMAT, CLO_ERR_LIMIT (the file is too long or names too many CPUs), CLO_ERR_PLATFORM,
 * CLO_ERR_SYSTEM (native: hwloc fails), CLO_ERR_MEMORY; clo_last_error names file, place and mend. */
CLO_API CLO_NODISCARD clo_status clo_platform_open(const char *spec, clo_platform **out);

/* NULL is allowed. */
CLO_API void clo_platform_destroy(clo_platform *platform);

/* Measures this machine and writes the platform file.
 *   quick     1: about a second, 0: about 10 s on 2 cores.
 *   progress  called with a text line now and then; may be NULL.
 * CPUs of one kind within 5 % of each other count as equal; the calling thread's affinity is restored. With many CPUs
 * each pair gets less time, at least a few ms. Each pair is measured with pinned threads; latency and the pieces of the
 * bandwidth are stored with the errors of the fit and of sizes that were held aside (docs/PLATFORM_FILE.md). The result
 * is returned as a platform too.
 *   path      where to write; NULL: nowhere. Nothing is half written.
 *   out       may be NULL.
 * Returns CLO_OK, CLO_ERR_SYSTEM (cannot pin), CLO_ERR_IO, CLO_ERR_PLATFORM, CLO_ERR_MEMORY. */
typedef void (*clo_progress_fn)(void *context, const char *line);
CLO_API CLO_NODISCARD clo_status clo_platform_calibrate(int quick, clo_progress_fn progress, void *context,
                                                        const char *path, clo_platform **out);

CLO_API const char *clo_platform_name(const clo_platform *platform);
CLO_API uint32_t clo_platform_executors(const clo_platform *platform);
CLO_API uint32_t clo_platform_kinds(const clo_platform *platform);
CLO_API uint32_t clo_platform_machines(const clo_platform *platform);
CLO_API uint32_t clo_platform_memories(const clo_platform *platform);
/* Its executors are this machine's CPUs. Of a platform from arrays: every os_index is >= 0. A file is native where it
 * was measured, if this thread may use all its CPUs. */
CLO_API bool clo_platform_is_native(const clo_platform *platform);
CLO_API bool clo_platform_is_coherent(const clo_platform *platform);

/* NULL for an unknown index; owned by the platform. */
CLO_API const clo_executor *clo_platform_executor(const clo_platform *platform, uint32_t executor);
CLO_API const char *clo_platform_executor_name(const clo_platform *platform, uint32_t executor);
CLO_API const char *clo_platform_kind_name(const clo_platform *platform, uint32_t kind);
CLO_API const char *clo_platform_resource_name(const clo_platform *platform, uint32_t resource);
/* Capacity of a machine; -1: unlimited, or no such machine or resource. */
CLO_API int64_t clo_platform_capacity(const clo_platform *platform, uint32_t machine, uint32_t resource);

/* Time to move `bytes` from executor `from` to `to`: 0 if they are one or share a memory, else
 * latency + bytes / bandwidth (rounded to the nearest ns), piece by piece where links have pieces. It never falls where
 * the bytes grow, and saturates near 2^62 ns. */
CLO_API int64_t clo_platform_transfer_ns(const clo_platform *platform, uint64_t bytes, uint32_t from, uint32_t to);

/* How many pieces each link has (1: one bandwidth for any number of bytes), and where piece `piece` begins: 0 for the
 * first, UINT64_MAX past the last. 0 and UINT64_MAX for NULL. */
CLO_API uint32_t clo_platform_link_pieces(const clo_platform *platform);
CLO_API uint64_t clo_platform_cut_bytes(const clo_platform *platform, uint32_t piece);

/* A table of executors, a small picture of packages, caches, kinds and links, and
 * where each number comes from; text for a terminal `columns` wide (0: 80), UTF-8. *out is
 * malloc'ed, the caller frees it. Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_platform_describe(const clo_platform *platform, uint32_t columns, char **out);

/* The same facts as one JSON object (keys: name, native, coherent, executors[], kinds[], links{}, sources{}).
 * Returns likewise. */
CLO_API CLO_NODISCARD clo_status clo_platform_describe_json(const clo_platform *platform, char **out);

/* What this host offers and lacks for real-time work (pinning, FIFO, locked memory, throttling,
 * isolated CPUs, frequency scaling): one text line each, "ok", "warn" or "lack" first. *out is malloc'ed.
 * `lacking` (may be NULL) receives the number of "lack" lines. Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_platform_check_host(char **out, uint32_t *lacking);

#ifdef __cplusplus
}
#endif
#endif
