/* milp.h - the shortest plan of a small graph as a mixed integer linear program, solved by CBC: an oracle that shares
 * no code and no idea with the planners, and knows demands, which the planner `exact` does not.
 *
 * After Hua et al., "Learning to Schedule DAG Tasks", appendix B: which task goes before which, and big-M rows. Their
 * machine holds all tasks at once; here tasks also choose an executor and wait for transfers. Demands are flows of the
 * resource from task to task (Artigues, Michelon, Reusser 2003), because pairs alone do not see three tasks that do
 * not fit together. */
#ifndef CLO_TEST_MILP_H
#define CLO_TEST_MILP_H

#include "support.h"

enum { MILP_TASKS_MAX = 8, MILP_EXECUTORS_MAX = 4 };

typedef struct milp_problem {
    uint32_t tasks, executors, machines;
    uint32_t machine_of[MILP_EXECUTORS_MAX];

    /* CLO_TIME_NEVER; else at least 1. */
    int64_t time[MILP_TASKS_MAX][MILP_EXECUTORS_MAX];

    /* from, to; the transfer from executor to executor. An edge goes to a higher index. */
    bool is_edge[MILP_TASKS_MAX][MILP_TASKS_MAX];
    int64_t transfer[MILP_TASKS_MAX][MILP_TASKS_MAX][MILP_EXECUTORS_MAX][MILP_EXECUTORS_MAX];

    /* Of one resource; by machine, -1: no limit. */
    int64_t demand[MILP_TASKS_MAX], capacity[MILP_EXECUTORS_MAX];

    /* The makespan of a plan that is known. */
    int64_t longest;
} milp_problem;

/* True if CBC can be loaded. */
bool milp_has_solver(void);

/* The shortest makespan. Fails the test where the solver has no proof of it. */
int64_t milp_shortest(const milp_problem *problem);

#endif
