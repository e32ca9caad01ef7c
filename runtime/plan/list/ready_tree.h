/* plan/list/ready_tree.h - the ready tasks as a tree of boxes, for rules that pick the one with an extreme completion time.
 *
 * The end of a ready task t on executor e, appended, is F(t, e) = max(A(e), R(t, e)) + D(t, e): A when e has nothing more
 * to do, R when the inputs are there, D the time it takes. R and D never change while t is ready; A only rises, and
 * only for the executor that got a task. Each node of the tree keeps the least and the largest R and D below it (a box), so
 * its own F is a bound on the score of everything below. For sufferage, a difference, boxes are sheared: D is a slope times
 * the task's time on one column, the reference, and a rest; the node keeps the ranges of the reference and of the rests.
 * Where all of a box suffer on the same two executors, the largest difference of their times decides, which is kept. A pick is a search in depth, the best bound first, that leaves out
 * nodes which can hold no better task (branch and bound). A bound, or a score, is computed again only where an executor that
 * decides it got a task.
 *
 * Tasks stand in the tree by level of the graph, then by their times (k-d order): neighbours have similar boxes. How many
 * nodes a pick visits:
 *   times that are one number per task, divided by speeds, or few kinds, and equal inputs: O(log tasks) for each change of
 *     the best executor along the tasks, O(log tasks) where they are alike;
 *   anything else: at most all of them, each in O(1) where no executor that decides it changed.
 * Less is not to be expected there. A pick of the largest least end asks if some t has F(t, e) >= x for every e: with R = 0, if
 * some row D(t) dominates x - A. For any A that is the dominance query in `executors` dimensions; n of them below
 * n^(2 - o(1)) for more than log n dimensions would refute the orthogonal vectors hypothesis (Williams 2005).
 *
 * With demands a start is no longer max(A, R), and no end has an upper bound: then every task is looked at in each pick. */
#ifndef CLO_PLAN_LIST_READY_TREE_H
#define CLO_PLAN_LIST_READY_TREE_H

#include "plan/list/ready_order.h"
#include "plan/schedule/ready.h"

/* What is picked; ties: the lowest instance. Of a task with several instances, the next one stands for all. */
typedef enum clo_pick_rule {
    CLO_PICK_LEAST,    /* the least completion time                                                   */
    CLO_PICK_LARGEST,  /* the largest least completion time                                           */
    CLO_PICK_SUFFERAGE /* the largest loss on the second best executor; 0 of a task with one executor */
} clo_pick_rule;

typedef struct clo_ready_entry {
    clo_slot best; /* executor CLO_NONE: not known yet */
    int64_t second_ns;
    uint64_t seen;     /* the step at which it was computed */
    uint32_t second;   /* executor of the second best end; CLO_NONE: none */
    uint32_t instance; /* CLO_NONE: not in the tree */
    uint32_t row;      /* of `rows`: when its inputs are on each executor; CLO_NONE: at 0 everywhere */
} clo_ready_entry;

/* Of everything below a node: the largest D(b) - D(a), and the lowest instance that has it. CLO_NONE: not known. */
typedef struct clo_ready_gain {
    int64_t gain_ns;
    uint32_t a, b, instance;
} clo_ready_gain;

#define CLO_READY_GAINS 4

typedef struct clo_ready_node {
    int64_t above; /* no score below is larger, while the executors in `deciding` stay as they are */
    uint64_t seen; /* the step at which it was computed; 0: never */
    uint32_t deciding[2];
    uint32_t lowering[2];    /* executors that can only make `above` smaller; CLO_NONE: fewer */
    int64_t reference_ns[2]; /* least and largest time on the reference column */
    uint32_t lowest;         /* instance */
    uint32_t count;          /* entries below */
    uint32_t boxed;          /* of these, in the box: all but, for sufferage, tasks with one executor */
    uint32_t tie;            /* no instance below that reaches `above` is lower */
    bool is_certain;         /* sufferage: all below suffer on the deciding executors */
    bool is_exact;           /* `tie` reaches `above` */
    bool has_demands;
    bool is_dirty; /* of a leaf: changed since the boxes above it were made */
    bool is_loose; /* of a leaf: something left, so its box may be too large */
    uint32_t box;  /* of `boxes`: its own, or that of the only one below that has one */
    clo_ready_gain gains[CLO_READY_GAINS];
} clo_ready_node;

typedef struct clo_ready_tree {
    clo_ready *ready;
    clo_pick_rule rule;
    uint32_t leaves; /* a power of two; the children of node i are 2 i and 2 i + 1, leaves are [leaves, 2 leaves) */
    uint32_t executors, count;
    uint64_t step;      /* placements so far, from 1 */
    uint64_t *changed;  /* [executors] the step of the last placement there */
    uint64_t *slopes;   /* [executors] Q<slope_bits>; a time is the slope times the one on the reference, and a rest */
    uint32_t reference; /* column */
    uint32_t slope_bits;
    bool has_slopes;          /* one of them is not 0 */
    uint32_t *task_at;        /* [tasks] in the order of the tree */
    uint32_t *position;       /* [tasks] */
    clo_ready_entry *entries; /* [tasks] by position */
    clo_ready_node *nodes;    /* [2 * leaves] */
    int64_t *boxes;           /* [2 * leaves] of [sides] of [executors] */
    uint32_t *dirty;          /* [dirty_count] of [leaves] leaves */
    uint32_t dirty_count;
    void *rows; /* int64_t [rows_capacity][executors] */
    size_t rows_capacity;
    uint32_t rows_count, row_free; /* row_free: first of a list through the rows' first words; CLO_NONE: empty */
    void *block;
} clo_ready_tree;

/* Empty; `ready` is borrowed. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_ready_tree_open(clo_ready_tree *tree, clo_ready *ready, clo_pick_rule rule);
void clo_ready_tree_close(clo_ready_tree *tree);

/* Adds a task by its first instance, whose producers are placed. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_ready_tree_add(clo_ready_tree *tree, uint32_t instance);

/* The instance to place next, and where. The tree is not empty. */
uint32_t clo_ready_tree_pick(clo_ready_tree *tree, clo_slot *slot);

/* What was picked has been placed there: its task goes on with the next instance, or leaves. */
void clo_ready_tree_placed(clo_ready_tree *tree, uint32_t instance, uint32_t executor);


#endif
