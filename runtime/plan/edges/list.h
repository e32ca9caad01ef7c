/* plan/edges/list.h - a list schedule of a packing with added edges, quickly: it is built for every edge that is tried.
 *
 * By a clock: whatever is ready and fits starts, in the order of the rule. That is parallel schedule generation
 * (rcpsp/problem.h), with the same result. What is ready lies in a tree over the order, each node with the least that
 * is demanded below it, so that what does not fit is passed over in groups. */
#ifndef CLO_PLAN_EDGES_LIST_H
#define CLO_PLAN_EDGES_LIST_H

#include "base/order/sort_keys.h"
#include "plan/rcpsp/problem.h"

#include <clotho/edges.h>

/* Edges beside those of the graph. */
typedef struct clo_added_edges {
    uint32_t count;
    uint32_t from[CLO_EDGES_MAX], to[CLO_EDGES_MAX];
} clo_added_edges;

/* A schedule, and what it was built from. All arrays [tasks]. */
typedef struct clo_list_plan {
    int64_t makespan_ns;
    /* Longest path to the end, own time included, through added edges too. */
    int64_t *tail_ns;
    /* Tasks by rising key of the rule; kept from schedule to schedule, which change it little. */
    uint32_t *by_key;
    /* When all before a task have ended, and when it starts. */
    int64_t *ready_ns, *start_ns;
    uint32_t *machine;
    /* Tasks as they started: parents before their children. */
    uint32_t *order;
} clo_list_plan;

/* What building needs; one a thread. */
typedef struct clo_list_builder {
    const clo_rcpsp *problem;
    clo_edges_rule rule;
    uint64_t *free;      /* [machines * words] */
    uint32_t *waits_for; /* [tasks] */
    uint32_t *rank;      /* [tasks] place in by_key */
    /* Added edges by their begin: the first of a task, and the next one of an edge; CLO_NONE: none */
    uint32_t *added_first, *added_next;
    uint32_t leaves;
    uint64_t *least; /* [2 * leaves] of what is ready below, lane by lane of the first word */
    uint32_t *count; /* [2 * leaves] how many are ready below */
    clo_heap heap;
    uint64_t schedules;
    clo_sort_key *keys, *other_keys; /* [tasks] scratch */
    void *block;
} clo_list_builder;

/* CLO_OK or CLO_ERR_MEMORY. The problem has one instance for each task. */
clo_status clo_list_builder_open(clo_list_builder *builder, const clo_rcpsp *problem, clo_edges_rule rule);
void clo_list_builder_close(clo_list_builder *builder);

/* tail_ns of the graph alone, and by_key. */
void clo_list_begin(clo_list_builder *builder, clo_list_plan *plan);

/* tail_ns with one more edge, which is the last of `added`. */
void clo_list_extend(clo_list_builder *builder, const clo_added_edges *added, clo_list_plan *plan);

/* Builds the schedule. */
void clo_list_build(clo_list_builder *builder, const clo_added_edges *added, clo_list_plan *plan);

#endif
