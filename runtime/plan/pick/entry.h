/* plan/pick/entry.h - what a row of ready tasks (row.h) is made of, for it and its holes. */
#ifndef CLO_PLAN_PICK_ENTRY_H
#define CLO_PLAN_PICK_ENTRY_H

#include "plan/schedule/ready.h"

/* What is placed next, by the earliest start or end of each task. Of equal ones: the lowest place, then the lowest
 * executor. */
typedef enum clo_pick_rule {
    CLO_PICK_START,    /* the least start                                                                */
    CLO_PICK_LEAST,    /* the least end, and an offset of the task                                       */
    CLO_PICK_LARGEST,  /* the largest earliest end                                                       */
    CLO_PICK_SUFFERAGE /* the largest loss on the second best executor; 0 of a task with one executor */
} clo_pick_rule;

typedef struct clo_row_order {
    clo_pick_rule rule;
    bool in_rounds;           /* what becomes ready waits until nothing else is left */
    const int64_t *offset_ns; /* [tasks] for CLO_PICK_LEAST; NULL: 0 */
    const uint32_t *place;    /* [tasks] different ones; NULL: the task */
} clo_row_order;

/* The value of a task on an executor, when it was computed. */
typedef struct clo_row_value {
    int64_t ns;
    int64_t inputs_ns, add_ns; /* without a demand: when the inputs are there, and from the start to the value */
    uint32_t executor;         /* CLO_NONE: not known, or there is none */
} clo_row_value;

/* A ready task, by its next instance. */
typedef struct clo_row_entry {
    clo_row_value two[2];           /* the earliest ones of the last look */
    int64_t others_ns;              /* without a demand: on no other executor it is before */
    int64_t offset_ns;              /* from the value to the key, where the least one wins */
    uint32_t task, instance, place; /* of the order */
    uint32_t inputs;                /* of clo_row.inputs; CLO_NONE: at 0 everywhere */
    bool has_demand;
    uint64_t seen;       /* with one: the step of the last look */
    int64_t shortest_ns; /* with one: its least time */
    int64_t base_ns;     /* with one: nothing of the task begins before */
    int64_t least_ns;    /* with one: no value is before */
    uint32_t holes[2];   /* with one: in which it was left out last: see holes.c */
} clo_row_entry;

typedef struct clo_row {
    clo_ready ready;
    clo_row_order order;
    uint32_t executors, count;
    int64_t idle_ns;           /* when the first executor is idle */
    uint64_t step;             /* placements so far, from 1 */
    uint64_t *changed;         /* [executors] the step of the last placement that could change values there */
    clo_row_entry *entries;    /* [count] of [tasks] */
    int64_t *keys;             /* [count] what was found last; less is better */
    int64_t *rests_ns;         /* [count] where the least value wins, no key is less than idle_ns and this */
    clo_heap idle;             /* see pick_from_heaps; items NULL: picks pass the row */
    uint64_t considered;       /* tasks that picks from heaps have considered */
    uint32_t *position;        /* [tasks] of the entry; for the heaps */
    int64_t *from_ns, *add_ns; /* [executors] scratch */
    struct clo_holes *holes;   /* NULL: no task demands anything */
    void *inputs;              /* int64_t [inputs_capacity][executors] */
    size_t inputs_capacity;
    uint32_t inputs_count, inputs_free; /* inputs_free: first of a list through their first words; CLO_NONE: empty */
    void *block;
} clo_row;

static inline bool clo_row_has_two(const clo_row *row)
{
    return row->order.rule == CLO_PICK_SUFFERAGE;
}

/* From the start to the value. */
static inline int64_t clo_row_add_ns(const clo_row *row, int64_t time_ns)
{
    return row->order.rule == CLO_PICK_START ? 0 : time_ns;
}

/* When the executor has nothing more to do, and the inputs of the task are there. */
static inline int64_t clo_row_start_ns(const clo_row *row, const clo_row_entry *entry, uint32_t executor)
{
    int64_t available_ns = row->ready.available_ns[executor];

    if (entry->inputs == CLO_NONE)
        return available_ns;
    int64_t inputs_ns = ((const int64_t *)row->inputs)[(size_t)entry->inputs * row->executors + executor];
    return inputs_ns > available_ns ? inputs_ns : available_ns;
}

#endif
