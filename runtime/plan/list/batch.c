/* plan/list/batch.c - batch mode: of all ready tasks, the one with an extreme completion time goes first.
 *
 * Min-min and max-min: Ibarra, Kim, "Heuristic Algorithms for Scheduling Independent Tasks on Nonidentical
 * Processors", JACM 24(2), 1977; Duplex: Braun et al., JPDC 61(6), 2001; Sufferage:
 * Maheswaran et al., JPDC 59(2), 1999. With MCT(t) the least completion time of t on any executor:
 *
 *   minmin     the ready task with the least MCT goes to its executor
 *   maxmin     the ready task with the largest MCT does
 *   duplex     the shorter of both plans (ties: minmin)
 *   sufferage  the ready task that would lose most if it got only its second best executor
 *
 * Written for independent tasks. For dependent ones SAGA's rules are taken: minmin and maxmin empty the batch of ready
 * tasks before they look at what became ready meanwhile; sufferage looks at all ready tasks at each step, and
 * decides for one task a step (the paper: for one task an executor in each pass). Executions are appended. Ties: the
 * lowest task, then the lowest executor. Instances of a task are ready together and look alike, so one of them
 * stands for all. A task with one possible executor suffers 0. Beyond the papers: placement masks, and capacities
 * of machines.
 *
 * The ready tasks stand in a row while they are few, else in a tree of boxes, pick/ready_tree.h, which also says what a
 * step costs: about O(log tasks * executors) where the times of tasks are in proportion, O(ready * executors) in the
 * worst case. With demands min-min asks, for each time, what fits then (pick/fit_pick.h), max-min asks which tasks
 * holes have no room for (pick/late_pick.h), and sufferage leaves tasks out by holes (pick/suffer.h). */

#include "plan/schedule/planner.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/pick/fit_pick.h"
#include "plan/pick/late_pick.h"
#include "plan/pick/ready_tree.h"

static clo_status add_released(clo_ready *ready, clo_ready_tree *tree)
{
    const clo_graph *graph = ready->schedule->graph;
    clo_status status = CLO_OK;
    uint32_t instance;

    while (status == CLO_OK && clo_ready_next(ready, &instance))
        if (graph->first_instance[graph->task_of[instance]] == instance)
            status = clo_ready_tree_add(tree, instance);
    return status;
}

static clo_status place_picked(clo_ready *ready, clo_ready_tree *tree)
{
    clo_slot slot;
    uint32_t instance = clo_ready_tree_pick(tree, &slot);
    clo_status status = clo_ready_place(ready, instance, slot);

    clo_ready_tree_placed(tree, instance, slot.executor);
    return status;
}

/* in_rounds: what becomes ready waits until the batch is empty. */
static clo_status place_all(clo_ready *ready, clo_ready_tree *tree, bool in_rounds)
{
    const clo_schedule *schedule = ready->schedule;
    clo_status status = CLO_OK;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some task is always ready */
        if (tree->count == 0 || !in_rounds)
            status = add_released(ready, tree);
        if (status != CLO_OK)
            break;
        status = place_picked(ready, tree);
    }
    return status;
}

static clo_status run_batch(clo_schedule *schedule, clo_pick_rule rule, bool in_rounds)
{
    clo_ready ready;
    clo_ready_tree tree;
    clo_status status = clo_ready_open(&ready, schedule);

    if (status != CLO_OK)
        return status;
    status = clo_ready_tree_open(&tree, &ready, rule);
    if (status == CLO_OK)
        status = place_all(&ready, &tree, in_rounds);
    clo_ready_tree_close(&tree);
    clo_ready_close(&ready);
    return status;
}

/* For a batch of few tasks a row is enough. */
enum { FIT_FEW = 128, LATE_FEW = 100 };

/* What min-min with demands needs. */
typedef struct fit_batch {
    clo_ready ready;
    clo_ready_tree few;
    clo_fit_pick many;
    int64_t *offset_ns; /* [tasks] 0 */
    uint32_t *place;    /* [tasks] the task: of equal ends the lowest one first */
} fit_batch;

/* Places all tasks that wait to be taken, one row or one batch of them, and what becomes ready meanwhile waits. */
static clo_status place_batch(fit_batch *b)
{
    const clo_graph *graph = b->ready.schedule->graph;
    bool is_few = b->ready.released_count - b->ready.taken <= FIT_FEW;
    clo_status status = is_few ? add_released(&b->ready, &b->few) : CLO_OK;
    uint32_t instance;

    while (status == CLO_OK && b->few.count > 0)
        status = place_picked(&b->ready, &b->few);
    while (!is_few && clo_ready_next(&b->ready, &instance))
        if (graph->first_instance[graph->task_of[instance]] == instance)
            clo_fit_pick_add(&b->many, graph->task_of[instance]);
    while (status == CLO_OK && clo_fits_first(&b->many.fits, 0) < graph->tasks)
        status = clo_fit_pick_place(&b->many);
    return status;
}

static clo_status minmin_with_demands(clo_schedule *schedule)
{
    uint32_t tasks = schedule->graph->tasks;
    fit_batch b = {.offset_ns = clo_allocate(tasks, sizeof *b.offset_ns),
                   .place = clo_allocate(tasks, sizeof *b.place)};
    clo_status status = clo_ready_open(&b.ready, schedule);

    if (status == CLO_OK && (b.offset_ns == NULL || b.place == NULL))
        status = clo_fail_memory("a plan");
    for (uint32_t t = 0; t < tasks && status == CLO_OK; t++)
        b.place[t] = t;
    if (status == CLO_OK)
        status = clo_ready_tree_open(&b.few, &b.ready, CLO_PICK_LEAST);
    if (status == CLO_OK)
        status = clo_fit_pick_open(&b.many, &b.ready, b.offset_ns, b.place);
    while (status == CLO_OK && schedule->count < schedule->graph->instances) /* ends: some task is always ready */
        status = place_batch(&b);
    clo_fit_pick_close(&b.many);
    clo_ready_tree_close(&b.few);
    clo_ready_close(&b.ready);
    clo_free(b.offset_ns);
    clo_free(b.place);
    return status;
}

static clo_status minmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return schedule->profiles != NULL ? minmin_with_demands(schedule) : run_batch(schedule, CLO_PICK_LEAST, true);
}

static clo_status maxmin_with_demands(clo_schedule *schedule)
{
    clo_ready ready;
    clo_ready_tree few = {0};
    clo_late_pick many = {0};
    clo_status status = clo_ready_open(&ready, schedule);

    if (status == CLO_OK)
        status = clo_ready_tree_open(&few, &ready, CLO_PICK_LARGEST);
    if (status == CLO_OK)
        status = clo_late_pick_open(&many, &ready);
    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some task is always ready */
        bool is_few = ready.released_count - ready.taken <= LATE_FEW;
        if (is_few)
            status = add_released(&ready, &few);
        else
            clo_late_pick_fill(&many);
        while (status == CLO_OK && few.count > 0)
            status = place_picked(&ready, &few);
        while (status == CLO_OK && many.left > 0)
            status = clo_late_pick_place(&many);
    }
    clo_late_pick_close(&many);
    clo_ready_tree_close(&few);
    clo_ready_close(&ready);
    return status;
}

static clo_status maxmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return schedule->profiles != NULL ? maxmin_with_demands(schedule) : run_batch(schedule, CLO_PICK_LARGEST, true);
}

static clo_status sufferage_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return run_batch(schedule, CLO_PICK_SUFFERAGE, false);
}

static clo_status duplex_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_status status = minmin_fill(schedule, config);
    if (status != CLO_OK)
        return status;

    int64_t minmin_ns = clo_schedule_makespan_ns(schedule);
    clo_schedule_clear(schedule);
    status = maxmin_fill(schedule, config);
    if (status != CLO_OK || clo_schedule_makespan_ns(schedule) < minmin_ns)
        return status;
    clo_schedule_clear(schedule);
    return minmin_fill(schedule, config);
}

const clo_planner clo_planner_minmin = {
    .name = "minmin",
    .summary = "of all ready tasks the one that can end first, where it ends first (Ibarra, Kim 1977)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = minmin_fill,
};

const clo_planner clo_planner_maxmin = {
    .name = "maxmin",
    .summary = "of all ready tasks the one that ends last, where it ends first (Ibarra, Kim 1977)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = maxmin_fill,
};

const clo_planner clo_planner_duplex = {
    .name = "duplex",
    .summary = "the shorter of minmin and maxmin",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = duplex_fill,
};

const clo_planner clo_planner_sufferage = {
    .name = "sufferage",
    .summary = "of all ready tasks the one that would lose most on its second best executor (Maheswaran 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sufferage_fill,
};
