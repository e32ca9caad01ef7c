/* platform.h - machines, executors, memories and links.
 *
 * A platform comes from the running machine (hwloc), from an hwloc XML file, from a shipped file, or from arrays. It is
 * immutable.
 *
 * Library: libclotho; libclotho-decide has clo_platform_calibrate, clo_platform_check_host; libclotho-io has
 * clo_platform_describe, clo_platform_describe_json. */
#ifndef CLOTHO_PLATFORM_H
#define CLOTHO_PLATFORM_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Speed of the reference executor, Q16. */
#define CLO_SPEED_ONE 65536u

/* clo_executor.os_index of a *slot*: an executor that is not a CPU. It stands for one operation that may be in progress
 * elsewhere, such as a call to a service or a process, while its body is pending (token.h). On the real clock a few
 * threads, which are not pinned, serve many slots (clo_runtime_config.slot_workers). To planners, policies and checkers
 * a slot is an executor like any other. */
#define CLO_OS_SLOT (-2)

/* The same of a slot that begins up to `depth` (1 to CLO_SLOT_DEPTH_MAX) bodies before the first of them has ended: a
 * device, on which data of one kernel move and the next kernel is launched while another one computes. It is one lane:
 * plans, checkers, simulations and traces know it as an executor that runs one after the other, and what an execution
 * takes counts from the end of the one before, if that is later than its begin. On the real clock runs by a plan and by
 * work stealing use the depth, if their job has neither limits of bodies, hedges nor releases in flight; other runs begin
 * one body after the other. Depth 1 is CLO_OS_SLOT. */
#define CLO_OS_SLOT_DEEP(depth) (CLO_OS_SLOT + 1 - (int32_t)(depth))
#define CLO_SLOT_DEPTH_MAX 4

/* Most pieces of a link: see clo_platform_desc.cuts_count. */
#define CLO_LINK_PIECES_MAX 8

/* The resource that states what all executors of a machine together move from and to memory, in 10^6 bytes/s
 * (memory.h). With a number, "memory_MBps.3", it is that of the executors of memory 3, and counts for them in place of
 * the other one. Demands without a name are none of either (clo_graph_set_resource). */
#define CLO_MEMORY_RESOURCE "memory_MBps"

typedef struct clo_platform clo_platform; /* opaque: owns memory, has invariants */

/* One processing element. Plain values; without a size field: executors are passed in arrays. */
typedef struct clo_executor {
    /* Index of its kind. */
    uint32_t kind;

    /* Index of its machine. */
    uint32_t machine;

    /* Index of the memory that its outputs live in. */
    uint32_t memory;

    /* The CPU number of the operating system; -1: not a CPU of this machine; CLO_OS_SLOT or
     * CLO_OS_SLOT_DEEP(depth): a slot. */
    int32_t os_index;

    /* By task class; > 0. */
    uint32_t speed_q16[CLO_CLASSES_BUILTIN];
} clo_executor;

/* What clo_platform_create takes. All arrays are copied. Matrices are row-major [executors_count * executors_count],
 * row = from, column = to; the diagonal is ignored. */
typedef struct clo_platform_desc {
    /* Set by CLO_PLATFORM_DESC_INIT. */
    size_t size;

    /* NULL: "platform". */
    const char *name;

    /* >= 1, at most CLO_EXECUTORS_MAX. */
    uint32_t executors_count;

    /* [executors_count]; slots come last. */
    const clo_executor *executors;

    /* [executors_count]; NULL: "e0", "e1" ... */
    const char *const *executor_names;

    /* >= 1. */
    uint32_t kinds_count;

    /* [kinds_count]; NULL: "k0", "k1" ... */
    const char *const *kind_names;

    /* 0: one machine. */
    uint32_t machines_count;

    /* [machines_count * CLO_RESOURCES_MAX]; a negative entry is unlimited, and so is INT64_MAX. NULL: all unlimited. */
    const int64_t *capacities;

    /* [CLO_RESOURCES_MAX]; entries may be NULL. NULL: unnamed. */
    const char *const *resource_names;

    /* Matrix; NULL: 0. */
    const int64_t *latency_ns;

    /* Matrix; an entry <= 0 is infinite. NULL: infinite. GB/s and bytes/ns are the same number. */
    const double *bandwidth_bytes_per_ns;

    /* 1: executors can read each other's memory in place. A transfer still costs time, but needs no copy. */
    uint32_t coherent;

    /* 1: the mean transfer time counts each executor's free link to itself (SAGA's convention). 0: distinct pairs
     * (Topcuoglu 2002). */
    uint32_t mean_includes_self;

    /* Links in pieces, because caches give small messages another bandwidth: bytes from cut_bytes[k] on move with
     * bandwidth_beyond[k]. Number of cuts, below CLO_LINK_PIECES_MAX; 0: every link has one bandwidth. */
    uint32_t cuts_count;

    /* [cuts_count] > 0, rising; the same for all links. bandwidth_bytes_per_ns holds up to cut_bytes[0]. */
    const uint64_t *cut_bytes;

    /* [cuts_count] matrices, bytes/ns; an entry <= 0 is infinite. */
    const double *bandwidth_beyond;

    /* Ports: the bandwidth, in bytes/ns, of all messages together that leave a machine, and likewise of those that
     * enter it. Messages that move at once share the ports of their machines, and the links between them, equally
     * (max-min fair). With links in pieces, all bytes of a message move at no more than the bandwidth of the piece that
     * its size is in; then it travels for the rest, if any, of what clo_platform_transfer_ns says without ports, so it
     * never takes less time than that. [machines_count]; an entry <= 0 is infinite. NULL: every message moves as if it
     * were alone. clo_plan_create counts the ports, and so does all that follows a plan by the cost model:
     * docs/REMOTE.md. */
    const double *port_bytes_per_ns;

    /* Links by groups of executors, for machines that are too large for matrices over executors: with group_of all
     * matrices are [groups_count^2], entry (a, b) is what executors of group a send to executors of group b. The
     * diagonal counts: it is the link between two of a group that do not share a memory. 0: matrices over executors. */
    uint32_t groups_count;

    /* [executors_count] its group, 0 .. groups_count-1; NULL: none. */
    const uint32_t *group_of;
} clo_platform_desc;

#define CLO_PLATFORM_DESC_INIT CLO_SIZED_INIT(clo_platform_desc)

/* Makes a platform from arrays.
 *
 *   desc  copied.
 *   out   the platform, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  an index or speed out of range, a slot before an executor that is not a slot, negative latency,
 *                     cuts that do not rise, a cut that is reached after 2^61 ns or more, groups without group_of
 *   CLO_ERR_LIMIT     more than CLO_EXECUTORS_MAX executors, too many cuts
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(pieces * executors^2) with matrices over executors; O(executors + pieces * groups^2)
 * with groups or without links, where the executors of a memory are of few groups. */
CLO_API CLO_NODISCARD clo_status clo_platform_create(const clo_platform_desc *desc, clo_platform **out);

/* Opens a platform by SPEC.
 *
 *   spec  "native": this machine, through hwloc, only CPUs that this process may use.
 *         "native+FILE": this machine, and the accelerators of a platform file or a board. Each must have clotho.slots:
 *         a body on it starts an operation and returns CLO_PENDING (token.h).
 *         A board, such as "rk3588": clo_registry_entry("platforms", ...) lists those that are shipped, of which
 *         most are files beside the library (share/clotho/platforms); CLOTHO_PLATFORMS of the environment, folders
 *         separated by colons, comes before these and may have files of other names.
 *         "uniform:P": P equal executors without transfer cost.
 *         "slots:P": P slots (CLO_OS_SLOT) of kind "slot", likewise.
 *         The path of an hwloc XML file. This library reads and checks it strictly; hwloc never sees it.
 *   out   the platform, owned by the caller.
 *
 * Returns CLO_OK, or with file, place and what to do in clo_last_error
 *   CLO_ERR_ARGUMENT  unknown name, or the file of a shipped board is not installed
 *   CLO_ERR_IO        the file cannot be read
 *   CLO_ERR_FORMAT    the file is malformed
 *   CLO_ERR_LIMIT     the file is too long or names too many CPUs
 *   CLO_ERR_PLATFORM  the file describes no usable platform
 *   CLO_ERR_SYSTEM    native: hwloc fails
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(bytes of the file + what clo_platform_create takes). */
CLO_API CLO_NODISCARD clo_status clo_platform_open(const char *spec, clo_platform **out);

/* The same as clo_platform_open("native", out), for programs that run on their own machine only: linked statically they
 * carry no platform files.
 *
 *   out  the platform, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (out is NULL), CLO_ERR_PLATFORM, CLO_ERR_SYSTEM (hwloc fails) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. As clo_platform_create. */
CLO_API CLO_NODISCARD clo_status clo_platform_native(clo_platform **out);

/* Frees a platform. NULL is allowed.
 * Threads: one; no cost, runtime or document may use the platform any more. Real time: no. O(executors). */
CLO_API void clo_platform_destroy(clo_platform *platform);

/* Called from time to time with one line of text about the progress of a call. The text is valid during the call
 * only. */
typedef void (*clo_progress_fn)(void *context, const char *line);

/* Measures this machine and writes a platform file. Each pair of CPUs is measured with pinned threads; CPUs of one kind
 * within 5 % of each other count as equal. Latency and the pieces of the bandwidth are stored with the errors of the
 * fit, and with the errors at sizes that were held out of the fit (docs/PLATFORM_FILE.md). With two CPUs or more, what
 * all of them together read from memory becomes the capacity CLO_MEMORY_RESOURCE. The affinity of the calling thread is
 * restored.
 *
 *   quick     1: about a second; 0: about 10 s on 2 cores. With many CPUs each pair gets less time, at least a few ms.
 *   progress  may be NULL. Called on the calling thread.
 *   context   handed to `progress`.
 *   path      file to write, whole or not at all; NULL: none.
 *   out       the result as a platform, owned by the caller; may be NULL.
 *
 * Returns CLO_OK, CLO_ERR_SYSTEM (a thread cannot be pinned), CLO_ERR_IO, CLO_ERR_PLATFORM or CLO_ERR_MEMORY.
 * Not promised: the same figures twice. Other programs that run disturb the measurement.
 * Threads: one in the whole process: two would measure each other. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_platform_calibrate(int quick, clo_progress_fn progress, void *context,
                                                        const char *path, clo_platform **out);

/* Reading a platform. All calls up to clo_platform_cut_bytes:
 * Threads: any. Real time: yes. O(1), where nothing else is said. */

/* The name, owned by the platform. */
CLO_API const char *clo_platform_name(const clo_platform *platform);

/* The numbers of executors, kinds, machines and memories. */
CLO_API uint32_t clo_platform_executors(const clo_platform *platform);
CLO_API uint32_t clo_platform_kinds(const clo_platform *platform);
CLO_API uint32_t clo_platform_machines(const clo_platform *platform);
CLO_API uint32_t clo_platform_memories(const clo_platform *platform);

/* True if each executor is a CPU of this machine or a slot. A platform from arrays is native if no os_index is -1. A
 * platform from a file is native on the machine where it was measured, if this thread may use all its CPUs. */
CLO_API bool clo_platform_is_native(const clo_platform *platform);

/* clo_platform_desc.coherent. */
CLO_API bool clo_platform_is_coherent(const clo_platform *platform);

/* An executor, owned by the platform; NULL for an unknown index. */
CLO_API const clo_executor *clo_platform_executor(const clo_platform *platform, uint32_t executor);

/* Who drives an executor: the driver (device.h) and the device, in its words, that a platform file names for the
 * accelerator (clotho.driver, clotho.device; "" without the latter). Owned by the platform. NULL: an unknown index, or
 * the file names none. O(accelerators with a driver). */
CLO_API const char *clo_platform_driver(const clo_platform *platform, uint32_t executor);
CLO_API const char *clo_platform_device(const clo_platform *platform, uint32_t executor);

/* Names, owned by the platform; NULL for an unknown index, and for a resource without a name. */
CLO_API const char *clo_platform_executor_name(const clo_platform *platform, uint32_t executor);
CLO_API const char *clo_platform_kind_name(const clo_platform *platform, uint32_t kind);
CLO_API const char *clo_platform_resource_name(const clo_platform *platform, uint32_t resource);

/* Capacity of a machine; -1: unlimited, or no such machine or resource. */
CLO_API int64_t clo_platform_capacity(const clo_platform *platform, uint32_t machine, uint32_t resource);

/* Time to move `bytes` from executor `from` to `to`: 0 if they are the same or share a memory, else latency + bytes /
 * bandwidth, rounded to the nearest ns, piece by piece if links have pieces. The time of one byte is kept to the
 * nearest 2^-32 ns, so a piece of 2^32 bytes or more may be off by a ns for each 2^33 bytes. It never falls as bytes
 * grow, and saturates near 2^62 ns. O(pieces). */
CLO_API int64_t clo_platform_transfer_ns(const clo_platform *platform, uint64_t bytes, uint32_t from, uint32_t to);

/* Pieces of each link (1: one bandwidth for any number of bytes); 0 for NULL. */
CLO_API uint32_t clo_platform_link_pieces(const clo_platform *platform);

/* Where piece `piece` of a link begins: 0 for the first, UINT64_MAX past the last and for NULL. */
CLO_API uint64_t clo_platform_cut_bytes(const clo_platform *platform, uint32_t piece);

/* Describes a platform as text for a terminal, UTF-8: a table of executors, a small picture of packages, caches, kinds
 * and links, and where each number comes from.
 *
 *   columns  width; 0: 80.
 *   out      malloc'ed text, which the caller frees.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(executors^2). */
CLO_API CLO_NODISCARD clo_status clo_platform_describe(const clo_platform *platform, uint32_t columns, char **out);

/* The same facts as one JSON object, with the keys name, native, coherent, executors[], kinds[], links{}, sources{}.
 * `out`, statuses, threads and real time as clo_platform_describe. */
CLO_API CLO_NODISCARD clo_status clo_platform_describe_json(const clo_platform *platform, char **out);

/* Says what this host offers and lacks for real-time work: pinning, quotas of CPU time (of the control group and of
 * those above it, version 1 and 2), FIFO priority, locked memory, throttling, isolated CPUs, frequency scaling. One
 * text line each, with "ok", "warn" or "lack" first.
 *
 *   out      malloc'ed text, which the caller frees.
 *   lacking  receives the number of "lack" lines; may be NULL.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. Reads system files. */
CLO_API CLO_NODISCARD clo_status clo_platform_check_host(char **out, uint32_t *lacking);

#ifdef __cplusplus
}
#endif
#endif
