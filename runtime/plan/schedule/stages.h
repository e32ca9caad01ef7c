/* plan/schedule/stages.h - what a schedule keeps about tasks of several instances, so that an edge between two of them
 * costs as much as they have instances, not as many as they have pairs.
 *
 * Readers of a task cannot tell apart executors that share a memory and have the same links to all others: those are a
 * *class*. Of all instances that ended on a class, the one that ended last arrives last, wherever the data go. So the
 * instances are listed by class, the last finish first. An instance that is executed again can be read from either
 * place and is looked at alone.
 *
 * Invariant: a task is sorted when its readers ask for it first, and stays so if all its instances were placed by
 * then. From then on it changes only by further executions of them: these take an instance off the lists, which is seen
 * when a list is walked. */
#ifndef CLO_PLAN_SCHEDULE_STAGES_H
#define CLO_PLAN_SCHEDULE_STAGES_H

#include "graph/graph.h"
#include "platform/model/platform.h"

#include <clotho/status.h>

/* The instances of a task that ended on a class of executors, and were executed once. */
typedef struct clo_stage_group {
    /* One of the class. */
    uint32_t executor;
    /* By falling finish, then rising; goes on with clo_stages.next. CLO_NONE: empty. */
    uint32_t head;
} clo_stage_group;

typedef struct clo_stage {
    /* groups[first] and so on */
    uint32_t first, count;
    /* Those executed more than once; goes on with clo_stages.next_again. */
    uint32_t again;
    /* Whose original ends last; the first of several. CLO_NONE: nothing is placed. */
    uint32_t last;
    bool is_sorted;
} clo_stage;

/* What is known of the inputs of a task: the same for all its instances. */
typedef struct clo_stage_row {
    /* CLO_NONE: nothing. */
    uint32_t task;
    /* Executions when it was found. */
    uint32_t found_at;
    /* Without it only ready_ns is known. */
    bool has_critical;
    /* [executors] each as in the schedule */
    int64_t *ready_ns, *second_ns;
    uint32_t *critical;
} clo_stage_row;

/* Item of a sort. */
typedef struct clo_stage_item {
    int64_t finish_ns;
    uint32_t class_of, instance;
} clo_stage_item;

enum { CLO_STAGE_ROWS = 16 };

typedef struct clo_stages {
    /* [executors] */
    uint32_t *class_of;
    /* [tasks] into `list`; CLO_NONE: a task of one instance */
    uint32_t *of;
    /* [tasks] executions of the whole schedule after the last one of the task */
    uint32_t *changed_at;
    clo_stage *list;
    uint32_t count;
    clo_stage_group *groups;
    size_t groups_count;
    /* [instances] */
    uint32_t *next, *next_again;
    /* [most instances of a task] scratch */
    clo_stage_item *items;
    /* [executors] scratch */
    int64_t *row_ns;
    clo_stage_row rows[CLO_STAGE_ROWS];
    void *block;
} clo_stages;

/* NULL in *out where every task has one instance. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_stages_open(clo_stages **out, const clo_graph *graph, const clo_platform *platform);
void clo_stages_close(clo_stages *stages); /* NULL is allowed */

/* Nothing is placed any more. */
void clo_stages_clear(clo_stages *stages, const clo_graph *graph);

#endif
