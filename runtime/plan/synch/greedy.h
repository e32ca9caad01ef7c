/* plan/synch/greedy.h - comparators without preemption that decide when a task ends or a job arrives. */
#ifndef CLO_PLAN_SYNCH_GREEDY_H
#define CLO_PLAN_SYNCH_GREEDY_H

#include "plan/synch/timeline.h"

typedef enum clo_synch_rule {
    /* Tetris with weights: share of the machine that the task takes + weight / remaining load of its job. */
    CLO_SYNCH_TETRIS,

    /* Join the shortest queue, serve the heaviest (Wang et al. 2014). */
    CLO_SYNCH_JSQ
} clo_synch_rule;

/* Places all tasks of the problem on the empty timeline. */
clo_status clo_synch_greedy(const clo_synch_problem *problem, clo_synch_rule rule, clo_synch_timeline *timeline);

#endif
