/* graph.h - a build as a graph of Clotho: a step is a task, a pool a resource, -j N a platform of N equal
 * executors. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_GRAPH_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_GRAPH_H

#include "ninja/state/weigh.h"

#include <clotho/clotho.h>

typedef struct build_graph {
    build_folder *folder;
    clo_task_fn body; /* NULL: the graph is planned, not run */
    void *arguments;  /* [edges] of argument_bytes each: those of the bodies */
    size_t argument_bytes;
    const int64_t *learned_ns; /* [edges] times for steps that the log does not know; 0: none; NULL: of none */
    const int64_t *memory_kib; /* [edges] that a step demands of budget_kib; NULL: nothing */
    int64_t budget_kib;
    const int64_t *cpu_milli; /* [edges] CPUs that a step uses, in thousandths, of cpus_milli; NULL: nothing */
    int64_t cpus_milli;
    uint32_t elsewhere;  /* of the jobs, the first ones are of other hosts; see hosts.h */
    bool *is_in;         /* [edges] */
    uint32_t *tasks;     /* [edges] task of an edge */
    uint32_t *edges;     /* [tasks] edge of a task */
    uint32_t *seen;      /* [edges] the last edge that has this one as a parent, plus 1 */
    uint32_t *resources; /* [pools] */
    uint32_t resources_count;
    uint32_t cpu_resource; /* NINJA_NONE: the steps do not share CPUs, or pools have taken all resources */
    uint32_t steps;        /* tasks that are not phony */
    build_weights weights;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} build_graph;

/* Makes graph, platform and cost of the steps behind the targets; with only_wanted of those of build_want, and of what
 * lies between them. `folder`, and `body` with what belongs to it, are set by the caller; all else is zero. Returns an
 * exit code; build_graph_end in every case. */
int build_graph_make(build_graph *g, const uint32_t *targets, size_t count, bool only_wanted, uint32_t jobs);
/* The tasks of `other` with other times, [edges] in ns, without bodies: to judge what was measured. */
int build_graph_again(build_graph *g, const build_graph *other, const int64_t *time_ns, uint32_t jobs);
void build_graph_end(build_graph *g);

#endif
