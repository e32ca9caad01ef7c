/* plan/pick/ready_tree.h - the ready tasks as a tree of boxes, for rules that pick the one with an extreme
 * completion time.
 *
 * The end of a ready task t on executor e, appended, is F(t, e) = max(A(e), R(t, e)) + D(t, e): A when e has nothing
 * more to do, R when the inputs are there, D the time it takes. R and D never change while t is ready; A only rises,
 * and only for the executor that got a task. Each node of the tree keeps the least and the largest R and D below it
 * (a box), so its own F is a bound on the score of everything below. For sufferage, a difference, boxes are sheared:
 * D is a slope times the task's time on one column, the reference, and a rest; the node keeps the ranges of the
 * reference and of the rests. Where all of a box suffer on the same two executors, the largest difference of their
 * times decides, which is kept.
 *
 * A pick is a search in depth, the best bound first, that leaves out nodes which can hold no better task (branch and
 * bound). A bound, or a score, is computed again only where an executor that decides it got a task.
 *
 * Tasks stand in the tree by level of the graph, then by their times (k-d order): neighbours have similar boxes. How
 * many nodes a pick visits:
 *   times that are one number per task, divided by speeds, or few kinds, and equal inputs: O(log tasks) for each
 *     change of the best executor along the tasks, O(log tasks) where they are alike;
 *   anything else: at most all of them, each in O(1) where no executor that decides it changed.
 * Less is not to be expected there. A pick of the largest least end asks if some t has F(t, e) >= x for every e:
 * with R = 0, if some row D(t) dominates x - A. For any A that is the dominance query in `executors` dimensions; n
 * of them below n^(2 - o(1)) for more than log n dimensions would refute the orthogonal vectors hypothesis (Williams
 * 2005).
 *
 * While few tasks are ready they stand in a row, and each pick looks through all of it: that is cheaper than the boxes.
 * With one task more the tree is made, once, and they go into it; when it has become empty a row begins anew.
 *
 * With demands a task begins where the capacities of the machine let it, at max(A, R) or later: F(t, e) is that start
 * and D. It rises with the demand, and with D. The least end and the largest one are not looked for in a tree or a row
 * then, but for few tasks: see list/batch.c. Sufferage on one machine has a row for any number of tasks, in which most
 * are left out by holes, without a search of the capacities (suffer.h): O(ready * executors) comparisons a pick. The
 * bound above on what can be expected holds for it too, as demands only add dimensions. On several machines it has the
 * tree: boxes keep the least and the most that is demanded too, tasks stand in the order of demands too, and a corner
 * is fitted into the profile as a task is (ready_fit.h). What is placed only takes room. So what searches found for a
 * box is where the next one begins; an upper bound, and the ends of a task, hold while the slots they come from are
 * free. A placement takes the slots of a share of all tasks, and boxes with as many sides as there are resources are
 * loose: so a pick still looks at a share of the tasks. */
#ifndef CLO_PLAN_PICK_READY_TREE_H
#define CLO_PLAN_PICK_READY_TREE_H

#include "plan/pick/ready_box.h"

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
