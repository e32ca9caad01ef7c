/* cluster.h - several machines as one platform, for plans over all of them.
 *
 * A cluster file (docs/FORMATS.md, "clotho.cluster/1") names machines, the platform of each, and the links from machine
 * to machine. Its platform has the executors of all machines, machine by machine, and no two machines share a memory.
 * So planners, checkers and the simulator treat it as any other; clotho_mpi/remote.h runs such a plan.
 *
 * Coherence is a property of each pair of memories: inside a machine as its own platform says, and never between
 * machines. So the platform of the whole is not coherent; inside a machine nothing changes.
 *
 * Library: libclotho-io. */
#ifndef CLOTHO_CLUSTER_H
#define CLOTHO_CLUSTER_H

#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most machines of a cluster, and most executors of all its machines together. */
#define CLO_CLUSTER_MACHINES_MAX 1024u
#define CLO_CLUSTER_EXECUTORS_MAX CLO_EXECUTORS_MAX

typedef struct clo_cluster clo_cluster; /* opaque: owns the platforms */

/* Reads a cluster file, and opens the platform of each machine.
 *
 *   path  "-": standard input; at most 16 MiB. Platform files that it names are relative to its folder.
 *   out   the cluster, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL
 *   CLO_ERR_IO        the file cannot be read
 *   CLO_ERR_FORMAT    one line in clo_last_error: "FILE:LINE: what is wrong; what to do"
 *   CLO_ERR_LIMIT     more than CLO_CLUSTER_EXECUTORS_MAX executors, more resources or pieces of links than a platform
 *                     has
 *   CLO_ERR_MEMORY
 *   what clo_platform_open returns for a machine
 *
 * Threads: any. Real time: no. O(bytes of the file + what clo_platform_create takes). */
CLO_API CLO_NODISCARD clo_status clo_cluster_load(const char *path, clo_cluster **out);

/* The same from memory.
 *
 *   name  stands for the file in error messages; platform files are relative to its folder.
 *   text  [text_bytes]; borrowed during the call.
 *   out   as in clo_cluster_load.
 *
 * Returns as clo_cluster_load, but not CLO_ERR_IO for the text itself.
 * Threads: any. Real time: no. As clo_cluster_load. */
CLO_API CLO_NODISCARD clo_status clo_cluster_parse(const char *name, const char *text, size_t text_bytes,
                                                   clo_cluster **out);

/* Opens a platform by SPEC, or the platform of a whole cluster.
 *
 *   spec  a path that ends in ".json": a cluster file. Anything else: as clo_platform_open.
 *   out   the platform, owned by the caller.
 *
 * Returns as clo_cluster_load or clo_platform_open.
 * Threads: any. Real time: no. As these. */
CLO_API CLO_NODISCARD clo_status clo_cluster_open_platform(const char *spec, clo_platform **out);

/* Frees a cluster with its platforms. NULL is allowed.
 * Threads: one; nothing may use the platforms any more. Real time: no. O(machines). */
CLO_API void clo_cluster_destroy(clo_cluster *cluster);

/* Reading a cluster. All calls below this line:
 * Threads: any. Real time: yes, O(1). */

/* The platform of the whole; owned by the cluster. Its executors are called MACHINE/EXECUTOR. NULL for NULL. */
CLO_API const clo_platform *clo_cluster_platform(const clo_cluster *cluster);

/* Number of machines; 0 for NULL. */
CLO_API uint32_t clo_cluster_machines(const clo_cluster *cluster);

/* Name of a machine, owned by the cluster. NULL for an unknown one. */
CLO_API const char *clo_cluster_machine_name(const clo_cluster *cluster, uint32_t machine);

#ifdef __cplusplus
}
#endif
#endif
