/* cost/cost.h - the cost tables as the other modules read them: plain arrays, immutable, but for the lower
 * bound that is kept with them.
 *
 * A *column* is a group of executors that no task can tell apart: equal kind, equal speeds and, where the graph
 * has demands, equal capacities of their machines. A platform of 8 little and 4 big cores has two columns. */
#ifndef CLO_COST_COST_H
#define CLO_COST_COST_H

#include "graph/graph.h"
#include "library.h"
#include "platform/model/platform.h"

#include <clotho/cost.h>

#include <pthread.h>

/* The lower bound: computed when somebody asks for it first (cost/bound), because it can be dearer than all the rest
 * and is not always wanted. The only part of a cost that is written after clo_cost_create. */
typedef struct clo_bound_kept {
    pthread_mutex_t lock;
    bool is_known;
    clo_bound bound;
} clo_bound_kept;

struct clo_cost {
    const clo_graph *graph;
    const clo_platform *platform;
    uint32_t columns;
    uint32_t *column_of;                     /* [executors]                                                       */
    uint32_t *column_first;                  /* [columns] the first executor of each                              */
    uint32_t *column_size;                   /* [columns] executors in it                                         */
    int64_t *time_ns;                        /* [tasks * columns]; CLO_TIME_NEVER: cannot run. Sets are not in it  */
    int64_t *mean_ns;                        /* [tasks]; time_ns itself where there is one column */
    uint32_t resource_of[CLO_RESOURCES_MAX]; /* the platform's resource for each of the graph's; CLO_NONE: none,
                                                so it is not limited                                */
    uint64_t snapshot;                       /* of the profile that has measured its times; 0: none */
    bool is_restricted;                      /* some task cannot run on some executor */
    clo_bound_kept *bound;
    void *block;
};

/* Times that replace those of the graph. */
typedef struct clo_cost_times {
    const void *of;
    /* Of an execution of the task on an executor of the platform's kind; < 0: as the graph says. */
    int64_t (*time_ns)(const void *of, uint32_t task, uint32_t kind);
} clo_cost_times;

/* clo_cost_create with other times; NULL: none. */
CLO_INTERNAL clo_status clo_cost_create_from(const clo_graph *graph, const clo_platform *platform,
                                             const clo_cost_times *times, clo_cost **out);

/* clo_cost_execution_ns without the checks of ids. */
static inline int64_t clo_cost_time(const clo_cost *cost, uint32_t task, uint32_t executor)
{
    if (!clo_graph_allows(cost->graph, task, executor))
        return CLO_TIME_NEVER;
    return cost->time_ns[(size_t)task * cost->columns + cost->column_of[executor]];
}

/* The first executor >= `from` of the platform that placement set `placement` has; CLO_NONE: there is none, or the set
 * is CLO_NONE: such a task goes by columns. */
static inline uint32_t clo_cost_next_allowed(const clo_cost *cost, uint32_t placement, uint32_t from)
{
    uint32_t executor = placement == CLO_NONE ? CLO_NONE : clo_placement_next(&cost->graph->sets, placement, from);

    return executor < cost->platform->executors_count ? executor : CLO_NONE;
}

/* Capacity of a machine for the graph's resource `resource`; -1: unlimited. */
static inline int64_t clo_cost_capacity(const clo_cost *cost, uint32_t machine, uint32_t resource)
{
    uint32_t index = cost->resource_of[resource];

    if (index == CLO_NONE)
        return -1;
    int64_t capacity = cost->platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + index];
    return capacity < 0 ? -1 : capacity;
}

/* Fastest time of one instance of `task` on any executor that can run it. */
CLO_INTERNAL int64_t clo_cost_fastest(const clo_cost *cost, uint32_t task);

/* True if an edge may take time between two of the executors. */
CLO_INTERNAL bool clo_cost_has_transfers(const clo_cost *cost);

/* The greatest common divisor of all execution times; 1 where transfers take time, or nothing does. Moved as far left
 * as it goes, any plan starts and ends everything at multiples of it, so the optimum is one. */
int64_t clo_cost_grid_ns(const clo_cost *cost);

static inline int64_t clo_greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) { /* Euclid: falls */
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
