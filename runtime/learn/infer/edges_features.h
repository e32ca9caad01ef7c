/* learn/infer/edges_features.h - feature list 3: what a network that adds edges to a graph sees of a task. */
#ifndef CLO_LEARN_INFER_EDGES_FEATURES_H
#define CLO_LEARN_INFER_EDGES_FEATURES_H

/* Number of the list of features (clo_model_desc.feature_set). */
#define CLO_FEATURES_EDGES 3

/* The features of a task, in order. "log" of a time is log2(1 + time / unit) in Q8, linear between two powers of two;
 * unit is the power of two below a sixteenth of the mean time. The log of a negative time is negative. "share" is in
 * Q12. */
enum {
    /* "time", "tail": log of the task's time, and of the longest path from it to the end, its own time included */
    CLO_EDGES_TIME = 0,
    CLO_EDGES_TAIL = 1,
    /* "demand": share of the machine */
    CLO_EDGES_DEMAND = 2,
    /* "wait": log of how long it was ready before it started */
    CLO_EDGES_WAIT = 3,
    /* "slack": log of makespan - start - tail */
    CLO_EDGES_SLACK = 4,
    /* "position": its start as a share of the makespan */
    CLO_EDGES_POSITION = 5,
    /* These are 0 while a start is chosen. "second": 4096 while an end is chosen. */
    CLO_EDGES_SECOND = 6,
    /* "before": log of how much earlier the task starts than the start that was chosen */
    CLO_EDGES_BEFORE = 7,
    /* "overlap": log of how long it runs while the chosen one is ready and waits */
    CLO_EDGES_OVERLAP = 8,
    /* "spare": log of how much more slack it has than the chosen one */
    CLO_EDGES_SPARE = 9,
    /* "excess": share by which the demands of both together exceed the machine; negative: they fit */
    CLO_EDGES_EXCESS = 10,
    /* "shorter": log of how much shorter its tail is than that of the chosen one */
    CLO_EDGES_SHORTER = 11,
    CLO_EDGES_FEATURES = 12
};

#endif
