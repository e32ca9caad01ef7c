/* enforced.c - see enforced.h. */
#include "policy/placement/enforced.h"

#include "base/numbers/saturate.h"
#include "cost/cost.h"

#include <string.h>

enum { OVERTAKEN_MAX = 32, ROWS_MAX = 512 };

static uint32_t instances_of(const clo_cost *cost)
{
    return cost->graph->first_instance[cost->graph->tasks];
}

size_t clo_enforced_bytes(const clo_cost *cost)
{
    return instances_of(cost) * sizeof(clo_enforced_row) + cost->platform->executors_count * sizeof(int64_t) +
           (size_t)cost->platform->machines_count * 2 * sizeof(uint32_t);
}

void clo_enforced_open(clo_enforced *plan, void *memory, const clo_cost *cost)
{
    plan->rows = memory;
    plan->ends_ns = (int64_t *)(void *)(plan->rows + instances_of(cost));
    plan->next = (uint32_t *)(plan->ends_ns + cost->platform->executors_count);
    plan->end = plan->next + cost->platform->machines_count;
}

/* Placements come by start, and stay in that order on each machine. */
void clo_enforced_fill(clo_enforced *plan, const clo_plan *from, const clo_cost *cost)
{
    const clo_platform *platform = cost->platform;
    const clo_placement *placements;
    uint32_t first = 0;
    size_t count;

    placements = clo_plan_placements(from, &count);
    memset(plan->end, 0, platform->machines_count * sizeof *plan->end);
    for (size_t p = 0; p < count; p++)
        plan->end[platform->executors[placements[p].executor].machine]++;
    for (uint32_t m = 0; m < platform->machines_count; m++) {
        uint32_t of_machine = plan->end[m];
        plan->end[m] = first;
        first += of_machine;
    }
    for (size_t p = 0; p < count; p++)
        plan->rows[plan->end[platform->executors[placements[p].executor].machine]++] =
            (clo_enforced_row){placements[p].start_ns, placements[p].finish_ns - placements[p].start_ns,
                               placements[p].task, placements[p].executor, 0};
}

void clo_enforced_begin(clo_enforced *plan, const clo_cost *cost)
{
    plan->passed_ns = 0;
    plan->round++;
    memset(plan->ends_ns, 0, cost->platform->executors_count * sizeof *plan->ends_ns);
    for (uint32_t m = 0; m < cost->platform->machines_count; m++)
        plan->next[m] = m > 0 ? plan->end[m - 1] : 0;
}

/* An instance of the stage may start on the executor, which has nothing to do. */
static bool may_start(const clo_view *view, uint32_t slot, uint32_t stage, uint32_t executor)
{
    const clo_live_executor *row = clo_view_executor(view, executor);
    const clo_live_stage *at = clo_view_stage(view, slot, stage);

    return at->unstarted > 0 && at->parents_left == 0 && row->job == CLO_NONE && row->committed == 0 &&
           row->is_moving == 0 && clo_view_execution_ns(view, slot, stage, executor) != CLO_TIME_NEVER &&
           clo_view_fits(view, slot, stage, executor);
}

void clo_enforced_finish(clo_enforced *plan, uint32_t executor)
{
    if (plan->ends_ns[executor] > plan->passed_ns)
        plan->passed_ns = plan->ends_ns[executor];
    plan->ends_ns[executor] = 0;
}

void clo_enforced_leave(clo_enforced *plan)
{
    plan->passed_ns = INT64_MAX;
}

static void start(clo_enforced *plan, clo_enforced_row *row, uint32_t slot, uint32_t executor, clo_choice *choice)
{
    row->round = plan->round;
    plan->ends_ns[executor] = clo_time_add(plan->passed_ns, row->time_ns);
    *choice = (clo_choice){slot, row->stage, 1, executor, CLO_NONE, 0, 0};
}

/* The row need not wait for its executor, which may be free in a moment: it should have started before, or all that runs
 * should have ended. */
static bool is_due(const clo_enforced *plan, const clo_cost *cost, const clo_enforced_row *row)
{
    bool goes_on = false;

    for (uint32_t e = 0; e < cost->platform->executors_count && !goes_on && row->start_ns == plan->passed_ns; e++)
        goes_on = plan->ends_ns[e] > plan->passed_ns;
    return !goes_on;
}

/* What should start now or earlier, though something planned before it cannot. */
static bool overtake(clo_enforced *plan, const clo_view *view, uint32_t slot, uint32_t machine, clo_choice *choice,
                     bool *is_cut)
{
    const clo_cost *cost = clo_view_job(view, slot)->cost;

    for (uint32_t i = plan->next[machine], looks = 0;
         i < plan->end[machine] && i - plan->next[machine] < ROWS_MAX && plan->rows[i].start_ns <= plan->passed_ns &&
         looks < OVERTAKEN_MAX;
         i++) {
        clo_enforced_row *row = &plan->rows[i];
        const clo_live_stage *at = clo_view_stage(view, slot, row->stage);
        if (row->round == plan->round || at->unstarted == 0 || at->parents_left > 0)
            continue;
        looks++;
        if ((*is_cut = !clo_view_step(view)))
            return false;
        bool is_home = may_start(view, slot, row->stage, row->executor);
        if (!is_home && (*is_cut = !clo_view_steps(view, cost->platform->executors_count)))
            return false;
        uint32_t executor = is_home                   ? row->executor
                            : is_due(plan, cost, row) ? clo_view_free_for(view, slot, row->stage)
                                                      : CLO_NONE;
        if (executor == CLO_NONE ||
            (row->start_ns == plan->passed_ns && clo_cost_time(cost, row->stage, executor) != row->time_ns))
            continue;
        start(plan, row, slot, executor, choice);
        return true;
    }
    return false;
}

/* It has started; or its stage has nothing left to start, because others came between. */
static bool is_over(const clo_enforced *plan, const clo_view *view, uint32_t slot, const clo_enforced_row *row)
{
    return row->round == plan->round || clo_view_stage(view, slot, row->stage)->unstarted == 0;
}

bool clo_enforced_choose(clo_enforced *plan, const clo_view *view, uint32_t slot, clo_choice *choice, bool *is_cut)
{
    uint32_t machines = clo_view_job(view, slot)->cost->platform->machines_count;

    *is_cut = false;
    for (uint32_t m = 0; m < machines && !*is_cut; m++) {
        while (plan->next[m] < plan->end[m] && is_over(plan, view, slot, &plan->rows[plan->next[m]]))
            plan->next[m]++;
        if (plan->next[m] == plan->end[m] || (*is_cut = !clo_view_step(view)))
            continue;
        clo_enforced_row *row = &plan->rows[plan->next[m]];
        if (may_start(view, slot, row->stage, row->executor)) {
            start(plan, row, slot, row->executor, choice);
            return true;
        }
        if (overtake(plan, view, slot, m, choice, is_cut))
            return true;
    }
    return false;
}
