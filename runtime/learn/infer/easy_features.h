/* learn/infer/easy_features.h - feature list 6: what the network of the policy "easy-residual" sees of a candidate. */
#ifndef CLO_LEARN_INFER_EASY_FEATURES_H
#define CLO_LEARN_INFER_EASY_FEATURES_H

/* Number of the list of features of the policy "easy-residual" (clo_model_desc.feature_set). */
#define CLO_FEATURES_EASY 6

/* The features of an instance that may start, in order: for its score (the value of a stage), and again for whether it
 * may start now (the value of a limit). Times and works are logarithms to base 2, in sixteenths, over the mean work of
 * the jobs that came (U); so are counts. Shares of a machine are 64ths. */
enum {
    /* "work", "area": what its job has left, in time and in time times share of the machine; "relative": the work over
     * the geometric mean of those of the candidates */
    CLO_EASY_WORK = 0,
    CLO_EASY_RELATIVE = 1,
    CLO_EASY_AREA = 2,
    /* "time": of the instance; "behind": the largest sum of areas along a path that begins at its stage */
    CLO_EASY_TIME = 3,
    CLO_EASY_BEHIND = 4,
    /* "startable": instances of its job that are ready */
    CLO_EASY_STARTABLE = 5,
    /* "fit": over the mean fit of the candidates, in 64ths */
    CLO_EASY_FIT = 6,
    /* "least", "free": of what is free of the limited resources of the machine, the least and the mean; "rest": the
     * least that would be left; "demand": the sum of what the instance holds */
    CLO_EASY_LEAST = 7,
    CLO_EASY_FREE = 8,
    CLO_EASY_REST = 9,
    CLO_EASY_DEMAND = 10,
    /* "jobs": live ones; "candidates" */
    CLO_EASY_JOBS = 11,
    CLO_EASY_CANDIDATES = 12,
    /* "wait": until room is there for the first job; "first": the work that it has left; 0 where no room is kept.
     * "delays": 64 if the instance would delay it; "place": 4 for the first job in the order, 8 for the second ... */
    CLO_EASY_WAIT = 13,
    CLO_EASY_FIRST = 14,
    CLO_EASY_DELAYS = 15,
    CLO_EASY_PLACE = 16,
    /* "next": until something ends; 0 if nothing runs */
    CLO_EASY_NEXT = 17,
    CLO_EASY_FEATURES = 18
};

#endif
