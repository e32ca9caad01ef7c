/* plan/pick/ready_box.h - the parts of the tree of ready tasks (ready_tree.h): its nodes and their boxes. */
#ifndef CLO_PLAN_PICK_READY_BOX_H
#define CLO_PLAN_PICK_READY_BOX_H

#include "plan/schedule/ready.h"

/* Entries in a leaf. */
#define CLO_READY_LEAF 16u

/* So many ready tasks at most are kept without a tree. */
#define CLO_READY_FEW 384u

/* The four sides of a box: of the inputs and of the rests of the times, their least and their largest. */
enum { CLO_INPUTS_LEAST, CLO_RESTS_LEAST, CLO_INPUTS_MOST, CLO_RESTS_MOST, CLO_BOX_SIDES };

/* What is picked; ties: the lowest instance. Of a task with several instances, the next one stands for all. */
typedef enum clo_pick_rule {
    CLO_PICK_LEAST,    /* the least completion time                                                   */
    CLO_PICK_LARGEST,  /* the largest least completion time                                           */
    CLO_PICK_SUFFERAGE /* the largest loss on the second best executor; 0 of a task with one executor */
} clo_pick_rule;

typedef struct clo_ready_entry {
    clo_slot best; /* executor CLO_NONE: not known yet */
    int64_t second_ns;
    int64_t base_ns;     /* with demands, on one machine: its capacities let nothing of the task begin earlier */
    int64_t least_ns;    /* with demands: no end is before */
    int64_t shortest_ns; /* with demands: the least time */
    uint64_t seen;       /* the step at which it was computed */
    uint32_t second;     /* executor of the second best end; CLO_NONE: none */
    uint32_t instance;   /* CLO_NONE: not in the tree */
    uint32_t holes[2];   /* in which it was left out last: see suffer.c */
    uint32_t row;        /* of `rows`: when its inputs are on each executor; CLO_NONE: at 0 everywhere */
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
    int64_t base_ns[2];      /* as of an entry, at the least and the largest corner of the box */
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
    uint64_t step;             /* placements so far, from 1 */
    uint64_t *changed;         /* [executors] the step of the last placement there */
    clo_ready_entry *few;      /* [few_max], while `is_flat` [count]: all there are */
    uint32_t few_max;          /* what a tree pays for is more */
    uint32_t picked;           /* of `few`: the last pick */
    struct clo_suffer *suffer; /* for the row, from holes_min entries on; NULL: not for this rule, or this platform */
    uint32_t holes_min;
    bool is_flat;       /* what follows is not in use, or not made yet */
    uint64_t *slopes;   /* [executors] Q<slope_bits>; a time is the slope times the one on the reference, and a rest */
    uint32_t reference; /* column */
    uint32_t slope_bits;
    bool has_slopes;             /* one of them is not 0 */
    uint32_t *task_at;           /* [tasks] in the order of the tree */
    uint32_t *position;          /* [tasks] */
    clo_ready_entry *entries;    /* [tasks] by position */
    clo_ready_node *nodes;       /* [2 * leaves] */
    int64_t *boxes;              /* [2 * leaves] of [sides] of [executors] */
    int64_t *demands;            /* [2 * leaves] of the least and the most of [CLO_RESOURCES_MAX]; NULL: no demands */
    int64_t *from_ns, *times_ns; /* [executors] scratch */
    uint32_t *dirty;             /* [dirty_count] of [leaves] leaves */
    uint32_t dirty_count;
    void *rows; /* int64_t [rows_capacity][executors] */
    size_t rows_capacity;
    uint32_t rows_count, row_free; /* row_free: first of a list through the rows' first words; CLO_NONE: empty */
    void *block, *tree_block;
} clo_ready_tree;

static inline int64_t *clo_ready_side(const clo_ready_tree *tree, uint32_t node, int which)
{
    return tree->boxes + ((size_t)tree->nodes[node].box * CLO_BOX_SIDES + (size_t)which) * tree->executors;
}

/* The least (most: false) or the most that something in the box of a node demands. */
static inline int64_t *clo_ready_demands(const clo_ready_tree *tree, uint32_t node, bool most)
{
    return tree->demands + ((size_t)tree->nodes[node].box * 2 + most) * CLO_RESOURCES_MAX;
}

static inline const int64_t *clo_ready_row(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    return entry->row == CLO_NONE ? NULL : (const int64_t *)tree->rows + (size_t)entry->row * tree->executors;
}

static inline bool clo_ready_has_demand(const clo_schedule *schedule, uint32_t task)
{
    return schedule->profiles != NULL && clo_graph_has_demand(schedule->graph, task);
}

static inline uint32_t clo_ready_leaf(const clo_ready_tree *tree, uint32_t position)
{
    return tree->leaves + position / CLO_READY_LEAF;
}

/* The part of a time on `executor` that follows from the time on the reference column. */
static inline int64_t clo_ready_part(const clo_ready_tree *tree, uint32_t executor, int64_t reference_ns)
{
    return (int64_t)(tree->slopes[executor] * (uint64_t)reference_ns >> tree->slope_bits);
}

static inline int64_t clo_ready_reference(const clo_ready_tree *tree, uint32_t task)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    int64_t time_ns = cost->time_ns[(size_t)task * cost->columns + tree->reference];

    return time_ns == CLO_TIME_NEVER ? 0 : time_ns;
}

static inline uint32_t clo_ready_entries(const clo_ready_tree *tree, uint32_t leaf, clo_ready_entry **first)
{
    uint32_t begin = (leaf - tree->leaves) * CLO_READY_LEAF, tasks = tree->ready->schedule->graph->tasks;

    *first = tree->entries + (begin < tasks ? begin : tasks);
    return begin >= tasks ? 0 : tasks - begin < CLO_READY_LEAF ? tasks - begin : CLO_READY_LEAF;
}

/* The first node from here down that is a leaf or has entries on both sides. */
static inline uint32_t clo_ready_descend(const clo_ready_tree *tree, uint32_t at)
{
    while (at < tree->leaves &&
           (tree->nodes[2 * at].count == 0 || tree->nodes[2 * at + 1].count == 0)) /* ends: a leaf */
        at = tree->nodes[2 * at].count == 0 ? 2 * at + 1 : 2 * at;
    return at;
}

static inline bool clo_ready_has_changed(const clo_ready_tree *tree, uint32_t executor, uint64_t seen)
{
    return executor != CLO_NONE && tree->changed[executor] > seen;
}

static inline int64_t clo_ready_start(const clo_ready_tree *tree, const int64_t *inputs, uint32_t executor)
{
    int64_t available_ns = tree->ready->available_ns[executor];

    return inputs != NULL && inputs[executor] > available_ns ? inputs[executor] : available_ns;
}

/* Empties the box of a leaf. */
void clo_ready_clear_box(const clo_ready_tree *tree, uint32_t node);

/* Takes an entry into the box of its leaf. */
void clo_ready_box_entry(clo_ready_tree *tree, uint32_t leaf, const clo_ready_entry *entry);

/* Makes the boxes again that changed: along the ways up, or all of them where that is less. */
void clo_ready_settle(clo_ready_tree *tree);

/* For sufferage: on each executor the time as a multiple of the time on one column, where that leaves less than the
 * times themselves. */
void clo_ready_find_slopes(clo_ready_tree *tree);

#endif
