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
 * of machines. What a step costs: pick/row.h. */

#include "plan/pick/row.h"
#include "plan/schedule/planner.h"

static clo_status minmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return clo_row_fill(schedule, &(clo_row_order){.rule = CLO_PICK_LEAST, .in_rounds = true});
}

static clo_status maxmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return clo_row_fill(schedule, &(clo_row_order){.rule = CLO_PICK_LARGEST, .in_rounds = true});
}

static clo_status sufferage_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return clo_row_fill(schedule, &(clo_row_order){.rule = CLO_PICK_SUFFERAGE});
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
