/* generate.h - seeded graph families, for tests, benchmarks and `clotho generate`.
 *
 * The same config gives the same graph on every machine. Tasks run clo_body_spin. CCR is the mean transfer time
 * divided by the mean execution time, on executors of speed 65536 and links of 1 byte/ns (Topcuoglu 2002, section
 * 5). Beta in [0, 2) is the heterogeneity: times on the kinds "k0" .. "k<kinds-1>" are uniform in w * (1 +- beta/2)
 * (same source).
 *
 * Demands are in thousandths of a machine whose capacity is CLO_GENERATE_WHOLE. A task's demand of each resource is
 * uniform in 1 .. CLO_GENERATE_WHOLE: half such a machine on average. On a machine of another capacity c, about 2 c /
 * CLO_GENERATE_WHOLE tasks fit at once; on a platform that does not name the resource, all of them.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_GENERATE_H
#define CLOTHO_GENERATE_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The scale of demands. */
#define CLO_GENERATE_WHOLE 1000

typedef struct clo_generate_config {
    /* Set by CLO_GENERATE_CONFIG_INIT. */
    size_t size;

    /* Fixes every random choice. */
    uint64_t seed;

    /* Wanted number of tasks; a family takes the nearest number that it has. 0: 100. */
    uint32_t tasks;

    /* Layered: mean width of a layer. Forkjoin: branches. Switches: lanes. Trees: arity. 0: the family's default. */
    uint32_t width;

    /* Mean work of a task; 0: 100 000. */
    int64_t work_mean_ns;

    /* Communication to computation ratio; 0: edges carry no bytes. */
    double ccr;

    /* 0 .. 1: work is uniform in mean * (1 +- spread). */
    double work_spread;

    /* Heterogeneity over the kinds, 0 <= beta < 2. Used if kinds > 0. */
    double beta;

    /* Number of kinds with times of their own; 0: work only. */
    uint32_t kinds;

    /* 1: every task is duplicable, except branches (branch.h), which also have only one instance. */
    uint32_t duplicable;

    /* 1: each task has an output buffer as large as its widest edge. */
    uint32_t outputs;

    /* Resources "r0" .. "r<demands-1>" that every task demands, at most CLO_RESOURCES_MAX; 0: no demands. The tasks
     * and the edges are the same as without. */
    uint32_t demands;

    /* The number of instances of each task is uniform in instances_min .. instances_max; each instance has the task's
     * work. Both 0: one instance; one of them 0: the same as the other. At most 1 000 000. */
    uint32_t instances_min;
    uint32_t instances_max;
} clo_generate_config;

#define CLO_GENERATE_CONFIG_INIT CLO_SIZED_INIT(clo_generate_config)

/* Makes and seals a graph of a family. clo_registry_entry("families", ...) lists the families.
 *
 *   family  such as "cholesky".
 *   config  NULL: all defaults. Read during the call only.
 *   out     the graph, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  unknown family, numbers out of range, unknown config fields
 *   CLO_ERR_LIMIT     more than 2^28 tasks, or numbers that overflow
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(tasks + edges). */
CLO_API CLO_NODISCARD clo_status clo_graph_generate(const char *family, const clo_generate_config *config,
                                                    clo_graph **out);

#ifdef __cplusplus
}
#endif
#endif
